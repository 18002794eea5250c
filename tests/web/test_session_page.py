from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from builders import a_lease, a_session, a_user, added, full, said, turn_ended
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from scenes import HTMX, a_talk, compacted, html_of, words_of

from agentcore.events import RequestRetried, RunStarted
from hermesweb import acts
from hermesweb.models import (
    AgentSession,
    AuditEntry,
    Compaction,
    Instruction,
    InstructionState,
    SessionKind,
    Status,
    StoredTurn,
)
from hermesweb.recorder import record

pytestmark = pytest.mark.django_db
PAGES = ("", "live/", "chart.json", "turns.json", "turns.csv")
ACTS = ("instructions", "stop", "resume", "compactions")


@pytest.fixture(autouse=True)
def asleep(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """No worker is woken; the list tells for which session one would have been."""
    woken: list[str] = []
    monkeypatch.setattr("hermesweb.acts.queue.wake", woken.append)
    yield woken


def url(session: AgentSession, rest: str = "") -> str:
    return f"/sessions/{session.pk}/{rest}"


def test_the_page_says_who_it_is_and_how_full(client: Client, ada: User) -> None:
    session = a_talk(ada, 8, title="Fix the parser")
    words = words_of(html_of(client, url(session)))
    assert "Fix the parser" in words
    assert f"{session.used / session.limit:.0%} full now" in words
    assert "profile small version 1" in words
    assert "Tool results hold" in words


def test_sizes_of_two_moments_say_which(client: Client, ada: User) -> None:
    """A compaction after the last turn: what is in the window is not what that turn left."""
    session = a_talk(ada, 12)
    compacted(session)
    session.refresh_from_db()
    last = session.stored_turns.latest("number")
    html = html_of(client, url(session))
    assert session.used != last.used
    assert f"{session.used:,} {session.unit} now" in words_of(html.partition('id="turns-title"')[0])
    assert '<th class="right" scope="col">After it</th>' in html
    assert (
        f'<td class="right">{last.number}</td><td class="right num">{last.used / 1_000:.1f} kB'
        in html
    )


def test_more_than_the_limit_is_told_as_it_is(client: Client, ada: User) -> None:
    session = full(a_talk(ada, 8), used=59_280, limit=24_000)
    assert "247% full now" in words_of(html_of(client, url(session)))


def test_without_a_limit_there_is_no_percentage(client: Client, ada: User) -> None:
    session = full(a_talk(ada, 8), limit=0)
    html = html_of(client, url(session))
    assert "Its limit is unknown" in html
    assert "% full" not in html


def test_a_session_without_a_turn_has_a_page(client: Client, ada: User) -> None:
    words = words_of(html_of(client, url(a_session(ada))))
    assert "Nothing in the window yet." in words
    assert "No message yet." in words


def test_a_forecast_is_made_from_growth_alone(client: Client, ada: User) -> None:
    session = a_talk(ada, 24, text="x" * 700)
    words = words_of(html_of(client, url(session)))
    assert session.used < 0.8 * session.limit
    assert "Compaction in about" in words
    StoredTurn.objects.filter(session=session).update(used=session.used)
    assert "Compaction in about" not in words_of(html_of(client, url(session)))


def test_the_rail_and_the_verdict_tell_the_same_forecast(client: Client, ada: User) -> None:
    session = a_talk(ada, 24, text="x" * 700)
    words = words_of(html_of(client, url(session)))
    found = re.search(r"Compaction in about (\d+) turns", words)
    assert found
    left = int(found[1])
    assert f"≈ turn {session.turns + left} , in about {left} turns." in words
    assert "What grows, a turn" in words and "Tool results +" in words


def test_nothing_is_forecast_while_automatic_compaction_is_off(client: Client, ada: User) -> None:
    session = full(a_talk(ada, 24, text="x" * 700), automatic="off")
    words = words_of(html_of(client, url(session)))
    assert "Compaction in about" not in words
    assert "Automatic off" in words


@pytest.mark.parametrize(
    ("messages", "known", "told"),
    [
        (4, {"used": 1_200, "limit": 24_000}, "18.0 kB left until compaction at 19.2 kB."),
        (24, {"automatic": "off"}, "Nothing is compacted by itself."),
        (24, {"kind": "imported"}, "A recording: nothing more is compacted."),
    ],
)
def test_the_verdict_says_why_no_compaction_is_forecast(
    client: Client, ada: User, messages: int, known: dict[str, str], told: str
) -> None:
    session = full(a_talk(ada, messages), **known)
    assert f"full now. {told}" in words_of(html_of(client, url(session)))


def test_above_a_threshold_the_next_run_begins_with_a_compaction(client: Client, ada: User) -> None:
    session = full(a_talk(ada, 24, text="x" * 700), used=20_000, limit=24_000)
    words = words_of(html_of(client, url(session)))
    assert "83% full now. The next run begins with a compaction." in words
    assert "When the next run begins : snip is due. Snip at 19,200 bytes" in words
    full(session, run_open=True)
    assert "The next run begins" not in words_of(html_of(client, url(session)))


def test_the_verdict_says_that_a_compaction_is_far_off_or_not_in_sight(
    client: Client, ada: User
) -> None:
    session = full(a_talk(ada, 24), limit=10**9)
    StoredTurn.objects.filter(session=session).update(limit=10**9)
    assert "full now. Compaction is far off." in words_of(html_of(client, url(session)))
    StoredTurn.objects.filter(session=session).update(used=session.used)
    assert "full now. No compaction in sight." in words_of(html_of(client, url(session)))


def test_the_last_compaction_is_told_with_its_page(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    number = compacted(session)
    assert url(session, f"compactions/{number}/") in html_of(client, url(session))


def test_a_request_that_is_asked_again_is_told_until_its_turn_ends(
    client: Client, ada: User
) -> None:
    session = a_session(ada)
    fence = a_lease(session).fence
    begun = [said(1, "Be careful.", "system"), said(2, "Go.")]
    busy = RequestRetried(2, 12.0, "the <b>server</b> is busy")
    record(session.pk, fence, [RunStarted(1), *added(*begun), busy])
    html = html_of(client, url(session))
    assert "try 2 failed, asked again after 12.0 s: the &lt;b&gt;server&lt;/b&gt; is busy" in html
    answer = said(3, "Done.", "assistant")
    record(session.pk, fence, [*added(answer, turn=1), turn_ended(1, [*begun, answer])])
    assert "asked again" not in html_of(client, url(session))


@pytest.mark.parametrize("rest", PAGES)
def test_pages_only_answer_get(client: Client, ada: User, rest: str) -> None:
    assert client.post(url(a_talk(ada), rest)).status_code == 405


@pytest.mark.parametrize("rest", ACTS)
def test_acts_only_answer_post(client: Client, ada: User, rest: str) -> None:
    assert client.get(url(a_talk(ada), rest)).status_code == 405


@pytest.mark.parametrize("rest", PAGES)
def test_a_stranger_finds_no_page(client: Client, rest: str) -> None:
    session = a_talk(a_user("bob"))
    client.force_login(a_user("ada"))
    assert client.get(url(session, rest)).status_code == 404


@pytest.mark.parametrize("rest", ACTS)
def test_a_stranger_can_do_nothing(client: Client, rest: str) -> None:
    session = a_talk(a_user("bob"), title="as it was")
    client.force_login(a_user("ada"))
    assert client.post(url(session, rest), {"text": "go"}).status_code == 404
    assert not Instruction.objects.exists()
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("rest", PAGES)
def test_who_is_not_signed_in_is_led_to_the_sign_in(client: Client, rest: str) -> None:
    session = a_talk(a_user("bob"))
    assert client.get(url(session, rest)).url.startswith("/accounts/login/")


def test_sending_queues_and_audits_and_wakes(client: Client, ada: User, asleep: list[str]) -> None:
    session = a_talk(ada)
    response = client.post(url(session, "instructions"), {"text": "go on"}, follow=True)
    assert response.redirect_chain == [(url(session), 302)]
    assert "go on" in response.content.decode()
    queued = Instruction.objects.get()
    assert (queued.text, queued.state, queued.by) == ("go on", "queued", ada)
    assert AuditEntry.objects.get().action == "instruction_queued"
    assert asleep == [session.pk]


def test_sending_by_htmx_answers_with_the_queue_and_an_empty_field(
    client: Client, ada: User
) -> None:
    session = a_talk(ada)
    response = client.post(url(session, "instructions"), {"text": "go on"}, headers=HTMX)
    html = response.content.decode()
    assert '<hx-partial id="rail"' in html and "go on" in html
    assert '<hx-partial id="composer"' in html
    assert "<html" not in html


@pytest.mark.parametrize("text", ["", "  \n", "x" * 1_000_001])
def test_an_instruction_that_cannot_be_used_is_refused(
    client: Client, ada: User, text: str
) -> None:
    session = a_talk(ada)
    response = client.post(url(session, "instructions"), {"text": text}, headers=HTMX)
    assert response.status_code == 400
    assert response.headers["HX-Retarget"] == "#notice"
    assert 'role="alert"' in response.content.decode()
    assert not Instruction.objects.exists()


def test_a_refusal_without_htmx_is_a_note_on_the_page(client: Client, ada: User) -> None:
    session = a_talk(ada)
    response = client.post(url(session, "stop"), follow=True)
    assert "nothing runs here" in response.content.decode()


def test_an_instruction_can_be_withdrawn(client: Client, ada: User) -> None:
    session = a_talk(ada)
    queued = acts.send(ada, session, "go on")
    client.post(url(session, f"instructions/{queued.pk}/withdraw"))
    queued.refresh_from_db()
    assert queued.state == InstructionState.WITHDRAWN


def test_stop_is_asked_for_once(client: Client, ada: User) -> None:
    session = full(a_talk(ada), status=Status.RUNNING)
    assert 'id="stop"' in html_of(client, url(session))
    client.post(url(session, "stop"))
    session.refresh_from_db()
    assert (session.status, session.stop_requested) == (Status.STOPPING, True)
    assert 'id="stop"' not in html_of(client, url(session))


def test_a_run_without_an_answer_can_be_resumed(client: Client, ada: User) -> None:
    session = full(a_talk(ada), run_end="limit", runs=1)
    assert 'id="resume"' in html_of(client, url(session))
    client.post(url(session, "resume"))
    session.refresh_from_db()
    assert session.status == Status.QUEUED
    assert 'id="resume"' not in html_of(client, url(session))


def test_an_answered_run_is_not_resumed(client: Client, ada: User) -> None:
    session = full(a_talk(ada), run_end="answered", runs=1)
    assert 'id="resume"' not in html_of(client, url(session))
    assert client.post(url(session, "resume"), headers=HTMX).status_code == 409


def test_compact_now_is_queued_once(client: Client, ada: User) -> None:
    session = a_talk(ada)
    assert client.post(url(session, "compactions"), headers=HTMX).status_code == 200
    assert Compaction.objects.get().trigger == "manual"
    again = client.post(url(session, "compactions"), headers=HTMX)
    assert again.status_code == 409
    assert "compaction 1 is queued already" in again.content.decode()


def test_a_recording_can_only_be_read(client: Client, ada: User) -> None:
    session = full(a_talk(ada), kind=SessionKind.IMPORTED)
    html = html_of(client, url(session))
    for absent in ('id="composer"', 'id="compact"', 'class="pin"'):
        assert absent not in html


def test_the_fragments_are_parts_for_htmx_and_a_page_for_others(client: Client, ada: User) -> None:
    session = a_talk(ada)
    html = html_of(client, url(session, "live/"), htmx=True)
    assert html.count("<hx-partial") == 5
    assert client.get(url(session, "live/")).url == url(session)


def test_what_pins_keep_is_told_anew_beside_the_list(client: Client, ada: User) -> None:
    session = full(a_talk(ada), pinned_bytes=5_900)
    told = '<hx-partial id="listed" hx-swap="outerHTML">'
    news = html_of(client, url(session, "live/"), htmx=True).partition(told)[2]
    assert "5.9 kB kept by pins" in words_of(news)
    assert 'id="listed"' in html_of(client, url(session))


def test_turns_come_as_table_json_and_csv(client: Client, ada: User) -> None:
    session = a_talk(ada, 8)
    items = client.get(url(session, "turns.json")).json()["items"]
    answer = client.get(url(session, "turns.csv"))
    lines = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [int(line["bytes"]) for line in lines] == [item["bytes"] for item in items]
    assert "The newest turns as a table" in html_of(client, url(session))


def test_a_formula_in_the_csv_is_text(client: Client, ada: User) -> None:
    session = a_talk(ada, 4)
    StoredTurn.objects.update(model="=cmd()")
    answer = client.get(url(session, "turns.csv"))
    assert "'=cmd()" in answer.content.decode()


def test_hostile_titles_are_text(client: Client, ada: User) -> None:
    title = '<script>alert(1)</script>" onload=x \x1b[31m\u202e'
    html = html_of(client, url(a_talk(ada, title=title)))
    assert "<script>alert" not in html
    assert "\x1b" not in html and "\u202e" not in html


def test_the_data_of_the_strip_cannot_end_its_script(client: Client, ada: User) -> None:
    session = a_talk(ada, 4)
    StoredTurn.objects.update(breakdown={"</script><b>": 5})
    html = html_of(client, url(session))
    data = html.split('<script id="turns" type="application/json">')[1].split("</script>")[0]
    assert json.loads(data)["breakdown"] == {"</script><b>": [5]}


@pytest.mark.parametrize("query", ["view=x", "before=1", "category=x", "after=9.9.9"])
def test_an_address_that_says_nothing_is_refused_by_name(
    client: Client, ada: User, query: str
) -> None:
    answer = client.get(url(a_talk(ada), f"?{query}"))
    assert answer.status_code == 400
    assert query.split("=")[0] in answer.content.decode()


def test_queries_and_size_do_not_grow_with_the_session(
    client: Client, ada: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    sizes, counts = [], []
    for count in (120, 1_000):
        session = a_talk(ada, count)
        html_of(client, url(session))
        with django_assert_max_num_queries(30) as found:
            sizes.append(len(html_of(client, url(session))))
        counts.append(len(found))
    assert counts[0] == counts[1]
    assert sizes[1] < sizes[0] + 100_000
    assert sizes[1] < 400_000


@pytest.mark.parametrize(
    ("known", "looks"),
    [
        ({"status": "queued"}, True),
        ({"status": "running"}, True),
        ({"status": "running", "run_open": True}, False),
        ({"status": "idle"}, False),
    ],
)
def test_the_end_of_work_that_no_event_tells_is_looked_for(
    client: Client, ada: User, known: dict[str, Any], looks: bool
) -> None:
    session = a_talk(ada, 6)
    AgentSession.objects.filter(pk=session.pk).update(**known)
    html = html_of(client, f"/sessions/{session.pk}/")
    assert ('hx-trigger="load delay:2s"' in html) is looks
