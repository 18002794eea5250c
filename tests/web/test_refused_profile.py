"""A stored version of a profile that a check refuses which came after it was saved."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from builders import a_user, full
from calls import Caller, problem
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import JSONField, Value
from django.test import Client
from django.urls import reverse
from scenes import a_talk, compacted, html_of, words_of
from working import says, worked

from agentcore.llm.scripted import ScriptedModel
from hermesweb import acts, counts
from hermesweb.admin.profile_form import flat
from hermesweb.models import AgentSession, Profile, ProfileVersion

pytestmark = pytest.mark.django_db

FAULT = "target: a fraction over 0, at most 1, not 7"
TOLD = f"small version 1 is refused: {FAULT}"


@pytest.fixture
def eve(client: Client) -> User:
    user = a_user("eve", is_staff=True, is_superuser=True)
    client.force_login(user)
    return user


@pytest.fixture
def talk(eve: User) -> AgentSession:
    """A session with a compaction, whose profile is refused since."""
    session = a_talk(eve, automatic="on")
    compacted(session)
    refuse("small")
    return full(session, status="idle")


def refuse(name: str, **values: object) -> None:
    version = Profile.objects.get(name=name).current
    wrong = {**version.values, **(values or {"target": 7})}
    ProfileVersion.objects.filter(pk=version.pk).update(values=wrong)


@pytest.mark.parametrize(
    "page",
    [
        *("/", "/memory/", "/sessions/new/", "/sessions/{}/", "/sessions/{}/chart.json"),
        *("/sessions/{}/settings/", "/sessions/{}/compactions/1/"),
        *(
            "/sessions/{}/diff/?from=0.8&to=1.9",
            "/sessions/{}/at/0.8/",
            "/sessions/{}/rollup/",
            "/sessions/{}/lifetimes/",
        ),
        *(
            "/sessions/{}/forks?at=0.8",
            "/sessions/{}/pins/",
            "/sessions/{}/bulk/",
            "/sessions/{}/ledger/",
        ),
    ],
)
def test_every_page_is_shown(client: Client, talk: AgentSession, page: str) -> None:
    assert client.get(page.format(talk.pk)).status_code == 200


def test_the_page_of_a_session_says_why_nothing_runs_and_where_to_mend_it(
    client: Client, talk: AgentSession
) -> None:
    html = html_of(client, f"/sessions/{talk.pk}/")
    assert "Nothing runs: its profile is refused." in words_of(html)
    assert FAULT in words_of(html)
    assert "The thresholds of its profile are not known." in words_of(html)
    assert reverse("admin:hermesweb_profile_change", args=[talk.profile_id]) in html
    assert "profile refused" in words_of(html_of(client, "/"))


def test_the_list_and_the_page_of_the_admin_say_it(client: Client, talk: AgentSession) -> None:
    change = reverse("admin:hermesweb_profile_change", args=[talk.profile_id])
    for page in (reverse("admin:hermesweb_profile_changelist"), change):
        words = words_of(html_of(client, page))
        assert f"Small version 1 is refused, and no run uses it: {FAULT}" in words


@pytest.mark.parametrize(
    "values",
    [
        *(None, 0, "", "not JSON", [], ["x", None]),
        *({}, {"stages": None}, {"stages": [3]}, {"limits": None}, {"hooks": ["x", None]}),
    ],
)
def test_whatever_stands_in_its_row_is_told_and_can_be_saved_anew(
    client: Client, talk: AgentSession, values: object
) -> None:
    stored = ProfileVersion.objects.filter(profile__name="small")
    stored.update(values=Value(values, JSONField()))
    change = reverse("admin:hermesweb_profile_change", args=[talk.profile_id])
    for page in ("/", f"/sessions/{talk.pk}/", change):
        assert "refused" in words_of(html_of(client, page))
    assert Caller(talk.owner).get("profiles/small").json()["errors"]
    sane = flat(Profile.objects.get(name="balanced").current.values).items()
    rest = {"versions-TOTAL_FORMS": 0, "versions-INITIAL_FORMS": 0}
    rest |= {"stages.7.buffer": 0, "stages.7.keep": 10, "stages.7.direction": "from"}
    entered = {name: value for name, value in sane if value is not None} | rest
    assert client.post(change, entered).status_code == 302
    assert Caller(talk.owner).get("profiles/small").json()["errors"] == []


def test_the_api_tells_it_as_an_error_of_the_profile_and_of_its_sessions(
    eve: User, talk: AgentSession
) -> None:
    caller = Caller(eve)
    items = {one["name"]: one for one in caller.get("profiles").json()["items"]}
    assert (items["small"]["errors"], items["small"]["warnings"]) == ([FAULT], [])
    assert items["balanced"]["errors"] == []
    assert caller.get("profiles/small").json()["values"]["target"] == 7
    shape = caller.get(f"sessions/{talk.pk}").json()
    assert (shape["profile_fault"], shape["turns_to_compaction"]) == (FAULT, None)
    assert caller.get("sessions").status_code == 200


def test_a_strategy_that_is_no_longer_installed_is_told_as_well(eve: User) -> None:
    refuse("small", stages=[{"strategy": "gone"}])
    told = Caller(eve).get("profiles/small").json()["errors"]
    assert told[0].startswith("unknown strategy 'gone'; there are")


def test_saving_it_anew_mends_the_session(eve: User, talk: AgentSession) -> None:
    values = Caller(eve).get("profiles/small").json()["values"]
    saved = Caller(eve).put("profiles/small", {"values": {**values, "target": 0.5}}).json()
    assert (saved["version"], saved["errors"]) == (2, [])
    assert Caller(eve).get(f"sessions/{talk.pk}").json()["profile_fault"] is None


@pytest.mark.django_db(transaction=True)
def test_a_run_ends_with_the_reason_before_its_model_is_asked(
    talk: AgentSession, script: Callable[..., ScriptedModel]
) -> None:
    model = script(says("not said"))
    acts.send(talk.owner, talk, "go on")
    session = worked(talk)
    assert (session.status, model.requests) == ("failed", [])
    assert session.run_reason == f"profile {TOLD}; save it anew, or choose another profile"
    kept = session.run_said["figures"]
    assert (kept["version"], kept["fault"]["figures"]["value"]) == ("small version 1", "7")


def test_no_act_begins_anything_with_it(eve: User, talk: AgentSession) -> None:
    caller = Caller(eve)
    other = a_talk(eve, profile="balanced")
    refused = [
        caller.patch(f"sessions/{other.pk}", {"profile": "small"}),
        caller.post(f"sessions/{talk.pk}/forks", {"at": talk.state}),
        caller.post(f"sessions/{talk.pk}/compactions", {"preview": True}),
        caller.post("sessions", {"workspace": "/tmp", "model": "explorer", "profile": "small"}),
    ]
    assert [problem(one) for one in refused] == [(422, "invalid", "profile")] * 4
    assert FAULT in refused[0].json()["error"]["message"]


def test_what_does_not_need_its_values_still_works(eve: User, talk: AgentSession) -> None:
    caller = Caller(eve)
    assert caller.patch(f"sessions/{talk.pk}", {"mode": "plan"}).json()["mode"] == "plan"
    counts.catch_up()
    assert caller.patch(f"sessions/{talk.pk}", {"archived": True}).json()["status"] == "archived"
    talk.refresh_from_db()
    back = caller.patch(f"sessions/{talk.pk}", {"archived": False, "profile": "balanced"})
    assert back.json()["profile_fault"] is None


def test_the_page_of_a_compaction_shows_the_refusal(client: Client, talk: AgentSession) -> None:
    answer = client.get(f"/sessions/{talk.pk}/compact/")
    assert answer.status_code == 400
    assert FAULT in words_of(answer.content.decode())


def test_an_import_says_that_its_profile_is_refused(eve: User) -> None:
    refuse("balanced")
    file = SimpleUploadedFile("talk.json", b'[{"role": "user", "content": "hi"}]')
    got = Caller(eve).upload("imports", file)
    assert got.status_code == 422 and "balanced version 1, which is refused" in got.content.decode()
    assert not AgentSession.objects.exists()
