from __future__ import annotations

import json
from typing import Any

import pytest
from builders import a_lease, a_session, a_user, added, said
from django.test import Client
from scenes import html_of, messages_of, words_of

from agentcore.counting import ExactCounter, counter_for
from agentcore.pressure import TokenCounter
from hermesweb import counts, lease, lives
from hermesweb.imports import import_recording
from hermesweb.models import AgentSession, ModelEndpoint
from hermesweb.recorder import record
from hermesweb.tools import toolbox_of

pytestmark = pytest.mark.django_db


def a_talk_with(model: str, **known: Any) -> AgentSession:
    ModelEndpoint.objects.get_or_create(name="cheap", defaults={"model": model})
    session = a_session(model="cheap", profile="balanced", **known)
    held = a_lease(session)
    record(session.pk, held.fence, added(*messages_of(8, "x = 中文 " * 900)))
    lease.release(held)
    session.refresh_from_db()
    return session


def exact_of(session: AgentSession, counter: ExactCounter) -> int:
    return sum(map(counter.message, lives.snapshot_of(session).messages))


def test_stored_messages_are_counted_once_by_the_tokenizer_that_fits() -> None:
    session = a_talk_with("gpt-4o")
    before = session.changed_at
    counter = counter_for("gpt-4o")
    assert counter is not None
    assert (counts.catch_up(), counts.catch_up()) == (8, 0)
    rows = session.messages.order_by("number")
    assert {row.counter for row in rows} == {"o200k_base"}
    assert [row.exact for row in rows] == [counter.message(lives.message_of(row)) for row in rows]
    session.refresh_from_db()
    assert session.changed_at == before
    assert (session.tokens_are, session.counter) == ("exact", "o200k_base")
    assert session.tokens > exact_of(session, counter)


def test_the_next_run_begins_with_the_exact_count() -> None:
    session = a_talk_with("gpt-4o")
    counts.catch_up()
    session.refresh_from_db()
    toolbox = toolbox_of(session, session.profile_version.value)
    request = lives.snapshot_of(session).sizes + toolbox.sizes
    assert TokenCounter(session.ratio).count(request) == session.tokens == session.used
    assert session.ratio != 1


def test_a_body_is_counted_once_for_all_that_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    a_talk_with("gpt-4o")
    asked: list[int] = []
    count = ExactCounter.message
    monkeypatch.setattr(
        ExactCounter, "message", lambda self, one: asked.append(one.number) or count(self, one)
    )
    counts.catch_up()
    assert asked == list(range(1, 9))
    asked.clear()
    a_talk_with("gpt-4o")
    assert counts.catch_up() == 8
    long = [4, 6, 8]
    assert asked == [number for number in range(1, 9) if number not in long]


def test_page_and_api_show_exact_counts_with_the_name_of_the_counter(client: Client) -> None:
    session = a_talk_with("gpt-4o")
    counts.catch_up()
    client.force_login(session.owner)
    row = session.messages.get(number=4)
    told = client.get(f"/api/v1/sessions/{session.pk}/messages").json()["items"][3]
    assert (told["tokens"], told["tokens_are"]) == (row.exact, "exact")
    assert told["counter"] == "o200k_base"
    page = html_of(client, f"/sessions/{session.pk}/")
    assert "exact o200k_base" in page and "≈ 4" not in page
    about = words_of(html_of(client, f"/sessions/{session.pk}/messages/4/"))
    assert f"{row.exact:,} tok (exact) o200k_base" in about


def test_no_tokenizer_no_count_and_no_second_look() -> None:
    session = a_talk_with("claude-opus-4")
    assert counts.catch_up() == 0
    session.refresh_from_db()
    assert (session.tokens_are, session.counted_to) == ("estimate", session.last_number)
    assert not session.messages.exclude(exact=None).exists()


def test_what_grows_again_is_an_estimate_and_what_is_held_is_left_alone() -> None:
    session = a_talk_with("gpt-4o")
    counts.catch_up()
    held = a_lease(session)
    record(session.pk, held.fence, added(said(9, "more")))
    session.refresh_from_db()
    assert (session.tokens_are, session.counter) == ("estimate", "")
    assert counts.catch_up() == 0
    lease.release(held)
    assert counts.catch_up() == 1
    session.refresh_from_db()
    assert session.tokens_are == "exact"


def test_what_a_provider_said_stands_above_the_tokenizer() -> None:
    a_user("ada")
    session = a_talk_with("gpt-4o", ratio=2.0)
    session.stored_turns.create(
        number=1,
        requested_revision=0,
        requested_number=2,
        ended_revision=0,
        ended_number=8,
        usage={"input": 9},
    )
    assert counts.catch_up() == 8
    session.refresh_from_db()
    assert (session.tokens_are, session.ratio) == ("estimate", 2.0)


def test_a_recording_without_usage_is_counted_too() -> None:
    said = [("user", "hello world"), ("assistant", "hello")]
    messages = [{"role": role, "content": text} for role, text in said]
    body = {"model": "gpt-4o", "messages": messages}
    session = import_recording(a_user("ada"), json.dumps(body).encode(), "body.json")
    assert counts.catch_up() == 2
    session.refresh_from_db()
    counter = counter_for("gpt-4o")
    assert counter is not None
    assert session.tokens == session.used == exact_of(session, counter)
    assert (session.tokens_are, session.counter) == ("exact", "o200k_base")
