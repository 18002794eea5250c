"""Summaries made from the archive: the ledger, the last summary, and the newest originals."""

from __future__ import annotations

from collections.abc import Sequence

from histories import answer, exchange, user
from stage import DONE, Stage

from agentcore import Profile, Snapshot
from agentcore.compaction.summarizer import summary_request
from agentcore.context import Context
from agentcore.events import CompactionEnded
from agentcore.llm.scripted import ScriptedModel
from agentcore.messages import Message, born
from agentcore.options import Stage as ProfileStage
from agentcore.options import SummaryOptions, SummarySource
from agentcore.pressure import Unit

OPTIONS = SummaryOptions(source=SummarySource.ARCHIVE)
SUMMARY = {"role": "system", "content": "[Earlier summary; reference only]\nso far"}


def summary(*stands_for: int) -> Message:
    return born(SUMMARY, stands_for=tuple(range(n, n + 1) for n in stands_for)).numbered(9)


def test_originals_stand_behind_their_summary_again_and_the_ledger_in_front() -> None:
    first = born(user("Never use more than 500 MB")).numbered(2)
    request = summary_request([summary(2, 3)], OPTIONS, 200_000, originals={2: first})
    assert request.lines[0].startswith("facts so far: ")
    assert "500 MB" in request.lines[0]
    assert request.lines[1:] == ("earlier summary: so far", "user: Never use more than 500 MB")


def test_what_has_no_room_is_counted_and_the_ledger_is_never_left_out() -> None:
    originals = {n: born(user(f"{n} " + "x" * 1_900)).numbered(n) for n in range(2, 42)}
    options = SummaryOptions(source=SummarySource.ARCHIVE, input_tokens=2_000)
    request = summary_request([summary(*originals)], options, 200_000, originals=originals)
    assert request.lines[0].startswith("facts so far: ")
    assert request.lines[-1].startswith("user: 41 ")
    assert len(request.text) <= 8_000 and request.left_out > 30


async def test_the_agent_reads_the_originals_of_standing_summaries() -> None:
    profile = Profile(
        stages=(ProfileStage("keep_recent", at=0.8, keep=4),),
        budget=8_000,
        unit=Unit.BYTES,
        summary=OPTIONS,
    )
    asked: list[Sequence[range]] = []
    original = born(user("the port is 8080")).numbered(3)

    async def originals(runs: Sequence[range]) -> Sequence[Message]:
        asked.append(runs)
        return [original]

    values = exchange(8)
    context = Context(
        Snapshot.of([values[0], born(SUMMARY, stands_for=(range(3, 5),)), *values[1:]])
    )
    model = ScriptedModel([answer("port 8080")])
    stage = Stage([DONE], profile, context, summarizer=model).say()
    await stage.run(originals=originals)
    assert stage.events(CompactionEnded)
    assert asked == [[range(3, 5)]]
    assert "the port is 8080" in model.requests[0].messages[1].text
