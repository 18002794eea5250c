from __future__ import annotations

import re
from typing import Any

from cases.given import (
    Desk,
    Summarizer,
    exchanges,
    failing,
    profile,
    speaker,
    text_of,
)

from agentcore import compact
from agentcore.breakdown import OMISSION_HEADER
from agentcore.compaction.plan import Fate
from agentcore.compaction.result import Failure, Trigger
from agentcore.events import EventKind
from agentcore.options import SummaryFailure


def test_error_text_becomes_the_summary(case: dict[str, Any]) -> None:
    summarizer = Summarizer(TimeoutError("no answer within 60 s"))
    result = compact(case["messages"], profile(case), force=True, summarize=summarizer)
    assert result.messages == case["messages"]
    assert "no answer" not in text_of(result.messages)
    assert [one.reason for one in result.failures] == [Failure.TIMEOUT]
    assert result.trigger is Trigger.MANUAL
    again = compact(result.messages, profile(case), force=True, summarize=Summarizer("SUM"))
    assert again.changed


async def test_fallback_not_recorded(case: dict[str, Any]) -> None:
    dropping = profile(case)
    summary = type(dropping.summary)(on_failure=SummaryFailure.NOTE)
    desk = Desk(
        case["messages"],
        dropping.replace(summary=summary),
        speaker("Three."),
        summarizer=failing("the endpoint is down"),
    )
    await desk.compact()
    failed, ended = desk.told(EventKind.COMPACTION_FAILED), desk.told(EventKind.COMPACTION_ENDED)
    assert [event.failure for event in failed] == [Failure.ERROR]
    assert [event.result.revision.ended for event in ended] == [(2, 3, 4, 5)]
    assert {cut.fate for cut in ended[0].result.plan.removals} == {Fate.DROPPED}
    assert any(OMISSION_HEADER in str(one["content"]) for one in desk.values)


def test_image_sent_to_summarizer(case: dict[str, Any]) -> None:
    summarizer = Summarizer("SUM")
    compact(case["messages"], profile(case), force=True, summarize=summarizer)
    assert not re.search(r"[A-Za-z0-9+/]{200}", summarizer.inputs[0])
    assert "[image]" in summarizer.inputs[0]
    assert '"chart_id": 17' in summarizer.inputs[0]


async def test_internal_instruction_left_in_history(case: dict[str, Any]) -> None:
    desk = Desk(
        case["messages"],
        profile(case),
        speaker("Fixed too."),
        summarizer=failing("down"),
    )
    await desk.compact()
    assert desk.told(EventKind.COMPACTION_FAILED)
    assert "You condense" not in text_of(desk.values)
    assert desk.sent[-1][-1] == case["messages"][-1]


def test_summary_request_over_the_window(case: dict[str, Any]) -> None:
    def strict(text: str) -> str:
        assert len(text) <= 80_000
        seen.append(len(text.splitlines()))
        return f"SUM of {seen[-1]}"

    seen: list[int] = []
    summarizer = Summarizer(strict)
    long = [{**one, "content": one["content"] * 300} for one in exchanges(60)]
    messages = [case["messages"][0], *long]
    window = case["window_chars"] // 4
    settings = profile(case, window=window, budget=None)
    result = compact(messages, settings, force=True, summarize=summarizer)
    assert result.changed
    gone = sum(cut.stop - cut.start for cut in result.plan.removals)
    assert seen[-1] + result.left_out == gone
    assert all(len(text) <= 80_000 for text in summarizer.inputs)
    assert result.new.sizes.chars < case["window_chars"]
