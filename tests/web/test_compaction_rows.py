from __future__ import annotations

import re
import time
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from builders import a_lease, a_session, a_user, added, called, said, turn_ended
from django.contrib.auth.models import User
from django.test import Client
from scenes import a_talk, a_talk_of, compacted, html_of, words_of

from agentcore.compaction.breaker import Breaker
from agentcore.compaction.plan import CompactionPlan
from agentcore.compaction.result import (
    CompactionResult,
    Failure,
    SummaryFailed,
    Trigger,
    WrittenSummary,
)
from agentcore.events import (
    CompactionEnded,
    CompactionFailed,
    CompactionStarted,
    Event,
    Recovered,
    RunStarted,
)
from agentcore.outcome import outcome
from agentcore.pressure import Pressure
from agentcore.usage import Usage
from agentcore.verify import Check
from hermesweb import acts, border, endpoints, lease, spending, steering
from hermesweb.lives import snapshot_of
from hermesweb.models import AgentSession, Compaction, ModelEndpoint, ProfileVersion
from hermesweb.recorder import record

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("woken")]


def told(session: AgentSession, *events: Event) -> None:
    held = a_lease(session)
    record(session.pk, held.fence, list(events))
    lease.release(held)
    session.refresh_from_db()


def pressure(session: AgentSession) -> Pressure:
    return turn_ended(1, snapshot_of(session).messages).pressure


def started(session: AgentSession, trigger: Trigger = Trigger.THRESHOLD) -> CompactionStarted:
    return CompactionStarted(trigger, pressure(session))


def failed(session: AgentSession, breaker: Breaker) -> CompactionFailed:
    return CompactionFailed(
        Trigger.THRESHOLD, Failure.ERROR, "no", 1, pressure(session), breaker=breaker
    )


def ended(session: AgentSession, *, thrash: bool = False, **known: Any) -> CompactionEnded:
    """One that changed nothing, with what else is told of it."""
    before = snapshot_of(session)
    nothing = CompactionPlan(before.state, (), ())
    known.setdefault("reason", Failure.NOTHING_TO_COMPACT)
    result = CompactionResult(before, before, Trigger.THRESHOLD, nothing, **known)
    now = pressure(session)
    return CompactionEnded(result, now, now, 1, 0.1, thrash=thrash)


def talk() -> list[Any]:
    return [
        said(1, "Be careful.", "system"),
        said(2, "Fix the parser in src/parse.py."),
        said(3, "Never touch lib/old.py and keep it under 500 kB. " + "x" * 300),
        said(4, "I will use a table. " + "y" * 300, "assistant"),
        said(5, "Go on."),
        said(6, "Done.", "assistant"),
    ]


def test_seven_checks_and_the_lost_facts_with_their_source_are_kept(ada: User) -> None:
    session = a_talk_of(ada, *talk())
    compacted(session, start=1, stop=4)
    row = Compaction.objects.get()
    assert [check["check"] for check in row.checks] == list(Check)
    assert all(check["ok"] for check in row.checks if check["check"] == "history_legal")
    lost = row.survival["constraint"]["lost"]
    assert lost and {fact["number"] for fact in lost} == {3}
    assert row.cost == 0


def test_the_page_shows_what_was_lost_and_leads_to_its_source(client: Client, ada: User) -> None:
    session = a_talk_of(ada, *talk())
    compacted(session, start=1, stop=4)
    html = html_of(client, f"/sessions/{session.pk}/compactions/1/")
    words = words_of(html)
    assert "of 7 passed" in words and "History legal" in words
    assert "Never touch lib/old.py" in words
    assert f'href="/sessions/{session.pk}/messages/3/"' in html
    for act in ("messages/3/pin", "messages/3/restore", "compactions/1/undo"):
        assert f'action="/sessions/{session.pk}/{act}"' in html
    assert "no model was asked" in words


def test_buttons_of_the_page_queue_their_acts(client: Client, ada: User) -> None:
    session = a_talk_of(ada, *talk())
    compacted(session, start=1, stop=4)
    for path in ("messages/3/restore", "compactions/1/undo", "messages/4/exclude"):
        assert client.get(f"/sessions/{session.pk}/{path}").status_code == 405
        client.post(f"/sessions/{session.pk}/{path}")
    question = client.get(f"/sessions/{session.pk}/new_topic")
    assert question.status_code == 200 and session.instructions.count() == 2
    client.post(f"/sessions/{session.pk}/new_topic")
    kinds = list(session.instructions.order_by("id").values_list("kind", flat=True))
    assert kinds == ["restore", "undo", "new_topic"]
    client.force_login(a_user("eve"))
    assert client.post(f"/sessions/{session.pk}/compactions/1/undo").status_code == 404


def test_a_summary_has_its_model_tokens_cost_and_what_it_left_out(
    client: Client, ada: User
) -> None:
    ModelEndpoint.objects.create(
        name="cheap", model="acme-1", input_price=Decimal(2), output_price=Decimal(10)
    )
    session = a_talk(ada, 12, summary_model="cheap")
    usage = Usage(input=1_000, output=200)
    summary = WrittenSummary("short", model="acme-1", usage=usage)
    told(session, ended(session, summaries=(summary,), left_out=4))
    row = Compaction.objects.get()
    assert (row.model, row.usage["output"], row.left_out) == ("acme-1", 200, 4)
    assert row.cost == Decimal("0.004")
    told_by_api = client.get(f"/api/v1/sessions/{session.pk}/compactions/1").json()
    assert (told_by_api["cost"], told_by_api["model"], told_by_api["left_out"]) == (
        "0.004",
        "acme-1",
        4,
    )


def test_a_summary_that_was_taken_is_billed_beside_one_that_failed(ada: User) -> None:
    ModelEndpoint.objects.create(
        name="cheap", model="acme-1", input_price=Decimal(2), output_price=Decimal(10)
    )
    session = a_talk(ada, 12, summary_model="cheap", run_open=True)
    told(session, RunStarted(1))
    before, usage = session.unpriced, Usage(input=1_000, output=200)
    lost = SummaryFailed(Failure.EMPTY, "no text", usage)
    taken = WrittenSummary("short", model="acme-1", usage=usage)
    done = ended(session, summaries=(taken,), failures=(lost,))
    told(session, *outcome(done, Breaker(), was_told=True))
    assert (session.cost, session.unpriced) == (Decimal("0.008"), before)
    assert spending.of_summaries(session) == Decimal("0.008")
    row = Compaction.objects.get()
    assert (row.failure, row.detail, row.cost) == ("empty", "no text", None)


def test_a_cost_without_a_price_is_unknown_not_nought(ada: User) -> None:
    session = a_talk(ada, 12)
    told(session, ended(session, summaries=(WrittenSummary("short", usage=Usage(10, 10)),)))
    assert Compaction.objects.get().cost is None


def test_failures_open_the_breaker_for_whoever_works_next(ada: User) -> None:
    session = a_talk(ada, 12)
    told(session, failed(session, Breaker(3, time.monotonic() + 900)))
    breaker = steering.breaker_of(session)
    assert breaker.failures == 3
    assert 800 < breaker.seconds_left(time.monotonic()) <= 900
    told(session, ended(session, summaries=(WrittenSummary("short"),)))
    assert steering.breaker_of(session) == Breaker()


def test_thrash_stops_automatic_compaction_until_a_person_resumes(ada: User) -> None:
    session = a_talk(ada, 12)
    told(session, ended(session, thrash=True))
    assert session.thrash
    held = a_lease(session)
    assert border.read(held).hold
    lease.release(held)
    acts.resume(ada, session)
    assert not session.thrash


def test_other_pins_and_a_new_version_of_the_profile_end_thrash(ada: User) -> None:
    session = a_talk(ada, 12, thrash=True)
    acts.pin(ada, session, [3])
    assert not session.thrash
    AgentSession.objects.update(thrash=True)
    version = session.profile_version
    ProfileVersion.objects.create(profile=session.profile, number=2, values=version.values)
    held = a_lease(session)
    assert not border.read(held).hold
    session.refresh_from_db()
    assert not session.thrash


def test_a_hold_ends_where_the_list_has_grown(ada: User) -> None:
    session = a_talk(ada, 12)
    steering.hold(session)
    session.save()
    held = a_lease(session)
    directives = border.read(held)
    assert (directives.hold, directives.hold_until) == (False, session.hold_until)
    lease.release(held)
    more = said(13, "x" * 1_000)
    messages = [*snapshot_of(session).messages, more]
    told(session, *added(more, turn=6), turn_ended(6, messages))
    assert (session.hold, session.hold_until) == (False, 0)


def test_what_a_lost_worker_left_running_is_told_as_broken_off(ada: User) -> None:
    session = a_talk(ada, 12)
    told(session, started(session))
    assert (session.status, Compaction.objects.get().state) == ("compacting", "running")
    told(session, Recovered(1, 0))
    row = Compaction.objects.get()
    assert (row.state, row.failure, row.number) == ("failed", "cancelled", 1)


def test_a_wish_that_a_lost_worker_left_running_waits_again(ada: User) -> None:
    session = a_talk(ada, 12)
    row = acts.compact_now(ada, session)
    told(session, replace(started(session, Trigger.MANUAL), instruction=row.instruction_id))
    row.refresh_from_db()
    assert row.state == "running"
    told(session, Recovered(1, 0))
    row.refresh_from_db()
    assert (row.state, row.instruction.state) == ("queued", "queued")


def test_the_end_of_what_runs_fills_its_row(ada: User) -> None:
    session = a_talk(ada, 12)
    told(session, started(session))
    told(session, ended(session))
    row = Compaction.objects.get()
    assert (row.state, row.failure) == ("failed", "nothing_to_compact")


def test_checkpoints_are_read_at_the_border(ada: User) -> None:
    session = a_session(ada)
    told(session, *added(said(1, "Be careful.", "system"), said(2, "Go."), called(3, "grep")))
    acts.checkpoint(ada, session, 2)
    assert border.read(a_lease(session)).checkpoints == {2}


def test_the_session_page_says_what_keeps_compaction_from_running(
    client: Client, ada: User
) -> None:
    session = a_talk(ada, 12, thrash=True)
    told(session, failed(session, Breaker(3, time.monotonic() + 900)))
    html = html_of(client, f"/sessions/{session.pk}/")
    assert "two runs in a row freed next to nothing" in words_of(html)
    assert re.search(
        r'3 summaries failed in a row.*<count-down role="timer" seconds="(8\d\d|900)">', html
    )
    AgentSession.objects.update(thrash=False, hold=True, hold_until=23_000)
    words = words_of(html_of(client, f"/sessions/{session.pk}/"))
    assert "Nothing is compacted by itself before 23,000 bytes are used" in words


def test_the_page_offers_no_undo_that_would_be_refused(client: Client, ada: User) -> None:
    session = a_talk(ada, 20)
    compacted(session)
    compacted(session, start=3, stop=5)
    html = html_of(client, f"/sessions/{session.pk}/compactions/1/")
    assert "The list was changed since." in html and "/compactions/1/undo" not in html
    assert "/compactions/2/undo" in html_of(client, f"/sessions/{session.pk}/compactions/2/")


def test_the_page_forks_from_before_the_compaction(
    client: Client, ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "check", lambda name: None)
    session = a_talk(ada, 12)
    before = [one.wire for one in snapshot_of(session).messages]
    compacted(session)
    html = html_of(client, f"/sessions/{session.pk}/compactions/1/")
    found = re.search(r'name="at" value="([0-9.]+)"', html)
    assert found is not None
    answer = client.post(f"/sessions/{session.pk}/forks", {"at": found[1]})
    fork = AgentSession.objects.exclude(pk=session.pk).get()
    assert answer.headers["Location"] == f"/sessions/{fork.pk}/"
    assert [one.wire for one in snapshot_of(fork).messages] == before
    refused = client.post(f"/sessions/{session.pk}/forks", {"at": "nonsense"}, follow=True)
    assert "is no state" in refused.content.decode()
