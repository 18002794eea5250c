from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import a_lease, a_session, a_user, added, answered, called, said
from django.contrib.auth.models import User
from pytest_django import Settings

from hermesweb import acts, audit
from hermesweb.acts import Invalid, Refused
from hermesweb.models import AgentSession, AuditEntry, ModelEndpoint, SessionKind, Status
from hermesweb.recorder import record

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("woken")]


@pytest.fixture
def ada() -> User:
    return a_user()


@pytest.fixture
def session(ada: User) -> AgentSession:
    return a_session(ada)


def last_event(session: AgentSession) -> tuple[str, dict[str, Any]]:
    event = session.events.latest("seq")
    return event.kind, event.data


def test_an_instruction_is_queued_told_audited_and_wakes_a_worker(
    ada: User,
    session: AgentSession,
    woken: list[str],
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        queued = acts.send(ada, session, "look around")
    assert (queued.state, queued.text, queued.by) == ("queued", "look around", ada)
    assert (session.status, session.seq) == (Status.QUEUED, 1)
    facts = {"instruction": queued.pk, "kind": "message", "place": 1, "text": "look around"}
    assert last_event(session) == ("instruction_queued", {**facts, "by": "ada"})
    assert woken == [session.pk]
    entry = AuditEntry.objects.get(chain=session.pk)
    # Nothing of what a message says: the audit outlives it.
    audited = {"instruction": queued.pk, "kind": "message", "place": 1}
    assert (entry.who, entry.action, entry.new) == ("ada", "instruction_queued", audited)


def test_instructions_keep_their_order_and_say_their_place(
    ada: User, session: AgentSession
) -> None:
    for text in ("one", "two", "three"):
        acts.send(ada, session, text)
    assert last_event(session)[1]["place"] == 3
    assert list(session.instructions.order_by("id").values_list("text", flat=True)) == [
        "one",
        "two",
        "three",
    ]


@pytest.mark.parametrize(
    ("text", "complaint"), [("", "empty"), (" \n", "empty"), ("語" * 333_334, "1,000,002 bytes")]
)
def test_an_instruction_without_text_or_over_1_mb_is_refused_and_nothing_is_stored(
    ada: User, session: AgentSession, text: str, complaint: str
) -> None:
    with pytest.raises(Invalid, match=complaint) as error:
        acts.send(ada, session, text)
    assert error.value.field == "text"
    assert not session.instructions.exists()
    assert not session.events.exists()


@pytest.mark.parametrize(
    ("known", "code"),
    [
        ({"kind": SessionKind.IMPORTED}, "read_only"),
        ({"status": Status.ARCHIVED}, "archived"),
        ({"status": Status.BLOCKED}, "blocked"),
    ],
)
def test_a_session_that_cannot_work_refuses_instructions_with_the_reason(
    ada: User, known: dict[str, Any], code: str
) -> None:
    session = a_session(ada, **known)
    for act in (lambda: acts.send(ada, session, "x"), lambda: acts.compact_now(ada, session)):
        with pytest.raises(Refused) as error:
            act()
        assert error.value.code == code
    assert not session.instructions.exists()


def test_a_running_session_stays_running_when_an_instruction_joins_the_queue(ada: User) -> None:
    session = a_session(ada, status=Status.RUNNING)
    acts.send(ada, session, "and then")
    assert session.status == Status.RUNNING


def test_a_queued_instruction_can_be_edited_and_withdrawn_until_it_is_taken(
    ada: User, session: AgentSession
) -> None:
    queued = acts.send(ada, session, "frist")
    acts.edit(ada, session, queued.pk, "first")
    queued.refresh_from_db()
    assert queued.text == "first"
    acts.withdraw(ada, session, queued.pk)
    assert last_event(session)[0] == "instruction_withdrawn"
    with pytest.raises(Refused, match="no longer in the queue"):
        acts.edit(ada, session, queued.pk, "again")
    with pytest.raises(Refused, match="no longer in the queue"):
        acts.withdraw(ada, session, queued.pk)
    with pytest.raises(Invalid, match="no queued instruction 99999"):
        acts.withdraw(ada, session, 99999)


def test_a_second_compaction_is_refused_while_one_waits(ada: User, session: AgentSession) -> None:
    first = acts.compact_now(ada, session)
    assert (first.number, first.state, first.trigger, first.by) == (1, "queued", "manual", ada)
    with pytest.raises(Refused, match="compaction 1 is queued already") as error:
        acts.compact_now(ada, session)
    assert error.value.code == "running"
    assert session.stored_compactions.count() == session.instructions.count() == 1


def test_a_withdrawn_compaction_makes_room_for_the_next(ada: User, session: AgentSession) -> None:
    first = acts.compact_now(ada, session)
    assert first.instruction is not None
    acts.withdraw(ada, session, first.instruction.pk)
    first.refresh_from_db()
    assert (first.state, first.failure) == ("failed", "cancelled")
    assert acts.compact_now(ada, session).number == 2


def filled(session: AgentSession, sizes: list[int]) -> None:
    messages = [said(number, "x" * size) for number, size in enumerate(sizes, 1)]
    record(session.pk, a_lease(session).fence, added(*messages))
    session.refresh_from_db()


def test_pins_are_counted_told_and_taken_back(ada: User, session: AgentSession) -> None:
    filled(session, [100, 200, 300])
    acts.pin(ada, session, frozenset({1, 3}), reason="the goal")
    pinned = session.messages.get(number=3)
    assert (pinned.pinned, pinned.pin_reason, pinned.pinned_by) == (True, "the goal", ada)
    both = sum(session.messages.filter(number__in=[1, 3]).values_list("bytes", flat=True))
    assert session.pinned_bytes == acts.floor(session) == both
    facts = {"numbers": [1, 3], "pinned_bytes": both, "floor": both, "by": "ada"}
    assert last_event(session) == ("pinned", facts)
    acts.unpin(ada, session, {1})
    assert session.pinned_bytes == pinned.bytes
    assert not session.messages.get(number=1).pinned


def test_a_pin_that_alone_fills_the_budget_is_refused_with_the_numbers(
    ada: User, session: AgentSession
) -> None:
    filled(session, [10_000, 20_000])
    acts.pin(ada, session, [1])
    with pytest.raises(Refused, match=r"0 bytes that always stay \+ 30,\d+ pinned"):
        acts.pin(ada, session, [2])
    session.refresh_from_db()
    assert not session.messages.get(number=2).pinned
    assert session.pinned_bytes < 11_000


def test_a_pinned_call_counts_with_its_whole_tool_group(ada: User, session: AgentSession) -> None:
    group = [called(1, "grep", "glob"), answered(2, "call_1_0", "a"), answered(3, "call_1_1", "b")]
    record(session.pk, a_lease(session).fence, added(*group, turn=1))
    acts.pin(ada, session, [2])
    assert session.pinned_bytes == sum(message.sizes.bytes for message in group)


@pytest.mark.parametrize("numbers", [[], [7]])
def test_a_pin_on_nothing_is_bad_input(
    ada: User, session: AgentSession, numbers: list[int]
) -> None:
    with pytest.raises(Invalid, match="there are no messages"):
        acts.pin(ada, session, numbers)


def test_stop_reaches_a_run_at_work_and_takes_a_queued_one_back(ada: User) -> None:
    running = a_session(ada, status=Status.RUNNING)
    acts.stop(ada, running)
    assert (running.stop_requested, running.status) == (True, Status.STOPPING)
    queued = a_session(ada, status=Status.QUEUED)
    acts.stop(ada, queued)
    assert (queued.stop_requested, queued.status) == (False, Status.IDLE)
    idle = a_session(ada)
    with pytest.raises(Refused, match="nothing runs here: the session is idle"):
        acts.stop(ada, idle)


@pytest.mark.parametrize("end", ["stopped", "limit", "blocked", "failed"])
def test_a_run_without_an_answer_can_be_resumed(ada: User, end: str) -> None:
    session = a_session(ada, run_end=end, runs=1)
    acts.resume(ada, session)
    assert session.status == Status.QUEUED
    answered = a_session(ada, run_end="answered", runs=1)
    with pytest.raises(Refused, match="nothing to resume"):
        acts.resume(ada, answered)


def test_changes_of_title_profile_and_automatic_are_told_with_the_old_value_audited(
    ada: User, session: AgentSession
) -> None:
    acts.rename(ada, session, "  A new\tname ")
    acts.change_profile(ada, session, "nanohermes")
    acts.change_automatic(ada, session, "off")
    assert (session.title, str(session.profile), session.automatic) == (
        "A new name",
        "nanohermes",
        "off",
    )
    kinds = list(session.events.order_by("seq").values_list("kind", flat=True))
    assert kinds == ["renamed", "profile_changed", "profile_changed"]
    entries = AuditEntry.objects.filter(chain=session.pk).order_by("place")
    assert entries[1].old == {"profile": "small version 1"}
    with pytest.raises(Invalid, match="use one of balanced, "):
        acts.change_profile(ada, session, "huge")


def test_the_gauge_of_a_session_at_rest_follows_its_profile_and_mode_at_once(
    ada: User, session: AgentSession
) -> None:
    filled(session, [5_000])
    acts.change_profile(ada, session, "nanohermes")
    assert (session.limit, session.unit, session.used) == (120_000, "bytes", session.bytes)
    before = session.breakdown["tool_schemas"]
    acts.change_mode(ada, session, "plan")
    assert 0 < session.breakdown["tool_schemas"] < before
    assert session.categories.total == session.bytes


def test_an_altered_audit_entry_breaks_the_chain(ada: User, session: AgentSession) -> None:
    for title in ("a", "b", "c"):
        acts.rename(ada, session, title)
    entries = AuditEntry.objects.filter(chain=session.pk).order_by("place")
    assert audit.broken(entries) is None
    AuditEntry.objects.filter(place=2).update(who="someone else")
    broken = audit.broken(entries.all())
    assert broken is not None and broken.place == 2


@pytest.fixture
def root(settings: Settings, tmp_path: Path) -> Path:
    folder = tmp_path / "allowed"
    (folder / "project").mkdir(parents=True)
    settings.ALLOWED_ROOTS = [folder]
    return folder


def test_a_new_session_knows_its_limit_and_the_weight_of_its_tools(ada: User, root: Path) -> None:
    session = acts.create(
        ada,
        workspace=str(root / "project"),
        model="explorer",
        profile="small",
        instruction="Look around\nand tell",
    )
    assert (session.title, session.status) == ("Look around", Status.QUEUED)
    assert (session.limit, session.unit) == (60_000, "bytes")
    assert session.used == session.breakdown["tool_schemas"] > 1_000
    assert [event.kind for event in session.events.order_by("seq")] == [
        "session_created",
        "instruction_queued",
    ]


@pytest.mark.parametrize(
    ("changes", "field", "complaint"),
    [
        ({"workspace": ""}, "workspace", "name the folder"),
        ({"workspace": "{root}/none"}, "workspace", "there is no folder"),
        ({"workspace": "{root}/.."}, "workspace", "not inside an allowed folder"),
        ({"workspace": "{root}/link"}, "workspace", "not inside an allowed folder"),
        ({"workspace": "{root}/loop/x"}, "workspace", "cannot be looked up"),
        ({"workspace": "{root}/" + "x" * 256}, "workspace", "cannot be looked up"),
        ({"workspace": "~no-such-user/x"}, "workspace", "cannot be looked up"),
        ({"workspace": "{root}/\ud800"}, "workspace", "cannot be looked up"),
        ({"model": "gpt-99"}, "model", "there is no model 'gpt-99': use one of explorer"),
        ({"model": "keyless"}, "model", "set NO_SUCH_KEY"),
        ({"model": "replay"}, "model", "import one first"),
        ({"profile": "huge"}, "profile", "use one of balanced"),
        ({"mode": "yolo"}, "mode", "one of plan, debug, goal"),
        ({"automatic": "maybe"}, "automatic", "one of on, ask, off"),
        ({"instruction": "x" * 1_000_001}, "text", "over the 1,000,000"),
    ],
)
def test_a_session_that_cannot_be_is_refused_and_nothing_is_stored(
    ada: User, root: Path, changes: dict[str, str], field: str, complaint: str
) -> None:
    (root / "link").symlink_to("/")
    (root / "loop").symlink_to("loop")
    ModelEndpoint.objects.create(name="keyless", model="m", key_variable="NO_SUCH_KEY")
    wanted = {"workspace": "{root}/project", "model": "explorer", "profile": "small", **changes}
    wanted["workspace"] = wanted["workspace"].format(root=root)
    with pytest.raises(Invalid, match=complaint) as error:
        acts.create(ada, **wanted)
    assert error.value.field == field
    assert not AgentSession.objects.exists()
    assert not AuditEntry.objects.exists()
