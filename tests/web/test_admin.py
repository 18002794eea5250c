from __future__ import annotations

import html
import re
from typing import Any

import pytest
from builders import a_session, a_user
from django.contrib.auth.models import User
from django.forms import BaseForm
from django.test import Client
from django.urls import reverse
from scenes import a_talk

from agentcore import PRESETS
from hermesweb import audit
from hermesweb.models import AgentSession, AuditEntry, ModelEndpoint, Profile, Status

pytestmark = pytest.mark.django_db

KEY = "sk-live-0123456789abcdef"


@pytest.fixture
def eve() -> User:
    return a_user("eve", is_staff=True)


@pytest.fixture
def staff(eve: User) -> Client:
    return signed_in(eve)


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def address(page: str, *args: Any) -> str:
    return reverse(f"admin:hermesweb_{page}", args=args)


def change_page(name: str) -> str:
    return address("profile_change", Profile.objects.get(name=name).pk)


def entered(client: Client, page: str, **changes: Any) -> dict[str, Any]:
    """What the page's form would send, with some values changed."""
    response = client.get(page)
    form: BaseForm = response.context["adminform"].form
    values = {bound.html_name: bound.value() for bound in form}
    sent = {
        name: value
        for name, value in {**values, **changes}.items()
        if value is not None and value is not False
    }
    formsets = response.context["inline_admin_formsets"]
    for formset in formsets:
        for bound in formset.formset.management_form:
            sent[bound.html_name] = bound.value()
    return sent


def faults(response: Any) -> dict[str, list[str]]:
    errors: dict[str, list[str]] = response.context["adminform"].form.errors
    return errors


def test_editing_a_profile_makes_its_next_version_and_is_audited(staff: Client) -> None:
    page = change_page("balanced")
    response = staff.post(page, entered(staff, page, budget="50000"))
    assert response.status_code == 302, faults(response)
    version = Profile.objects.get(name="balanced").current
    assert (version.number, version.value.budget, str(version.by)) == (2, 50_000, "eve")
    assert version.value == PRESETS["balanced"].replace(budget=50_000)
    entry = AuditEntry.objects.get(chain="")
    assert (entry.who, entry.action) == ("eve", "profile_saved")
    assert (entry.old["budget"], entry.new["values"]["budget"]) == (None, 50_000)


def test_the_documents_of_a_profile_are_texts_and_lines(staff: Client) -> None:
    page = change_page("balanced")
    names = {"documents.doc_names": "AGENTS.md\r\n RULES.md \r\n", "documents.persona": "Be kind."}
    assert staff.post(page, entered(staff, page, **names)).status_code == 302
    documents = Profile.objects.get(name="balanced").current.value.documents
    assert (documents.doc_names, documents.persona) == (("AGENTS.md", "RULES.md"), "Be kind.")
    assert documents.memory


def test_saving_a_profile_as_it_is_makes_no_version(staff: Client) -> None:
    page = change_page("balanced")
    assert staff.post(page, entered(staff, page)).status_code == 302
    assert Profile.objects.get(name="balanced").current.number == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"budget": "-5"}, "budget"),
        ({"budget": "much"}, "budget"),
        ({"target": "0.9"}, "target"),
        ({"limits.result_bytes": "-1"}, "limits.result_bytes"),
        ({"stages.0.at": "1.7"}, "stages.0.at"),
        ({"unit": "pounds"}, "unit"),
    ],
)
def test_a_wrong_value_is_told_at_its_field_and_makes_no_version(
    staff: Client, changes: dict[str, str], field: str
) -> None:
    page = change_page("balanced")
    response = staff.post(page, entered(staff, page, **changes))
    assert list(faults(response)) == [field]
    assert Profile.objects.get(name="balanced").current.number == 1


def test_a_profile_that_thrashes_needs_a_second_click(staff: Client) -> None:
    page = change_page("nanohermes")
    sent = entered(staff, page, budget="100000")
    response = staff.post(page, sent)
    assert "compacts every turn" in faults(response)["accept_warnings"][0]
    assert Profile.objects.get(name="nanohermes").current.number == 1
    assert staff.post(page, {**sent, "accept_warnings": "on"}).status_code == 302
    assert Profile.objects.get(name="nanohermes").current.value.budget == 100_000


def test_a_new_profile_begins_with_version_1(staff: Client) -> None:
    page = address("profile_add")
    sent = entered(staff, page, name="mine", **{"stages.0.strategy": "keep_recent"})
    response = staff.post(page, sent)
    assert response.status_code == 302, faults(response)
    profile = Profile.objects.get(name="mine")
    assert [version.number for version in profile.versions.all()] == [1]
    taken = staff.post(page, {**sent, "name": "balanced"})
    assert list(faults(taken)) == ["name"]


def test_versions_are_looked_at_and_never_changed(staff: Client) -> None:
    page = change_page("balanced")
    sent = entered(staff, page, budget="9000")
    version = Profile.objects.get(name="balanced").current
    staff.post(page, {**sent, "versions-0-number": "7", "versions-0-id": version.pk})
    version.refresh_from_db()
    assert (version.number, version.value.budget) == (1, None)
    assert "version 1" in staff.get(page).content.decode()


def test_versions_say_what_they_changed(staff: Client) -> None:
    page = change_page("balanced")
    for budget in ("9000", "8000"):
        staff.post(page, entered(staff, page, budget=budget))
    told = re.findall(r'class="field-changed">\s*<p>(.*?)</p>', staff.get(page).content.decode())
    assert told == ["budget: 9000 → 8000", "budget: None → 9000", "the first"]


def test_an_endpoint_says_whether_its_key_is_there_and_never_shows_it(
    staff: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", KEY)
    there = ModelEndpoint.objects.create(name="one", model="m", key_variable="SOME_API_KEY")
    ModelEndpoint.objects.create(name="two", model="m", key_variable="NO_SUCH_KEY_IS_SET")
    ModelEndpoint.objects.create(name="three", model="m")
    listed = staff.get(address("modelendpoint_changelist")).content.decode()
    one = staff.get(address("modelendpoint_change", there.pk)).content.decode()
    told = re.findall(r'class="field-key">([^<]+)<', listed)
    assert sorted(told) == ["none needed", "not set in the environment", "set"]
    assert KEY not in listed + one


def test_a_key_typed_in_the_place_of_its_variable_is_not_kept(staff: Client) -> None:
    page = address("modelendpoint_add")
    response = staff.post(page, entered(staff, page, name="x", model="m", key_variable=KEY))
    assert list(faults(response)) == ["key_variable"]
    assert KEY not in response.content.decode()
    assert not ModelEndpoint.objects.exists()


@pytest.mark.parametrize(
    ("changes", "field"),
    [({"name": "explorer"}, "name"), ({"base_url": "file:///etc/passwd"}, "base_url")],
)
def test_an_endpoint_that_cannot_be_is_refused(
    staff: Client, changes: dict[str, str], field: str
) -> None:
    page = address("modelendpoint_add")
    response = staff.post(page, entered(staff, page, **{"name": "x", "model": "m", **changes}))
    assert list(faults(response)) == [field]


def test_changes_of_endpoints_are_audited_with_old_and_new(staff: Client) -> None:
    page = address("modelendpoint_add")
    staff.post(page, entered(staff, page, name="x", model="m", input_price="0.15"))
    endpoint = ModelEndpoint.objects.get()
    page = address("modelendpoint_change", endpoint.pk)
    staff.post(page, entered(staff, page, model="n"))
    staff.post(address("modelendpoint_delete", endpoint.pk), {"post": "yes"})
    entries = list(AuditEntry.objects.filter(chain="").order_by("place"))
    assert [(entry.who, entry.action) for entry in entries] == [
        ("eve", "modelendpoint_added"),
        ("eve", "modelendpoint_changed"),
        ("eve", "modelendpoint_deleted"),
    ]
    assert entries[0].new["input_price"] == "0.15"
    assert (entries[1].old, entries[1].new) == ({"model": "m"}, {"name": "x", "model": "n"})
    assert audit.broken(entries) is None


def test_sessions_are_looked_at_and_deleted_by_staff(staff: Client, eve: User) -> None:
    session = a_talk(a_user(), 20)
    AgentSession.objects.update(status=Status.IDLE)
    page = address("agentsession_change", session.pk)
    shown = staff.get(page)
    assert "<input" not in re.sub(r'<input type="hidden"[^>]*>', "", body_of(shown))
    assert staff.post(page, {"title": "taken over"}).status_code == 403
    confirm = staff.get(address("agentsession_delete", session.pk)).content.decode()
    assert "Messages: 20" in " ".join(html.unescape(re.sub(r"<[^>]+>", " ", confirm)).split())
    staff.post(address("agentsession_delete", session.pk), {"post": "yes"})
    assert not AgentSession.objects.exists()
    assert AuditEntry.objects.get(chain=session.pk, action="deleted").who == "eve"


def body_of(response: Any) -> str:
    text: str = response.content.decode()
    return text[text.index('id="agentsession_form"') : text.index("</form>", text.index("_form"))]


def test_a_session_at_work_is_not_deleted_and_it_is_said_why(staff: Client) -> None:
    session = a_session(status=Status.RUNNING)
    response = staff.post(address("agentsession_delete", session.pk), {"post": "yes"}, follow=True)
    assert "stop the run first" in response.content.decode()
    idle = a_session()
    chosen = [session.pk, idle.pk]
    several = {"action": "delete_selected", "_selected_action": chosen, "post": "yes"}
    response = staff.post(address("agentsession_changelist"), several, follow=True)
    assert "stop the run first" in response.content.decode()
    assert AgentSession.objects.count() == 2


def test_the_audit_is_read_only(staff: Client, eve: User) -> None:
    entry = audit.write(eve, "tested", new={"a": 1})
    page = address("auditentry_change", entry.pk)
    assert "tested" in staff.get(page).content.decode()
    assert staff.post(page, {"who": "someone"}).status_code == 403
    assert staff.get(address("auditentry_add")).status_code == 403
    assert staff.post(address("auditentry_delete", entry.pk), {"post": "yes"}).status_code == 403


def test_users_are_changed_by_superusers_and_no_password_is_told() -> None:
    root = signed_in(a_user("root", is_staff=True, is_superuser=True))
    bob = a_user("bob")
    page = reverse("admin:auth_user_password_change", args=[bob.pk])
    word = "a-long-new-word"
    sent = {"password1": word, "password2": word, "usable_password": "true"}
    assert root.post(page, sent).status_code == 302
    added = {**sent, "username": "kim"}
    assert root.post(reverse("admin:auth_user_add"), added).status_code == 302
    entries = list(AuditEntry.objects.filter(chain="").order_by("place"))
    assert [entry.action for entry in entries] == ["user_password_changed", "user_added"]
    assert entries[1].new["username"] == "kim"
    assert word not in str([entry.new for entry in entries])


@pytest.mark.parametrize(
    "page", ["profile_changelist", "modelendpoint_add", "auditentry_changelist"]
)
def test_who_is_not_staff_does_not_come_in(page: str) -> None:
    ada = signed_in(a_user())
    assert ada.get(address(page)).status_code == 302
    assert Client().get(address(page)).status_code == 302


@pytest.mark.parametrize(
    "page",
    [
        *("profile_changelist", "profile_add", "modelendpoint_changelist", "modelendpoint_add"),
        *("agentsession_changelist", "auditentry_changelist"),
    ],
)
def test_admin_pages_hold_nothing_that_the_strict_policy_refuses(staff: Client, page: str) -> None:
    response = staff.get(address(page))
    text = response.content.decode()
    assert "'unsafe-inline'" not in response.headers["Content-Security-Policy"]
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", text)
    assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text))


def test_the_effects_that_ask_are_ticked_by_mode(staff: Client) -> None:
    page = change_page("balanced")
    assert "calls with these effects wait for a person" in staff.get(page).content.decode()
    changes: dict[str, Any] = {"approvals.goal": ["write", "command"], "approvals.minutes": "5"}
    response = staff.post(page, entered(staff, page, **changes))
    assert response.status_code == 302, faults(response)
    approvals = Profile.objects.get(name="balanced").current.value.approvals
    assert (approvals.goal, approvals.plan, approvals.minutes) == (("command", "write"), (), 5)
