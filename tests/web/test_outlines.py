"""What is told of a whole list without reading its texts is what the texts would tell."""

from __future__ import annotations

import pytest
from builders import a_lease, a_user, added, answered, called, said
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from scenes import a_talk, a_talk_of, compacted, compacted_by, later

from agentcore.compaction.edits import exclusion, new_topic_plan, protected
from agentcore.compaction.plan import apply_plan
from agentcore.messages import born
from agentcore.snapshot import Snapshot, settled
from hermesweb import acts, lease, lives, pins
from hermesweb.bulk import selection
from hermesweb.listing import Choice
from hermesweb.models import AgentSession
from hermesweb.outlines import outline_of
from hermesweb.recorder import record

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("woken")]

TEXTS = ("wire", "hermesweb_body", '"data"')


def talk() -> AgentSession:
    """With a pin, texts that are bodies of their own, and results not seen yet."""
    session = a_talk(a_user(), 10, text="x" * 5_000)
    later(session, called(11, "grep", "grep"), answered(12, "call_11_0", "y" * 5_000, tool="grep"))
    later(session, answered(13, "call_11_1", "z", tool="grep"))
    acts.pin(None, session, [6])
    return session


def with_a_note() -> AgentSession:
    session = a_talk(a_user(), 12)
    compacted(session)
    return session


def masked() -> AgentSession:
    """With placeholders in the place of results."""
    session = a_talk(a_user(), 30, text="x" * 3_000)
    compacted_by(session, stage="micro", keep_last=2)
    return session


def not_yet_answered() -> AgentSession:
    """Its last reply calls a tool that has not come back."""
    session = a_talk(a_user(), 8)
    held = a_lease(session)
    record(session.pk, held.fence, added(called(9, "grep"), turn=4))
    lease.release(held)
    session.refresh_from_db()
    return session


def without_calls() -> AgentSession:
    """A reply says that it calls nothing, in as many words."""
    silent = born({"role": "assistant", "content": "done", "tool_calls": []}).numbered(3)
    return a_talk_of(a_user(), said(1, "Be careful.", "system"), said(2, "Go."), silent)


ALL = [talk, with_a_note, masked, not_yet_answered, without_calls]


@pytest.mark.parametrize("made", ALL, ids=lambda made: made.__name__)
def test_an_outline_tells_groups_reasons_and_sizes_as_the_texts_do(made: object) -> None:
    session = made()  # type: ignore[operator]
    outline, whole = outline_of(session), lives.snapshot_of(session)
    kept = pins.in_force(session)
    rows = range(len(whole.messages))
    assert [*map(outline.group_at, rows)] == [*map(whole.group_at, rows)]
    assert protected(outline, kept) == protected(whole, kept)
    assert (outline.sizes, outline.places, outline.state) == (
        whole.sizes,
        whole.places,
        whole.state,
    )
    assert left_by_exclusion(outline, kept) == left_by_exclusion(whole, kept)
    topics = [
        apply_plan(new_topic_plan(settled(one), kept), settled(one))[0] for one in (outline, whole)
    ]
    assert topics[0].sizes == topics[1].sizes


def left_by_exclusion(snapshot: Snapshot, kept: frozenset[int]) -> tuple[list[int], int]:
    """The numbers and bytes that are left when all goes that may."""
    stays = protected(snapshot, kept)
    going = [row for row in range(len(snapshot.messages)) if row not in stays]
    after, _ = apply_plan(exclusion(snapshot, going), snapshot)
    return [one.number for one in after.messages], after.sizes.bytes


@pytest.mark.parametrize("query", ["all=on", "tool=grep", "q=fix", "category=tool_results&size=99"])
def test_many_at_once_reads_no_text_and_asks_as_much_of_a_longer_list(
    client: Client, query: str
) -> None:
    session = talk()
    client.force_login(session.owner)
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as asked:
            answer = client.get(f"/sessions/{session.pk}/bulk/?{query}")
        assert answer.status_code == 200
        told = [one["sql"] for one in asked.captured_queries]
        assert not [sql for sql in told if any(text in sql for text in TEXTS)]
        counts.append(len(told))
        number = session.last_number + 1
        for at in range(number, number + 20, 2):
            later(session, called(at, "grep"), answered(at + 1, f"call_{at}_0", "y", tool="grep"))
    assert counts[0] == counts[1]


def test_the_page_of_a_new_topic_reads_no_text(client: Client) -> None:
    session = talk()
    client.force_login(session.owner)
    with CaptureQueriesContext(connection) as asked:
        assert client.get(f"/sessions/{session.pk}/new_topic").status_code == 200
    told = [one["sql"] for one in asked.captured_queries]
    assert not [sql for sql in told if any(text in sql for text in TEXTS)]


def test_a_list_with_a_call_that_is_not_answered_yet_can_be_looked_at() -> None:
    chosen = selection(not_yet_answered(), Choice())
    assert chosen.leaving.numbers == [3, 4, 5, 6, 7, 8] and chosen.freed > 0
    assert [one.reason for one in chosen.refused][-1] == "was not seen by the model yet"
