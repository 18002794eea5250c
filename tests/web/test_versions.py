"""An edited profile, before the sessions that follow it have reached their next border."""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import a_user
from calls import Caller, problem
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from scenes import a_talk, html_of, words_of

from hermesweb import acts, planning, versions, wall
from hermesweb.models import AgentSession, Profile, ProfileVersion
from hermesweb.reading import read
from hermesweb.states import state_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    return a_user("ada")


def edited() -> ProfileVersion:
    """The next version of `small`, whose first stage starts sooner."""
    value = Profile.objects.get(name="small").current.value
    first, *others = value.stages
    sooner = value.replace(stages=(replace(first, at=0.65), *others))
    return acts.save_profile(None, "small", sooner.values(), accept_warnings=True)


def test_overview_list_and_page_show_the_version_that_the_next_turn_uses(
    ada: User, client: Client
) -> None:
    session, kept = a_talk(ada), a_talk(ada)
    AgentSession.objects.filter(pk=kept.pk).update(profile=None)
    before = session.profile_version.number
    version = edited()
    kept.refresh_from_db()
    ticks = {
        one.pk: [tick.fraction for tick in wall.row(one).gauge.ticks] for one in (session, kept)
    }
    assert 0.65 in ticks[session.pk] and 0.65 not in ticks[kept.pk]

    listed = Caller(ada).get("sessions").json()["items"]
    numbers = {one["id"]: one["profile"]["version"] for one in listed}
    assert numbers == {session.pk: version.number, kept.pk: before}
    assert Caller(ada).get(f"sessions/{session.pk}").json()["profile"]["version"] == version.number

    client.force_login(ada)
    page = words_of(html_of(client, f"/sessions/{session.pk}/"))
    assert f"version {version.number} from the next border on, {before} until then" in page
    assert "from the next border on" not in words_of(html_of(client, f"/sessions/{kept.pk}/"))


def test_the_versions_of_many_sessions_take_one_query(
    ada: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(3):
        a_talk(ada)
    version = edited()
    sessions = list(AgentSession.objects.select_related("profile_version"))
    with django_assert_num_queries(1):
        found = versions.in_force(sessions)
    assert set(found.values()) == {version}


def test_a_recording_keeps_the_profile_that_its_limit_was_read_with(
    ada: User, client: Client
) -> None:
    session = a_talk(ada, kind="imported")
    kept, limit = session.profile_version.number, session.limit
    edited()
    reads = [
        wall.row(session).gauge,
        read(session, session.version_in_force).gauge,
        planning.in_force(session),
    ]
    assert 0.65 not in [tick.fraction for gauge in reads[:2] for tick in gauge.ticks]
    assert reads[2].stages[0].at != 0.65
    shape = Caller(ada).get(f"sessions/{session.pk}").json()
    assert (shape["profile"]["version"], shape["limit"]) == (kept, limit)
    assert Caller(ada).get("sessions").json()["items"][0]["profile"]["version"] == kept
    client.force_login(ada)
    assert "from the next border on" not in words_of(html_of(client, f"/sessions/{session.pk}/"))


@pytest.mark.parametrize(
    "change", [{"profile": "balanced"}, {"mode": "plan"}, {"automatic": "ask"}]
)
def test_a_recording_takes_up_no_other_profile_mode_or_automatic(
    ada: User, change: dict[str, str]
) -> None:
    session = a_talk(ada, kind="imported")
    before = Caller(ada).get(f"sessions/{session.pk}").json()
    refused = Caller(ada).patch(f"sessions/{session.pk}", {"title": "New", **change})
    assert problem(refused) == (409, "read_only", None)
    assert Caller(ada).get(f"sessions/{session.pk}").json() == before
    assert Caller(ada).patch(f"sessions/{session.pk}", {"title": "New"}).json()["title"] == "New"


def test_a_fork_begins_with_the_version_that_its_first_turn_uses(ada: User) -> None:
    session = a_talk(ada, model="explorer")
    version = edited()
    fork = acts.fork(ada, session, state_of(session, session.state))
    assert (fork.profile, fork.profile_version) == (version.profile, version)
