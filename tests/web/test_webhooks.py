from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from builders import a_lease, a_session, a_user
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings
from scenes import a_talk, compacted
from servers import Answer, Server, redirect, said, serving

from agentcore.events import Event, RunEnd, RunEnded
from hermesweb import acts, posting, wake, webhooks
from hermesweb.models import AgentSession, AuditEntry, Delivery, DeliveryState, Webhook
from hermesweb.occasions import Occasion
from hermesweb.recorder import record

pytestmark = pytest.mark.django_db(transaction=True)

ENDED = RunEnded(3, RunEnd.ANSWERED)


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """The tasks that were posted, instead of a broker."""
    posted: list[tuple[str, Any]] = []
    monkeypatch.setattr(wake, "_post", lambda task, subject: posted.append((task, subject)))
    return posted


@pytest.fixture
def ada() -> User:
    return a_user("ada")


def a_webhook(owner: User, *occasions: Occasion, **known: Any) -> Webhook:
    values = {"url": "https://hook.example/in", "occasions": list(occasions or Occasion), **known}
    return Webhook.objects.create(owner=owner, **values)


def happens(session: AgentSession, *events: Event) -> None:
    held = a_lease(session)
    record(session.pk, held.fence, events or [ENDED])
    AgentSession.objects.filter(pk=session.pk).update(holder="", lease_ends=None)


async def sent(settings: Settings, webhook: Webhook, answer: Answer) -> Server:
    """Send what is due of a webhook to a server that answers so."""
    async with serving(answer) as server:
        settings.WEBHOOK_HOSTS = [("127.0.0.1", server.port)]
        where = f"http://127.0.0.1:{server.port}/in?token=abc"
        await Webhook.objects.filter(pk=webhook.pk).aupdate(url=where)
        await posting.send_waiting(webhook.pk)
    return server


def outcome(webhook: Webhook) -> tuple[str, int, int | None]:
    row = webhook.deliveries.get()
    return row.state, row.attempts, row.status


def wait_over() -> None:
    Delivery.objects.update(due_at=timezone.now() - timedelta(seconds=1))


def test_an_occasion_waits_for_each_webhook_that_wants_it_and_a_worker_is_asked_for(
    ada: User, asked: list[tuple[str, Any]]
) -> None:
    wants = a_webhook(ada, Occasion.RUN_ENDED)
    a_webhook(ada, Occasion.THRASH)
    a_webhook(ada, Occasion.RUN_ENDED, active=False)
    a_webhook(a_user("bob"), Occasion.RUN_ENDED)
    happens(a_session(ada))
    row = Delivery.objects.get()
    assert (row.webhook, row.occasion, row.state) == (wants, "run_ended", DeliveryState.WAITING)
    assert asked == [("hermesweb.tasks.deliver", wants.pk)]


async def test_a_person_who_may_not_sign_in_any_more_is_told_of_nothing(
    ada: User, settings: Settings
) -> None:
    hook = await sync_to_async(a_webhook)(ada)
    session = await sync_to_async(a_session)(ada)
    await sync_to_async(happens)(session)
    await User.objects.filter(pk=ada.pk).aupdate(is_active=False)
    await sync_to_async(happens)(session)
    server = await sent(settings, hook, said("ok"))
    assert await Delivery.objects.acount() == 1
    assert not server.requests
    assert await sync_to_async(webhooks.due)() == []


def test_nothing_waits_of_a_transaction_that_did_not_come_through(
    ada: User, asked: list[tuple[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    a_webhook(ada)
    session = a_session(ada)
    monkeypatch.setattr(AgentSession, "save", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        record(session.pk, a_lease(session).fence, [ENDED])
    assert not Delivery.objects.exists() and asked == []


def test_a_run_without_an_occasion_asks_for_no_webhook(
    ada: User, django_assert_num_queries: Callable[..., Any]
) -> None:
    session = a_session(ada)
    with django_assert_num_queries(0):
        webhooks.tell(session, [])


async def test_what_is_sent_is_small_signed_and_masked(ada: User, settings: Settings) -> None:
    webhook = await sync_to_async(a_webhook)(ada, Occasion.COMPACTED, secret="s3cret")
    title = "deploy with sk-live-0123456789abcdef0123"
    session = await sync_to_async(a_talk)(ada, 12, title=title)
    await sync_to_async(compacted)(session)
    server = await sent(settings, webhook, said("ok"))

    [raw] = server.bodies
    told = json.loads(raw)
    row = await webhook.deliveries.aget()
    assert len(raw) < 2_000 and "0123456789abcdef" not in raw.decode()
    assert told["id"] == row.key and told["occasion"] == "compacted"
    assert told["session"]["id"] == session.pk
    assert told["session"]["url"].endswith(f"/sessions/{session.pk}/")
    assert told["before_bytes"] > told["after_bytes"] and told["unit"] == "bytes"
    head = server.requests[0]
    digest = hmac.new(b"s3cret", raw, hashlib.sha256).hexdigest()
    assert f"X-Hermesweb-Signature: sha256={digest}\r\n" in head
    assert f"X-Hermesweb-Delivery: {row.key}\r\n" in head
    assert (row.state, row.attempts, row.status) == ("delivered", 1, 200)


async def test_a_secret_of_the_environment_signs_and_is_missed_where_it_is_not_set(
    ada: User, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook = await sync_to_async(a_webhook)(ada, secret_variable="HOOK_SECRET")
    await sync_to_async(happens)(await sync_to_async(a_session)(ada))
    server = await sent(settings, webhook, said("ok"))
    row = await webhook.deliveries.aget()
    assert server.requests == [] and "not set" in row.detail

    monkeypatch.setenv("HOOK_SECRET", "from outside")
    await sync_to_async(wait_over)()
    server = await sent(settings, webhook, said("ok"))
    digest = hmac.new(b"from outside", server.bodies[0], hashlib.sha256).hexdigest()
    assert digest in server.requests[0]


@pytest.mark.parametrize(
    ("answer", "status", "why"),
    [
        (said("no", status="500 Oops"), 500, "answered 500"),
        (redirect("http://169.254.169.254/"), 302, "redirects are not followed"),
    ],
)
async def test_what_was_not_taken_is_tried_again_later_with_the_same_id_and_then_given_up(
    ada: User, settings: Settings, answer: Answer, status: int, why: str
) -> None:
    webhook = await sync_to_async(a_webhook)(ada)
    await sync_to_async(happens)(await sync_to_async(a_session)(ada))
    keys = []
    for attempt in range(1, 5):
        before = timezone.now()
        server = await sent(settings, webhook, answer)
        keys += re.findall(r"X-Hermesweb-Delivery: (\w+)", server.requests[0])
        row = await webhook.deliveries.aget()
        assert (row.attempts, row.status) == (attempt, status) and why in row.detail
        if attempt < 4:
            assert row.state == "waiting" and row.due_at >= before + posting.PAUSES[attempt - 1]
        assert (await sent(settings, webhook, answer)).requests == []
        await sync_to_async(wait_over)()
    assert row.state == "failed" and row.ended_at and len(set(keys)) == 1


async def test_a_receiver_that_is_gone_for_good_is_asked_once(
    ada: User, settings: Settings
) -> None:
    webhook = await sync_to_async(a_webhook)(ada)
    await sync_to_async(happens)(await sync_to_async(a_session)(ada))
    await sent(settings, webhook, said("", status="410 Gone"))
    assert await sync_to_async(outcome)(webhook) == ("failed", 1, 410)


async def test_an_inside_address_is_refused_when_it_is_sent_to(
    ada: User, settings: Settings
) -> None:
    async with serving(said("ok")) as server:
        url = f"http://127.0.0.1:{server.port}/of/hook-word"
        webhook = await sync_to_async(a_webhook)(ada, url=url)
        await sync_to_async(happens)(await sync_to_async(a_session)(ada))
        settings.WEBHOOK_HOSTS = []
        await posting.send_waiting(webhook.pk)
    row = await webhook.deliveries.aget()
    assert server.requests == [] and row.state == "waiting" and "cannot be used" in row.detail


async def test_the_log_of_what_failed_goes_without_the_address(
    ada: User, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.WEBHOOK_HOSTS = [("127.0.0.1", 1)]
    for path in ("of/hook-word", "two words/hook-word", "half%20a/hook-word"):
        webhook = await sync_to_async(a_webhook)(ada, url=f"http://127.0.0.1:1/{path}")
        await sync_to_async(happens)(await sync_to_async(a_session)(ada))
        await webhook.deliveries.aupdate(attempts=3)
        await posting.send_waiting(webhook.pk)
        row = await webhook.deliveries.aget()
        assert row.state == "failed" and row.detail and "hook-word" not in row.detail
        await webhook.adelete()
    assert "was not told of run_ended" in caplog.text and "hook-word" not in caplog.text


async def test_one_sender_holds_a_webhook_and_another_leaves_it_alone(
    ada: User, settings: Settings
) -> None:
    webhook = await sync_to_async(a_webhook)(ada)
    await sync_to_async(happens)(await sync_to_async(a_session)(ada))
    later = timezone.now() + timedelta(seconds=9)
    await Webhook.objects.filter(pk=webhook.pk).aupdate(busy_until=later)
    assert await sync_to_async(webhooks.due)() == []
    assert (await sent(settings, webhook, said("ok"))).requests == []
    # A killed sender's hold ends by itself.
    await Webhook.objects.filter(pk=webhook.pk).aupdate(busy_until=timezone.now())
    assert await sync_to_async(webhooks.due)() == [webhook.pk]
    assert len((await sent(settings, webhook, said("ok"))).requests) == 1
    assert await sync_to_async(webhooks.due)() == []


async def test_receivers_that_are_waited_for_leave_threads_to_the_runs(
    ada: User, settings: Settings
) -> None:
    webhook = await sync_to_async(a_webhook)(ada)
    await sync_to_async(happens)(await sync_to_async(a_session)(ada))
    taken = 0
    while posting._room.acquire(blocking=False):
        taken += 1
    try:
        assert (await sent(settings, webhook, said("ok"))).requests == []
    finally:
        posting._room.release(taken)
    assert taken == 4 and await sync_to_async(webhooks.due)() == [webhook.pk]


async def test_a_webhook_deleted_while_it_is_sent_to_takes_its_deliveries_along(
    ada: User, settings: Settings
) -> None:
    webhook = await sync_to_async(a_webhook)(ada)
    session = await sync_to_async(a_session)(ada)
    for _ in range(2):
        await sync_to_async(happens)(session)

    async def delete_first(writer: Any) -> None:
        await sync_to_async(acts.delete_webhook)(ada, webhook)
        await said("ok")(writer)

    server = await sent(settings, webhook, delete_first)
    assert len(server.requests) == 1 and not await Delivery.objects.aexists()


def test_a_dead_receiver_fills_no_table(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhooks, "MOST_WAITING", 3)
    monkeypatch.setattr(webhooks, "KEPT", 2)
    webhook, session = a_webhook(ada), a_session(ada)
    for _ in range(9):
        happens(session)
    states = list(webhook.deliveries.order_by("pk").values_list("state", flat=True))
    assert states == ["waiting"] * 3 + ["dropped"] * 2
    assert "3 others" in webhook.deliveries.last().detail


def test_what_waits_of_one_that_is_switched_off_is_dropped(ada: User) -> None:
    webhook = a_webhook(ada)
    happens(a_session(ada))
    acts.change_webhook(ada, webhook, active=False)
    assert outcome(webhook)[0] == "dropped" and webhooks.due() == []


def test_the_audit_names_the_host_and_neither_the_secret_nor_the_path(ada: User) -> None:
    url = "https://hooks.example/services/T0/B0/abcdef"
    webhook = acts.add_webhook(ada, ada, url=url, occasions=["blocked"], secret="s3cret")
    acts.change_webhook(ada, webhook, secret="an0ther")
    acts.delete_webhook(ada, webhook)
    entries = AuditEntry.objects.order_by("place")
    assert [one.action for one in entries] == [
        *("webhook_added", "webhook_changed", "webhook_deleted"),
    ]
    told = json.dumps([[one.old, one.new] for one in entries])
    assert "hooks.example" in told
    assert not any(word in told for word in ("s3cret", "an0ther", "abcdef"))


def test_one_may_not_have_any_number_of_them(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hermesweb.acts.webhooks.MOST_WEBHOOKS", 1)
    acts.add_webhook(ada, ada, url="https://a.example/", occasions=["blocked"])
    with pytest.raises(acts.Refused):
        acts.add_webhook(ada, ada, url="https://b.example/", occasions=["blocked"])


async def test_a_test_says_that_it_is_one_signed_and_in_one_attempt(
    ada: User, settings: Settings
) -> None:
    hook = await sync_to_async(a_webhook)(ada, Occasion.BLOCKED, secret="words")
    test = await sync_to_async(acts.test_webhook)(ada, hook)
    server = await sent(settings, hook, said("no", status="500 No"))
    [content] = server.bodies
    assert json.loads(content) == {"id": test.key, "occasion": "test", "at": test.at.isoformat()}
    digest = hmac.new(b"words", content, hashlib.sha256).hexdigest()
    assert f"X-Hermesweb-Signature: sha256={digest}\r\n" in server.requests[0]
    assert await sync_to_async(outcome)(hook) == ("failed", 1, 500)
