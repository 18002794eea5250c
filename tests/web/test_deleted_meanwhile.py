"""What is deleted between the moment it was found and the act on it: absent, and nothing stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from builders import a_user, said
from calls import Caller, problem
from django.contrib.auth.models import User
from django.http import Http404
from django.test import Client
from scenes import a_talk_of

from agentcore.compaction.asked import CompactionOptions
from hermesweb import access, acts
from hermesweb.models import (
    AgentSession,
    AuditEntry,
    Instruction,
    MemoryEntry,
    Preview,
    Webhook,
)
from hermesweb.recorder import remove

pytestmark = pytest.mark.django_db(transaction=True)

Act = Callable[[User, AgentSession], Any]
ACTS: dict[str, Act] = {
    "send": lambda who, session: acts.send(who, session, "go on"),
    "stop": acts.stop,
    "rename": lambda who, session: acts.rename(who, session, "another"),
    "pin": lambda who, session: acts.pin(who, session, [1]),
    "exclude": lambda who, session: acts.exclude(who, session, [1]),
    "erase": lambda who, session: acts.erase(who, session, 1),
    "compact": acts.compact_now,
    "preview": lambda who, session: acts.preview(who, session, CompactionOptions()),
    "read raw": lambda who, session: acts.read_raw(who, session, "message 1"),
    "delete": acts.delete,
}


@pytest.fixture
def eve() -> User:
    return a_user("eve", is_staff=True, is_superuser=True)


@pytest.mark.parametrize("name", ACTS)
def test_an_act_on_a_session_that_was_deleted_stores_nothing(eve: User, name: str) -> None:
    session = a_talk_of(eve, said(1, "hello"), said(2, "hi", "assistant"))
    remove(AgentSession.objects.get(pk=session.pk))
    before = AuditEntry.objects.count()
    with pytest.raises(Http404):
        ACTS[name](eve, session)
    assert AuditEntry.objects.count() == before
    assert not Instruction.objects.exists() and not Preview.objects.exists()


def test_pages_and_calls_say_that_it_is_absent(
    eve: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = a_talk_of(eve, said(1, "hello"), said(2, "hi", "assistant"))

    def may(user: User, found: AgentSession) -> bool:
        if AgentSession.objects.filter(pk=found.pk).exists():
            remove(AgentSession.objects.get(pk=found.pk))
        return True

    monkeypatch.setattr(access, "may", may)
    refused = Caller(eve).post(f"sessions/{session.pk}/instructions", {"text": "go"})
    assert problem(refused) == (404, "not_found", None)
    assert session.pk in refused.json()["error"]["message"]
    session = a_talk_of(eve, said(1, "hello"), said(2, "hi", "assistant"))
    client.force_login(eve)
    assert client.post(f"/sessions/{session.pk}/stop").status_code == 404


def test_the_summary_of_a_preview_that_another_one_replaced_is_not_asked_for(eve: User) -> None:
    session = a_talk_of(eve, said(1, "hello"), said(2, "hi", "assistant"))
    kept, _ = acts.preview(eve, session, CompactionOptions())
    acts.preview(eve, session, CompactionOptions(), instead_of=kept.pk)
    with pytest.raises(acts.Refused, match="look at a new one"):
        acts.ask_summary(eve, session, kept.pk)
    assert not AuditEntry.objects.filter(action="summary_asked").exists()


def test_a_webhook_is_changed_or_deleted_once(eve: User) -> None:
    url = "https://hook.example/in"
    hook = acts.add_webhook(eve, eve, url=url, occasions=["blocked"])
    acts.delete_webhook(eve, Webhook.objects.get())
    with pytest.raises(Http404, match="no webhook"):
        acts.change_webhook(eve, hook, active=False)
    with pytest.raises(Http404):
        acts.delete_webhook(eve, hook)
    told = AuditEntry.objects.order_by("place").values_list("action", flat=True)
    assert list(told) == ["webhook_added", "webhook_deleted"]


def test_a_memory_entry_is_corrected_or_deleted_once(eve: User) -> None:
    entry = MemoryEntry.objects.create(owner=eve, workspace="/w", kind="fact", text="uses pnpm")
    acts.forget(eve, MemoryEntry.objects.get())
    with pytest.raises(Http404, match="no entry"):
        acts.correct(eve, entry, kind="fact", text="uses npm")
    with pytest.raises(Http404):
        acts.forget(eve, entry)
    told = AuditEntry.objects.values_list("action", flat=True)
    assert list(told) == ["memory_deleted"] and not MemoryEntry.objects.exists()
