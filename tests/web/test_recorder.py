from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from builders import a_lease, a_session, added, answered, called, rows_of, said, turn_ended
from django.db import connection, connections

from agentcore.breakdown import total
from agentcore.compaction.plan import Birth, CompactionPlan, Fate, Origin, Removal
from agentcore.compaction.result import CompactionResult, StageReport, Trigger
from agentcore.context import Context
from agentcore.errors import InstructionChanged, StalePlan
from agentcore.events import (
    CheckpointSet,
    CompactionEnded,
    EventKind,
    MessageAdded,
    RunEnd,
    RunEnded,
    RunStarted,
)
from agentcore.messages import Message, born
from agentcore.snapshot import State
from hermesweb import lives
from hermesweb.lease import Lease
from hermesweb.models import AgentSession, Body, Instruction, SessionEvent, Status
from hermesweb.recorder import FenceLost, NoSuchSession, record, record_flag

pytestmark = pytest.mark.django_db


def compaction(context: Context, start: int, stop: int, text: str = "[note]") -> CompactionEnded:
    """Rows `start` to `stop` become one note, on the context and as its event."""
    before = context.snapshot()
    note = born({"role": "system", "content": text})
    plan = CompactionPlan(
        before.state,
        (Removal(start, stop, Fate.SUMMARIZED, "keep_recent"),),
        (Birth(start, note, Origin.NOTE, "keep_recent"),),
    )
    revision = context.apply(plan)
    after = context.snapshot()
    stages = (StageReport("keep_recent", before.sizes.bytes - after.sizes.bytes),)
    result = CompactionResult(before, after, Trigger.MANUAL, plan, revision, stages)
    pressures = [turn_ended(1, one.messages).pressure for one in (before, after)]
    return CompactionEnded(result, pressures[0], pressures[1], 1, 0.1)


def talk(session: AgentSession, lease: Lease, messages: list[Message]) -> Context:
    context = Context()
    for message in messages:
        context.append(message)
    record(session.pk, lease.fence, [*added(*messages, turn=1), turn_ended(1, messages)])
    return context


def in_threads(*works: Callable[[], None]) -> None:
    def work_then_close(work: Callable[[], None]) -> None:
        try:
            work()
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work_then_close, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_each_event_gets_the_next_seq_and_the_last_one_is_returned() -> None:
    session = a_session()
    lease = a_lease(session)
    assert record(session.pk, lease.fence, added(said(1, "a"), said(2, "b"))) == 2
    assert record(session.pk, lease.fence, [RunStarted(1)]) == 3
    events = list(session.events.order_by("id").values_list("seq", "kind"))
    assert events == [(1, "message_added"), (2, "message_added"), (3, "run_started")]


@pytest.mark.django_db(transaction=True)
def test_seq_is_gapless_and_in_order_of_commit_under_concurrent_writers() -> None:
    session = a_session()
    lease = a_lease(session)
    numbers = iter(range(1, 1000))
    lock = threading.Lock()

    def work() -> None:
        for _ in range(10):
            with lock:
                message = said(next(numbers), "x")
                record(session.pk, lease.fence, added(message))

    def flag() -> None:
        for _ in range(10):
            record_flag(session.pk, EventKind.RENAMED, lambda row: {"title": "t"})

    in_threads(work, work, flag, flag)
    seqs = list(SessionEvent.objects.order_by("id").values_list("seq", flat=True))
    assert seqs == list(range(1, 41))
    assert AgentSession.objects.get().seq == 40


def test_a_write_with_an_old_fencing_number_is_refused_and_leaves_nothing() -> None:
    session = a_session()
    old = a_lease(session, "first")
    AgentSession.objects.update(holder="", lease_ends=None)
    new = a_lease(session, "second")
    with pytest.raises(FenceLost, match="fencing number 1"):
        record(session.pk, old.fence, added(said(1, "late")))
    assert not session.messages.exists()
    assert record(session.pk, new.fence, added(said(1, "in time"))) == 1


def test_a_write_to_a_deleted_session_says_so() -> None:
    with pytest.raises(NoSuchSession, match="no session gone"):
        record("gone", 1, [RunStarted(1)])


def test_running_totals_equal_a_recount_to_the_byte_through_a_compaction() -> None:
    session = a_session()
    messages = [said(n, "語" * n * 40, "user" if n % 2 else "assistant") for n in range(1, 12)]
    context = talk(session, lease := a_lease(session), messages)
    record(session.pk, lease.fence, [compaction(context, 0, 8)])
    extra = context.append(said(0, "after"))
    record(session.pk, lease.fence, added(extra, turn=2))
    session.refresh_from_db()
    counted = total(
        message.sizes
        for message in (lives.message_of(row.message) for row in lives.lives_at(session))
    )
    assert (session.bytes, session.chars, session.estimate) == (
        counted.bytes,
        counted.chars,
        counted.tokens,
    )
    assert session.categories == counted.breakdown
    assert session.used == counted.bytes
    assert session.messages_alive == 5


def test_the_list_now_and_before_a_compaction_are_read_back_byte_for_byte() -> None:
    session = a_session()
    messages = [
        born({"role": "system", "content": "s"}).numbered(1),
        born({"role": "user", "content": "half \ud83d a character, NUL \0", "x": None}).numbered(2),
        called(3, "grep"),
        answered(4, "call_3_0", "long " * 3_000, tool="grep"),
        said(5, "done", "assistant"),
    ]
    context = talk(session, lease := a_lease(session), messages)
    before = context.snapshot()
    record(session.pk, lease.fence, [compaction(context, 1, 4)])
    session.refresh_from_db()
    now, then = lives.snapshot_of(session), lives.snapshot_of(session, State(0, 5))
    for read, kept in ((now, context.snapshot()), (then, before)):
        assert rows_of(read) == rows_of(kept)
        assert (read.sizes, read.state) == (kept.sizes, kept.state)
    assert [message.wire for message in then.messages] == [message.wire for message in messages]


def test_what_left_and_what_came_stand_in_the_lives_with_fate_origin_and_stage() -> None:
    session = a_session()
    context = talk(session, lease := a_lease(session), [said(n, "x" * 200) for n in range(1, 6)])
    record(session.pk, lease.fence, [compaction(context, 0, 3)])
    ended = session.lives.filter(to_revision=1).order_by("number")
    assert [(life.number, life.fate, life.ended_stage) for life in ended] == [
        (1, "summarized", "keep_recent"),
        (2, "summarized", "keep_recent"),
        (3, "summarized", "keep_recent"),
    ]
    begun = session.lives.get(from_revision=1)
    assert (begun.number, begun.place, begun.origin) == (6, 1, "note")
    revision = session.revisions.get()
    assert (revision.cause, revision.ended, revision.begun) == ("compaction_ended", 3, 1)
    row = session.stored_compactions.get()
    assert (row.number, row.state, row.revision) == (1, "applied", 1)
    assert row.before is not None and row.after is not None and row.before > row.after
    assert session.stored_turns.get().action == "keep_recent"
    assert session.stored_turns.get().after == row.after


def test_a_long_body_is_stored_once_however_often_it_comes() -> None:
    session = a_session()
    lease = a_lease(session)
    text = "the same file again " * 500
    for number in (1, 2, 3):
        message = answered(number, "c", text)
        record(session.pk, lease.fence, [MessageAdded(message, 1, captured=text * 2)])
    assert sorted(Body.objects.values_list("references", flat=True)) == [3, 3]
    row = session.messages.get(number=2)
    assert row.wire == "" and row.text == message.wire
    assert row.captured is not None and row.captured.text == text * 2


def test_facts_with_nul_and_half_characters_are_told_as_pictures_of_them() -> None:
    session = a_session()
    record(session.pk, a_lease(session).fence, added(said(1, "a\0b\ud83dc")))
    assert session.events.get().data["preview"] == "a\u2400b?c"


def test_an_instruction_becomes_its_message_once() -> None:
    session = a_session()
    lease = a_lease(session)
    asked = Instruction.objects.create(session=session, kind="message", text="go")
    event = MessageAdded(said(1, "go"), 0, instruction=asked.pk)
    record(session.pk, lease.fence, [RunStarted(1), event])
    asked.refresh_from_db()
    assert (asked.state, asked.number) == ("taken", 1)
    with pytest.raises(InstructionChanged):
        record(session.pk, lease.fence, [MessageAdded(said(2, "go"), 0, instruction=asked.pk)])
    session.refresh_from_db()
    assert (session.seq, session.messages.count(), session.status) == (2, 1, Status.RUNNING)


def test_an_instruction_that_was_edited_after_it_was_read_is_not_taken() -> None:
    session = a_session()
    asked = Instruction.objects.create(session=session, kind="message", text="new words")
    stale = MessageAdded(said(1, "old words"), 0, instruction=asked.pk)
    with pytest.raises(InstructionChanged, match="edited or withdrawn"):
        record(session.pk, a_lease(session).fence, [stale])


def test_a_pin_set_while_the_plan_was_made_is_honoured() -> None:
    session = a_session()
    context = talk(session, lease := a_lease(session), [said(n, "x" * 99) for n in range(1, 6)])
    session.messages.filter(number=2).update(pinned=True)
    with pytest.raises(StalePlan, match=r"\[2\] were pinned"):
        record(session.pk, lease.fence, [compaction(context, 0, 3)])
    session.refresh_from_db()
    assert (session.revision, session.lives.filter(to_revision=None).count()) == (0, 5)


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (RunEnd.ANSWERED, Status.IDLE),
        (RunEnd.STOPPED, Status.IDLE),
        (RunEnd.BLOCKED, Status.BLOCKED),
        (RunEnd.FAILED, Status.FAILED),
    ],
)
def test_the_end_of_a_run_decides_the_status(end: RunEnd, status: Status) -> None:
    session = a_session(stop_requested=True)
    record(session.pk, a_lease(session).fence, [RunStarted(1), RunEnded(1, end, "why")])
    session.refresh_from_db()
    assert (session.status, session.run_end, session.run_reason) == (status, end, "why")
    assert not session.run_open and not session.stop_requested


def test_a_batch_costs_as_many_statements_at_message_500_as_at_the_first(
    django_assert_max_num_queries: Callable,
) -> None:
    session = a_session()
    lease = a_lease(session)
    record(session.pk, lease.fence, added(*(said(n, "x") for n in range(1, 500))))
    with django_assert_max_num_queries(8, connection=connection):
        record(session.pk, lease.fence, added(said(500, "y"), said(501, "z"), turn=2))


def test_a_checkpoint_of_the_agent_is_a_flag_from_its_birth() -> None:
    session = a_session()
    lease = a_lease(session)
    record(session.pk, lease.fence, [*added(said(1, "so far"), turn=1), CheckpointSet(1, 1)])
    assert session.messages.get(number=1).checkpoint
    told = session.events.get(kind=EventKind.CHECKPOINT_SET)
    assert told.data == {"number": 1, "set": True, "turn": 1}
