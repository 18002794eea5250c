"""A pin may last until a run commits a path: what a real git repository tells of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import a_lease
from calls import Caller, problem
from django.contrib.auth.models import User
from django.db.models import CharField, F, Value
from django.db.models.functions import Concat
from django.test import Client
from scenes import HTMX, a_talk, html_of, words_of
from working import calls, says, worked

from agentcore.llm.scripted import ScriptedModel
from hermesweb import acts, commits, pins
from hermesweb.commits import Awaited, Look
from hermesweb.models import AgentSession, AuditEntry
from hermesweb.states import state_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]
TEXT = CharField()
NAMED = ("-c", "user.name=ada", "-c", "user.email=ada@localhost", "-c", "commit.gpgsign=false")


@pytest.fixture(autouse=True)
def _git() -> None:
    if shutil.which("git") is None:
        missing = "no git on the PATH: apt-get install git"
        pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)


def git(folder: Path, *arguments: str) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", *NAMED, *arguments]
    return subprocess.check_output(command, cwd=folder, env=env, text=True).strip()


def commit(folder: Path, *paths: str, again: str = "") -> str:
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"{path} {again}")
        git(folder, "add", path)
    git(folder, "commit", "-qm", "more")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q")
    commit(tmp_path, "a.py", "b.py")
    return tmp_path


def talk(owner: User, folder: Path) -> AgentSession:
    return a_talk(owner, 12, workspace=str(folder))


def ran(
    session: AgentSession, script: Callable[..., ScriptedModel], command: str = "true"
) -> AgentSession:
    """A run of two turns, the first with this command."""
    script(calls("run_command", json.dumps({"command": command}), "c1"), says("done"))
    acts.send(session.owner, session, "go on")
    return worked(session)


def committing(path: str) -> str:
    return f"echo more >> {path} && git {' '.join(NAMED)} add {path} && git {' '.join(NAMED)} " + (
        "commit -qm more"
    )


def pinned(session: AgentSession) -> list[int]:
    return sorted(session.messages.filter(pinned=True).values_list("number", flat=True))


def test_a_run_that_commits_the_path_ends_the_pin_at_the_next_border(
    ada: User, repository: Path, script: Callable[..., ScriptedModel]
) -> None:
    session = talk(ada, repository)
    acts.pin(ada, session, [4, 6], until="commit:./a.py")
    acts.pin(ada, session, [8], until="commit:b.py")
    acts.pin(ada, session, [10])
    ran(session, script, committing("a.py"))
    assert pinned(session) == [8, 10]
    assert session.pinned_bytes == pins.bytes_held(session)
    (told,) = session.events.filter(kind="unpinned")
    cause = {"cause": "commit", "path": "a.py", "commit": git(repository, "rev-parse", "HEAD")}
    assert {**told.data, **cause, "numbers": [4, 6], "by": ""} == told.data
    turns = session.events.filter(kind="turn_ended").order_by("-seq")
    last, first = turns.values_list("seq", flat=True)[:2]
    assert first < told.seq < last
    entry = AuditEntry.objects.get(action="unpinned")
    assert (entry.who, entry.new["path"], entry.new["cause"]) == ("", "a.py", "commit")


def test_a_run_that_commits_another_path_or_nothing_leaves_it(
    ada: User, repository: Path, script: Callable[..., ScriptedModel]
) -> None:
    session = talk(ada, repository)
    acts.pin(ada, session, [4], until="commit:a.py")
    ran(session, script, committing("b.py"))
    ran(session, script, "echo more >> a.py")
    assert pinned(session) == [4]
    assert not session.events.filter(kind="unpinned").exists()
    ran(session, script, committing("a.py"))
    assert pinned(session) == []


def test_what_was_committed_before_the_pin_does_not_end_it(
    ada: User, repository: Path, script: Callable[..., ScriptedModel]
) -> None:
    session = talk(ada, repository)
    acts.pin(ada, session, [4], until="commit:a.py")
    commit(repository, "a.py", again="by hand")
    acts.pin(ada, session, [6], until="commit:a.py")
    ran(session, script)
    assert pinned(session) == [6]


def test_the_first_commit_of_all_ends_it_too(
    ada: User, tmp_path: Path, script: Callable[..., ScriptedModel]
) -> None:
    git(tmp_path, "init", "-q")
    session = talk(ada, tmp_path)
    acts.pin(ada, session, [4], until="commit:src")
    ran(session, script)
    assert pinned(session) == [4]
    commit(tmp_path, "src/deep/x.py")
    ran(session, script)
    assert pinned(session) == []


def test_a_path_is_of_the_workspace_and_no_pattern(
    ada: User, repository: Path, script: Callable[..., ScriptedModel]
) -> None:
    commit(repository, "part/a.py")
    session = talk(ada, repository / "part")
    acts.pin(ada, session, [4], until="commit:a.py")
    acts.pin(ada, session, [6], until="commit:*.py")
    commit(repository, "a.py", again="of the folder above")
    ran(session, script)
    assert pinned(session) == [4, 6]
    commit(repository, "part/a.py", again="here")
    ran(session, script)
    assert pinned(session) == [6]


def test_where_git_cannot_tell_such_a_pin_is_refused_with_the_reason(
    client: Client, ada: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = talk(ada, tmp_path)
    path = f"sessions/{session.pk}/messages/4/pin"
    refused = Caller(ada).put(path, {"until": "commit:a.py"})
    assert problem(refused)[:2] == (409, "no_repository")
    assert "not a git repository" in refused.json()["error"]["message"]
    page = f"/sessions/{session.pk}/messages/4/pin"
    assert (
        "not a git repository" in client.post(page, {"path": "a.py"}, headers=HTMX).content.decode()
    )
    git(tmp_path, "init", "-q")
    assert Caller(ada).put(path, {"until": "commit:a.py"}).json()["pinned"] is True
    assert pins.awaited(session.pk) == {Awaited("a.py", "")}
    acts.unpin(ada, session, [4])
    monkeypatch.setattr(commits, "SEARCH_PATH", str(tmp_path))
    assert "git is not installed" in str(Caller(ada).put(path, {"until": "commit:a.py"}).json())
    assert pinned(session) == [] and session.seq == AgentSession.objects.get().seq


def test_git_that_takes_too_long_is_given_up(
    ada: User, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = talk(ada, repository)
    monkeypatch.setattr(commits, "SECONDS", 0)
    with pytest.raises(acts.Refused, match="git took over 0 s"):
        acts.pin(ada, session, [4], until="commit:a.py")


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../a.py", "..", "a/../../b", " ", "a\nb", "x" * 200]
)
def test_a_path_that_leads_out_or_is_none_is_bad_input(
    ada: User, repository: Path, path: str
) -> None:
    session = talk(ada, repository)
    with pytest.raises(acts.Invalid) as refused:
        acts.pin(ada, session, [4], until=f"commit:{path}")
    assert refused.value.field == "until" and pinned(session) == []


def test_a_pin_waits_on_while_its_repository_is_away_and_goes_on_in_another(
    ada: User, repository: Path, script: Callable[..., ScriptedModel]
) -> None:
    session = talk(ada, repository)
    acts.pin(ada, session, [4], until="commit:a.py")
    shutil.rmtree(repository / ".git")
    ran(session, script)
    assert (session.run_end, pinned(session)) == ("answered", [4])
    git(repository, "init", "-q")
    head = commit(repository, "a.py", again="anew")
    ran(session, script)
    assert pinned(session) == [4] and session.messages.get(number=4).pin_head == head
    ran(session, script, committing("a.py"))
    assert pinned(session) == []


def test_a_pin_that_a_person_changed_meanwhile_is_theirs(ada: User, repository: Path) -> None:
    session = talk(ada, repository)
    acts.pin(ada, session, [4], until="commit:a.py")
    (awaited,) = pins.awaited(session.pk)
    acts.pin(ada, session, [4])
    seq = session.seq
    acts.end_pins(a_lease(session), Look("f" * 40, {awaited: "f" * 40}, []))
    session.refresh_from_db()
    assert (pinned(session), session.seq) == ([4], seq)


def test_a_session_waits_for_few_commits_at_a_time(ada: User, repository: Path) -> None:
    session = a_talk(ada, 26, workspace=str(repository))
    rows = session.messages.filter(number__range=(3, 21))
    rows.update(pinned=True, pin_until=Concat(Value("commit:"), F("number"), output_field=TEXT))
    acts.pin(ada, session, [22], until="commit:b.py")
    with pytest.raises(acts.Refused, match="wait for 21 commits, 20 at most"):
        acts.pin(ada, session, [23], until="commit:a.py")
    assert 23 not in pinned(session)


def test_a_fork_in_another_folder_keeps_the_pin_without_that_end(
    ada: User, repository: Path, tmp_path_factory: pytest.TempPathFactory, settings: Any
) -> None:
    other = tmp_path_factory.mktemp("other")
    settings.ALLOWED_ROOTS = [str(repository), str(other)]
    session = talk(ada, repository)
    acts.pin(ada, session, [4], until="commit:a.py")
    state = state_of(session, session.state)
    here = acts.fork(ada, session, state, workspace=str(repository), model="explorer")
    there = acts.fork(ada, session, state, workspace=str(other), model="explorer")
    ends = [one.messages.get(number=4).pin_until for one in (here, there)]
    assert ends == ["commit:a.py", "session"]


def test_the_pages_tell_what_a_pin_waits_for_and_what_ended_it(
    client: Client, ada: User, repository: Path, script: Callable[..., ScriptedModel]
) -> None:
    session = talk(ada, repository)
    page, drawer = f"/sessions/{session.pk}/messages/4/", f"/sessions/{session.pk}/pins/"
    assert 'name="path"' in html_of(client, page)
    client.post(f"{page}pin", {"reason": "the plan", "path": "a.py"})
    for address in (page, drawer):
        assert "until a run commits a.py" in words_of(html_of(client, address))
    both = client.post(f"{page}pin", {"turn": "3", "path": "a.py"}, headers=HTMX)
    assert both.status_code == 400 and "one end" in both.content.decode()
    ran(session, script, committing("a.py"))
    ended = f"a.py was committed in {git(repository, 'rev-parse', 'HEAD')[:10]}"
    assert f"its pin ended: {ended}" in words_of(html_of(client, page))
    assert f"#4 {ended}" in words_of(html_of(client, drawer))


async def test_nothing_that_the_repository_configures_is_run(repository: Path) -> None:
    trap = repository / "trap"
    trap.write_text("#!/bin/sh\ntouch sprung\n")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "gpg.program", "core.pager", "core.sshCommand", "diff.external"):
        git(repository, "config", name, str(trap))
    git(repository, "config", "log.showSignature", "true")
    start = await commits.head(repository)
    (repository / "sprung").unlink(missing_ok=True)
    look = await commits.look(repository, start, [Awaited("a.py", "")])
    assert look.made and not (repository / "sprung").exists()
