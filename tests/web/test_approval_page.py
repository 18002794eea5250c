"""The question about a call on the session's page, and on a page of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from builders import a_user
from django.contrib.auth.models import User
from django.test import Client
from scenes import html_of
from working import ECHO_RAN, calls, calls_of, said_in, times_ran, worked

from hermesweb import acts
from hermesweb.models import AgentSession, Instruction
from hermesweb.templatetags.units import lasting

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]

HOSTILE = json.dumps({"command": "echo </textarea><b>x</b> \u202e; echo \ud800"})


@pytest.fixture
def ada(client: Client) -> User:
    user = User.objects.filter(username="ada").first() or a_user("ada")
    client.force_login(user)
    return user


def address(session: AgentSession, place: int = 0) -> str:
    question = session.instructions.filter(kind="approval").order_by("pk")[place]
    return f"/sessions/{session.pk}/approvals/{question.pk}/"


def test_the_session_page_says_what_waits_and_takes_the_answer(
    ada: User, held: AgentSession, client: Client
) -> None:
    html = html_of(client, f"/sessions/{held.pk}/")
    assert "may <code>run_command</code> run?" in html and "echo ran &gt;&gt; runs" in html
    ends_at = held.instructions.get(kind="approval").ends_at
    assert f'until <time datetime="{ends_at.isoformat()}">' in html
    left = re.search(r'<count-down role="timer" seconds="(\d+)">([^<]*)<', html)
    assert left and 0 < int(left[1]) <= 1_800 and left[2] == lasting(int(left[1]))
    assert 'data-waiting="yes"' in html and 'id="stop"' in html and 'id="resume"' not in html
    assert "may the list be compacted?" not in html
    told = client.post(address(held), {"allow": "yes"})
    assert (told.status_code, told["Location"]) == (302, f"/sessions/{held.pk}/")
    worked(held)
    assert times_ran(held) == 1
    assert 'id="approvals"></div>' in html_of(client, f"/sessions/{held.pk}/")


def test_each_call_of_a_group_has_its_own_question_and_a_single_one_the_keys(
    ada: User, started: Callable[..., AgentSession], client: Client
) -> None:
    session = started(
        calls_of(("run_command", ECHO_RAN), ("write_file", '{"path":"a","content":"b"}'))
    )
    html = html_of(client, f"/sessions/{session.pk}/")
    # A key that is hit twice must not answer the next question too.
    assert html.count("run?") == 2 and 'data-key="y"' not in html and 'id="no-keys"' in html
    client.post(address(session, 1), {"allow": "no"}, headers={"HX-Request": "true"})
    html = html_of(client, f"/sessions/{session.pk}/")
    assert "<code>run_command</code>" in html and "<code>write_file</code>" not in html
    assert 'data-key="y"' in html and 'id="no-keys"' not in html


def test_htmx_gets_the_fragments_and_a_second_answer_is_told(
    ada: User, held: AgentSession, client: Client
) -> None:
    where, htmx = address(held), {"HX-Request": "true"}
    first = client.post(where, {"allow": "no"}, headers=htmx)
    assert first.status_code == 200 and 'id="approvals"></div>' in first.content.decode()
    second = client.post(where, {"allow": "yes"}, headers=htmx)
    assert second.status_code == 409 and "ada denied it" in second.content.decode()


def test_arguments_are_altered_on_the_page(ada: User, held: AgentSession, client: Client) -> None:
    html = html_of(client, address(held))
    assert "&quot;command&quot;: &quot;echo ran &gt;&gt; runs&quot;" in html
    sent = {"allow": "yes", "arguments": '{\n  "command": "echo other"\n}'}
    assert client.post(address(held), sent).status_code == 302
    worked(held)
    assert "a person altered the arguments" in said_in(held)[3] and times_ran(held) == 0
    assert "ada allowed it, with other arguments." in html_of(client, address(held))


def test_arguments_that_are_left_as_they_are_shown_are_no_alteration(
    ada: User, started: Callable[..., AgentSession], client: Client
) -> None:
    session = started(calls("run_command", HOSTILE, "c1"))
    response = client.get(address(session))
    html = response.content.decode()
    assert "</textarea><b>" not in html and "\\u202e" in html and "\\ud800" in html
    client.post(address(session), {"allow": "yes", "arguments": response.context["entered"]})
    worked(session)
    assert "altered" not in said_in(session)[3]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "The arguments are not JSON"),
        ("[]", "The arguments are one JSON object"),
        ('{"command": 1}', "command is a string"),
        ("[" * 100_000, "The arguments are not JSON"),
    ],
)
def test_arguments_that_do_not_fit_are_told_with_what_was_entered(
    ada: User, held: AgentSession, client: Client, text: str, why: str
) -> None:
    response = client.post(address(held), {"allow": "yes", "arguments": text})
    html = response.content.decode()
    assert response.status_code == 400 and why in html and 'aria-invalid="true"' in html
    assert response.context["entered"] == text
    assert Instruction.objects.get(kind="approval").state == "queued"


def test_a_reason_is_given_on_the_page(ada: User, held: AgentSession, client: Client) -> None:
    assert client.post(address(held), {"allow": "no", "reason": "x" * 2_001}).status_code == 400
    client.post(address(held), {"allow": "no", "reason": "look first"})
    worked(held)
    assert said_in(held)[3].endswith("a person denied it: look first]")
    html = html_of(client, address(held))
    assert "ada denied it." in html and 'id="deny"' not in html


def test_the_page_of_an_answered_question_takes_no_second_answer(
    ada: User, held: AgentSession, client: Client
) -> None:
    acts.answer(ada, held, "c1", False)
    response = client.post(address(held), {"allow": "yes"})
    assert response.status_code == 409 and "ada denied it" in response.content.decode()
    acts.stop(ada, held)
    assert "ada denied it" in html_of(client, address(held))


def test_a_stopped_run_wants_no_answer(ada: User, held: AgentSession, client: Client) -> None:
    acts.stop(ada, held)
    assert "The run is being stopped" in html_of(client, address(held))
    worked(held)
    assert "No answer is wanted any more" in html_of(client, address(held))


def test_strangers_wrong_verbs_and_other_rows_are_refused(
    ada: User, held: AgentSession, client: Client
) -> None:
    said = held.instructions.get(kind="message")
    assert client.get(f"/sessions/{held.pk}/approvals/{said.pk}/").status_code == 404
    assert client.get(f"/sessions/{held.pk}/approvals/999/").status_code == 404
    assert client.put(address(held)).status_code == 405
    stranger = Client()
    stranger.force_login(a_user("bob"))
    for sent in (stranger.get(address(held)), stranger.post(address(held), {"allow": "yes"})):
        assert sent.status_code == 404
    assert Client().get(address(held)).status_code == 302
