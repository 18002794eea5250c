"""What the session page says of compaction: held, due, or of no use."""

from __future__ import annotations

import pytest
from builders import a_lease, added, full, said
from django.contrib.auth.models import User
from django.test import Client
from scenes import a_talk, compacted, html_of, words_of

from agentcore.events import OverBudget
from agentcore.pressure import Pressure, Unit, Window, WindowSource
from hermesweb.models import AgentSession
from hermesweb.recorder import record

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("woken")]


def url(session: AgentSession, rest: str = "") -> str:
    return f"/sessions/{session.pk}/{rest}"


def over_budget(session: AgentSession) -> OverBudget:
    window = Window(200_000, WindowSource.ASSUMED)
    pressure = Pressure(session.used, session.limit, Unit.BYTES, session.used // 4, window, 0)
    return OverBudget(pressure, largest=4, largest_bytes=400)


def test_a_profile_is_said_to_free_nothing_more_only_of_the_list_that_it_failed_on(
    client: Client, ada: User
) -> None:
    session = a_talk(ada, 8)
    held = a_lease(session)
    full(session, limit=session.used - 1)
    record(session.pk, held.fence, [over_budget(session)])
    html = html_of(client, url(session))
    assert "This profile frees nothing more; another preset may ." in words_of(html)
    assert f'href="{url(session, "compact/")}">another preset may' in html
    record(session.pk, held.fence, added(said(9, "more")))
    assert "frees nothing more" not in words_of(html_of(client, url(session)))


def test_a_profile_that_just_freed_something_is_not_said_to_free_nothing(
    client: Client, ada: User
) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    session.refresh_from_db()
    full(session, limit=session.used - 1)
    record(session.pk, a_lease(session).fence, [over_budget(session)])
    assert "frees nothing more" not in words_of(html_of(client, url(session)))


@pytest.mark.parametrize(
    ("used", "until", "automatic", "told"),
    [
        (0.4, 0.5, "", False),
        (0.4, 0.95, "", True),
        (0.95, 0.96, "", True),
        (0.4, 0, "", True),
        (0.4, 0.95, "off", False),
    ],
)
def test_a_hold_is_told_only_where_it_changes_what_comes(
    client: Client, ada: User, used: float, until: float, automatic: str, told: bool
) -> None:
    session = a_talk(ada, 8, hold=True, automatic=automatic)
    limit = session.limit
    full(session, used=int(used * limit), hold_until=int(until * limit))
    words = words_of(html_of(client, url(session)))
    assert ("Automatic compaction is on hold." in words) is told
    assert ("Resume compaction" in words) is told
    assert ("on hold" in words.lower()) is told


def test_resume_says_what_goes_on(client: Client, ada: User) -> None:
    session = a_talk(ada, 8, hold=True)
    assert "Resume compaction" in words_of(html_of(client, url(session)))
    told = client.post(url(session, "resume"), follow=True).content.decode()
    assert "Automatic compaction goes on." in words_of(told)
    full(session, run_end="stopped", hold=True)
    assert "Resume the run" in words_of(html_of(client, url(session)))
    told = client.post(url(session, "resume"), follow=True).content.decode()
    assert "The run goes on." in words_of(told)


@pytest.mark.parametrize(
    ("status", "offered"), [("idle", True), ("running", True), ("queued", True), ("waiting", False)]
)
def test_the_end_of_a_hold_is_named_only_where_it_is_offered(
    client: Client, ada: User, status: str, offered: bool
) -> None:
    session = full(a_talk(ada, 8, hold=True), status=status)
    words = words_of(html_of(client, url(session)))
    assert "Nothing is compacted by itself." in words
    assert ("Resume to end that now." in words) is offered
    assert ("Resume compaction" in words) is offered


def test_a_hold_of_a_run_at_work_ends_without_touching_the_run(client: Client, ada: User) -> None:
    session = full(a_talk(ada, 8, hold=True), status="running", run_open=True)
    told = client.post(url(session, "resume"), follow=True).content.decode()
    assert "Automatic compaction goes on." in words_of(told)
    session.refresh_from_db()
    assert (session.hold, session.status, session.run_open) == (False, "running", True)


def test_what_is_left_is_told_while_there_is_no_pace(client: Client, ada: User) -> None:
    session = full(a_talk(ada, 4), used=1_200, limit=24_000)
    words = words_of(html_of(client, url(session)))
    assert words.count("18.0 kB left") == 2
    assert "to say when" in words


def test_an_undo_is_told_as_it_comes_and_in_the_side_panel(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    number = compacted(session)
    path = url(session, f"compactions/{number}/undo")
    assert "Compaction 1 is undone now." in words_of(
        client.post(path, follow=True).content.decode()
    )
    session.stored_compactions.update(state="undone")
    assert "Compaction 1 undone" in words_of(html_of(client, url(session)))


CHANGES = [
    ("messages/4/exclude", {}, "Message 4 leaves with its group"),
    ("messages/4/restore", {}, "Message 4 comes back with its group"),
    ("pins/change", {"do": "restore", "number": "4"}, "Message 4 comes back"),
    ("new_topic", {}, "A new topic begins"),
    ("compactions", {}, "A compaction is queued: it is made"),
]


@pytest.mark.parametrize(("path", "sent", "told"), CHANGES)
@pytest.mark.parametrize(("run_open", "when"), [(False, "now"), (True, "at the next safe border")])
def test_a_change_of_the_list_waits_for_a_border_only_of_a_run(
    client: Client, ada: User, path: str, sent: dict[str, str], told: str, run_open: bool, when: str
) -> None:
    session = a_talk(ada, 12)
    if "back" in told:
        compacted(session)
    full(session, run_open=run_open)
    answer = client.post(url(session, path), sent, follow=True).content.decode()
    assert f"{told} {when}" in words_of(answer)


def test_an_undo_waits_for_the_border_of_a_run(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    number = compacted(session)
    full(session, run_open=True)
    path = url(session, f"compactions/{number}/undo")
    told = client.post(path, follow=True).content.decode()
    assert "Compaction 1 is undone at the next safe border." in words_of(told)
