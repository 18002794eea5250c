from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from cases.given import Desk, assistant, lists, profile, text_of

from agentcore.compaction.edits import exclude_plan
from agentcore.compaction.result import Failure
from agentcore.events import EventKind
from agentcore.llm.scripted import ScriptedModel
from agentcore.messages import Message


@pytest.mark.parametrize("revised", [1, 2])
async def test_background_summary_too_late(case: dict[str, Any], revised: int) -> None:
    """The list is revised while the first summary is written, or while each one is."""
    later = next(step["append"] for step in case["meanwhile"] if "append" in step)
    said = [[2, 3], [4]]
    long = [{**one, "content": one["content"] * 400} for one in case["messages"]]
    desk: Desk

    def edited(numbers: list[int], text: str) -> Callable[[Sequence[Message]], dict[str, Any]]:
        def write(asked: Sequence[Message]) -> dict[str, Any]:
            plan = exclude_plan(desk.context.snapshot(), numbers, frozenset())
            desk.context.apply(plan)
            if later not in desk.values:
                desk.context.append(later)
            return assistant(text)

        return write

    lines = [edited(numbers, "SUM of a") for numbers in said[:revised]]
    summarizer = ScriptedModel([*lines, assistant("SUM of b")])
    desk = Desk(long, profile(case), ScriptedModel([]), summarizer=summarizer)
    await desk.compact()
    assert desk.values.count(later) == 1
    assert "SUM of a" not in text_of(desk.values)
    assert long[1]["content"] not in text_of(lists(summarizer)[1])
    if revised == 1:
        assert desk.told(EventKind.COMPACTION_ENDED)
    else:
        (failed,) = desk.told(EventKind.COMPACTION_FAILED)
        assert failed.failure is Failure.STALE and "the list is at" in failed.detail
