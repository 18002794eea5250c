from __future__ import annotations

from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import pytest
from builders import a_session, a_user
from calls import Caller, problem
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries, Settings
from scenes import a_talk, compacted

from hermesweb import wake
from hermesweb.models import AgentSession, AuditEntry, Body, ModelEndpoint, Status

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return a_user()


@pytest.fixture
def caller(ada: User) -> Caller:
    return Caller(ada)


@pytest.fixture
def root(tmp_path: Path, settings: Settings) -> Path:
    settings.ALLOWED_ROOTS = [tmp_path]
    return tmp_path


@pytest.fixture(autouse=True)
def _nobody_is_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wake, "_send", lambda session_id: None)


def wish(root: Path, **changes: Any) -> dict[str, Any]:
    return {"workspace": str(root), "model": "explorer", "profile": "small", **changes}


def test_a_session_is_made_with_its_first_instruction_queued(caller: Caller, root: Path) -> None:
    response = caller.post("sessions", wish(root, instruction="look around", title="A look"))
    made = response.json()
    assert response.status_code == 201
    assert (made["kind"], made["title"], made["status"]) == ("run", "A look", "queued")
    assert (made["profile"], made["queue"]) == ({"name": "small", "version": 1}, 1)
    assert made["workspace"] == str(root)
    assert AgentSession.objects.get().pk == made["id"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"workspace": "/nowhere/at/all"}, "workspace"),
        ({"workspace": "/"}, "workspace"),
        ({"workspace": ""}, "workspace"),
        ({"model": "no-such-model"}, "model"),
        ({"model": "keyless"}, "model"),
        ({"model": "replay"}, "model"),
        ({"profile": "no-such-profile"}, "profile"),
        ({"mode": "yolo"}, "mode"),
        ({"automatic": "sometimes"}, "automatic"),
        ({"instruction": "x" * 1_000_001}, "instruction"),
        ({"title": 5}, "title"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_session_that_cannot_be_is_refused_at_its_field_and_nothing_is_stored(
    caller: Caller, root: Path, changes: dict[str, Any], field: str
) -> None:
    ModelEndpoint.objects.create(name="keyless", model="m", key_variable="NO_SUCH_KEY_IS_SET")
    response = caller.post("sessions", wish(root, **changes))
    assert problem(response) == (422, "invalid", field)
    assert not AgentSession.objects.exists()


def test_a_missing_key_is_named(caller: Caller, root: Path) -> None:
    ModelEndpoint.objects.create(name="keyless", model="m", key_variable="NO_SUCH_KEY_IS_SET")
    response = caller.post("sessions", wish(root, model="keyless"))
    assert "NO_SUCH_KEY_IS_SET" in response.json()["error"]["message"]


def test_a_missing_member_is_named(caller: Caller, root: Path) -> None:
    response = caller.post("sessions", {"workspace": str(root), "model": "explorer"})
    assert problem(response) == (422, "invalid", "profile")


@pytest.mark.parametrize("body", ["", "{", "nonsense", b"\xff\xfe", "[" * 100_000])
def test_a_body_that_is_no_json_is_refused(caller: Caller, body: str | bytes) -> None:
    assert caller.post("sessions", body).status_code in (400, 422)


def test_what_is_no_object_is_refused(caller: Caller) -> None:
    assert problem(caller.post("sessions", [1, 2]))[:2] == (422, "invalid")


def test_one_session_tells_all_of_its_measurement(caller: Caller, ada: User) -> None:
    session = a_talk(ada, 8)
    got = caller.get(f"sessions/{session.pk}").json()
    session.refresh_from_db()
    assert got["size"]["bytes"] == session.bytes == sum(got["breakdown"].values())
    assert got["pressure"] == round(session.used / session.limit, 4)
    assert got["window"] == {"tokens": session.window_tokens, "from": session.window_from}
    expected = {"id", "kind", "title", "status", "over_budget", "hold", "thrash", "automatic"}
    expected |= {"breaker", "used", "limit", "unit", "reserve", "profile", "turns", "compactions"}
    expected |= {"revision", "seq", "pinned_bytes", "floor", "turns_to_compaction", "queue"}
    assert expected <= got.keys()
    assert got["created_at"].endswith("Z")


def test_lists_are_paged_by_a_cursor_in_every_order(caller: Caller, ada: User) -> None:
    for name in ("b", "c", "a", "c"):
        a_session(ada, title=name)
    for sort in ("changed", "created", "title"):
        seen, cursor = [], ""
        while cursor is not None:
            page = caller.get("sessions", sort=sort, limit=1, cursor=cursor).json()
            seen += [one["title"] for one in page["items"]]
            cursor = page["next"]
        assert sorted(seen) == ["a", "b", "c", "c"]
    assert seen == ["a", "b", "c", "c"]


def test_a_list_is_filtered_by_status_and_words(caller: Caller, ada: User) -> None:
    a_session(ada, title="the parser", status=Status.FAILED)
    a_session(ada, title="the importer")
    failed = caller.get("sessions", status="failed").json()["items"]
    found = caller.get("sessions", q="importer").json()["items"]
    assert [one["title"] for one in failed] == ["the parser"]
    assert [one["title"] for one in found] == ["the importer"]


@pytest.mark.parametrize(
    "query", [{"cursor": "x"}, {"limit": 0}, {"limit": 1_000}, {"sort": "x"}, {"status": "x"}]
)
def test_a_wrong_query_is_refused_at_its_field(caller: Caller, query: dict[str, Any]) -> None:
    assert problem(caller.get("sessions", **query)) == (422, "invalid", *query)


def test_a_list_takes_the_same_queries_however_long(
    caller: Caller, ada: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(12):
        a_session(ada)
    with django_assert_num_queries(3):  # the token, the page, the profiles
        assert len(caller.get("sessions").json()["items"]) == 12


def test_one_session_takes_the_same_queries_however_long(
    caller: Caller, ada: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    session = a_talk(ada, 60)
    with django_assert_max_num_queries(7):
        caller.get(f"sessions/{session.pk}")


def test_what_is_told_of_a_session_can_be_changed_at_once(caller: Caller, ada: User) -> None:
    session = a_session(ada)
    changes = {"title": "New", "profile": "nanohermes", "mode": "plan", "automatic": "off"}
    got = caller.patch(f"sessions/{session.pk}", changes).json()
    assert (got["title"], got["mode"], got["automatic"]) == ("New", "plan", "off")
    assert got["profile"]["name"] == "nanohermes"
    assert AuditEntry.objects.filter(chain=session.pk).count() == 4
    assert caller.patch(f"sessions/{session.pk}", {"archived": True}).json()["status"] == "archived"
    assert caller.patch(f"sessions/{session.pk}", {"archived": False}).json()["status"] == "idle"


def test_of_several_changes_all_are_made_or_none(caller: Caller, ada: User) -> None:
    session = a_session(ada, title="Old")
    response = caller.patch(f"sessions/{session.pk}", {"title": "New", "mode": "yolo"})
    assert problem(response) == (422, "invalid", "mode")
    session.refresh_from_db()
    assert (session.title, session.seq) == ("Old", 0)


def test_staff_deletes_a_session_with_all_that_is_its_own(ada: User) -> None:
    session = a_talk(ada, text="y" * 5_000)
    compacted(session)
    AgentSession.objects.update(status=Status.IDLE)
    staff = Caller(a_user("eve", is_staff=True))
    assert Body.objects.exists()
    assert problem(Caller(ada).delete(f"sessions/{session.pk}"))[:2] == (403, "forbidden")
    assert staff.delete(f"sessions/{session.pk}").status_code == 204
    assert not AgentSession.objects.exists()
    assert not Body.objects.exists()
    assert AuditEntry.objects.get(chain=session.pk, action="deleted").who == "eve"


def test_a_session_at_work_is_not_deleted() -> None:
    session = a_session(status=Status.RUNNING)
    staff = Caller(a_user("eve", is_staff=True))
    assert problem(staff.delete(f"sessions/{session.pk}")) == (409, "running", None)


def test_stop_and_resume_are_refused_where_there_is_nothing_to_do(
    caller: Caller, ada: User
) -> None:
    session = a_session(ada)
    assert problem(caller.post(f"sessions/{session.pk}/stop"))[:2] == (409, "not_running")
    assert problem(caller.post(f"sessions/{session.pk}/resume"))[:2] == (409, "answered")


def test_stop_is_told_to_the_worker(caller: Caller, ada: User) -> None:
    session = a_session(ada, status=Status.RUNNING)
    assert caller.post(f"sessions/{session.pk}/stop").json()["status"] == "stopping"


@pytest.mark.parametrize(
    "path",
    [
        "sessions",
        "sessions/x",
        "sessions/x/messages",
        "profiles",
        "openapi.json",
        "sessions/x/turns",
    ],
)
def test_without_a_token_nothing_is_shown(path: str) -> None:
    assert problem(Caller().get(path)) == (401, "unauthorized", None)


def test_a_post_without_a_token_is_unauthorized_and_a_wrong_token_too(ada: User) -> None:
    assert problem(Caller().post("sessions", {}))[:2] == (401, "unauthorized")
    wrong = Client(headers={"Authorization": "Bearer wrong"})
    assert wrong.get("/api/v1/sessions").status_code == 401


@pytest.mark.parametrize(
    "path",
    ["", "/messages", "/messages/1", "/instructions", "/compactions", "/turns", "/events", "/diff"],
)
def test_a_stranger_finds_nothing(path: str, ada: User) -> None:
    session = a_talk(ada)
    stranger = Caller(a_user("bob"))
    response = stranger.get(f"sessions/{session.pk}{path}", **{"from": "0", "to": "0"})
    assert problem(response)[:2] == (404, "not_found")
    assert caller_sees(ada, session)
    assert stranger.get("sessions").json()["items"] == []


def caller_sees(user: User, session: AgentSession) -> bool:
    return Caller(user).get(f"sessions/{session.pk}").status_code == 200


def test_a_browser_needs_its_csrf_header_to_change_something(ada: User, settings: Settings) -> None:
    session = a_session(ada, status=Status.RUNNING)
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(ada)
    path = f"/api/v1/sessions/{session.pk}"
    assert browser.get(path).status_code == 200
    assert problem(browser.post(f"{path}/stop"))[:2] == (403, "forbidden")
    browser.get("/accounts/login/")
    browser.cookies[settings.CSRF_COOKIE_NAME] = token = "a" * 32
    stopped = browser.post(f"{path}/stop", headers={"X-CSRFToken": token})
    assert stopped.status_code == 200


@pytest.mark.parametrize(
    ("verb", "path"), [("DELETE", "sessions"), ("PUT", "sessions/x"), ("POST", "profiles")]
)
def test_a_wrong_verb_is_told(caller: Caller, verb: str, path: str) -> None:
    assert problem(caller.send(verb, path))[:2] == (405, "method_not_allowed")


@pytest.mark.parametrize("verb", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_a_path_that_is_none_is_told_in_the_same_shape(verb: str) -> None:
    client = Client(enforce_csrf_checks=True)
    assert problem(client.generic(verb, "/api/v1/sessions/x/nothing"))[:2] == (404, "not_found")


@pytest.mark.parametrize(
    ("verb", "path", "body"),
    [
        ("GET", "sessions/%00", None),
        ("GET", "sessions?q=%00", None),
        ("GET", "sessions?cursor=WyJcdTAwMDAiLCAiXHUwMDAwIl0=&sort=title", None),
        ("GET", "profiles/%00", None),
        ("POST", "sessions", {"workspace": "\0", "model": "explorer", "profile": "small"}),
        ("POST", "sessions", {"workspace": "/", "model": "\0", "profile": "\0"}),
        ("PUT", "profiles/%00", {"values": {}}),
    ],
)
def test_a_nul_where_no_column_can_hold_it_is_no_fault_of_the_server(
    ada: User, verb: str, path: str, body: Any
) -> None:
    staff = Caller(a_user("eve", is_staff=True))
    assert staff.send(verb, path, body).status_code < 500


@pytest.mark.parametrize(
    "changes", [{"model": "\ud800"}, {"profile": "\ud800"}, {"workspace": "\ud800"}]
)
def test_half_a_surrogate_pair_where_a_name_is_asked_for_is_told(
    caller: Caller, root: Path, changes: dict[str, str]
) -> None:
    response = caller.post("sessions", wish(root, **changes))
    assert problem(response)[:2] == (422, "invalid")


@pytest.mark.parametrize(
    "key", ['["0001-01-01T00:00:00+23:59", "a"]', '["9999-12-31T23:59:59-23:59", "a"]', "[" * 9_000]
)
def test_a_cursor_that_no_clock_or_depth_holds_is_refused(caller: Caller, key: str) -> None:
    cursor = urlsafe_b64encode(key.encode()).decode()
    assert problem(caller.get("sessions", cursor=cursor)) == (422, "invalid", "cursor")


def test_an_unknown_path_is_told(caller: Caller) -> None:
    assert problem(caller.get("nothing/here"))[:2] == (404, "not_found")


def test_the_openapi_document_names_every_call(caller: Caller) -> None:
    paths = caller.get("openapi.json").json()["paths"]
    assert "/api/v1/sessions/{id}/messages/{number}/pin" in paths
    assert set(paths["/api/v1/sessions/{id}"]) == {"get", "patch", "delete"}


def test_the_openapi_document_says_of_every_call_what_it_does(caller: Caller) -> None:
    paths = caller.get("openapi.json").json()["paths"]
    calls = {f"{verb} {path}": call for path in paths for verb, call in paths[path].items()}
    assert [name for name, call in calls.items() if not call.get("description")] == []
