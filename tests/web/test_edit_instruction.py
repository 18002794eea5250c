"""An earlier instruction in other words: a fork before it, which runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import a_user, said
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings
from scenes import a_talk_of, html_of

from hermesweb import lives
from hermesweb.models import AgentSession

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("woken")]


@pytest.fixture
def session(client: Client, tmp_path: Path, settings: Settings) -> AgentSession:
    settings.ALLOWED_ROOTS = [tmp_path]
    ada: User = a_user("ada")
    client.force_login(ada)
    talk = [
        said(1, "Be careful.", "system"),
        said(2, "Fix the parser."),
        said(3, "Done.", "assistant"),
        said(4, "Now the <lexer>."),
        said(5, "Done too.", "assistant"),
    ]
    return a_talk_of(ada, *talk, workspace=str(tmp_path), model="explorer")


def test_it_goes_on_from_before_the_instruction_with_the_new_words(
    client: Client, session: AgentSession
) -> None:
    html = html_of(client, f"/sessions/{session.pk}/messages/4/")
    assert 'id="edit"' in html and "Now the &lt;lexer&gt;." in html and 'value="0.4"' in html
    form = {"at": "0.4", "text": "Now the printer."}
    response = client.post(f"/sessions/{session.pk}/forks", form)
    fork = AgentSession.objects.exclude(pk=session.pk).get()
    assert response["Location"] == f"/sessions/{fork.pk}/"
    texts = [message.text for message in lives.snapshot_of(fork).messages]
    assert texts == ["Be careful.", "Fix the parser.", "Done."]
    assert fork.instructions.get().text == "Now the printer."
    session.refresh_from_db()
    assert session.last_number == 5


@pytest.mark.parametrize("number", [1, 3])
def test_only_what_a_person_said_is_edited(
    client: Client, session: AgentSession, number: int
) -> None:
    assert 'id="edit"' not in html_of(client, f"/sessions/{session.pk}/messages/{number}/")
