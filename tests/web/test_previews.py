"""A compaction that is looked at, and then made exactly as it was shown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from builders import a_lease, a_user, added, said
from calls import Caller, problem
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from histories import exchange
from hypothesis import given
from hypothesis import strategies as st
from scenes import a_talk, a_talk_of, compacted
from working import says

from agentcore import PRESETS, Snapshot
from agentcore.compaction.asked import STAGES, CompactionOptions, PreparedPlan
from agentcore.compaction.compact import drive, pressure_of
from agentcore.compaction.pipeline import run_pipeline
from agentcore.compaction.result import Trigger
from agentcore.llm.scripted import ScriptedModel
from agentcore.snapshot import State
from hermesweb import acts, lease, lives, planning, prepared, runner
from hermesweb.acts import Invalid, Refused
from hermesweb.models import AgentSession, Preview
from hermesweb.recorder import record

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]
DEFAULT = CompactionOptions()


@pytest.fixture
def ada() -> User:
    return a_user("ada")


@pytest.fixture
def model(script: Callable[..., ScriptedModel]) -> ScriptedModel:
    return script(says("Here I am."))


def wires(session: AgentSession) -> list[str]:
    return [message.wire for message in lives.snapshot_of(session).messages]


def taken(session: AgentSession) -> None:
    async_to_sync(runner.run)(session.pk)
    session.refresh_from_db()


def appended(session: AgentSession, text: str) -> None:
    held = a_lease(session)
    record(session.pk, held.fence, added(said(session.last_number + 1, text)))
    lease.release(held)
    session.refresh_from_db()


@given(
    st.sampled_from(list(PRESETS)),
    st.sampled_from(["", *STAGES]),
    st.integers(1, 12),
    st.none() | st.integers(0, 4),
)
def test_a_plan_is_read_back_as_it_was_kept(
    preset: str, stage: str, turns: int, keep: int | None
) -> None:
    profile = PRESETS[preset].replace(budget=6_000, unit="bytes")
    run = run_pipeline(
        Snapshot.of(exchange(turns, results=2), facts=True),
        CompactionOptions(stage=stage, keep_last=keep).applied_to(profile),
        pressure_of=pressure_of(profile),
        trigger=Trigger.MANUAL,
    )
    kept = PreparedPlan.of(drive(run, None))
    back = prepared.unpacked(prepared.packed(kept))
    assert (back.plan.base, back.plan.removals, back.plan.births, back.stages) == (
        kept.plan.base,
        kept.plan.removals,
        kept.plan.births,
        kept.stages,
    )
    assert [birth.message.facts for birth in back.plan.births] == [
        birth.message.facts for birth in kept.plan.births
    ]


@pytest.mark.parametrize(
    "options",
    [
        DEFAULT,
        CompactionOptions(preset="kairo"),
        CompactionOptions(preset="observation-masking", keep_last=1),
        CompactionOptions(stage="collapse"),
        CompactionOptions(stage="keep_recent", keep_last=3, up_to=8),
        CompactionOptions(stage="keep_recent", summary="The parser is half fixed."),
    ],
)
def test_what_was_shown_is_what_is_done(
    ada: User, model: ScriptedModel, options: CompactionOptions
) -> None:
    session = a_talk(ada, 24, text="x" * 2_000)
    before = wires(session)
    preview, plan = acts.preview(ada, session, options)
    assert wires(session) == before
    row = acts.apply_preview(ada, session, preview.pk)
    taken(session)
    assert wires(session) == [message.wire for message in plan.result.new.messages]
    row.refresh_from_db()
    assert (row.state, row.trigger, row.by) == ("applied", "manual", ada)
    assert row.before - row.after == plan.result.freed
    assert model.requests == []


def test_a_message_between_preview_and_apply_follows_unchanged(
    ada: User, model: ScriptedModel
) -> None:
    session = a_talk(ada, 24, text="x" * 2_000)
    preview, plan = acts.preview(ada, session, DEFAULT)
    appended(session, "and one more thing")
    after = [message.wire for message in plan.result.new.messages]
    last = wires(session)[-1]
    acts.apply_preview(ada, session, preview.pk)
    taken(session)
    assert wires(session)[: len(after) + 1] == [*after, last]


def test_a_list_that_was_revised_makes_the_preview_stale(ada: User) -> None:
    session = a_talk(ada, 24)
    preview, _ = acts.preview(ada, session, DEFAULT)
    compacted(session)
    with pytest.raises(Refused, match="revision 1, the preview was made at 0") as refusal:
        acts.apply_preview(ada, session, preview.pk)
    assert refusal.value.code == "stale"


def test_a_change_that_comes_after_apply_and_before_the_border_is_told_as_stale(
    ada: User, model: ScriptedModel
) -> None:
    session = a_talk(ada, 24)
    preview, _ = acts.preview(ada, session, DEFAULT)
    row = acts.apply_preview(ada, session, preview.pk)
    compacted(session)
    before = wires(session)
    taken(session)
    row.refresh_from_db()
    assert (row.state, row.failure) == ("failed", "stale")
    assert "look at it again" in row.detail
    assert wires(session) == before


def test_a_pin_between_apply_and_the_border_is_honoured(ada: User, model: ScriptedModel) -> None:
    session = a_talk(ada, 24)
    preview, _ = acts.preview(ada, session, DEFAULT)
    row = acts.apply_preview(ada, session, preview.pk)
    acts.pin(ada, session, [4])
    taken(session)
    row.refresh_from_db()
    assert (row.state, row.failure) == ("failed", "stale")
    assert 4 in [message.number for message in lives.snapshot_of(session).messages]


def test_of_two_who_apply_at_once_the_second_is_told(ada: User) -> None:
    session = a_talk(ada, 24)
    first, second = [acts.preview(ada, session, DEFAULT)[0] for _ in range(2)]
    acts.apply_preview(ada, session, first.pk)
    with pytest.raises(Refused, match="compaction 1 is queued already") as refusal:
        acts.apply_preview(ada, session, second.pk)
    assert refusal.value.code == "running"


def test_a_preview_ends_after_a_day_and_is_swept(ada: User) -> None:
    session = a_talk(ada, 24)
    preview, _ = acts.preview(ada, session, DEFAULT)
    planning.clear_ended()
    assert Preview.objects.count() == 1
    Preview.objects.update(ends_at=timezone.now() - timedelta(seconds=1))
    with pytest.raises(Refused, match="kept for 24 hours"):
        acts.apply_preview(ada, session, preview.pk)
    planning.clear_ended()
    assert not Preview.objects.exists()


def test_a_new_preview_takes_the_place_of_the_one_that_was_looked_at(ada: User) -> None:
    session = a_talk(ada, 24)
    first, _ = acts.preview(ada, session, DEFAULT)
    second, _ = acts.preview(ada, session, DEFAULT, instead_of=first.pk)
    assert list(Preview.objects.values_list("pk", flat=True)) == [second.pk]


@pytest.mark.parametrize(
    ("options", "field", "complaint"),
    [
        ({"preset": "huge"}, "preset", "there is no preset"),
        ({"stage": "huge"}, "stage", "there is no stage"),
        ({"up_to": 99}, "up_to", "message 99 is not in the list"),
        ({"summary": " "}, "summary", "no text"),
        ({"summary": "word " * 50_000}, "summary", "50,000 words"),
        ({"stage": "snip", "summary": "text"}, "summary", "no stage of this plan"),
    ],
)
def test_options_that_cannot_be_are_named_and_nothing_is_kept(
    ada: User, options: dict[str, Any], field: str, complaint: str
) -> None:
    session = a_talk(ada, 24, profile="nanohermes", text="x" * 2_000)
    with pytest.raises(Invalid, match=complaint) as error:
        acts.preview(ada, session, CompactionOptions(**options))
    assert error.value.field == field
    assert not Preview.objects.exists()


def test_the_api_shows_a_plan_and_applies_exactly_that(ada: User, model: ScriptedModel) -> None:
    session = a_talk(ada, 24, text="x" * 2_000)
    caller, path = Caller(ada), f"sessions/{session.pk}/compactions"
    seq = session.seq
    response = caller.post(path, {"preview": True, "stage": "keep_recent", "keep_last": 4})
    shown = response.json()
    assert response.status_code == 200
    session.refresh_from_db()
    assert (session.seq, session.revision) == (seq, 0)
    assert shown["changed"] and shown["freed"] == shown["before"]["size"] - shown["after"]["size"]
    assert shown["stages"] == [{"stage": "keep_recent", "freed": shown["freed"]}]
    assert len(shown["checks"]) == 7
    assert {one["fate"] for one in shown["fates"]} == {"summarized"}
    assert [one["origin"] for one in shown["added"]] == ["summary"]
    queued = caller.post(path, {"preview_id": shown["preview_id"]})
    assert queued.status_code == 202
    taken(session)
    made = caller.get(f"{path}/{queued.json()['number']}").json()
    for part in ("before", "after", "stages", "checks", "survival", "fates", "added"):
        assert made[part] == shown[part], part


def test_the_api_tells_a_stale_preview_from_bad_input(ada: User) -> None:
    session = a_talk(ada, 24)
    caller, path = Caller(ada), f"sessions/{session.pk}/compactions"
    assert problem(caller.post(path, {"preview_id": "none"})) == (409, "stale", None)
    wrong = caller.post(path, {"preview": True, "keep_last": -1})
    assert problem(wrong) == (422, "invalid", "keep_last")
    both = caller.post(path, {"preview_id": "x", "stage": "snip"})
    assert problem(both) == (422, "invalid", "preview_id")
    assert caller.post(path, {"stage": "snip", "focus": "ports"}).status_code == 202
    row = session.stored_compactions.get()
    assert (row.options["stage"], row.options["focus"]) == ("snip", "ports")


def test_a_recording_can_be_previewed_but_not_compacted(ada: User) -> None:
    session = a_talk(ada, 24, kind="imported")
    caller, path = Caller(ada), f"sessions/{session.pk}/compactions"
    shown = caller.post(path, {"preview": True, "preset": "nanohermes"}).json()
    assert shown["changed"]
    refused = caller.post(path, {"preview_id": shown["preview_id"]})
    assert problem(refused) == (409, "read_only", None)


def a_fork(ada: User, script: Callable[..., ScriptedModel]) -> AgentSession:
    """Its first run puts another system message in the place of the one it came with."""
    script(says("Here I am. " * 30), says("And here."))
    fork = acts.fork(ada, a_talk(ada, 12), State(0, 12), model="explorer")
    return fork


def test_a_preview_of_a_fork_outlives_the_system_message_that_its_first_run_rebuilds(
    ada: User, script: Callable[..., ScriptedModel]
) -> None:
    fork = a_fork(ada, script)
    kept, plan = acts.preview(ada, fork, CompactionOptions(stage="keep_recent", keep_last=2))
    told = [message.wire for message in plan.result.new.messages if not message.is_leading]
    acts.send(ada, fork, "go on")
    taken(fork)
    assert list(fork.revisions.values_list("cause", flat=True)) == ["system_rebuilt"]
    made = acts.apply_preview(ada, fork, kept.pk)
    taken(fork)
    made.refresh_from_db()
    assert (made.state, fork.revision) == ("applied", 2)
    assert wires(fork)[1 : len(told) + 1] == told


def test_it_is_applied_by_the_very_run_that_rebuilds_the_system_message(
    ada: User, script: Callable[..., ScriptedModel]
) -> None:
    fork = a_fork(ada, script)
    kept, _ = acts.preview(ada, fork, CompactionOptions(stage="keep_recent", keep_last=2))
    acts.send(ada, fork, "go on")
    made = acts.apply_preview(ada, fork, kept.pk)
    taken(fork)
    made.refresh_from_db()
    assert made.state == "applied"
    causes = list(fork.revisions.order_by("number").values_list("cause", flat=True))
    assert causes == ["system_rebuilt", "compaction_ended"]


def test_the_page_of_such_a_preview_is_still_that_preview(
    ada: User, client: Client, script: Callable[..., ScriptedModel]
) -> None:
    client.force_login(ada)
    fork = a_fork(ada, script)
    kept, _ = acts.preview(ada, fork, DEFAULT)
    acts.send(ada, fork, "go on")
    taken(fork)
    page = client.get(f"/sessions/{fork.pk}/previews/{kept.pk}/").content.decode()
    assert "The list moved on meanwhile" not in page and kept.pk in page


def test_a_system_message_that_is_put_in_front_makes_a_preview_stale(
    ada: User, script: Callable[..., ScriptedModel]
) -> None:
    """Every row stands one further down."""
    script(says("Here I am."))
    source = a_talk_of(ada, *[said(n, f"{n} {'x' * 300}", "user") for n in range(1, 9)])
    fork = acts.fork(ada, source, State(0, 8), model="explorer")
    kept, _ = acts.preview(ada, fork, DEFAULT)
    acts.send(ada, fork, "go on")
    taken(fork)
    with pytest.raises(Refused) as refused:
        acts.apply_preview(ada, fork, kept.pk)
    assert refused.value.code == "stale"
