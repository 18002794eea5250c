from __future__ import annotations

import re
from typing import Any

from cases.given import (
    Desk,
    Summarizer,
    assistant,
    exchanges,
    lists,
    profile,
    speaker,
    summaries,
    text_of,
    unpaired,
    user,
)

from agentcore import compact
from agentcore.breakdown import SUMMARY_HEADER
from agentcore.compaction.result import CompactionResult
from agentcore.compaction.summarizer import SHORT
from agentcore.events import EventKind


def test_answered_head_becomes_immortal(case: dict[str, Any]) -> None:
    messages = case["messages"]
    for count in range(1, case["compactions"] + 1):
        summarizer = Summarizer(f"SUM {count}")
        result = compact(messages, profile(case), force=True, summarize=summarizer)
        assert len(summaries(result)) == 1
        assert result.messages[-1] == messages[-1]
        messages = [*result.messages, assistant("Done."), user(f"And part {count}?")]
    said = [one["content"] for one in messages if one["role"] == "user"]
    assert "What is new in release 3?" not in said
    assert said[-1] == f"And part {case['compactions']}?"


def test_facts_lost_over_generations(case: dict[str, Any]) -> None:
    def digits(text: str) -> str:
        return " ".join(dict.fromkeys(re.findall(r"\S*\d\S*", text)))

    summarizer = Summarizer(digits)
    messages = [*case["messages"], *exchanges(20)]
    last = ""
    for _ in range(case["compactions"]):
        result = compact(messages, profile(case), force=True, summarize=summarizer)
        assert last in summarizer.inputs[-1]
        last = summaries(result)[0].text.removeprefix(f"{SUMMARY_HEADER}\n")
        messages = [*result.messages, *exchanges(10)]
    assert all(fact in last for fact in ("eu-north-7", "INC-4471", "1847.20"))
    assert all(word in SHORT for word in ("exact values", "exact paths", "constraints of the user"))


async def test_pending_user_message_summarised(case: dict[str, Any]) -> None:
    question = case["messages"][-1]["content"] + "\n" + "log line\n" * 3_300
    messages = [*case["messages"][:-1], user(question)]
    summarizer = speaker("SUM about the importer")
    desk = Desk(messages, profile(case), speaker("Scaling."), summarizer=summarizer)
    await desk.agent.run()
    sent = desk.sent[0]
    assert sent[-1] == user(question)
    assert summarizer.requests
    assert "topic B" not in text_of(lists(summarizer)[0])
    assert desk.told(EventKind.OVER_BUDGET)


def test_pinned_message_kept_once_in_order(case: dict[str, Any]) -> None:
    originals = case["messages"]
    result, pins = compact_again(originals, frozenset(case["pinned"]), case)
    pinned = [originals[index] for index in sorted(case["pinned"])]
    assert all(result.messages.count(message) == 1 for message in pinned)
    assert [one for one in result.messages if one in pinned] == pinned
    assert originals[4] in result.messages
    assert unpaired(result.messages) == []
    fewer = pins - {result.messages.index(originals[6])}
    unpinned, _ = compact_again(result.messages, fewer, case)
    assert originals[6] not in unpinned.messages


def test_summary_nests_and_grows(case: dict[str, Any]) -> None:
    cap = case["summary_cap_chars"]
    summarizer = Summarizer(lambda text: f"OLD[{_earlier(text)}] NEW")
    messages = [*case["messages"], *exchanges(2)]
    sizes = []
    for _ in range(case["compactions"]):
        result = compact(messages, profile(case), force=True, summarize=summarizer)
        summary = summaries(result)
        assert len(summary) == 1
        assert len(summary[0].text) <= cap + len(SUMMARY_HEADER) + 1
        assert summary[0].text.count("[Earlier summary") == 1
        sizes.append(result.new.sizes.bytes)
        messages = [*result.messages, *exchanges(2)]
    assert all(after <= 1.1 * before for before, after in zip(sizes, sizes[1:], strict=False))


def compact_again(
    messages: list[dict[str, Any]], pins: frozenset[int], case: dict[str, Any]
) -> tuple[CompactionResult, frozenset[int]]:
    """Compact twice; the result and where the pins stand in it."""
    pinned = [messages[index] for index in sorted(pins)]
    for _ in range(2):
        result = compact(messages, profile(case), pins, force=True, summarize=Summarizer("SUM"))
        messages = [*result.messages]
        pins = frozenset(messages.index(message) for message in pinned)
    return result, pins


def _earlier(text: str) -> str:
    found = re.search(r"earlier summary: (.*)", text)
    return found[1] if found else ""
