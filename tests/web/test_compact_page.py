"""The page on which a compaction is chosen, looked at, given its summary, and made."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from builders import a_user
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from scenes import HTMX, a_talk, compacted, html_of, words_of
from working import says

from agentcore.compaction.plan import Fate
from agentcore.diff import Row
from agentcore.errors import ModelError
from agentcore.llm.scripted import ScriptedModel
from agentcore.usage import Prices
from hermesweb import acts, drafting, lives, planning, runner, wake
from hermesweb.models import AgentSession, AuditEntry, ModelEndpoint, Preview
from hermesweb.rebilling import rebilling

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]
TEXT = "x" * 2_000


@pytest.fixture(autouse=True)
def _posted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests are their own workers."""
    monkeypatch.setattr(wake, "_post", lambda task, subject: None)


def url(session: AgentSession, rest: str = "") -> str:
    return f"/sessions/{session.pk}/compact/{rest}"


def shown_id(html: str) -> str:
    found = re.search(r'id="preview-id" value="(\w+)"', html)
    assert found, html[:2_000]
    return found[1]


def test_the_page_shows_what_would_be_freed_and_changes_nothing(client: Client, ada: User) -> None:
    session = a_talk(ada, 24, text=TEXT)
    html = html_of(client, url(session, "?stage=keep_recent"))
    plan = acts.plan_of(session, acts.options_of(Preview.objects.get()))
    words = words_of(html)
    assert f"Would free {plan.result.freed / 1000:.1f} kB" in words
    assert "7 of 7 would pass" in words
    assert "made from the ledger" in words
    assert "Sent anew, not from the cache" in words and "unknown: no price" in words
    session.refresh_from_db()
    assert (session.revision, session.stored_compactions.count()) == (0, 0)


def test_choices_stand_in_the_address_and_bound_the_diff(client: Client, ada: User) -> None:
    session = a_talk(ada, 24, text=TEXT)
    html = html_of(client, url(session, "?stage=keep_recent&keep_last=2&up_to=8"))
    words = words_of(html)
    assert "6 summarized" in words
    options = acts.options_of(Preview.objects.get())
    assert (options.stage, options.keep_last, options.up_to) == ("keep_recent", 2, 8)
    assert 'value="8"' in html
    assert f"{url(session)}?stage=keep_recent&amp;keep_last=2&amp;up_to=" in html


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("preset=huge", "huge is not one of the available choices"),
        ("keep_last=-1", "greater than or equal to 0"),
        ("up_to=99", "message 99 is not in the list"),
        ("focus=" + "x" * 2_001, "at most 2000 characters"),
    ],
)
def test_choices_that_cannot_be_are_told(
    client: Client, ada: User, query: str, complaint: str
) -> None:
    session = a_talk(ada, 24)
    response = client.get(url(session, f"?{query}"))
    assert response.status_code == 400
    assert complaint in words_of(response.content.decode())
    assert not Preview.objects.exists()


def test_another_choice_takes_the_place_of_the_preview(client: Client, ada: User) -> None:
    session = a_talk(ada, 24, text=TEXT)
    first = shown_id(html_of(client, url(session)))
    part = html_of(client, url(session, f"?stage=snip&preview_id={first}"), htmx=True)
    assert 'id="outcome"' in part and "<html" not in part and 'id="diff"' in part
    assert shown_id(part) != first
    assert Preview.objects.count() == 1


def test_applied_is_what_was_shown(
    client: Client, ada: User, script: Callable[..., ScriptedModel]
) -> None:
    script(says("x"))
    session = a_talk(ada, 24, text=TEXT)
    wanted = shown_id(html_of(client, url(session)))
    plan = acts.plan_of(session, acts.options_of(Preview.objects.get()))
    response = client.post(url(session, "apply"), {"preview_id": wanted})
    assert response["Location"] == f"/sessions/{session.pk}/compactions/1/"
    async_to_sync(runner.run)(session.pk)
    now = [message.wire for message in lives.snapshot_of(session).messages]
    assert now == [message.wire for message in plan.result.new.messages]


def test_a_stale_preview_is_told_and_made_anew_with_the_same_choices(
    client: Client, ada: User
) -> None:
    session = a_talk(ada, 24, text=TEXT)
    first = shown_id(html_of(client, url(session, "?stage=keep_recent")))
    edited = {"preview_id": first, "summary": "Half fixed, by hand."}
    client.post(url(session, "summary"), edited, headers=HTMX)
    compacted(session)
    wanted = {"preview_id": Preview.objects.get().pk}
    response = client.post(url(session, "apply"), wanted, follow=True)
    html = response.content.decode()
    assert "The list moved on meanwhile" in words_of(html)
    assert "preview of revision 1" in words_of(html)
    assert "Half fixed, by hand." in html
    assert acts.options_of(Preview.objects.get(pk=shown_id(html))).stage == "keep_recent"
    assert not session.instructions.exists()


def test_a_page_that_is_open_learns_that_the_list_moved_on(client: Client, ada: User) -> None:
    session = a_talk(ada, 24, text=TEXT)
    path = f"/sessions/{session.pk}/previews/{shown_id(html_of(client, url(session)))}/?still=1"
    assert client.get(path, headers=HTMX).status_code == 204
    compacted(session)
    part = html_of(client, path, htmx=True)
    assert "The list moved on meanwhile" in part
    assert Preview.objects.latest("ends_at").revision == 1


def test_the_diff_of_a_preview_is_filtered_and_paged(client: Client, ada: User) -> None:
    session = a_talk(ada, 24, text=TEXT)
    wanted = shown_id(html_of(client, url(session, "?stage=keep_recent&keep_last=4")))
    path = f"/sessions/{session.pk}/previews/{wanted}/?diff=1&fate=summarized"
    part = html_of(client, path, htmx=True)
    assert part.lstrip().startswith("<section") and 'data-fate="summarized"' in part
    assert 'data-fate="kept"' not in part


def test_a_summary_is_counted_and_proved_as_it_is_typed(client: Client, ada: User) -> None:
    session = a_talk(ada, 24, text=TEXT)
    first = shown_id(html_of(client, url(session, "?stage=keep_recent")))
    form = {"preview_id": first, "summary": "Fix the parser: half done."}
    response = client.post(url(session, "summary"), form, headers=HTMX)
    part = response.content.decode()
    assert response.status_code == 200 and 'id="plan"' in part
    assert "by hand" in part
    made = Preview.objects.get()
    assert made.pk == shown_id(part) != first
    assert acts.options_of(made).summary == "Fix the parser: half done."


@pytest.mark.parametrize(
    ("text", "complaint"), [("  ", "has no text"), ("word " * 50_000, "50,000 words")]
)
def test_a_summary_edited_to_nothing_or_to_a_book_is_refused_and_the_preview_stays(
    client: Client, ada: User, text: str, complaint: str
) -> None:
    session = a_talk(ada, 24, text=TEXT)
    first = shown_id(html_of(client, url(session, "?stage=keep_recent")))
    response = client.post(
        url(session, "summary"), {"preview_id": first, "summary": text}, headers=HTMX
    )
    part = response.content.decode()
    assert response.status_code == 400 and complaint in words_of(part)
    assert "Apply" not in part and shown_id(part) == first
    assert Preview.objects.get().pk == first


def asked_of(client: Client, session: AgentSession) -> str:
    """The preview whose summary a model was asked for."""
    first = shown_id(html_of(client, url(session, "?stage=keep_recent&focus=the+ports")))
    part = client.post(url(session, "write"), {"preview_id": first}, headers=HTMX)
    assert "The model is writing" in part.content.decode()
    return first


@pytest.fixture
def served(ada: User) -> AgentSession:
    ModelEndpoint.objects.create(
        name="scripted",
        model="m",
        input_price=Decimal(3),
        output_price=Decimal(15),
        cache_read_price=Decimal("0.3"),
    )
    return a_talk(ada, 24, text=TEXT)


def test_the_model_writes_the_summary_once_and_the_page_finds_it(
    client: Client, served: AgentSession, script: Callable[..., ScriptedModel]
) -> None:
    seen: list[str] = []

    def summarize(messages: Any) -> dict[str, Any]:
        seen.append(messages[0].text)
        return says("The parser is half fixed; port 8080.")

    model = script(summarize)
    first = asked_of(client, served)
    still = f"/sessions/{served.pk}/previews/{first}/?still=writing"
    assert client.get(still, headers=HTMX).status_code == 204
    async_to_sync(drafting.write)(first)
    async_to_sync(drafting.write)(first)
    assert len(model.requests) == 1
    assert "asks for here: the ports" in seen[0]
    part = html_of(client, still, htmx=True)
    assert "The parser is half fixed; port 8080." in part
    assert "USD" in words_of(part).partition("That adds")[2][:16]
    following = shown_id(part)
    assert following != first
    acts.apply_preview(None, served, following)
    async_to_sync(runner.run)(served.pk)
    assert "port 8080" in lives.snapshot_of(served).messages[1].text


def test_who_has_a_summary_written_is_audited(client: Client, served: AgentSession) -> None:
    wanted = asked_of(client, served)
    entry = AuditEntry.objects.get(chain=served.pk, action="summary_asked")
    assert (entry.who, entry.new) == ("ada", {"preview": wanted, "model": ""})


def test_a_summary_that_was_not_written_says_why(
    client: Client, served: AgentSession, script: Callable[..., ScriptedModel]
) -> None:
    script(ModelError("the service is down"))
    first = asked_of(client, served)
    async_to_sync(drafting.write)(first)
    part = html_of(client, f"/sessions/{served.pk}/previews/{first}/?still=writing", htmx=True)
    assert "No summary: asking for the summary failed: the service is down" in words_of(part)
    assert shown_id(part) == first


def test_a_recording_is_looked_at_and_not_applied(client: Client, ada: User) -> None:
    session = a_talk(ada, 24, text=TEXT, kind="imported")
    html = html_of(client, url(session, "?preset=nanohermes"))
    assert "Would free" in words_of(html)
    assert "A recording is only looked at" in words_of(html) and 'id="apply"' not in html


def test_hostile_text_is_shown_as_text(client: Client, ada: User) -> None:
    session = a_talk(ada, 24, text="<script>alert(1)</script>" * 80)
    first = shown_id(html_of(client, url(session, "?stage=keep_recent")))
    form = {"preview_id": first, "summary": "</textarea><script>alert(2)</script>"}
    client.post(url(session, "summary"), form)
    wanted = Preview.objects.get().pk
    html = html_of(client, f"/sessions/{session.pk}/previews/{wanted}/")
    assert "<script>alert" not in html and "&lt;script&gt;alert(2)" in html


def test_strangers_see_and_change_nothing(client: Client, ada: User) -> None:
    session = a_talk(ada, 24)
    wanted = shown_id(html_of(client, url(session)))
    client.force_login(a_user("bob"))
    assert client.get(url(session)).status_code == 404
    for rest in ("apply", "summary", "write"):
        assert client.post(url(session, rest), {"preview_id": wanted}).status_code == 404
    assert client.get(f"/sessions/{session.pk}/previews/{wanted}/").status_code == 404


def test_a_smaller_list_pays_back_what_the_cache_lost() -> None:
    rows = [
        Row(1, 0, 0, 1_000, 1_000, Fate.KEPT),
        Row(2, 1, None, 90_000, None, Fate.SUMMARIZED),
        Row(3, 2, 1, 10_000, 10_000, Fate.KEPT),
    ]
    prices = Prices(Decimal(3), Decimal(15), Decimal("0.3"), source="x")
    found = rebilling(rows, 0.25, prices, spent=Decimal("0.02"))
    assert (found.bytes, found.tokens, found.cost) == (10_000, 2_500, Decimal("0.00675"))
    assert found.turns == 4
    assert rebilling(rows, 0.25, prices, spent=None).turns is None
    assert rebilling(rows, 0.25, Prices()).cost is None


def test_a_preview_that_was_left_open_for_a_day_is_told_and_made_anew_with_its_choices(
    client: Client, ada: User
) -> None:
    session = a_talk(ada, 24, text=TEXT)
    wanted = shown_id(html_of(client, url(session, "?stage=snip")))
    Preview.objects.update(ends_at=timezone.now() - timedelta(seconds=1))
    planning.clear_ended()
    form = {"preview_id": wanted, "query": "stage=snip"}
    response = client.post(url(session, "apply"), form, follow=True)
    assert "no longer kept: each is for 24 hours" in words_of(response.content.decode())
    assert response.redirect_chain[0][0] == url(session, "?stage=snip")
    path = f"/sessions/{session.pk}/previews/{wanted}/?still=1&stage=snip"
    part = html_of(client, path, htmx=True)
    assert "no longer kept" in part
    assert acts.options_of(Preview.objects.latest("ends_at")).stage == "snip"
    edited = {"preview_id": wanted, "summary": "Half fixed."}
    late = client.post(url(session, "summary"), edited, headers=HTMX)
    assert late.status_code == 400 and "each is kept for 24 hours" in late.content.decode()
    assert not session.instructions.exists()


@pytest.mark.parametrize("path", ["compactions/99/", "compactions/99/undo", "messages/99/"])
def test_ids_that_are_not_there_are_told_as_such(client: Client, ada: User, path: str) -> None:
    session = a_talk(ada, 24)
    verb = client.post if path.endswith("undo") else client.get
    assert verb(f"/sessions/{session.pk}/{path}").status_code == 404
