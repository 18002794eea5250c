from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from builders import a_session, a_user
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from hermesweb import wall
from hermesweb.categories import GROUPS
from hermesweb.models import AgentSession, Compaction, SessionEvent, Status, StoredTurn
from hermesweb.reading import read

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def a_running(owner: User, *used: int, **known: Any) -> AgentSession:
    """A session at work whose turns ended with these sizes."""
    known.setdefault("status", Status.RUNNING)
    now = used[-1] if used else 0
    parts = {"tool_results": now}
    session = a_session(owner, used=now, turns=len(used), breakdown=parts, **known)
    StoredTurn.objects.bulk_create(
        StoredTurn(
            session=session,
            number=number,
            used=size,
            limit=session.limit,
            unit=session.unit,
            requested_revision=0,
            requested_number=0,
            ended_revision=0,
            ended_number=0,
        )
        for number, size in enumerate(used, 1)
    )
    return session


def page(client: Client, query: str = "", **headers: str) -> str:
    response = client.get(f"/{query}", headers=headers)
    assert response.status_code == 200
    return response.content.decode()


def key_of(html: str) -> tuple[list[str], str]:
    """The groups that the key of the gauges draws, and its words."""
    key = html.partition('<ul class="chart-key')[2].partition("</ul>")[0]
    return re.findall(r"cat-(\w+)", key), " ".join(re.sub(r"<[^>]*>", " ", key).split())


def titles(html: str) -> list[str]:
    rows = html.split('class="wall__name"')[1:]
    return [row.split("</a>")[0].rpartition(">")[2] for row in rows]


def test_a_row_says_how_full_and_when_it_compacts(client: Client, ada: User) -> None:
    a_running(ada, 10_000, 11_000, 12_000, title="Read the tests", limit=24_000)
    html = page(client)
    assert titles(html) == ["Read the tests"]
    assert "50%" in html
    assert "12.0 kB" in html
    assert "≈ 8</b> turns" in html
    assert "1 session, 1 running." in html


def test_what_cannot_be_known_is_not_given_a_number(client: Client, ada: User) -> None:
    a_running(ada, 10_000, 9_000, 8_000)
    assert "unknown" in page(client)
    AgentSession.objects.update(limit=0)
    html = page(client)
    assert "gauge__unknown" in html
    assert "%</span>" not in html


def test_more_than_the_limit_is_shown_as_it_is(client: Client, ada: User) -> None:
    a_running(ada, 494_945, limit=200_000)
    html = page(client)
    assert '<span class="bad">247%</span>' in html
    assert "gauge--over" in html


def test_an_assumed_window_is_named_beside_its_percentage(client: Client, ada: User) -> None:
    a_running(ada, 64_000, limit=128_000, window_tokens=128_000, window_from="assumed")
    AgentSession.objects.update(unit="tokens")
    assert '50%</span> <span class="from">assumed</span>' in page(client)


def test_the_soonest_to_compact_comes_first_and_is_told(client: Client, ada: User) -> None:
    a_running(ada, 1_000, 1_100, 1_200, title="slow")
    a_running(ada, 10_000, 14_000, 18_000, title="fast")
    a_running(ada, 19_000, title="done", status=Status.IDLE)
    html = page(client)
    assert titles(html) == ["fast", "slow", "done"]
    assert "“fast” compacts within 1 turn." in html


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("fullest", ["beta", "alpha", "Gamma"]),
        ("title", ["alpha", "beta", "Gamma"]),
        ("newest", ["Gamma", "beta", "alpha"]),
        ("nonsense", ["alpha", "beta", "Gamma"]),
    ],
)
def test_it_is_sorted_as_asked(client: Client, ada: User, sort: str, order: list[str]) -> None:
    now = timezone.now()
    for place, (title, used) in enumerate([("alpha", 2_000), ("beta", 9_000), ("Gamma", 500)]):
        session = a_running(ada, used, title=title)
        moment = now + timedelta(seconds=place)
        AgentSession.objects.filter(pk=session.pk).update(changed_at=moment)
    shown = titles(page(client, f"?sort={sort}"))
    assert shown == order if sort != "nonsense" else sorted(shown) == sorted(order)


def test_each_word_of_a_search_must_be_found_somewhere(client: Client, ada: User) -> None:
    a_running(ada, title="Port the loader", model="explorer")
    a_running(ada, title="Port the parser", model="opus")
    assert titles(page(client, "?q=port+OPUS")) == ["Port the parser"]
    assert titles(page(client, "?q=small+loader")) == ["Port the loader"]
    html = page(client, "?q=%3Cb%3E")
    assert "No session matches “&lt;b&gt;”" in html
    assert "2 sessions are hidden" in html


def test_groups_are_counted_and_filter(client: Client, ada: User) -> None:
    for status in (Status.RUNNING, Status.WAITING, Status.FAILED, Status.IDLE, Status.ARCHIVED):
        a_running(ada, title=status, status=status)
    html = page(client)
    assert "archived" not in titles(html)
    for words in ("All 4", "Live 1", "Needs you 2", "Done 1", "Archived 1"):
        assert f">{words}</label>" in html
    assert "2 need you." in html
    assert sorted(titles(page(client, "?group=needs_you"))) == ["failed", "waiting"]
    assert titles(page(client, "?group=archived")) == ["archived"]


def test_compactions_show_what_they_freed_and_where_they_were(client: Client, ada: User) -> None:
    session = a_running(ada, 9_000, 3_000, compactions=1)
    facts: dict[str, Any] = {"session": session, "trigger": "threshold", "turn": 1}
    Compaction.objects.create(number=1, state="applied", before=9_000, after=2_500, **facts)
    Compaction.objects.create(number=2, state="failed", before=9_000, **facts)
    html = page(client)
    assert "· 6.5 kB" in html
    assert '<path class="spark__cut" d="M1.000 0V100"/>' in html


def test_a_compaction_that_made_it_larger_is_shown_as_a_loss(client: Client, ada: User) -> None:
    session = a_running(ada, 9_000, compactions=1)
    Compaction.objects.create(
        session=session, number=1, state="applied", trigger="threshold", before=100, after=500
    )
    assert '<span class="bad">grew 400 B</span>' in page(client)


def test_the_last_event_is_named(client: Client, ada: User) -> None:
    session = a_running(ada, seq=2)
    SessionEvent.objects.create(session=session, seq=1, kind="run_started", data={})
    SessionEvent.objects.create(session=session, seq=2, kind="turn_ended", data={})
    html = page(client)
    assert "turn ended, <time" in html
    assert "run started" not in html


def test_a_hostile_title_is_text(client: Client, ada: User) -> None:
    a_running(ada, title="<script>alert(1)</script>\u202egnp")
    html = page(client)
    assert "<script>alert" not in html
    assert "U+202E" in html


def test_it_shows_ones_own_sessions_and_staff_all(client: Client, ada: User) -> None:
    a_running(a_user("bob"), title="of bob")
    assert titles(page(client)) == []
    ada.is_staff = True
    ada.save()
    assert titles(page(client)) == ["of bob"]


def test_without_a_session_it_offers_to_begin_one(client: Client, ada: User) -> None:
    html = page(client)
    assert "No sessions yet" in html
    assert 'href="/sessions/new/"' in html


def test_htmx_gets_the_wall_alone(client: Client, ada: User) -> None:
    a_running(ada, title="one")
    html = page(client, **HTMX)
    assert titles(html) == ["one"]
    assert "<html" not in html


def test_a_row_is_fetched_by_itself(client: Client, ada: User) -> None:
    session = a_running(ada, 6_000, title="one")
    html = client.get(f"/sessions/{session.pk}/row/", headers=HTMX).content.decode()
    assert titles(html) == ["one"]
    assert "<h1" not in html
    assert client.get(f"/sessions/{session.pk}/row/")["Location"] == "/"
    client.force_login(a_user("bob"))
    assert client.get(f"/sessions/{session.pk}/row/", headers=HTMX).status_code == 404


def test_the_number_of_queries_does_not_grow_with_the_sessions(
    client: Client, ada: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(30):
        a_running(ada, 1_000, 2_000, 3_000)
    with django_assert_max_num_queries(12):
        page(client)


def test_a_stranger_is_sent_to_sign_in(client: Client) -> None:
    response = client.get("/")
    assert response["Location"] == "/accounts/login/?next=/"


def test_it_rejects_post(client: Client, ada: User) -> None:
    assert client.post("/").status_code == 405


@pytest.mark.parametrize(
    "known",
    [{}, {"thrash": True}, {"hold": True}, {"revision": 1}, {"unit": "chars"}, {"limit": 30_000}],
    ids=str,
)
def test_a_row_forecasts_what_the_sessions_own_page_does(ada: User, known: dict[str, Any]) -> None:
    session = a_running(ada, 10_000, 11_000, 12_000, limit=24_000)
    AgentSession.objects.update(**known)
    session.refresh_from_db()
    told, row = read(session, session.profile_version), wall.row(session)
    assert (row.left, row.grows) == (told.turns_left, told.grows)
    assert (told.turns_left is None) is bool(known)


def test_a_row_tells_the_slope(client: Client, ada: User) -> None:
    a_running(ada, 10_000, 11_000, 12_000, limit=24_000)
    assert "+1.0 kB a turn" in page(client)
    AgentSession.objects.update(status=Status.IDLE)
    assert "a turn" not in page(client)


def test_a_key_names_the_parts_of_the_gauges(client: Client, ada: User) -> None:
    a_running(ada, 10_000, limit=120_000)
    html = page(client, **HTMX)
    groups, words = key_of(html)
    assert groups == list(GROUPS)
    assert "system and tools memory summary conversation tool results next threshold" in words
    assert "limit unknown" not in words


def test_the_key_tells_groups_apart_without_their_colours(client: Client, ada: User) -> None:
    """Each has a pattern of its own but the last, which is plain."""
    a_running(ada, 10_000)
    html = page(client)
    assert re.findall(r'<pattern id="m-(\w+)"', html) == list(GROUPS)[:-1]
    assert html.count('class="gauge-mini patterned') == 1


def test_the_key_explains_only_what_some_gauge_shows(client: Client, ada: User) -> None:
    a_running(ada, 10_000, limit=0)
    assert "limit unknown" in key_of(page(client))[1]
    assert "next threshold" not in key_of(page(client))[1]
