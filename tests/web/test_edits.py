from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from builders import a_lease, a_user, added, answered, called, revision, said
from django.contrib.auth.models import User
from django.test import Client
from scenes import a_talk, a_talk_of, compacted, html_of, words_of
from working import says

from agentcore.events import Repaired
from agentcore.invariants import legal
from agentcore.llm.scripted import ScriptedModel
from hermesweb import acts, lease, lives, runner, wishes
from hermesweb.models import AgentSession, AuditEntry, Instruction, InstructionState
from hermesweb.recorder import record

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]


@pytest.fixture
def ada() -> User:
    return a_user("ada")


@pytest.fixture
def model(script: Callable[..., ScriptedModel]) -> ScriptedModel:
    """Says one thing, if it is asked."""
    return script(says("Here I am."))


def taken(session: AgentSession) -> None:
    """A worker takes what waits; the list is legal and its totals are right."""
    async_to_sync(runner.run)(session.pk)
    session.refresh_from_db()
    snapshot = lives.snapshot_of(session)
    assert not legal(snapshot.messages)
    assert snapshot.sizes.bytes == session.bytes
    assert len(snapshot.messages) == session.messages_alive
    assert session.status == "idle"


def wires(session: AgentSession) -> list[str]:
    return [message.wire for message in lives.snapshot_of(session).messages]


def numbers(session: AgentSession) -> list[int]:
    return [message.number for message in lives.snapshot_of(session).messages]


def test_undo_brings_the_list_back_byte_for_byte(ada: User, model: ScriptedModel) -> None:
    session = a_talk(ada, 12)
    before = wires(session)
    compacted(session)
    acts.undo(ada, session, 1)
    taken(session)
    assert wires(session) == before
    row = session.stored_compactions.get()
    assert (row.state, session.compactions) == ("undone", 0)
    assert model.requests == []


def test_undo_of_an_undo_does_it_again(ada: User, model: ScriptedModel) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    after = wires(session)
    for _ in range(2):
        acts.undo(ada, session)
        taken(session)
    assert wires(session) == after
    row = session.stored_compactions.get()
    assert (row.state, session.compactions) == ("applied", 1)
    acts.undo(ada, session, 1)
    taken(session)
    row.refresh_from_db()
    assert row.state == "undone"


def test_what_was_appended_since_follows_the_old_list(ada: User, model: ScriptedModel) -> None:
    session = a_talk_of(ada, *talk())
    before = wires(session)
    compacted(session, start=2, stop=4)
    held = a_lease(session)
    late = said(session.last_number + 1, "one more thing")
    record(session.pk, held.fence, added(late))
    lease.release(held)
    acts.undo(ada, session)
    taken(session)
    assert wires(session) == [*before, late.wire]


def test_an_undo_holds_automatic_compaction_until_the_list_has_grown(
    ada: User, model: ScriptedModel
) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    acts.undo(ada, session)
    taken(session)
    assert session.hold
    gain = session.profile_version.value.min_gain * session.limit
    assert session.hold_until == session.used + round(gain)
    acts.resume(ada, session)
    assert (session.hold, session.hold_until) == (False, 0)


def test_after_a_request_the_undo_is_refused_and_the_fork_offered(ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    turn = session.stored_turns.get(number=session.turns)
    turn.pk, turn.number, turn.requested_revision = None, turn.number + 1, session.revision
    turn.save()
    with pytest.raises(acts.Refused, match="a request was sent since, in turn 6: fork"):
        acts.undo(ada, session)


def test_a_request_sent_while_the_undo_waited_refuses_it_at_the_border(
    ada: User, model: ScriptedModel
) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    after = wires(session)
    queued = acts.undo(ada, session)
    turn = session.stored_turns.get(number=session.turns)
    turn.pk, turn.number, turn.requested_revision = None, turn.number + 1, session.revision
    turn.save()
    taken(session)
    queued.refresh_from_db()
    assert queued.state == InstructionState.WITHDRAWN
    assert "a request was sent since" in queued.refusal
    assert wires(session) == after


def test_the_second_of_two_undos_at_once_is_refused(ada: User, model: ScriptedModel) -> None:
    session = a_talk(ada, 12)
    before = wires(session)
    compacted(session)
    acts.undo(ada, session)
    second = acts.undo(ada, session)
    taken(session)
    second.refresh_from_db()
    assert "the list moved on" in second.refusal
    assert wires(session) == before


def test_an_excluded_message_leaves_with_its_group_and_a_note_stands_there(
    ada: User, model: ScriptedModel
) -> None:
    session = a_talk_of(ada, *talk())
    acts.exclude(ada, session, [4])
    taken(session)
    assert numbers(session) == [1, 2, 9, 5, 6, 7, 8]
    note = session.messages.get(number=9)
    assert "2 messages left the context by a person's choice" in note.text
    ended = session.lives.filter(number__in=[3, 4])
    assert set(ended.values_list("fate", "ended_stage")) == {("excluded", "exclude")}
    assert session.revisions.get().cause == "excluded"


def test_what_was_excluded_is_restored_with_its_group_at_its_old_place(
    ada: User, model: ScriptedModel
) -> None:
    session = a_talk_of(ada, *talk())
    acts.exclude(ada, session, [3, 5])
    taken(session)
    wanted = acts.restore(ada, session, [4])
    taken(session)
    wanted.refresh_from_db()
    assert wanted.refusal == ""
    found = numbers(session)
    assert found[:4] == [1, 2, 3, 4]
    life = session.lives.filter(number=4).latest("from_revision")
    assert (life.origin, life.place) == ("restored", 12)
    assert session.hold


def test_a_placeholder_of_a_placeholder_goes_when_the_result_comes_back(
    ada: User, model: ScriptedModel
) -> None:
    session = a_talk_of(ada, *talk())
    replaced(session, 4, "[once]")
    replaced(session, session.last_number, "[twice]")
    acts.restore(ada, session, [4])
    taken(session)
    assert numbers(session) == [1, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize(
    ("chosen", "why"),
    [(1, "is a system message"), (5, "is pinned"), (7, "is the instruction in force")],
)
def test_what_must_stay_is_not_excluded(ada: User, chosen: int, why: str) -> None:
    session = a_talk_of(ada, *talk())
    acts.pin(ada, session, [6])
    with pytest.raises(acts.Refused, match=why):
        acts.exclude(ada, session, [chosen])
    assert not Instruction.objects.exists()


def test_a_new_topic_leaves_the_system_message_the_pins_and_one_note(
    ada: User, model: ScriptedModel
) -> None:
    session = a_talk_of(ada, *talk())
    acts.pin(ada, session, [5])
    acts.new_topic(ada, session)
    taken(session)
    found = lives.snapshot_of(session).messages
    assert found[0].is_leading and found[1].is_summary
    assert [message.number for message in found[2:]] == [5, 6]
    assert session.revisions.latest("number").cause == "topic_started"
    assert model.requests == []


def test_a_new_topic_ends_the_hold_of_an_undo(ada: User, model: ScriptedModel) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    acts.undo(ada, session)
    taken(session)
    assert session.hold
    acts.new_topic(ada, session)
    taken(session)
    assert (session.hold, session.hold_until) == (False, 0)


def test_a_new_topic_is_asked_for_with_what_leaves(
    client: Client, ada: User, model: ScriptedModel
) -> None:
    client.force_login(ada)
    session = a_talk_of(ada, *talk())
    acts.pin(ada, session, [5])
    page = f"/sessions/{session.pk}/"
    assert f'action="{page}new_topic"' not in html_of(client, page)
    gone = session.messages.exclude(number__in=[1, 5, 6])
    size = sum(gone.values_list("bytes", flat=True))
    words = words_of(html_of(client, f"{page}new_topic"))
    assert f"{gone.count()} messages, {size} B, would leave the context now" in words
    assert "It can be undone until the next request is sent" in words
    assert not session.instructions.exists()
    answer = client.post(f"{page}new_topic", follow=True)
    assert "A new topic begins now" in words_of(answer.content.decode())
    assert session.instructions.get().kind == "new_topic"


def test_a_list_without_a_conversation_has_no_topic_to_end(client: Client, ada: User) -> None:
    client.force_login(ada)
    session = a_talk_of(ada, said(1, "Be careful.", "system"))
    html = html_of(client, f"/sessions/{session.pk}/new_topic")
    assert "There is nothing to end" in words_of(html) and 'id="begin"' not in html


def test_a_stopped_run_is_not_gone_on_with_by_an_act_on_the_list(
    ada: User, model: ScriptedModel
) -> None:
    session = a_talk_of(ada, *talk()[:6])
    AgentSession.objects.update(run_end="stopped")
    acts.exclude(ada, session, [3])
    taken(session)
    assert model.requests == []
    acts.resume(ada, session)
    taken(session)
    assert len(model.requests) == 1


def test_a_blocked_session_takes_what_makes_room(ada: User, model: ScriptedModel) -> None:
    session = a_talk_of(ada, *talk())
    AgentSession.objects.update(run_end="blocked", status="blocked")
    acts.exclude(ada, session, [3])
    taken(session)
    assert model.requests == []


def test_acts_on_the_list_are_told_and_audited(ada: User, model: ScriptedModel) -> None:
    session = a_talk_of(ada, *talk())
    acts.exclude(ada, session, [3])
    taken(session)
    told = session.events.get(kind="excluded").data
    assert (told["ended"], told["begun"]) == (2, 1)
    entry = AuditEntry.objects.filter(chain=session.pk).latest("place")
    assert (entry.who, entry.new["kind"], entry.new["numbers"]) == ("ada", "exclude", [3])


def test_a_session_that_can_only_be_read_takes_no_act(ada: User) -> None:
    session = a_talk(ada, 12, kind="imported")
    for act in (acts.undo, acts.new_topic):
        with pytest.raises(acts.Refused, match="can only be read"):
            act(ada, session)


def test_groups_are_whole_whoever_of_them_is_named(ada: User) -> None:
    session = a_talk_of(
        ada,
        said(1, "Be careful.", "system"),
        said(2, "Go."),
        called(3, "read_file", "grep"),
        answered(4, "call_3_0", "a"),
        answered(5, "call_3_1", "b"),
        said(6, "Done.", "assistant"),
    )
    assert wishes.groups_of(session, [5]) == wishes.groups_of(session, [3]) == [3, 4, 5]
    assert wishes.groups_of(session, [2, 6]) == [2, 6]


def test_pages_offer_what_can_be_done_with_a_message_and_the_list(
    client: Client, ada: User, model: ScriptedModel
) -> None:
    client.force_login(ada)
    session = a_talk_of(ada, *talk())
    page = f"/sessions/{session.pk}/"
    assert f'href="{page}new_topic"' in html_of(client, page)
    assert f'formaction="{page}messages/4/exclude"' in html_of(client, f"{page}messages/4/")
    assert "/exclude" not in html_of(client, f"{page}messages/1/")
    answer = client.post(f"{page}messages/4/exclude", follow=True)
    assert "Message 4 leaves with its group" in words_of(answer.content.decode())
    taken(session)
    assert f'formaction="{page}messages/4/restore"' in html_of(client, f"{page}messages/4/")
    refused = client.post(f"{page}messages/7/exclude", follow=True)
    assert "is the instruction in force" in words_of(refused.content.decode())


def talk() -> list[Any]:
    return [
        said(1, "Be careful.", "system"),
        said(2, "Fix the parser."),
        called(3, "read_file"),
        answered(4, "call_3_0", "x" * 400, tool="read_file"),
        called(5, "grep"),
        answered(6, "call_5_0", "y" * 400, tool="grep"),
        said(7, "And now the tests."),
        said(8, "They pass.", "assistant"),
    ]


def replaced(session: AgentSession, number: int, text: str) -> None:
    """The tool result of that number gives way to a placeholder."""
    session.refresh_from_db()
    row = session.messages.get(number=number)
    call = lives.message_of(row).tool_call_id or ""
    place = session.lives.get(number=number, to_revision=None).place
    stand_in = replace(answered(session.last_number + 1, call, text), replaces=number)
    held = a_lease(session)
    change = revision(session.revision + 1, [number], [(stand_in, place)])
    record(session.pk, held.fence, [Repaired(change, ())])
    lease.release(held)
    session.refresh_from_db()
