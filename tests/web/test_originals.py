from __future__ import annotations

import pytest
from builders import a_user
from scenes import a_talk_of, messages_of

from hermesweb import lives

pytestmark = pytest.mark.django_db


def test_originals_are_read_by_number_in_order() -> None:
    session = a_talk_of(a_user(), *messages_of(12))
    read = lives.messages_of(session.pk, [range(2, 4), range(9, 10), range(40, 50)])
    assert [message.number for message in read] == [2, 3, 9]
    assert lives.messages_of(session.pk, []) == []


def test_of_many_originals_the_newest_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lives, "MOST_ORIGINALS", 3)
    session = a_talk_of(a_user(), *messages_of(12))
    assert [one.number for one in lives.messages_of(session.pk, [range(1, 11)])] == [8, 9, 10]
