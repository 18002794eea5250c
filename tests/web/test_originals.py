from __future__ import annotations

import pytest
from builders import a_user
from scenes import a_talk_of, compacted, messages_of

from agentcore.compaction.asked import CompactionOptions
from hermesweb import lives, planning

pytestmark = pytest.mark.django_db


def test_originals_are_read_by_number_in_order() -> None:
    session = a_talk_of(a_user(), *messages_of(12))
    read = lives.originals_of(session.pk, [range(2, 4), range(9, 10), range(40, 50)])
    assert [message.number for message in read] == [2, 3, 9]
    assert lives.originals_of(session.pk, []) == []


def test_of_many_originals_the_newest_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lives, "MOST_ORIGINALS", 3)
    session = a_talk_of(a_user(), *messages_of(12))
    assert [one.number for one in lives.originals_of(session.pk, [range(1, 11)])] == [8, 9, 10]


def test_of_a_summary_of_a_summary_the_first_messages_are_originals_too() -> None:
    session = a_talk_of(a_user(), *messages_of(12))
    compacted(session, start=2, stop=6)
    compacted(session, start=2, stop=6)
    (standing,) = (one for one in lives.snapshot_of(session).messages if one.is_summary)
    read = lives.originals_of(session.pk, standing.stands_for)
    assert [one.number for one in read] == [3, 4, 5, 6, 7, 8, 9, 13]


def test_the_request_for_a_draft_goes_back_to_the_archive_and_a_look_does_not() -> None:
    session = a_talk_of(a_user(), *messages_of(12))
    compacted(session, start=2, stop=6)
    options = CompactionOptions(stage="keep_recent", keep_last=2)
    looked, asked = (
        planning.planned(session, options, to_ask=to_ask).request for to_ask in (False, True)
    )
    assert looked is not None and looked.lines[0].startswith("earlier summary: four messages")
    assert asked is not None and asked.lines[0].startswith("facts so far: ")
    assert len(asked.lines) == len(looked.lines) + 5
