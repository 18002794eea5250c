"""Which model writes the summary of a compaction by hand, and what that takes."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from calls import Caller, problem
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from scenes import a_talk, html_of, words_of
from working import says

from agentcore.llm.base import ChatModel, Reply
from agentcore.llm.scripted import ScriptedModel
from agentcore.usage import Usage
from hermesweb import drafting, endpoints, lives, runner, wake
from hermesweb.acts.previews import ANEW
from hermesweb.models import AgentSession, AuditEntry, ModelEndpoint, Preview

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]
TEXT = "the key is sk-proj-abcdefghijklmnopqrstuvwx " + "x" * 2_000
SUMMARY = "The parser is half fixed; port 8080."
USAGE = Usage(input=4_000, output=200)


class Billed(ScriptedModel):
    """Says what it took."""

    async def reply(self, messages: Any, tools: Any, on_text: Any = None) -> Reply:
        reply = await super().reply(messages, tools, on_text)
        return Reply(reply.message, USAGE, model="acme-cheap-2", request_bytes=0)


@pytest.fixture(autouse=True)
def _posted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests are their own workers."""
    monkeypatch.setattr(wake, "_post", lambda task, subject: None)


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> Billed:
    """An endpoint of another provider than the session's; its model is scripted."""
    prices = {"input_price": Decimal(1), "output_price": Decimal(2)}
    ModelEndpoint.objects.create(name="cheap", model="acme-cheap", base_url="http://x/v1", **prices)
    model = Billed([says(SUMMARY), says(SUMMARY)])

    def named(endpoint: ModelEndpoint) -> ChatModel:
        return model

    monkeypatch.setattr(endpoints, "model_of", named)
    return model


def written(session: AgentSession, caller: Caller) -> dict[str, Any]:
    """A preview whose summary the chosen model wrote."""
    path = f"sessions/{session.pk}"
    wish = {"preview": True, "stage": "keep_recent", "model": "cheap"}
    shown = caller.post(f"{path}/compactions", wish).json()
    asked = caller.post(f"{path}/previews/{shown['preview_id']}/summary")
    assert (asked.status_code, asked.json()["writing"]) == (202, "asked")
    async_to_sync(drafting.write)(shown["preview_id"])
    told = caller.get(f"{path}/previews/{shown['preview_id']}").json()
    assert told["writing"] == "done"
    found: dict[str, Any] = caller.get(f"{path}/previews/{told['next']}").json()
    return found


def test_the_form_offers_the_endpoints_whose_key_is_there(client: Client, ada: User) -> None:
    session = a_talk(ada, 24, text=TEXT)
    path = f"/sessions/{session.pk}/compact/"
    assert 'name="model"' not in html_of(client, path)
    ModelEndpoint.objects.create(name="cheap", model="m")
    ModelEndpoint.objects.create(name="locked", model="m", key_variable="NO_SUCH_KEY_HERE")
    html = html_of(client, f"{path}?model=cheap")
    assert '<option value="cheap" selected>' in html
    assert "locked" not in html and "explorer" not in html
    assert acts_model() == "cheap"
    refused = client.get(f"{path}?model=locked")
    assert refused.status_code == 400


def acts_model() -> str:
    return str(Preview.objects.latest("ends_at").options["asked"]["model"])


def test_the_page_says_beforehand_who_would_be_asked_and_what_for(
    client: Client, ada: User, cheap: Billed
) -> None:
    session = a_talk(ada, 24, text=TEXT)
    words = words_of(html_of(client, f"/sessions/{session.pk}/compact/?stage=keep_recent"))
    assert "Would be asked of" not in words
    path = f"/sessions/{session.pk}/compact/?stage=keep_recent&model=cheap"
    words = words_of(html_of(client, path))
    assert "Would be asked of cheap: ≈" in words and "cost $0.0" in words
    assert "Chosen by a person" in words
    ModelEndpoint.objects.update(output_price=None)
    assert "cost unknown" in words_of(html_of(client, path))
    assert not cheap.requests


def test_the_chosen_model_writes_and_preview_and_record_name_it_its_tokens_and_cost(
    ada: User, cheap: Billed, client: Client
) -> None:
    session, caller = a_talk(ada, 24, text=TEXT, model="explorer"), Caller(ada)
    shown = written(session, caller)
    (request,) = cheap.requests
    assert "sk-proj" not in request.messages[1].text
    told = shown["summary"]
    assert (told["text"], told["by"], told["cost"]) == (SUMMARY, "acme-cheap-2", "0.0044")
    assert (told["tokens"]["input"], told["tokens"]["output"]) == (4_000, 200)
    words = words_of(html_of(client, f"/sessions/{session.pk}/previews/{shown['preview_id']}/"))
    assert "by acme-cheap-2, 4,000 tok in, 200 tok out provider , $0.0044" in words
    path = f"sessions/{session.pk}/compactions"
    number = caller.post(path, {"preview_id": shown["preview_id"]}).json()["number"]
    async_to_sync(runner.run)(session.pk)
    made = caller.get(f"{path}/{number}").json()
    assert (made["state"], made["model"], made["cost"]) == ("applied", "acme-cheap-2", "0.0044")
    assert SUMMARY in lives.snapshot_of(session).messages[1].text
    assert len(cheap.requests) == 1


def test_without_a_price_the_cost_is_unknown_and_not_nothing(ada: User, cheap: Billed) -> None:
    ModelEndpoint.objects.update(input_price=None)
    shown = written(a_talk(ada, 24, text=TEXT), Caller(ada))
    assert shown["summary"]["tokens"] and shown["summary"]["cost"] is None
    assert shown["would_ask"]["cost"] is None


def test_a_compaction_without_a_preview_asks_the_chosen_model_too(ada: User, cheap: Billed) -> None:
    """The session's own model is the explorer, which writes none."""
    session, caller = a_talk(ada, 24, text=TEXT, model="explorer"), Caller(ada)
    path = f"sessions/{session.pk}/compactions"
    number = caller.post(path, {"stage": "keep_recent", "model": "cheap"}).json()["number"]
    async_to_sync(runner.run)(session.pk)
    made = caller.get(f"{path}/{number}").json()
    assert (made["state"], made["model"], made["cost"]) == ("applied", "acme-cheap-2", "0.0044")
    session.refresh_from_db()
    assert session.summary_model == ""


def test_a_model_that_is_gone_at_the_border_is_told(ada: User, cheap: Billed) -> None:
    session, caller = a_talk(ada, 24, text=TEXT, model="explorer"), Caller(ada)
    path = f"sessions/{session.pk}/compactions"
    number = caller.post(path, {"stage": "keep_recent", "model": "cheap"}).json()["number"]
    ModelEndpoint.objects.all().delete()
    async_to_sync(runner.run)(session.pk)
    made = caller.get(f"{path}/{number}").json()
    assert (made["state"], made["reason"]) == ("failed", "error")
    assert "there is no model 'cheap'" in made["detail"]


@pytest.mark.parametrize("name", ["explorer", "nothing-like-it"])
def test_a_model_that_writes_no_summaries_is_refused(ada: User, name: str) -> None:
    session = a_talk(ada, 24)
    wish = {"preview": True, "model": name}
    refused = Caller(ada).post(f"sessions/{session.pk}/compactions", wish)
    assert problem(refused) == (422, "invalid", "model")


def test_a_summary_by_hand_costs_nothing(ada: User) -> None:
    session = a_talk(ada, 24, text=TEXT)
    wish = {"preview": True, "stage": "keep_recent", "summary": "Half fixed."}
    shown = Caller(ada).post(f"sessions/{session.pk}/compactions", wish).json()
    assert (shown["summary"]["by"], shown["summary"]["cost"]) == ("person", "0")


def test_of_several_who_ask_for_one_summary_the_first_has_it_written(
    ada: User, cheap: Billed, monkeypatch: pytest.MonkeyPatch
) -> None:
    posted: list[Any] = []
    monkeypatch.setattr(wake, "_post", lambda task, subject: posted.append(subject))
    session, caller = a_talk(ada, 24, text=TEXT), Caller(ada)
    path = f"sessions/{session.pk}"
    wish = {"preview": True, "stage": "keep_recent", "model": "cheap"}
    shown = caller.post(f"{path}/compactions", wish).json()["preview_id"]
    for _ in range(3):
        asked = caller.post(f"{path}/previews/{shown}/summary")
        assert (asked.status_code, asked.json()["writing"]) == (202, "asked")
    audited = AuditEntry.objects.filter(action="summary_asked")
    assert posted == [shown] and audited.count() == 1
    # Nobody wrote it for so long that whoever was asked must be lost.
    row = Preview.objects.get(pk=shown)
    row.options["asked_at"] = (timezone.now() - ANEW).isoformat()
    row.save()
    assert caller.post(f"{path}/previews/{shown}/summary").status_code == 202
    assert posted == [shown, shown]
