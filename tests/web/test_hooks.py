"""Hooks of installed packages: named in a profile, told on the page of the compaction."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from calls import Caller, problem
from django.contrib.auth.models import User
from django.test import Client
from scenes import a_talk, html_of, words_of
from working import calls, says, worked

from agentcore.compaction import hooks
from agentcore.compaction.hooks import Abort, AfterTurn, BeforeCompaction
from agentcore.compaction.result import CompactionResult
from agentcore.llm.scripted import ScriptedModel
from hermesweb import acts, lives, runner
from hermesweb.models import AgentSession, Compaction, Profile

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]
NEVER = threading.Event()


class Diary:
    """Adds a line before and a line after."""

    def pre_compact(self, event: BeforeCompaction) -> list[dict[str, Any]]:
        return [{"role": "system", "content": f"A compaction ({event.trigger}) comes."}]

    def post_compact(self, result: CompactionResult) -> list[dict[str, Any]]:
        return [{"role": "system", "content": f"It freed {result.freed} bytes."}]


class Guard:
    def pre_compact(self, event: BeforeCompaction) -> Abort:
        return Abort("a release is <b>under way</b>")


class Borders:
    """Wants the list compacted after each turn that a tool ran in."""

    def after_turn(self, event: AfterTurn) -> str | None:
        last = event.snapshot.messages[-1]
        return f"turn {event.turn} ran a <b>tool</b>" if last.role == "tool" else None


class Broken:
    def pre_compact(self, event: BeforeCompaction) -> None:
        raise KeyError("oops")

    def post_compact(self, result: CompactionResult) -> None:
        NEVER.wait(3)


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What an installed package leaves on the path: the names of its entry points."""
    folder = tmp_path / "hooked-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: hooked\nVersion: 1.0\n")
    names = ("Diary", "Guard", "Broken", "Borders")
    lines = "".join(f"{name.lower()} = {__name__}:{name}\n" for name in names)
    (folder / "entry_points.txt").write_text(f"[agentcore.hooks]\n{lines}")
    monkeypatch.syspath_prepend(tmp_path)
    yield
    hooks._installed.cache_clear()


def ran(
    owner: User, script: Callable[..., ScriptedModel], *names: str
) -> tuple[AgentSession, Compaction]:
    """A compaction by hand under a profile that names these hooks."""
    script(says("x"))
    small = Profile.objects.get(name="small").current.values
    acts.save_profile(owner, "hooked", {**small, "hooks": list(names)}, accept_warnings=True)
    session = a_talk(owner, 24, text="x" * 2_000, profile="hooked")
    made = acts.compact_now(owner, session)
    async_to_sync(runner.run)(session.pk)
    session.refresh_from_db()
    made.refresh_from_db()
    return session, made


def page(client: Client, session: AgentSession) -> str:
    return html_of(client, f"/sessions/{session.pk}/compactions/1/")


def test_messages_that_hooks_added_are_named_and_in_the_list(
    client: Client, ada: User, script: Callable[..., ScriptedModel]
) -> None:
    session, made = ran(ada, script, "diary")
    assert made.state == "applied"
    before, after = made.hooks
    assert (before["hook"], before["did"], before["messages"]) == ("Diary", "injected", [25])
    assert (after["hook"], after["did"]) == ("Diary", "appended")
    said = lives.snapshot_of(session).messages[-1]
    assert ([said.number], said.text) == (
        after["messages"],
        f"It freed {made.before - made.after} bytes.",
    )
    html = page(client, session)
    assert "Diary added messages before it #25" in words_of(html)
    assert f"/sessions/{session.pk}/messages/25/" in html


def test_a_hook_that_ended_it_says_why(
    client: Client, ada: User, script: Callable[..., ScriptedModel]
) -> None:
    session, made = ran(ada, script, "diary", "guard")
    assert (made.state, made.failure, session.revision) == ("failed", "aborted", 0)
    assert [one["did"] for one in made.hooks] == ["aborted"]
    assert session.last_number == 24
    html = page(client, session)
    assert "Guard ended it : a release is <b>under way</b>" in words_of(html)
    assert "<b>under way" not in html


def test_hooks_that_fail_or_dawdle_are_passed_over_and_told(
    client: Client,
    ada: User,
    script: Callable[..., ScriptedModel],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Enough for the one that raises to begin, on a busy machine too.
    monkeypatch.setattr(hooks, "HOOK_SECONDS", 1.0)
    session, made = ran(ada, script, "broken")
    assert made.state == "applied"
    assert [(one["did"], one["detail"]) for one in made.hooks] == [
        ("raised", "KeyError: 'oops'"),
        ("timed_out", "took over 1 s"),
    ]
    words = words_of(page(client, session))
    assert "Broken failed and was passed over : KeyError: 'oops'" in words
    assert "Broken took too long and was passed over" in words
    told = Caller(ada).get(f"sessions/{session.pk}/compactions/1").json()
    assert told["hooks"] == made.hooks


def bordered(
    owner: User, script: Callable[..., ScriptedModel], folder: Path, automatic: str
) -> AgentSession:
    """A session far from its threshold, after a turn that called a tool."""
    script(calls("glob", '{"pattern": "*"}', "c1"), says("A summary."), says("done"))
    values = Profile.objects.get(name="small").current.values
    values = {**values, "budget": 900_000, "hooks": ["borders"], "automatic": automatic}
    acts.save_profile(owner, "hooked", values, accept_warnings=True)
    session = a_talk(owner, 24, text="x" * 2_000, profile="hooked", workspace=str(folder))
    acts.send(owner, session, "go on")
    return worked(session)


def test_a_hook_that_asks_for_a_compaction_says_why_on_its_page(
    client: Client, ada: User, script: Callable[..., ScriptedModel], tmp_path: Path
) -> None:
    session = bordered(ada, script, tmp_path, "on")
    made = session.stored_compactions.get()
    assert (made.state, made.trigger, session.run_end) == ("applied", "hook", "answered")
    assert [(one["hook"], one["did"]) for one in made.hooks] == [("Borders", "asked")]
    html = page(client, session)
    assert f"Borders asked for it: turn {made.turn} ran a <b>tool</b>" in words_of(html)
    assert "<b>tool" not in html


def test_where_a_person_decides_the_question_names_the_hook(
    client: Client, ada: User, script: Callable[..., ScriptedModel], tmp_path: Path
) -> None:
    session = bordered(ada, script, tmp_path, "ask")
    assert (session.status, session.stored_compactions.count()) == ("waiting", 0)
    words = words_of(html_of(client, f"/sessions/{session.pk}/"))
    assert "The hook Borders asks for it: turn" in words
    (question,) = Caller(ada).get(f"sessions/{session.pk}/approvals").json()["items"]
    assert (question["call"], question["hook"]) == ("compaction", "Borders")
    acts.answer(ada, session, "compaction", True)
    assert worked(session).run_end == "answered"
    assert session.stored_compactions.get().trigger == "hook"


def test_a_hook_that_nobody_offers_is_refused_by_name(ada: User) -> None:
    values = Profile.objects.get(name="small").current.values
    User.objects.update(is_staff=True, is_superuser=True)
    wish = {"values": {**values, "hooks": ["nothing"]}, "accept_warnings": True}
    refused = Caller(ada).put("profiles/other", wish)
    assert problem(refused) == (422, "invalid", "hooks")
    assert "there are borders, broken, diary, guard" in refused.json()["error"]["message"]
