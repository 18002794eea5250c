"""Summaries made from the archive: the ledger, the last summary, and the newest originals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from forgetful import SHORT, STRUCTURED, Forgetful, compacted, generated, working
from histories import answer, exchange, system, user
from planted import Planted, chinese, english
from stage import DONE, Stage

from agentcore import PRESETS, Ledger, Profile, Snapshot, compact
from agentcore.compaction.edits import exclude_plan, new_topic_plan
from agentcore.compaction.notes import summary_note
from agentcore.compaction.plan import apply_plan
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


def say_nothing(text: str, *, max_words: int) -> str:
    return "so far"


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
    assert request.lines[1] == "earlier summary: so far"
    assert request.lines[-1].startswith("user: 41 ")
    assert len(request.text) <= 8_000 and request.left_out > 30


@pytest.mark.parametrize("source", SummarySource)
def test_an_earlier_summary_is_never_left_out(source: SummarySource) -> None:
    talk = [born(user(f"{n} " + "x" * 1_900)).numbered(n) for n in range(10, 40)]
    options = SummaryOptions(source=source, input_tokens=2_000)
    request = summary_request([summary(2), *talk], options, 200_000)
    while request.left_out < len(talk):
        assert request.lines[0] == "earlier summary: so far"
        request = request.shorter()
    assert request.shorter().lines == ("earlier summary: so far",)


def test_a_structured_summary_reaches_the_next_one_whole() -> None:
    text = "c" * 30_000 + "!"
    request = summary_request([summary_note(text)], SummaryOptions(), 200_000, structured=True)
    assert request.lines == (f"earlier summary: {text}",)


def test_originals_are_found_through_generations_and_behind_placeholders() -> None:
    said = {n: born(user(f"said {n}")).numbered(n) for n in (2, 3, 4)}
    snipped = born(user("[Tool result snipped]"), replaces=3).numbered(7)
    older = replace(summary(2), number=8)
    newer = replace(summary(4, 7, 8), number=9)
    archive = {**said, 7: snipped, 8: older}
    request = summary_request([newer], OPTIONS, 200_000, originals=archive)
    assert request.lines[1:] == ("earlier summary: so far", *(f"user: said {n}" for n in said))


@pytest.mark.parametrize("act", ["exclude", "new topic"])
def test_what_a_person_took_out_comes_back_by_no_summary(act: str) -> None:
    talk = [user("Never use the old key."), answer("fine"), user("go on"), answer("done")]
    before = Snapshot.of([system(), *talk], facts=True)
    plan = (
        exclude_plan(before, [2, 3], frozenset())
        if act == "exclude"
        else new_topic_plan(before, frozenset())
    )
    after, _ = apply_plan(plan, before)
    archive = {message.number: message for message in (*before.messages, *after.messages)}
    gone = after.messages[1:]
    summary_of_it = born(SUMMARY, stands_for=(range(4, 20),)).numbered(20)
    for asked in (gone, [summary_of_it]):
        text = summary_request(asked, OPTIONS, 200_000, originals=archive).text
        assert "old key" not in text
    assert "old key" not in Ledger.of(gone).text(1_000)


def test_a_message_that_came_back_is_told_once() -> None:
    back = born(user("said")).numbered(2)
    request = summary_request([summary(2), back], OPTIONS, 200_000, originals={2: back})
    assert request.lines[1:] == ("earlier summary: so far", "user: said")


def test_a_summary_knows_the_facts_that_its_text_leaves_out() -> None:
    talk = [*english().first, english().revision, answer("Noted.")]
    for _ in range(2):
        done = compact(
            [*talk, *working(0)], PRESETS["nanohermes"], force=True, summarize=say_nothing
        )
        talk = list(done.new.messages)
    told = Ledger.of(talk).text(10_000)
    assert [fact for fact in english().must_know if fact not in told] == []
    assert english().holds in told and english().gone not in told


def test_the_default_is_the_source_that_holds_what_was_planted() -> None:
    """docs/summary-source.md; nanohermes stays as its author has it."""
    assert SummaryOptions().source is SummarySource.ARCHIVE
    rolling = {name for name, one in PRESETS.items() if one.summary.source is SummarySource.ROLLING}
    assert rolling == {"nanohermes"}


@pytest.mark.parametrize("planted", [english(), chinese()], ids=["english", "chinese"])
@pytest.mark.parametrize("talk", ["work", "reading"])
@pytest.mark.parametrize("stage", [SHORT, STRUCTURED], ids=["short", "structured"])
def test_facts_of_the_first_turn_outlive_five_summaries_from_the_archive(
    planted: Planted, talk: str, stage: ProfileStage
) -> None:
    done = compacted(generated(talk, planted), stage, SummarySource.ARCHIVE, Forgetful(1.0, 0))
    assert done.known == done.planted


def test_rolling_summaries_lose_what_had_no_room_or_was_forgotten_once() -> None:
    reading, work = generated("reading", english()), generated("work", english())
    too_long = compacted(reading, SHORT, SummarySource.ROLLING, Forgetful(1.0, 0))
    forgetful = [
        compacted(work, SHORT, source, Forgetful(0.9, 0)).known for source in SummarySource
    ]
    assert too_long.known == 0
    assert forgetful[0] < forgetful[1]


@pytest.mark.parametrize("stage", ["keep_recent", "snip"])
async def test_the_archive_is_read_only_where_a_model_is_asked(stage: str) -> None:
    asked: list[Sequence[range]] = []

    async def originals(runs: Sequence[range]) -> Sequence[Message]:
        asked.append(runs)
        return []

    profile = Profile(
        stages=(ProfileStage(stage, at=0.8, keep=2),),
        budget=6_000,
        unit=Unit.BYTES,
    )
    values = exchange(8)
    standing = born(SUMMARY, stands_for=(range(3, 5),))
    context = Context(Snapshot.of([values[0], standing, *values[1:]]))
    model = ScriptedModel([answer("so far")])
    play = Stage([DONE], profile, context, summarizer=model).say()
    await play.run(originals=originals)
    assert play.events(CompactionEnded)
    assert bool(asked) is (stage == "keep_recent")


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
