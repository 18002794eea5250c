"""The list as it was at any state, and what lies between two."""

from __future__ import annotations

import pytest
from builders import a_user
from django.contrib.auth.models import User
from django.test import Client
from scenes import HTMX, a_talk, compacted, html_of, words_of

from agentcore.snapshot import State
from hermesweb import lives, travel
from hermesweb.models import AgentSession

pytestmark = pytest.mark.django_db


def url(session: AgentSession, rest: str = "") -> str:
    return f"/sessions/{session.pk}/{rest}"


def numbers(html: str) -> list[int]:
    rows = html.split('class="travel__row"')[1:]
    return [int(row.partition('right">')[2].partition("<")[0]) for row in rows]


def test_every_stop_shows_the_exact_list_of_its_state(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    found = travel.stops(session)
    assert [stop.label for stop in found][-2:] == ["turn 5", "revision 1"]
    for stop in found:
        html = html_of(client, url(session, f"at/{stop.state}/"))
        snapshot = lives.snapshot_of(session, stop.state)
        assert numbers(html) == [message.number for message in snapshot.messages]
        moment = travel.moment(session, stop.state)
        assert moment.bytes == snapshot.sizes.bytes
        assert {name: size for name, size, _ in moment.shares} == {
            str(name): size for name, size in snapshot.sizes.breakdown.items()
        }


def test_a_turn_is_told_with_its_limit_of_then(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    words = words_of(html_of(client, url(session, "at/turn:2/")))
    assert "At the end of turn 2" in words and "of 24,000 bytes then" in words


def test_one_steps_over_turns_and_over_changes(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    found = travel.stops(session)
    assert travel.step(found, 0, -1) is None
    assert travel.step(found, 0, 1) == found[1]
    assert travel.step(found, 0, 1, revisions=True) == found[-1]
    assert travel.place_of(found, State(0, 7)) == travel.place_of(found, State(0, 6))
    html = html_of(client, url(session, "at/0.6/"))
    assert f'href="{url(session, "at/1.13/")}" data-key="c"' in html


def test_the_slider_answers_with_the_part_and_the_address(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    response = client.get(url(session, "at/?stop=1"), headers=HTMX)
    assert response["HX-Replace-Url"] == url(session, "at/0.6/")
    assert response.content.decode().count('id="moment"') == 1
    assert client.get(url(session, "at/?stop=999"))["Location"] == url(session, "at/0.12/")


@pytest.mark.parametrize("state", ["turn:99", "7", "x", "1.2.3"])
def test_a_state_that_never_was_is_not_found(client: Client, ada: User, state: str) -> None:
    assert client.get(url(a_talk(ada, 4), f"at/{state}/")).status_code == 404


def test_a_long_list_comes_in_pages(client: Client, ada: User) -> None:
    session = a_talk(ada, 124)
    first = html_of(client, url(session, "at/0/"))
    assert len(numbers(first)) == travel.ROWS and "?start=100" in first
    assert numbers(html_of(client, url(session, "at/0/?start=100"))) == list(range(101, 125))


def test_any_two_states_are_compared_either_way_round(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    for ends in ("from=turn:3&to=1", "from=1&to=turn:3"):
        words = words_of(html_of(client, url(session, f"diff/?{ends}")))
        assert "from 0.8 to 1.13" in words
        assert "Σ summarized 4" in words and "+ appended 4" in words
    assert "the earlier one stands before" in words
    part = html_of(client, url(session, "diff/?from=turn:3&to=1&fate=summarized"), htmx=True)
    assert part.lstrip().startswith("<section") and 'data-fate="kept"' not in part


@pytest.mark.parametrize("query", ["from=x", "to=turn:99", "fate=none"])
def test_a_diff_of_nothing_says_what_is_wrong(client: Client, ada: User, query: str) -> None:
    assert client.get(url(a_talk(ada, 4), f"diff/?{query}")).status_code == 400


def test_strangers_see_nothing_of_it(client: Client, ada: User) -> None:
    session = a_talk(ada, 4)
    client.force_login(a_user("bob"))
    for rest in ("at/", "at/0/", "diff/?from=0&to=0"):
        assert client.get(url(session, rest)).status_code == 404
