from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import a_session, a_user
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.template.loader import render_to_string
from django.test import Client
from pytest_django import Settings

from agentcore import PRESETS
from hermesweb.models import AgentSession, AuditEntry, Instruction, ModelEndpoint

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path, settings: Settings) -> Path:
    settings.ALLOWED_ROOTS = [tmp_path]
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


def post(client: Client, folder: Path, **changes: Any) -> HttpResponse:
    values = {
        "instruction": "Say what this project does",
        "workspace": str(folder),
        "model": "explorer",
        "profile": "small",
        "title": "",
    }
    return client.post("/sessions/new/", {**values, **changes})


def test_each_preset_is_told_in_a_line_here_and_in_the_readme(settings: Settings) -> None:
    told = render_to_string("_presets.html")
    readme = (settings.BASE_DIR / "README.md").read_text()
    for name in (*PRESETS, "small"):
        assert f"<code>{name}</code>" in told and f"| `{name}` |" in readme


def test_it_starts_a_session_and_leads_to_it(client: Client, ada: User, folder: Path) -> None:
    response = post(client, folder, title="A look")
    session = AgentSession.objects.get()
    assert response["Location"] == f"/sessions/{session.pk}/"
    assert (session.owner, session.title, session.model) == (ada, "A look", "explorer")
    assert session.profile_version.profile.name == "small"
    assert Instruction.objects.get().text == "Say what this project does"
    assert AuditEntry.objects.filter(chain=session.pk, who="ada").exists()


@pytest.mark.parametrize(("chosen", "mode"), [("plan", "plan"), ("debug", "debug"), ("", "goal")])
def test_the_mode_that_was_chosen_holds_and_the_page_of_the_session_tells_it(
    client: Client, ada: User, folder: Path, chosen: str, mode: str
) -> None:
    assert '<option value="goal" selected>' in client.get("/sessions/new/").content.decode()
    post(client, folder, mode=chosen)
    session = AgentSession.objects.get()
    assert session.mode == mode
    assert f"<li>{mode} mode</li>" in client.get(f"/sessions/{session.pk}/").content.decode()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"instruction": ""}, "Write what the agent should do."),
        ({"instruction": " \n"}, "Write what the agent should do."),
        ({"mode": "yolo"}, "yolo is not one of the available choices"),
        ({"instruction": "x" * 1_000_001}, "1,000,001 bytes are over the 1,000,000"),
        ({"workspace": ""}, "Name the folder"),
        ({"workspace": "/"}, "is not inside an allowed folder"),
        ({"model": "gpt-none"}, "There is no model &#x27;gpt-none&#x27;: use one of explorer"),
        ({"profile": "none"}, "There is no profile &#x27;none&#x27;: use one of"),
    ],
)
def test_bad_input_is_told_at_its_field_and_nothing_is_stored(
    client: Client, ada: User, folder: Path, changes: dict[str, str], words: str
) -> None:
    response = post(client, folder, **changes)
    html = response.content.decode()
    assert response.status_code == 422
    assert words in html
    assert f'id="id_{next(iter(changes))}_error"' in html
    assert not AgentSession.objects.exists()


def test_it_goes_on_from_a_session_that_the_person_may_read(
    client: Client, ada: User, folder: Path
) -> None:
    mine = a_session(ada, title="the first part")
    address = f"/sessions/new/?predecessor={mine.pk}"
    assert f'href="{address}"' in client.get(f"/sessions/{mine.pk}/").content.decode()
    html = client.get(address).content.decode()
    assert f'<option value="{mine.pk}" selected>the first part</option>' in html
    post(client, folder, predecessor=mine.pk)
    assert AgentSession.objects.get(predecessor=mine).owner == ada


@pytest.mark.parametrize("known", [True, False])
def test_a_predecessor_of_someone_else_is_as_absent_as_none(
    client: Client, ada: User, folder: Path, known: bool
) -> None:
    theirs = a_session(a_user("eve"), title="of eve").pk if known else "nowhere"
    assert "of eve" not in client.get(f"/sessions/new/?predecessor={theirs}").content.decode()
    response = post(client, folder, predecessor=theirs)
    assert response.status_code == 422
    assert f"There is no session {theirs}." in response.content.decode()
    assert not AgentSession.objects.filter(owner=ada).exists()


def test_a_folder_that_is_not_there_says_what_to_do(
    client: Client, ada: User, folder: Path
) -> None:
    html = post(client, folder / "gone").content.decode()
    assert "make it, or choose another" in html
    assert "Say what this project does" in html


def test_a_link_out_of_the_allowed_folders_is_refused(
    client: Client, ada: User, folder: Path
) -> None:
    (folder / "out").symlink_to("/usr")
    assert "is not inside an allowed folder" in post(client, folder / "out").content.decode()


def test_a_missing_key_names_its_variable(
    client: Client, ada: User, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ACME_KEY", raising=False)
    ModelEndpoint.objects.create(name="acme", model="acme-1", key_variable="ACME_KEY")
    assert "set ACME_KEY in the environment" in post(client, folder, model="acme").content.decode()


def test_the_form_offers_models_and_profiles(client: Client, ada: User) -> None:
    ModelEndpoint.objects.create(name="acme", model="acme-1")
    html = client.get("/sessions/new/").content.decode()
    assert '<option value="explorer">explorer</option>' in html
    assert '<option value="acme">acme</option>' in html
    assert '<option value="balanced" selected>balanced</option>' in html
    assert "replay" not in html


def test_a_stranger_is_sent_to_sign_in(client: Client) -> None:
    assert client.post("/sessions/new/").status_code == 302
    assert not AgentSession.objects.exists()


def test_it_rejects_put(client: Client, ada: User) -> None:
    assert client.put("/sessions/new/").status_code == 405
