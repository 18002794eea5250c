"""What a provider counted of a recording beside what it holds: one number, one source."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from builders import a_user
from calls import Caller
from django.contrib.auth.models import User
from django.test import Client
from recorded import answered, as_line, call, replied, said, text
from scenes import html_of, words_of

from agentcore.pressure import Unit
from hermesweb import acts, looks, wall
from hermesweb.gauge import Gauge
from hermesweb.imports import import_recording
from hermesweb.models import AgentSession, Preview
from hermesweb.reading import read

pytestmark = pytest.mark.django_db

PROMPT = 24_000


@pytest.fixture
def ada() -> User:
    return a_user("ada")


def imported(owner: User, prompt: int = PROMPT) -> AgentSession:
    """A recording without its system prompt, whose provider counted so many tokens at last."""
    usage = {"usage": {"input_tokens": prompt, "output_tokens": 9}}
    records = [
        said("u1", None, "Fix the parser. " * 200),
        replied("a1", "u1", "r1", call("c1", path="a.py"), usage={"input_tokens": 9_000}),
        answered("u2", "a1", ("c1", "line of a part\n" * 900)),
        replied("a2", "u2", "r2", text("Done with it. " * 60), **usage),
    ]
    return import_recording(owner, b"".join(map(as_line, records)), "talk.jsonl")


def check(gauge: Gauge) -> None:
    """Its parts, with what is unseen, fill it as far as it is used."""
    assert gauge.unseen_share + sum(part.share for part in gauge.segments) == pytest.approx(1.0)
    assert gauge.segments[0].x == pytest.approx(gauge.unseen_to)
    last = gauge.segments[-1]
    assert last.x + last.width == pytest.approx(gauge.now)


def test_it_is_the_providers_count_less_what_the_request_held(ada: User) -> None:
    session = imported(ada)
    numbers = session.messages.order_by("number").values_list("tokens", flat=True)
    # The last request held all but its own reply.
    held = sum(list(numbers)[:-1])
    assert (session.tokens, session.tokens_are) == (PROMPT, "provider")
    assert session.unseen == PROMPT - held > 10_000
    turn = session.stored_turns.latest("number")
    assert (turn.unseen, turn.tokens) == (session.unseen, PROMPT)


def test_a_count_below_what_is_held_leaves_nothing_unseen(ada: User) -> None:
    assert imported(ada, prompt=100).unseen == 0


def test_page_wall_preview_and_api_say_the_same(ada: User, client: Client) -> None:
    session = imported(ada)
    client.force_login(ada)
    version = session.version_in_force
    reading = read(session, version)
    check(reading.gauge)
    assert (reading.gauge.used, reading.gauge.unseen) == (PROMPT, session.unseen)
    assert reading.gauge.floor and reading.gauge.floor >= session.unseen

    row = wall.row(session)
    check(row.gauge)
    assert (row.gauge.used, row.gauge.unseen) == (PROMPT, session.unseen)

    html_of(client, f"/sessions/{session.pk}/compact/?stage=keep_recent")
    found = Preview.objects.get()
    plan = acts.plan_of(session, acts.options_of(found))
    assert plan.before.unit is Unit.TOKENS
    now, after = looks.context(session, found, plan)["gauges"]
    check(now)
    check(after)
    assert (now.used, now.limit) == (PROMPT, session.limit)
    assert now.unseen == after.unseen == session.unseen

    told: dict[str, Any] = Caller(ada).get(f"sessions/{session.pk}").json()
    assert told["size"]["unseen"] == session.unseen
    assert sum(told["tokens_by_category"].values()) + session.unseen == told["size"]["tokens"]
    assert told["used"] == PROMPT


def test_the_page_names_it_and_says_what_it_is(ada: User, client: Client) -> None:
    session = imported(ada)
    client.force_login(ada)
    page = words_of(html_of(client, f"/sessions/{session.pk}/"))
    assert "% of it is not in the recording." in page
    rows = client.get(f"/sessions/{session.pk}/chart.json").json()["turns"]
    assert [row["unseen"] for row in rows][-1] == session.unseen
    assert "Unseen ≈" in page and "counted beside what the recording holds" in page
    exact = AgentSession.objects.get(pk=session.pk)
    exact.unseen = 0
    exact.save()
    assert "Unseen" not in words_of(html_of(client, f"/sessions/{session.pk}/"))


def test_the_downloads_and_the_api_tell_it_of_each_turn(ada: User, client: Client) -> None:
    session = imported(ada)
    client.force_login(ada)
    told = [turn.unseen for turn in session.stored_turns.order_by("number")]
    assert told[-1] == session.unseen > 0
    rows = client.get(f"/sessions/{session.pk}/turns.json").json()["items"]
    assert [row["unseen"] for row in rows] == told
    lines = csv.DictReader(
        io.StringIO(client.get(f"/sessions/{session.pk}/turns.csv").content.decode())
    )
    assert [int(line["unseen"]) for line in lines] == told
    turns: dict[str, Any] = Caller(ada).get(f"sessions/{session.pk}/turns").json()
    assert sorted(row["unseen"] for row in turns["items"]) == sorted(told)
