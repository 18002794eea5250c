from __future__ import annotations

from typing import Any

import pytest
from builders import a_session, a_user
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.test import Client
from scenes import HTMX, html_of, words_of

from hermesweb import acts
from hermesweb.models import AgentSession, AuditEntry, Profile

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("woken")]
HOSTILE = '"><script>alert(1)</script>'


@pytest.fixture
def session(ada: User) -> AgentSession:
    return a_session(ada, title="a talk")


def page(session: AgentSession) -> str:
    return f"/sessions/{session.pk}/settings/"


def as_shown(session: AgentSession) -> dict[str, Any]:
    """What a browser sends of the page when nothing on it was touched."""
    name = session.profile.name if session.profile else ""
    values = {
        "title": session.title,
        "profile": name,
        "mode": session.mode,
        "automatic": session.automatic,
    }
    return {**values, **{f"initial-{name}": value for name, value in values.items()}}


def save(client: Client, session: AgentSession, **changes: str) -> HttpResponse:
    response = client.post(page(session), {**as_shown(session), **changes})
    session.refresh_from_db()
    return response


def told(session: AgentSession) -> list[str]:
    return list(session.events.order_by("seq").values_list("kind", flat=True))


def test_the_session_page_leads_to_its_settings(client: Client, session: AgentSession) -> None:
    assert f'href="{page(session)}"' in html_of(client, f"/sessions/{session.pk}/")


def test_the_page_shows_what_holds_and_each_profile_with_its_version_in_force(
    client: Client, session: AgentSession
) -> None:
    values = Profile.objects.get(name="small").current.values
    acts.save_profile(None, "small", {**values, "automatic": "ask"})
    html = html_of(client, page(session))
    assert '<option value="small" selected>small, version 2</option>' in html
    assert '<option value="balanced">balanced, version 1</option>' in html
    assert '<option value="goal" selected>goal</option>' in html
    assert "as the profile says (now ask)" in html
    assert 'value="a talk"' in html


def test_what_was_changed_is_saved_told_and_audited_and_nothing_else(
    client: Client, session: AgentSession
) -> None:
    changes = {"title": "A talk", "profile": "balanced", "mode": "plan", "automatic": "off"}
    response = save(client, session, **changes)
    assert response["Location"] == f"/sessions/{session.pk}/"
    assert (session.title, session.mode, session.automatic) == ("A talk", "plan", "off")
    assert str(session.profile) == "balanced"
    assert told(session) == ["renamed", *["profile_changed"] * 3]
    entries = AuditEntry.objects.filter(chain=session.pk).order_by("place")
    assert [entry.who for entry in entries] == ["ada"] * 4
    assert [entry.old for entry in entries][1:] == [
        {"profile": "small version 1"},
        {"mode": "goal"},
        {"automatic": ""},
    ]
    assert save(client, session).status_code == 302
    assert len(told(session)) == 4


def test_what_somebody_else_changed_meanwhile_is_not_set_back(
    client: Client, ada: User, session: AgentSession
) -> None:
    seen = as_shown(session)
    acts.change_mode(ada, session, "plan")
    client.post(page(session), {**seen, "title": "Another"})
    session.refresh_from_db()
    assert (session.title, session.mode) == ("Another", "plan")


def test_all_is_saved_or_nothing_and_errors_stand_at_their_fields(
    client: Client, session: AgentSession
) -> None:
    response = save(client, session, mode="plan", title="")
    html = response.content.decode()
    assert response.status_code == 422
    assert 'id="id_title_error"' in html and "1 to 200 characters" in html
    assert '<option value="plan" selected>' in html
    for field in ("profile", "mode", "automatic"):
        response = save(client, session, **{field: "huge", "title": "Another"})
        assert response.status_code == 422
        assert f'id="id_{field}_error"' in response.content.decode()
    assert (session.title, session.mode, told(session)) == ("a talk", "goal", [])


def test_the_page_is_the_same_for_htmx(client: Client, session: AgentSession) -> None:
    assert "<html" in html_of(client, page(session), htmx=True)
    sent = {**as_shown(session), "title": "Another"}
    assert client.post(page(session), sent, headers=HTMX).status_code == 302


def test_a_run_that_goes_on_takes_the_change_up_at_its_next_turn(
    client: Client, session: AgentSession
) -> None:
    assert "A run goes on" not in html_of(client, page(session))
    AgentSession.objects.update(status="running", run_open=True)
    html = html_of(client, page(session))
    assert "A run goes on" in html
    assert "stop the run first" in html and "session_archive" not in html
    save(client, session, mode="plan")
    assert "they take effect at the next turn" in html_of(client, f"/sessions/{session.pk}/")
    save(client, session, title="Another")
    shown = html_of(client, f"/sessions/{session.pk}/")
    assert "The settings are saved." in shown and "at the next turn" not in shown


@pytest.mark.parametrize("known", [{"kind": "imported"}, {"status": "archived"}])
def test_what_no_run_takes_up_is_not_offered(
    client: Client, session: AgentSession, known: dict[str, str]
) -> None:
    AgentSession.objects.update(**known)
    html = html_of(client, page(session))
    assert "<select" not in html.split("<main")[1].split("</main")[0]
    save(client, session, title="Another", mode="plan")
    assert (session.title, session.mode) == ("Another", "goal")


def test_a_session_that_keeps_a_version_keeps_it_until_another_profile_is_chosen(
    client: Client, session: AgentSession
) -> None:
    AgentSession.objects.update(profile=None)
    session.refresh_from_db()
    assert "small, version 1, kept" in html_of(client, page(session))
    save(client, session, mode="plan")
    assert (session.profile, session.mode) == (None, "plan")
    save(client, session, profile="small")
    assert str(session.profile) == "small"
    assert save(client, session, profile="").status_code == 422


def test_a_hostile_title_is_shown_as_text(client: Client, session: AgentSession) -> None:
    AgentSession.objects.update(title=HOSTILE)
    assert "<script>alert" not in html_of(client, page(session))


def test_a_session_is_archived_and_brought_back(client: Client, session: AgentSession) -> None:
    client.post(f"/sessions/{session.pk}/archive", {"on": "1"})
    session.refresh_from_db()
    assert session.status == "archived"
    html = html_of(client, page(session))
    assert "Bring back" in html
    client.post(f"/sessions/{session.pk}/archive", {"on": "0"})
    session.refresh_from_db()
    assert (session.status, told(session)) == ("idle", ["archived", "archived"])
    AgentSession.objects.update(status="running")
    refused = client.post(f"/sessions/{session.pk}/archive", {"on": "1"}, headers=HTMX)
    assert refused.status_code == 409
    assert "stop the run first" in words_of(refused.content.decode())


def test_staff_alone_delete_a_session(client: Client, ada: User, session: AgentSession) -> None:
    assert "Delete for good" not in html_of(client, page(session))
    address = f"/sessions/{session.pk}/delete"
    assert client.post(address).status_code == 403
    User.objects.update(is_staff=True)
    assert "Delete for good" in html_of(client, page(session))
    AgentSession.objects.update(status="running")
    assert client.post(address)["Location"] == f"/sessions/{session.pk}/"
    AgentSession.objects.update(status="idle")
    assert client.post(address)["Location"] == "/"
    assert not AgentSession.objects.exists()
    assert AuditEntry.objects.get(action="deleted").who == "ada"


@pytest.mark.parametrize(
    ("verb", "path"), [("put", "settings/"), ("get", "archive"), ("get", "delete")]
)
def test_another_verb_is_rejected(
    client: Client, session: AgentSession, verb: str, path: str
) -> None:
    assert getattr(client, verb)(f"/sessions/{session.pk}/{path}").status_code == 405


@pytest.mark.parametrize("path", ["settings/", "archive", "delete"])
def test_the_session_of_another_is_absent(client: Client, session: AgentSession, path: str) -> None:
    client.force_login(a_user("bob"))
    assert client.post(f"/sessions/{session.pk}/{path}", as_shown(session)).status_code == 404
    assert told(session) == []
