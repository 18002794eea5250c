from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from builders import a_lease, a_session, a_user
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from agentcore.events import MemoryInjected
from agentcore.limits import Limits
from agentcore.memory import Entry, EntryKind
from hermesweb import acts, audit, memory
from hermesweb.models import AuditEntry, MemoryEntry, Profile
from hermesweb.recorder import record

pytestmark = pytest.mark.django_db

PAGE = "/memory/"
HOSTILE = '<script>alert(1)</script>\u202e" onload="x'


@pytest.fixture(autouse=True)
def allowed(tmp_path: Path, settings: Any) -> None:
    settings.ALLOWED_ROOTS = [tmp_path]


@pytest.fixture
def ada() -> User:
    return a_user("ada")


@pytest.fixture
def client(client: Client, ada: User) -> Client:
    client.force_login(ada)
    return client


def an_entry(owner: User, text: str = "uses pnpm", **known: Any) -> MemoryEntry:
    values = {"workspace": "/w", "kind": "fact", "text": text, **known}
    return MemoryEntry.objects.create(owner=owner, **values)


def shown(client: Client, **query: str) -> str:
    response = client.get(PAGE, query)
    assert response.status_code == 200
    return response.content.decode()


def test_the_page_shows_each_entry_with_kind_uses_and_the_messages_that_say_it(
    client: Client, ada: User
) -> None:
    session = a_session(ada, title="first session")
    an_entry(ada, kind="changed_path", uses=3, source=session, source_numbers=[2, 4])
    page = shown(client)
    assert "1 entry" in page and "uses pnpm" in page and "changed path" in page
    assert "used 3 times" in page and "first session" in page
    assert reverse("message", args=[session.pk, 4]) in page


def test_the_page_says_what_to_expect_while_there_is_nothing(client: Client) -> None:
    page = shown(client)
    assert "0 entries" in page and "No entries yet" in page and "No run was given" in page


def limited(profile: str, most: int) -> None:
    values = Profile.objects.get(name=profile).current.values
    limits = {**values["limits"], "memory_entries": most}
    acts.save_profile(None, profile, {**values, "limits": limits}, accept_warnings=True)


def test_the_page_says_how_many_entries_a_run_is_given_by_its_profile(client: Client) -> None:
    assert "up to 4 entries" in shown(client)
    limited("small", 0)
    limited("balanced", 7)
    assert "as many as its profile allows (any number, 4, 7)" in shown(client)
    for name in Profile.objects.values_list("name", flat=True):
        limited(name, 1)
    assert "the entry that fits its instruction best is shown" in shown(client)


def test_every_page_leads_to_memory_and_this_one_is_marked(client: Client) -> None:
    assert '<a href="/memory/">Memory</a>' in client.get("/").content.decode()
    assert '<a href="/memory/" aria-current="page">Memory</a>' in shown(client)


def test_what_runs_were_given_stands_there_with_scores(client: Client, ada: User) -> None:
    session = a_session(ada, title="a run")
    there, gone = an_entry(ada), an_entry(ada, "gone soon")
    held = a_lease(session)
    record(session.pk, held.fence, [MemoryInjected(7, ((there.pk, 3.217), (gone.pk, 1.5)))])
    gone.delete()
    page = shown(client)
    assert "run 7" in page and "3.22" in page and "1.50" in page and "deleted since" in page


def test_entries_and_runs_of_others_are_not_shown_even_to_staff(client: Client, ada: User) -> None:
    eve = a_user("eve")
    entry = an_entry(eve, "secret of eve")
    session = a_session(eve, title="session of eve")
    record(session.pk, a_lease(session).fence, [MemoryInjected(1, ((entry.pk, 1.0),))])
    User.objects.filter(pk=ada.pk).update(is_staff=True)
    page = shown(client)
    assert "secret of eve" not in page and "session of eve" not in page
    for name in ("memory_entry", "memory_delete"):
        assert client.post(reverse(name, args=[entry.pk])).status_code == 404
    assert client.get(reverse("memory_entry", args=[entry.pk])).status_code == 404


def test_hostile_text_is_shown_as_text(client: Client, ada: User) -> None:
    entry = an_entry(ada, HOSTILE, workspace=HOSTILE)
    for page in (
        shown(client),
        client.get(reverse("memory_entry", args=[entry.pk])).content.decode(),
    ):
        assert "<script>alert" not in page
        assert '" onload="' not in page
        assert "alert(1)" in page


def test_entries_are_found_by_text_folder_and_kind(client: Client, ada: User) -> None:
    an_entry(ada, "端口 5433", workspace="/a", kind="decision")
    an_entry(ada, "uses pnpm", workspace="/b")
    assert (
        "5433" in shown(client, q="端口")
        and "pnpm" not in shown(client, q="端口").split("Add an")[0]
    )
    assert "5433" not in shown(client, workspace="/b").split("Add an")[0]
    assert "pnpm" not in shown(client, kind="decision").split("Add an")[0]
    assert "No entry like that" in shown(client, q="nowhere")


def test_each_field_of_the_page_has_an_id_of_its_own(client: Client, ada: User) -> None:
    ids = re.findall(r' id="([^"]+)"', shown(client))
    assert len(ids) == len(set(ids))


def test_a_page_shows_fifty_entries_and_leads_on(client: Client, ada: User) -> None:
    for number in range(51):
        an_entry(ada, f"entry {number}")
    first = shown(client)
    assert "entry 50<" in first and "entry 0<" not in first and "page=2" in first
    assert "entry 0<" in shown(client, page="2")
    assert "entry 0<" in shown(client, page="99")
    assert "entry 50<" in shown(client, page="x")


def test_a_person_adds_an_entry_which_is_audited_without_its_text(
    client: Client, ada: User, tmp_path: Path
) -> None:
    sent = {"workspace": str(tmp_path), "kind": "preference", "text": " tabs,\n not spaces "}
    assert client.post(PAGE, sent).status_code == 302
    entry = MemoryEntry.objects.get()
    assert (entry.owner, entry.text, entry.edited) == (ada, "tabs, not spaces", True)
    line = AuditEntry.objects.get()
    assert (line.chain, line.action, line.who) == (f"memory-{ada.pk}", "memory_added", "ada")
    assert "spaces" not in str(line.new) and line.new["chars"] == len(entry.text)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"text": ""}, "Write what later sessions should know."),
        ({"text": " \n "}, "Write what later sessions should know."),
        ({"text": "x" * 401}, "at most 400 characters"),
        ({"kind": "rumour"}, "Select a valid choice"),
        ({"workspace": ""}, "Name the folder."),
        ({"workspace": "/etc"}, "is not inside an allowed folder"),
        ({"workspace": "a\0b"}, "Null characters are not allowed"),
    ],
)
def test_a_wrong_entry_is_told_at_its_field_and_not_kept(
    client: Client, tmp_path: Path, changes: dict[str, str], told: str
) -> None:
    sent = {"workspace": str(tmp_path), "kind": "fact", "text": "uses pnpm", **changes}
    response = client.post(PAGE, sent)
    assert response.status_code == 422
    assert told in response.content.decode()
    assert not MemoryEntry.objects.exists()


def test_a_person_corrects_an_entry_which_no_session_replaces_then(
    client: Client, ada: User
) -> None:
    session = a_session(ada, last_number=9)
    entry = an_entry(ada, source=session, source_numbers=[1], workspace=session.workspace)
    address = reverse("memory_entry", args=[entry.pk])
    assert "uses pnpm" in client.get(address).content.decode()
    assert client.post(address, {"kind": "decision", "text": "uses yarn"}).status_code == 302
    memory.store(session, [Entry(EntryKind.FACT, "uses npm", (8,))])
    assert set(MemoryEntry.objects.values_list("text", flat=True)) == {"uses yarn", "uses npm"}
    assert client.post(address, {"kind": "decision", "text": ""}).status_code == 422
    line = AuditEntry.objects.get()
    assert (line.action, line.old["kind"], line.new["kind"]) == (
        "memory_changed",
        "fact",
        "decision",
    )


def test_a_person_deletes_an_entry_with_a_post_only(client: Client, ada: User) -> None:
    entry = an_entry(ada)
    address = reverse("memory_delete", args=[entry.pk])
    assert client.get(address).status_code == 405
    assert client.post(address).status_code == 302
    assert not MemoryEntry.objects.exists()
    assert AuditEntry.objects.get().action == "memory_deleted"
    assert client.post(address).status_code == 404


@pytest.mark.parametrize("address", [PAGE, "/memory/1/"])
def test_without_sign_in_there_is_no_memory(address: str) -> None:
    response = Client().get(address)
    assert response.status_code == 302 and "login" in response["Location"]


def test_the_audit_of_memory_is_one_unbroken_chain(ada: User, tmp_path: Path) -> None:
    entry = acts.remember(ada, workspace=str(tmp_path), kind="fact", text="one")
    acts.correct(ada, entry, kind="fact", text="two")
    acts.forget(ada, entry)
    lines = list(AuditEntry.objects.order_by("place"))
    assert [line.place for line in lines] == [1, 2, 3]
    assert audit.broken(lines) is None


def test_the_least_used_and_oldest_leave_first_when_the_store_is_full(ada: User) -> None:
    session = a_session(ada, last_number=9)
    used = an_entry(ada, "used", uses=1)
    for number in range(Limits().memory_stored - 1):
        an_entry(ada, f"entry {number}")
    eve = an_entry(a_user("eve"), "of eve")
    memory.store(session, [Entry(EntryKind.FACT, f"new {n}", (n,)) for n in (1, 2)])
    left = set(MemoryEntry.objects.filter(owner=ada).values_list("text", flat=True))
    assert len(left) == Limits().memory_stored
    assert {"new 1", "new 2", used.text, "entry 2"} <= left
    assert not {"entry 0", "entry 1"} & left
    assert MemoryEntry.objects.filter(pk=eve.pk).exists()


@pytest.mark.parametrize(("stored", "left"), [(4, 500), (501, 501), (0, 502)])
def test_an_entry_by_hand_has_room_by_the_most_generous_profile(
    ada: User, tmp_path: Path, stored: int, left: int
) -> None:
    values = Profile.objects.get(name="small").current.values
    limits = {**values.get("limits", {}), "memory_stored": stored}
    acts.save_profile(None, "small", {**values, "limits": limits}, accept_warnings=True)
    entries = [MemoryEntry(owner=ada, workspace="/w", kind="fact", text=str(n)) for n in range(501)]
    MemoryEntry.objects.bulk_create(entries)
    acts.remember(ada, workspace=str(tmp_path), kind="fact", text="by hand")
    assert MemoryEntry.objects.filter(owner=ada).count() == left
    assert MemoryEntry.objects.filter(text="by hand").exists()


def test_what_was_said_before_in_the_folder_is_not_kept_twice(ada: User) -> None:
    first, second = a_session(ada, last_number=5), a_session(ada, last_number=5)
    for session in (first, second):
        memory.store(session, [Entry(EntryKind.CONSTRAINT, "never rename it", (1,))])
    elsewhere = a_session(ada, last_number=5, workspace="/elsewhere")
    memory.store(elsewhere, [Entry(EntryKind.CONSTRAINT, "never rename it", (1,))])
    kept = MemoryEntry.objects.order_by("pk").values_list("source", flat=True)
    assert list(kept) == [first.pk, elsewhere.pk]


def test_what_no_longer_holds_leaves_with_the_next_distillation(ada: User) -> None:
    session = a_session(ada, last_number=5)
    memory.store(session, [Entry(EntryKind.STATE, "half done", (5,))])
    session.last_number = 9
    memory.store(session, [Entry(EntryKind.STATE, "all is done", (9,))])
    assert [entry.text for entry in MemoryEntry.objects.all()] == ["all is done"]
