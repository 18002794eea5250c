"""Every address and call, as the URL conf and the OpenAPI document name them, by who asks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from builders import a_user
from django.contrib.auth.models import AnonymousUser, User
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern
from scenes import a_talk, compacted

from agentcore.compaction.asked import CompactionOptions
from hermesweb import acts, lives
from hermesweb.api import api
from hermesweb.audit import AuditEntry
from hermesweb.models import AgentSession, Instruction, MemoryEntry, SessionKind, Webhook
from hermesweb.urls import urlpatterns

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("woken")]

OPEN_TO_ALL = {
    *("login", "logout", "sign_in_link", "theme", "language", "words", "icon", "healthz", "readyz"),
}
PAGES = {one.name: str(one.pattern) for one in urlpatterns if isinstance(one, URLPattern)}
OWNED = sorted(name for name in PAGES if "id>" in PAGES[name])
VALUES = {"string": "1", "integer": 1, "boolean": True, "array": [1], "object": {}}


def calls() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Verb, path with its placeholders, and the least body of each call of the API."""
    schema = api.get_openapi_schema()
    for path, operations in schema["paths"].items():
        for verb, operation in operations.items():
            needed = [one["name"] for one in operation["parameters"] if one["required"]]
            query = "&".join(f"{name}=0" for name in needed if f"{{{name}}}" not in path)
            body = operation.get("requestBody", {}).get("content", {}).get("application/json")
            yield verb, f"{path}?{query}", _least(schema, body["schema"]) if body else {}


def _least(schema: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    name = next(re.finditer(r"#/components/schemas/(\w+)", str(body)))[1]
    found = schema["components"]["schemas"][name]
    known = found["properties"]
    return {field: VALUES[known[field]["type"]] for field in found.get("required", [])}


CALLS = list(calls())


class Place:
    """A session of ada's in which each placeholder of an address has something to name."""

    def __init__(self) -> None:
        self.ada = a_user("ada")
        self.session = a_talk(self.ada, 12)
        compacted(self.session)
        self.memory = MemoryEntry.objects.create(
            owner=self.ada, workspace="/srv/project", kind="decision", text="Use UTC."
        )
        self.waiting = Instruction.objects.create(session=self.session, kind="message", text="Go.")
        talk = lives.snapshot_of(self.session).messages
        calling = next(message.number for message in talk if message.calls)
        self.question = Instruction.objects.create(
            session=self.session,
            kind="approval",
            state="withdrawn",
            options={"what": "c", "tool": "grep", "message": calling, "place": 0},
        )
        self.webhook = Webhook.objects.create(owner=self.ada, url="https://hook.example/")

    def fill(self, path: str) -> str:
        whole = self.webhook if "webhooks/" in path else self.memory
        path = path.replace("<int:id>", str(whole.pk))
        if "webhooks/" in path:
            path = path.replace("{id}", str(whole.pk))
        if "imports/" in path:
            AgentSession.objects.update(kind=SessionKind.IMPORTED)
        if "<str:preview>" in path:
            preview, _ = acts.preview(
                self.ada, self.session, CompactionOptions(stage="mask", keep_last=1)
            )
            path = path.replace("<str:preview>", preview.pk)
        path = re.sub(r"[<{](\w+:)?instruction[>}]", str(self.waiting.pk), path)
        path = re.sub(r"[<{](\w+:)?question[>}]", str(self.question.pk), path)
        path = re.sub(r"[<{](\w+:)?(call|what)[>}]", "compaction", path)
        # A result that the preview masks, and any other message.
        path = re.sub(r"[<{](\w+:)?old[>}]", "8", path)
        path = re.sub(r"[<{](\w+:)?(new|other)[>}]", "2", path)
        path = re.sub(r"[<{](\w+:)?id[>}]", self.session.pk, path)
        path = re.sub(r"[<{](\w+:)?name[>}]", "balanced", path)
        return re.sub(r"[<{](\w+:)?(number|state)[>}]", "1", path)

    def trace(self) -> tuple[int, ...]:
        """What an act would move."""
        rows = (AgentSession, MemoryEntry, Instruction, Webhook, AuditEntry)
        self.session.refresh_from_db()
        return self.session.seq, *(model.objects.count() for model in rows)


@pytest.fixture
def place() -> Place:
    return Place()


def visit(who: User | AnonymousUser, path: str) -> HttpResponse:
    """By GET, where that is not answered by POST."""
    client = _client(who)
    response = client.get(f"/{path}")
    return client.post(f"/{path}") if response.status_code == 405 else response


def call(who: User | AnonymousUser, verb: str, path: str, body: dict[str, Any]) -> HttpResponse:
    return _client(who).generic(verb.upper(), path, _json(body), content_type="application/json")


def _client(who: User | AnonymousUser, *, checks: bool = False) -> Client:
    client = Client(enforce_csrf_checks=checks)
    if isinstance(who, User):
        client.force_login(who)
    return client


def _json(body: dict[str, Any]) -> str:
    return Client()._encode_json(body, "application/json")


@pytest.mark.parametrize("name", OWNED)
def test_a_page_of_ones_own_is_absent_for_all_others(place: Place, name: str) -> None:
    path = place.fill(PAGES[name])
    before = place.trace()
    stranger = _client(a_user("bob"))
    for method in (stranger.get, stranger.post):
        assert method(f"/{path}").status_code in (404, 405)
    assert visit(AnonymousUser(), path)["Location"].startswith("/accounts/login/")
    assert place.trace() == before
    assert visit(place.ada, path).status_code != 404


@pytest.mark.parametrize("name", sorted(PAGES.keys() - OPEN_TO_ALL - set(OWNED)))
def test_a_page_of_nobody_asks_for_a_sign_in(name: str) -> None:
    assert visit(AnonymousUser(), PAGES[name])["Location"].startswith("/accounts/login/")


@pytest.mark.parametrize(("verb", "path", "body"), CALLS, ids=[f"{v} {p}" for v, p, _ in CALLS])
def test_a_call_answers_only_whom_it_may(
    place: Place, verb: str, path: str, body: dict[str, Any]
) -> None:
    filled = place.fill(path)
    before = place.trace()
    assert call(AnonymousUser(), verb, filled, body).status_code == 401
    if "{id}" in path:
        expected = 403 if verb == "delete" and path.endswith("sessions/{id}?") else 404
        assert call(a_user("bob"), verb, filled, body).status_code == expected
    assert place.trace() == before
    assert call(place.ada, verb, filled, body).status_code not in (401, 404)


@pytest.mark.parametrize("name", sorted(PAGES))
def test_no_post_of_a_page_is_taken_from_elsewhere(place: Place, name: str) -> None:
    path = place.fill(PAGES[name])
    before = place.trace()
    response = _client(place.ada, checks=True).post(f"/{path}")
    assert response.status_code in (403, 405)
    assert place.trace() == before


CHANGING = {f"{verb} {path}": (verb, path, body) for verb, path, body in CALLS if verb != "get"}


@pytest.mark.parametrize(("verb", "path", "body"), CHANGING.values(), ids=CHANGING)
def test_no_call_of_a_browser_is_taken_from_elsewhere(
    place: Place, verb: str, path: str, body: dict[str, Any]
) -> None:
    filled = place.fill(path)
    before = place.trace()
    browser = _client(place.ada, checks=True)
    sent = browser.generic(verb.upper(), filled, _json(body), content_type="application/json")
    assert sent.status_code == 403
    assert place.trace() == before


BEYOND = "9" * 30
COUNTED = [name for name in sorted(PAGES) if "<int:" in PAGES[name]]


@pytest.mark.parametrize("name", COUNTED)
def test_a_page_of_a_number_beyond_any_is_no_fault_of_the_server(place: Place, name: str) -> None:
    path = re.sub(r"<int:\w+>", BEYOND, PAGES[name])
    assert visit(place.ada, place.fill(path)).status_code < 500


NUMBER = re.compile(r"\{(number|other|instruction)\}")
COUNTED_CALLS = {f"{one[0]} {one[1]}": one for one in CALLS if NUMBER.search(one[1])}


@pytest.mark.parametrize(("verb", "path", "body"), COUNTED_CALLS.values(), ids=COUNTED_CALLS)
def test_a_call_of_a_number_beyond_any_is_no_fault_of_the_server(
    place: Place, verb: str, path: str, body: dict[str, Any]
) -> None:
    filled = place.fill(NUMBER.sub(BEYOND, path))
    assert call(place.ada, verb, filled, body).status_code < 500


TEXT = re.compile(r"<str:\w+>")
NAMED = [(name, part) for name in sorted(PAGES) for part in TEXT.findall(PAGES[name])]


@pytest.mark.usefixtures("no_nul_stored")
@pytest.mark.parametrize(("name", "part"), NAMED)
def test_a_page_of_a_name_with_nul_is_no_fault_of_the_server(
    place: Place, name: str, part: str
) -> None:
    path = place.fill(PAGES[name].replace(part, "a%00"))
    assert visit(place.ada, path).status_code < 500


WORD = re.compile(r"\{(id|name|preview|call)\}")
NAMED_CALLS = {f"{v} {p} {part}": (v, p, b, part) for v, p, b in CALLS for part in WORD.findall(p)}


@pytest.mark.usefixtures("no_nul_stored")
@pytest.mark.parametrize(
    ("verb", "path", "body", "part"), NAMED_CALLS.values(), ids=list(NAMED_CALLS)
)
def test_a_call_of_a_name_with_nul_is_no_fault_of_the_server(
    place: Place, verb: str, path: str, body: dict[str, Any], part: str
) -> None:
    filled = place.fill(path.replace(f"{{{part}}}", "a%00"))
    assert 400 <= call(place.ada, verb, filled, body).status_code < 500
