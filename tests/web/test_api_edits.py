from __future__ import annotations

from typing import Any

import pytest
from builders import a_user
from django.contrib.auth.models import User
from django.test import Client
from scenes import a_talk, compacted

from hermesweb.models import AgentSession, Instruction

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("woken")]


def asked(client: Client, verb: str, path: str, body: Any = None) -> Any:
    call = getattr(client, verb)
    return call(f"/api/v1/sessions/{path}", body, content_type="application/json")


def test_acts_on_the_list_answer_with_their_place_in_the_queue(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    for place, (verb, path, body) in enumerate(
        [
            ("post", "compactions/1/undo", None),
            ("put", "messages/7/excluded", None),
            ("put", "messages/excluded", {"numbers": [7, 9]}),
            ("post", "messages/3/restore", None),
            ("post", "new_topic", None),
            ("post", "undo", None),
        ],
        1,
    ):
        answer = asked(client, verb, f"{session.pk}/{path}", body)
        assert answer.status_code == 202, answer.content
        assert answer.json()["place"] == place
    kinds = Instruction.objects.order_by("id").values_list("kind", flat=True)
    assert list(kinds) == ["undo", "exclude", "exclude", "restore", "new_topic", "undo"]


def test_what_cannot_be_is_refused_with_the_reason(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    answer = asked(client, "post", f"{session.pk}/undo")
    assert answer.status_code == 409
    assert answer.json()["error"]["code"] == "not_undoable"
    answer = asked(client, "put", f"{session.pk}/messages/1/excluded")
    assert answer.status_code == 409
    assert "is a system message" in answer.json()["error"]["message"]
    answer = asked(client, "post", f"{session.pk}/messages/3/restore")
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "in_list")


def test_an_earlier_compaction_is_not_undone_over_a_later_change(client: Client, ada: User) -> None:
    session = a_talk(ada, 20)
    compacted(session)
    compacted(session, start=3, stop=5)
    answer = asked(client, "post", f"{session.pk}/compactions/1/undo")
    assert answer.status_code == 409
    assert "changed since compaction 1" in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("post", "compactions/9/undo"),
        ("put", "messages/99/excluded"),
        ("post", "messages/99/restore"),
    ],
)
def test_what_is_not_there_is_not_found(client: Client, ada: User, verb: str, path: str) -> None:
    session = a_talk(ada, 12)
    assert asked(client, verb, f"{session.pk}/{path}").status_code == 404


def test_a_stranger_changes_nothing(client: Client, ada: User) -> None:
    session = a_talk(a_user("bob"), 12)
    for verb, path in [("post", "undo"), ("post", "new_topic"), ("put", "messages/3/excluded")]:
        assert asked(client, verb, f"{session.pk}/{path}").status_code == 404
    assert not AgentSession.objects.filter(instructions__isnull=False).exists()


def test_the_session_tells_hold_thrash_and_breaker(client: Client, ada: User) -> None:
    session = a_talk(ada, 12, hold=True, thrash=True, breaker_failures=3)
    found = client.get(f"/api/v1/sessions/{session.pk}").json()
    assert (found["hold"], found["thrash"]) == (True, True)
    assert found["breaker"] == {"failures": 3, "open_until": None}
