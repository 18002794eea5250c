from __future__ import annotations

from collections import Counter
from typing import Any

from cases.given import Desk, Summarizer, profile, speaker, summaries, text_of, unpaired

from agentcore import Snapshot, compact
from agentcore.compaction.plan import Fate
from agentcore.compaction.repair import repair
from agentcore.directives import InstructionKind
from agentcore.events import EventKind

PARALLEL = {f"c{place}" for place in range(1, 6)}


def test_cut_inside_parallel_results(case: dict[str, Any]) -> None:
    result = compact(case["messages"], profile(case), force=True, summarize=Summarizer("SUM"))
    answered = {one["tool_call_id"] for one in result.messages if one["role"] == "tool"}
    assert result.changed
    assert unpaired(result.messages) == []
    assert answered & PARALLEL in (PARALLEL, set())
    assert result.messages[-1] == case["messages"][-1]
    assert len(summaries(result)) == 1


def test_chained_compactions_keep_orphan(case: dict[str, Any]) -> None:
    result = compact(case["messages"], profile(case), force=True, summarize=Summarizer("SUM2"))
    plan, reasons = repair(Snapshot.of(case["messages"]))
    assert "old1" not in text_of(result.messages)
    assert {"n1", "n2"} <= {one.get("tool_call_id") for one in result.messages}
    assert unpaired(result.messages) == []
    assert reasons == ((3, "result without its call"),)
    assert [(cut.start, cut.fate) for cut in plan.removals] == [(2, Fate.REPAIRED)]
    assert repair(result.new)[1] == ()
    assert compact(result.messages, profile(case)).messages == result.messages


async def test_open_call_at_the_tail(case: dict[str, Any]) -> None:
    desk = Desk(case["messages"], profile(case), speaker("Done."), summarizer=speaker("SUM"))
    desk.ask("", InstructionKind.COMPACT)
    await desk.turn(case["next_user_message"])
    sent = desk.sent[-1]
    inserted = next(one for one in sent if one.get("tool_call_id") == "q2")
    stored = [message.value() for message in Snapshot.of(case["messages"]).messages]
    assert unpaired(sent) == []
    assert "interrupted" in inserted["content"]
    assert unpaired(stored) == ["q2"]
    await desk.compact()
    assert [event.facts["state"] for event in desk.told(EventKind.COMPACTION_ENDED)] == [
        "applied",
        "applied",
    ]


def test_result_duplicated_by_summary(case: dict[str, Any]) -> None:
    result = compact(case["messages"], profile(case), force=True, summarize=Summarizer("SUM"))
    answered = Counter(one["tool_call_id"] for one in result.messages if one["role"] == "tool")
    kept = Counter(text_of([one]) for one in result.messages if one["role"] != "system")
    before = Counter(text_of([one]) for one in case["messages"])
    assert answered == {"m1": 1, "m2": 1}
    assert kept <= before


def test_second_result_for_answered_call(case: dict[str, Any]) -> None:
    result = compact(case["messages"], profile(case))
    _, reasons = repair(Snapshot.of(case["messages"]))
    results = [one for one in result.messages if one["role"] == "tool"]
    generated = result.messages[4]["tool_calls"][0]["id"]
    assert [one["content"] for one in results if one["tool_call_id"] == "x"] == ["Mon"]
    assert any(number == 5 and "second result" in reason for number, reason in reasons)
    assert generated not in ("", "x")
    assert results[-1]["tool_call_id"] == generated
