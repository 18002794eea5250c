from __future__ import annotations

import csv
import io

import pytest
from builders import a_user
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from scenes import a_talk, compacted, html_of, words_of

from hermesweb.lifetimes import MOST_ROWS, Bar, lifetimes
from hermesweb.models import AgentSession

pytestmark = pytest.mark.django_db
PAGES = ("lifetimes/", "lifetimes.json", "lifetimes.csv")


def url(session: AgentSession, rest: str = "lifetimes/") -> str:
    return f"/sessions/{session.pk}/{rest}"


def test_a_bar_stands_where_a_request_carried_the_message(ada: User) -> None:
    session = a_talk(ada, 12)
    found = {row.message.number: row for row in lifetimes(session).rows}
    assert found[1].bars == (Bar(1, 5, 0.0, 100.0),)
    assert found[4].bars == (Bar(2, 5, 20.0, 80.0),)
    assert found[4].carried == 4 * session.messages.get(number=4).bytes
    assert 12 not in found, "no request has carried it yet"


def test_a_row_ends_where_a_compaction_took_its_message(ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    found = lifetimes(session)
    fates = {row.message.number: row.fate for row in found.rows}
    assert (fates[4], fates[8]) == ("summarized", "")
    assert [(mark.x, mark.name) for mark in found.cuts] == [(100.0, "C1")]


def test_compactions_in_one_place_are_named_together(ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    compacted(session, start=3, stop=5)
    assert [mark.name for mark in lifetimes(session).cuts] == ["C1–2"]


def test_the_rows_are_those_that_carried_most_in_the_order_of_the_talk(ada: User) -> None:
    session = a_talk(ada, 200)
    found = lifetimes(session)
    numbers = [row.message.number for row in found.rows]
    assert len(numbers) == MOST_ROWS and numbers == sorted(numbers)
    everything = lifetimes(session, 1_000).rows
    assert (
        min(row.carried for row in found.rows)
        >= sorted((row.carried for row in everything), reverse=True)[MOST_ROWS]
    )
    assert sum(row.carried for row in everything) == found.carried


def test_all_that_was_carried_is_all_that_requests_held(ada: User) -> None:
    session = a_talk(ada, 12)
    held = 0
    for turn in session.stored_turns.all():
        sent = session.messages.filter(number__lte=turn.ended_number)
        newest = sent.filter(turn=turn.number)
        held += sum(row.bytes for row in sent) - sum(row.bytes for row in newest)
    assert lifetimes(session).carried == held


def test_the_page_says_what_carried_most_and_has_a_table(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    html = html_of(client, url(session))
    words = words_of(html)
    assert "Message 4 carried most" in words
    assert "cut by 1 compactions" in html and "The same as a table" in words
    assert url(session) in html_of(client, f"/sessions/{session.pk}/")


def test_a_session_without_a_turn_has_a_page(client: Client, ada: User) -> None:
    assert "Nothing was sent yet." in words_of(html_of(client, url(a_talk(ada, 2))))


def test_the_downloads_hold_every_row(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    rows = client.get(url(session, "lifetimes.json")).json()["rows"]
    assert [row["number"] for row in rows] == list(range(1, 11))
    text = client.get(url(session, "lifetimes.csv")).content.decode()
    assert [row["spans"] for row in csv.DictReader(io.StringIO(text))][3] == "2-5"


@pytest.mark.parametrize("rest", PAGES)
def test_only_get_is_answered_and_no_stranger(client: Client, ada: User, rest: str) -> None:
    assert client.post(url(a_talk(ada), rest)).status_code == 405
    assert client.get(url(a_talk(a_user("bob")), rest)).status_code == 404


def test_queries_and_page_do_not_grow(
    client: Client, ada: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    sizes = []
    for count in (150, 1_000):
        session = a_talk(ada, count)
        with django_assert_num_queries(4):
            lifetimes(session)
        sizes.append(len(html_of(client, url(session))))
    assert sizes[1] < 1.2 * sizes[0]
