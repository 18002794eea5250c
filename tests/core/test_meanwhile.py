"""What happens to the list while a summary of it is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from histories import answer, exchange, user
from stage import DONE, Stage

from agentcore import Profile, Snapshot
from agentcore.compaction.edits import exclude_plan
from agentcore.context import Context
from agentcore.events import CompactionEnded, CompactionFailed, EventKind, RunEnd
from agentcore.invariants import legal
from agentcore.llm.base import Reply
from agentcore.llm.scripted import ScriptedModel
from agentcore.options import Stage as ProfileStage
from agentcore.pressure import Unit

SMALL = Profile(
    stages=(ProfileStage("keep_recent", keep=10, to_target=True),), budget=8_000, unit=Unit.BYTES
)


def loaded() -> Stage:
    """A session whose list stands well over the threshold of the small budget."""
    return Stage([DONE], SMALL, Context(Snapshot.of(exchange(8))))


class Meddled(ScriptedModel):
    """While its first `times` summaries are written, the list changes."""

    def __init__(self, meddle: Callable[[], None], times: int) -> None:
        super().__init__([answer("so far")] * 9)
        self._meddle, self._times = meddle, times

    async def reply(self, *request: Any, **options: Any) -> Reply:
        if len(self.requests) < self._times:
            self._meddle()
        return await super().reply(*request, **options)


async def test_what_is_appended_while_a_summary_is_written_follows_it_unchanged() -> None:
    stage = loaded().say()
    stage.summarizer = Meddled(lambda: stage.context.append(user("wait")) and None, 1)
    await stage.run()
    (ended,) = stage.events(CompactionEnded)
    assert len(stage.summarizer.requests) == 1
    assert stage.context.messages[1].text.endswith("so far")
    assert [one.text for one in stage.context.messages][-2:] == ["wait", "done"]
    assert legal(stage.context.messages) == []
    assert ended.result.changed


@pytest.mark.parametrize(("times", "asked"), [(1, 2), (2, 2)])
async def test_a_list_that_was_revised_meanwhile_is_compacted_once_more_then_told_as_stale(
    times: int, asked: int
) -> None:
    stage = loaded().say()

    def exclude() -> None:
        snapshot = stage.context.snapshot()
        row = next(one for one in snapshot.messages[2:] if one.calls)
        plan = exclude_plan(snapshot, [row.number], frozenset())
        stage.context.apply(plan, EventKind.EXCLUDED)

    stage.summarizer = Meddled(exclude, times)
    assert await stage.run() is RunEnd.ANSWERED
    failures = [event.failure for event in stage.events(CompactionFailed)]
    assert len(stage.summarizer.requests) == asked
    assert failures == (["stale"] if times == 2 else [])
    assert len(stage.events(CompactionEnded)) == 2 - times
    assert legal(stage.context.messages) == []
