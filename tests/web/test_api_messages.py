from __future__ import annotations

import json
from typing import Any

import pytest
from builders import a_session, a_user
from calls import Caller, problem
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries
from scenes import a_talk, compacted

from hermesweb.models import AgentSession, SessionKind

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return a_user()


@pytest.fixture
def caller(ada: User) -> Caller:
    return Caller(ada)


def all_pages(caller: Caller, session: AgentSession, **query: Any) -> list[dict[str, Any]]:
    found, cursor = [], ""
    while cursor is not None:
        page = caller.get(f"sessions/{session.pk}/messages", cursor=cursor, **query).json()
        found += page["items"]
        cursor = page["next"]
    return found


def test_the_list_is_what_the_model_sees_in_its_order(caller: Caller, ada: User) -> None:
    session = a_talk(ada, 10)
    compacted(session, start=2, stop=6)
    found = all_pages(caller, session, limit=2)
    assert [one["number"] for one in found] == [1, 2, 11, 7, 8, 9, 10]
    assert [one["index"] for one in found] == list(range(7))
    assert sum(one["bytes"] for one in found) == session.bytes


def test_all_that_was_said_has_its_lives_and_fates(caller: Caller, ada: User) -> None:
    session = a_talk(ada, 10)
    compacted(session, start=2, stop=6)
    found = {one["number"]: one for one in all_pages(caller, session, view="all", limit=3)}
    assert list(found) == list(range(1, 12))
    assert (found[3]["lives"], found[3]["fate"], found[3]["index"]) == (
        [[0, 1]],
        "summarized",
        None,
    )
    assert (found[7]["lives"], found[7]["fate"], found[7]["index"]) == ([[0, None]], "kept", 3)
    assert found[11]["lives"] == [[1, None]]


@pytest.mark.parametrize(
    ("state", "numbers"),
    [
        ("0", list(range(1, 11))),
        ("0.4", [1, 2, 3, 4]),
        ("turn:1", [1, 2, 3, 4]),
        ("1", [1, 2, 11, 7, 8, 9, 10]),
    ],
)
def test_a_list_of_before_is_shown_as_it_was(
    caller: Caller, ada: User, state: str, numbers: list[int]
) -> None:
    session = a_talk(ada, 10)
    compacted(session, start=2, stop=6)
    found = all_pages(caller, session, at=state, limit=4)
    assert [one["number"] for one in found] == numbers


@pytest.mark.parametrize("state", ["turn:99", "turn:", "2", "0.99999", "x", "1.2.3", "-1", "1.²"])
def test_a_state_that_never_was_is_refused(caller: Caller, ada: User, state: str) -> None:
    session = a_talk(ada)
    response = caller.get(f"sessions/{session.pk}/messages", at=state)
    assert problem(response) == (422, "invalid", "at")


def test_one_message_is_given_byte_for_byte(caller: Caller, ada: User) -> None:
    session = a_talk(ada, text="語" * 3_000)
    got = caller.get(f"sessions/{session.pk}/messages/4").json()
    row = session.messages.get(number=4)
    assert row.body is not None
    assert got["wire"] == row.text
    assert json.loads(got["wire"])["content"] == "語" * 3_000
    assert got["bytes"] == len(got["wire"].encode()) == sum(got["categories"].values())
    assert problem(caller.get(f"sessions/{session.pk}/messages/99"))[:2] == (404, "not_found")


def test_a_page_takes_the_same_queries_however_long_and_loads_no_body(
    caller: Caller, ada: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    session = a_talk(ada, 120, text="z" * 5_000)
    for view in ("model", "all"):
        # The token, the session, the keys, the rows, their lives; for all also the list now.
        with django_assert_num_queries(5 if view == "model" else 6) as asked:
            page = caller.get(f"sessions/{session.pk}/messages", view=view, limit=50)
        assert len(page.json()["items"]) == 50
        assert len(page.content) < 50_000
        queries = " ".join(query["sql"] for query in asked.captured_queries)
        assert "hermesweb_body" not in queries and '"wire"' not in queries


def test_a_pin_is_set_with_its_reason_and_taken_away(caller: Caller, ada: User) -> None:
    session = a_talk(ada)
    path = f"sessions/{session.pk}/messages/2/pin"
    got = caller.put(path, {"reason": "the task", "until": "turn:9"}).json()
    row = session.messages.get(number=2)
    assert (row.pinned, row.pin_reason, row.pin_until) == (True, "the task", "turn:9")
    assert got["pinned_bytes"] == row.bytes
    assert got["floor"] >= row.bytes
    assert caller.get(f"sessions/{session.pk}/messages/2").json()["fate"] == "pinned"
    assert caller.delete(path).json()["pinned_bytes"] == 0
    assert caller.put(path).json()["pinned"] is True


def test_many_are_pinned_at_once_or_none(caller: Caller, ada: User) -> None:
    session = a_talk(ada)
    path = f"sessions/{session.pk}/messages/pin"
    assert caller.put(path, {"numbers": [2, 4]}).json()["numbers"] == [2, 4]
    assert problem(caller.put(path, {"numbers": [3, 99]})) == (422, "invalid", "numbers")
    assert list(session.messages.filter(pinned=True).values_list("number", flat=True)) == [2, 4]
    caller.delete(path, {"numbers": [2, 4]})
    assert not session.messages.filter(pinned=True).exists()


def test_a_pin_that_leaves_no_room_is_refused_with_the_arithmetic(
    caller: Caller, ada: User
) -> None:
    session = a_talk(ada, 4, text="x" * 30_000)
    response = caller.put(f"sessions/{session.pk}/messages/4/pin")
    assert problem(response) == (409, "pins_too_large", None)
    assert "24,000" in response.json()["error"]["message"]
    assert not session.messages.filter(pinned=True).exists()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"until": "never"}, "until"),
        ({"until": 5}, "until"),
        ({"why": "x"}, "why"),
        ({"reason": ["x"]}, "reason"),
    ],
)
def test_a_wrong_pin_is_refused_at_its_field(
    caller: Caller, ada: User, body: dict[str, Any], field: str
) -> None:
    session = a_talk(ada)
    response = caller.put(f"sessions/{session.pk}/messages/2/pin", body)
    assert problem(response) == (422, "invalid", field)


@pytest.mark.parametrize(
    "body",
    [
        {},
        *({"numbers": numbers} for numbers in ([], "2", [2.5], [-1], [2**63], [-(10**30)])),
    ],
)
def test_wrong_numbers_are_refused(caller: Caller, ada: User, body: dict[str, Any]) -> None:
    session = a_talk(ada)
    status, code, field = problem(caller.put(f"sessions/{session.pk}/messages/pin", body))
    assert (status, code) == (422, "invalid")
    assert field and field.startswith("numbers")


def test_a_checkpoint_is_set_and_cleared(caller: Caller, ada: User) -> None:
    session = a_talk(ada)
    path = f"sessions/{session.pk}/messages/3/checkpoint"
    assert caller.put(path).json() == {"number": 3, "checkpoint": True}
    assert session.messages.get(number=3).checkpoint
    assert caller.delete(path).json()["checkpoint"] is False


def test_absent_messages_and_read_only_sessions_are_told(caller: Caller, ada: User) -> None:
    session = a_talk(ada)
    assert problem(caller.put(f"sessions/{session.pk}/messages/99/pin"))[:2] == (404, "not_found")
    big = f"sessions/{session.pk}/messages/{10**30}/pin"
    assert problem(caller.put(big))[:2] == (404, "not_found")
    imported = a_talk(ada, kind=SessionKind.IMPORTED)
    response = caller.put(f"sessions/{imported.pk}/messages/2/pin")
    assert problem(response)[:2] == (409, "read_only")


def test_strangers_and_the_nameless_pin_nothing(ada: User) -> None:
    session = a_talk(ada)
    path = f"sessions/{session.pk}/messages/2/pin"
    assert problem(Caller(a_user("bob")).put(path))[:2] == (404, "not_found")
    assert problem(Caller().put(path))[:2] == (401, "unauthorized")
    assert not session.messages.filter(pinned=True).exists()


@pytest.mark.parametrize("cursor", ["1", "1.2", "a.b.c", "1.2.3.4", f"{9**30}.1.1", "²...1"])
def test_a_cursor_not_given_here_is_refused(caller: Caller, cursor: str) -> None:
    session = a_session()
    response = caller.get(f"sessions/{session.pk}/messages", cursor=cursor)
    assert problem(response) == (422, "invalid", "cursor")
