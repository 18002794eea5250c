from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from builders import a_user, answered, said
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from scenes import a_talk, a_talk_of, compacted, html_of, later, words_of

from agentcore.messages import Message, born
from hermesweb.models import AgentSession
from hermesweb.rollup import By, rollup

pytestmark = pytest.mark.django_db
PAGES = ("rollup/", "rollup.json", "rollup.csv")


def url(session: AgentSession, rest: str = "rollup/") -> str:
    return f"/sessions/{session.pk}/{rest}"


def asked(number: int, tool: str, **arguments: Any) -> list[Message]:
    """A call with its result."""
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{number}", "type": "function", "function": function}
    said_so = born({"role": "assistant", "content": None, "tool_calls": [call]}).numbered(number)
    return [said_so, answered(number + 1, f"call_{number}", "r" * 600, tool=tool)]


def a_search(ada: User) -> AgentSession:
    """README.md is read three times, twice in one way; one command runs."""
    return a_talk_of(
        ada,
        said(1, "Be careful.", "system"),
        said(2, "Look."),
        *asked(3, "read_file", path="README.md", limit=5),
        *asked(5, "read_file", limit=5, path="README.md"),
        *asked(7, "read_file", path="README.md"),
        *asked(9, "run_command", command="make  test"),
    )


def test_results_are_counted_by_tool_path_and_command(ada: User) -> None:
    found = rollup(a_search(ada)).rows
    calls = {by: [(row.name, row.calls) for row in rows] for by, rows in found.items()}
    assert calls == {
        By.TOOL: [("read_file", 3), ("run_command", 1)],
        By.PATH: [("README.md", 3)],
        By.COMMAND: [("make test", 1)],
    }


def test_carried_is_size_times_the_requests_that_held_it(ada: User) -> None:
    session = a_search(ada)
    sizes = dict(session.messages.values_list("number", "bytes"))
    [path] = rollup(session).rows[By.PATH]
    assert path.carried == 3 * sizes[4] + 2 * sizes[6] + 1 * sizes[8]
    assert path.now == sizes[4] + sizes[6] + sizes[8]


def test_a_repeat_makes_the_earlier_result_stale_while_it_is_in_the_window(ada: User) -> None:
    session = a_search(ada)
    [path] = rollup(session).rows[By.PATH]
    assert (path.repeats, path.stale) == (1, 1)
    assert path.stale_bytes == session.messages.get(number=4).bytes
    compacted(session, start=2, stop=4)
    [path] = rollup(session).rows[By.PATH]
    assert (path.repeats, path.stale, path.stale_bytes) == (1, 0, 0)


def test_what_is_asked_again_after_a_compaction_took_it_is_told(client: Client, ada: User) -> None:
    session = a_search(ada)
    number = compacted(session, start=8, stop=10)
    assert rollup(session).again == []
    later(session, *asked(12, "run_command", command="make  test"))
    [again] = rollup(session).again
    assert (again.first, again.number, again.lost_in) == (10, 13, number)
    words = words_of(html_of(client, url(session), htmx=True))
    assert "1 call asked again for what a compaction had taken out" in words
    assert "make test" in words


def test_what_is_asked_again_without_path_or_command_is_named_once(
    client: Client, ada: User
) -> None:
    first = asked(3, "glob", pattern="**/*")
    session = a_talk_of(ada, said(1, "s", "system"), said(2, "u"), *first)
    compacted(session, start=2, stop=4)
    later(session, *asked(6, "glob", pattern="**/*"))
    words = words_of(html_of(client, url(session)))
    assert ": glob" in words and "glob glob" not in words


def test_what_is_still_there_is_not_called_lost(ada: User) -> None:
    session = a_search(ada)
    compacted(session, start=2, stop=4)
    later(session, *asked(12, "run_command", command="make  test"))
    assert rollup(session).again == []


def test_a_result_that_is_stored_later_finds_its_call(ada: User) -> None:
    session = a_talk_of(ada, said(1, "Be careful.", "system"), said(2, "Look."))
    call, result = asked(3, "read_file", path="a.py")
    later(session, call)
    later(session, result)
    assert [row.name for row in rollup(session).rows[By.PATH]] == ["a.py"]


def test_the_page_shows_each_way_and_its_part_few_rows(client: Client, ada: User) -> None:
    session = a_search(ada)
    whole = words_of(html_of(client, url(session)))
    assert "read_file" in whole and "1 with the same arguments, 1 stale in the window" in whole
    by_path = words_of(html_of(client, url(session, "rollup/?by=path"), htmx=True))
    assert "README.md" in by_path and "run_command" not in by_path
    assert client.get(url(session, "rollup/?by=colour")).status_code == 400


def test_the_session_page_links_to_it(client: Client, ada: User) -> None:
    session = a_search(ada)
    assert f'href="{url(session)}"' in html_of(client, f"/sessions/{session.pk}/")


def test_hostile_names_are_shown_as_text(client: Client, ada: User) -> None:
    session = a_talk_of(
        ada, said(1, "s", "system"), said(2, "u"), *asked(3, "grep", path="<b>\u202e\0=1")
    )
    html = html_of(client, url(session, "rollup/?by=path"))
    assert "<b>" not in html.split("<tbody>")[1].split("</tbody>")[0]
    assert "U+202E" in html


def test_the_downloads_hold_every_row(client: Client, ada: User) -> None:
    session = a_search(ada)
    found = client.get(url(session, "rollup.json")).json()
    assert [row["name"] for row in found["tool"]] == ["read_file", "run_command"]
    text = client.get(url(session, "rollup.csv")).content.decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["by"], row["name"]) for row in rows[:3]] == [
        ("tool", "read_file"),
        ("tool", "run_command"),
        ("path", "README.md"),
    ]


@pytest.mark.parametrize("rest", PAGES)
def test_only_get_is_answered_and_no_stranger(client: Client, ada: User, rest: str) -> None:
    assert client.post(url(a_talk(ada), rest)).status_code == 405
    assert client.get(url(a_talk(a_user("bob")), rest)).status_code == 404
    client.logout()
    assert client.get(url(AgentSession.objects.first(), rest)).status_code == 302  # type: ignore[arg-type]


def test_queries_do_not_grow(ada: User, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    for count in (8, 120):
        session = a_talk(ada, count)
        with django_assert_num_queries(3):
            rollup(session)
