"""Instructions, compactions and what happened, over the API."""

from __future__ import annotations

from typing import Any

import pytest
from builders import a_session, a_user
from calls import Caller, problem
from django.contrib.auth.models import User
from django.db import connection
from scenes import a_talk, compacted

from hermesweb import wake
from hermesweb.models import Instruction, SessionKind, Status

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return a_user()


@pytest.fixture
def caller(ada: User) -> Caller:
    return Caller(ada)


@pytest.fixture(autouse=True)
def _nobody_is_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wake, "_send", lambda session_id: None)


def test_instructions_are_queued_edited_and_withdrawn(caller: Caller, ada: User) -> None:
    path = f"sessions/{a_session(ada).pk}/instructions"
    first, second = [caller.post(path, {"text": text}) for text in ("one", "two")]
    assert [answer.status_code for answer in (first, second)] == [202, 202]
    assert [answer.json()["place"] for answer in (first, second)] == [1, 2]
    changed = caller.patch(f"{path}/{second.json()['id']}", {"text": "deux"})
    assert changed.json() == second.json()
    assert caller.delete(f"{path}/{first.json()['id']}").status_code == 204
    items = caller.get(path).json()["items"]
    assert [(one["text"], one["by"], one["kind"]) for one in items] == [("deux", "ada", "message")]


def test_a_long_instruction_is_listed_by_its_beginning(caller: Caller, ada: User) -> None:
    path = f"sessions/{a_session(ada).pk}/instructions"
    caller.post(path, {"text": "語" * 300_000})
    listed = caller.get(path).json()["items"][0]
    assert (len(listed["text"]), listed["chars"]) == (2_000, 300_000)


@pytest.mark.parametrize(
    "body", [{"text": ""}, {"text": " \n"}, {"text": "x" * 1_000_001}, {"text": 1}, {"text": None}]
)
def test_an_instruction_that_is_none_is_refused(
    caller: Caller, ada: User, body: dict[str, Any]
) -> None:
    session = a_session(ada)
    response = caller.post(f"sessions/{session.pk}/instructions", body)
    assert problem(response) == (422, "invalid", "text")
    assert not Instruction.objects.exists()


def test_a_body_too_large_to_be_read_is_told(caller: Caller, ada: User) -> None:
    path = f"sessions/{a_session(ada).pk}/instructions"
    response = caller.post(path, {"text": "x" * 3_000_000})
    assert problem(response) == (413, "too_large", None)


def test_text_that_no_column_holds_is_refused_or_kept_whole(caller: Caller, ada: User) -> None:
    path = f"sessions/{a_session(ada).pk}/instructions"
    assert caller.post(path, '{"text": "half \\ud800"}').status_code in (202, 422)
    assert caller.post(path, '{"text": "nul \\u0000"}').status_code in (202, 422)


@pytest.mark.parametrize(
    ("known", "code"),
    [
        ({"status": Status.ARCHIVED}, "archived"),
        ({"kind": SessionKind.IMPORTED}, "read_only"),
        ({"status": Status.BLOCKED}, "blocked"),
    ],
)
def test_a_session_that_takes_no_instruction_says_why(
    caller: Caller, ada: User, known: dict[str, Any], code: str
) -> None:
    session = a_session(ada, **known)
    response = caller.post(f"sessions/{session.pk}/instructions", {"text": "go"})
    assert problem(response) == (409, code, None)


def test_a_taken_instruction_can_no_longer_be_changed(caller: Caller, ada: User) -> None:
    session = a_session(ada)
    path = f"sessions/{session.pk}/instructions"
    queued = caller.post(path, {"text": "go"}).json()["id"]
    Instruction.objects.update(state="taken")
    assert caller.patch(f"{path}/{queued}", {"text": "stay"}).status_code == 409
    assert caller.delete(f"{path}/{queued}").status_code == 409
    assert caller.delete(f"{path}/{queued + 1}").status_code in (404, 409, 422)


def test_a_compaction_is_queued_with_its_number_and_only_one_at_a_time(
    caller: Caller, ada: User
) -> None:
    session = a_talk(ada)
    path = f"sessions/{session.pk}/compactions"
    response = caller.post(path, {"focus": "the parser"})
    assert response.status_code == 202
    assert (response.json()["number"], response.json()["place"]) == (1, 1)
    assert problem(caller.post(path)) == (409, "running", None)
    row = session.stored_compactions.get()
    assert (row.state, row.trigger, row.by) == ("queued", "manual", ada)
    assert problem(caller.post(path, {"presets": "x"})) == (422, "invalid", "presets")


def test_a_compaction_tells_what_became_of_each_row(caller: Caller, ada: User) -> None:
    session = a_talk(ada, 10)
    number = compacted(session, start=2, stop=6)
    path = f"sessions/{session.pk}/compactions"
    listed = caller.get(path).json()["items"]
    assert [(one["number"], one["state"], one["changed"]) for one in listed] == [
        (number, "applied", True)
    ]
    got = caller.get(f"{path}/{number}").json()
    assert [(one["number"], one["index"], one["fate"]) for one in got["fates"]] == [
        (number, number - 1, "summarized") for number in range(3, 7)
    ]
    assert [(one["number"], one["origin"]) for one in got["added"]] == [(11, "note")]
    assert got["added"][0]["stands_for"] == [[3, 6]]
    assert got["before"]["size"] - got["after"]["size"] == got["stages"][0]["freed"]
    assert sum(got["after"]["breakdown"].values()) == got["after"]["size"]
    assert problem(caller.get(f"{path}/99"))[:2] == (404, "not_found")


def test_turns_come_with_their_own_limit_and_breakdown(caller: Caller, ada: User) -> None:
    session = a_talk(ada, 8)
    page = caller.get(f"sessions/{session.pk}/turns", limit=2).json()
    assert [one["turn"] for one in page["items"]] == [1, 2]
    rest = caller.get(f"sessions/{session.pk}/turns", cursor=page["next"]).json()
    assert ([one["turn"] for one in rest["items"]], rest["next"]) == ([3], None)
    assert all(sum(one["breakdown"].values()) == one["bytes"] for one in page["items"])
    assert {"requested", "ended", "limit", "usage", "stable_prefix", "break", "action"} <= set(
        page["items"][0]
    )


def test_revisions_tell_their_cause(caller: Caller, ada: User) -> None:
    session = a_talk(ada, 10)
    compacted(session, start=2, stop=6)
    items = caller.get(f"sessions/{session.pk}/revisions").json()["items"]
    assert [(one["number"], one["cause"], one["ended"], one["begun"]) for one in items] == [
        (1, "compaction_ended", 4, 1)
    ]


def test_events_go_on_after_the_last_one_seen(caller: Caller, ada: User) -> None:
    session = a_talk(ada, 8)
    path = f"sessions/{session.pk}/events"
    first = caller.get(path, limit=3).json()
    rest = caller.get(path, after=first["events"][-1]["seq"]).json()
    seen = [one["seq"] for one in first["events"] + rest["events"]]
    assert seen == list(range(1, session.seq + 1))
    assert first["last"] == rest["last"] == session.seq
    assert caller.get(path, after=session.seq).json()["events"] == []
    assert problem(caller.get(path, after="x")) == (422, "invalid", "after")
    assert problem(caller.get(path, after=-1)) == (422, "invalid", "after")


def test_the_diff_of_two_states_gives_each_row_one_fate(caller: Caller, ada: User) -> None:
    session = a_talk(ada, 10)
    compacted(session, start=2, stop=6)
    path = f"sessions/{session.pk}/diff"
    got = caller.get(path, **{"from": "0", "to": "1"}).json()
    assert (got["before"]["messages"], got["after"]["messages"]) == (10, 7)
    fates = {row["number"]: row.get("fate") or row["origin"] for row in got["rows"]}
    assert fates[1] == "kept"
    assert [fates[number] for number in range(3, 7)] == ["summarized"] * 4
    assert fates[11] == "note"
    grown = caller.get(path, **{"from": "turn:1", "to": "0"}).json()
    added = [row["number"] for row in grown["rows"] if row.get("origin") == "appended"]
    assert added == list(range(5, 11))
    assert problem(caller.get(path, **{"from": "1", "to": "0"})) == (422, "invalid", "from")
    assert problem(caller.get(path, **{"from": "1"})) == (422, "invalid", "to")


def test_a_database_that_takes_nothing_is_told_as_such(caller: Caller, ada: User) -> None:
    session = a_talk(ada)
    with connection.cursor() as cursor:
        cursor.execute("pragma query_only = on")
        response = caller.post(f"sessions/{session.pk}/instructions", {"text": "go on"})
        cursor.execute("pragma query_only = off")
    assert problem(response)[:2] == (503, "database")
    assert not Instruction.objects.exists()
