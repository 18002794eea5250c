from __future__ import annotations

from typing import Any

import pytest
from builders import a_session, a_user
from calls import Caller, problem
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from scenes import html_of, words_of

from hermesweb.acts.webhooks import MOST_WEBHOOKS
from hermesweb.models import AuditEntry, Delivery, Webhook
from hermesweb.occasions import Occasion

pytestmark = pytest.mark.django_db

PAGE = "/webhooks/"
URL = "https://hook.example/in"
SECRET = "s3cret-words"


@pytest.fixture
def ada() -> User:
    return a_user("ada")


@pytest.fixture
def client(client: Client, ada: User) -> Client:
    client.force_login(ada)
    return client


@pytest.fixture
def hook(ada: User) -> Webhook:
    return Webhook.objects.create(owner=ada, url=URL, occasions=["blocked"], secret=SECRET)


def a_delivery(hook: Webhook, **known: Any) -> Delivery:
    session = a_session(hook.owner, title="parser")
    return Delivery.objects.create(
        webhook=hook, session=session, occasion="blocked", seq=3, facts={}, **known
    )


def test_it_says_what_to_expect_while_there_is_none(client: Client) -> None:
    page = words_of(html_of(client, PAGE))
    assert "No webhook yet" in page and "Nothing was sent yet" in page


def test_an_address_that_is_refused_stands_as_it_was_written_with_the_way_out(
    client: Client,
) -> None:
    values = {"url": "http://hook.example:8080/in", "occasions": ["blocked"]}
    told = words_of(client.post(PAGE, values).content.decode())
    assert "http://hook.example:8080/in: port 8080" in told
    assert "HERMESWEB_WEBHOOK_HOSTS names inside receivers and other ports." in told


def test_one_is_added_and_its_secret_is_never_shown_again(client: Client, ada: User) -> None:
    values = {"url": URL, "occasions": ["run_ended", "blocked"], "secret": SECRET}
    assert client.post(PAGE, values).status_code == 302
    hook = Webhook.objects.get()
    assert (hook.owner, hook.occasions, hook.secret) == (ada, ["blocked", "run_ended"], SECRET)
    for path in (PAGE, reverse("webhook", args=[hook.pk])):
        page = html_of(client, path)
        assert URL in page and SECRET not in page
    assert "signed" in words_of(html_of(client, PAGE))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"url": "http://127.0.0.1/"}, "inside address"),
        ({"url": "file:///etc/passwd"}, "only http and https"),
        ({"url": "https://hook.example:22/"}, "port 22"),
        ({"url": ""}, "Write the address"),
        ({"url": "http://hook.example]/"}, "not the name of a host"),
        ({"occasions": []}, "at least one occasion"),
        ({"occasions": ["everything"]}, "everything"),
    ],
)
def test_what_cannot_be_used_is_told_at_its_field_and_nothing_is_stored(
    client: Client, values: dict[str, Any], said: str
) -> None:
    response = client.post(PAGE, {"url": URL, "occasions": ["blocked"], **values})
    assert response.status_code == 422 and said in response.content.decode()
    assert not Webhook.objects.exists() and not AuditEntry.objects.exists()


def test_a_change_keeps_the_secret_unless_it_is_given_anew(client: Client, hook: Webhook) -> None:
    path = reverse("webhook", args=[hook.pk])
    values = {"url": URL, "occasions": ["thrash"], "active": "on"}
    client.post(path, values)
    hook.refresh_from_db()
    assert (hook.occasions, hook.secret) == (["thrash"], SECRET)
    client.post(path, {**values, "secret": "another"})
    hook.refresh_from_db()
    assert hook.secret == "another"
    client.post(path, {**values, "unsigned": "on"})
    hook.refresh_from_db()
    assert not hook.signed


def test_each_delivery_is_shown_with_its_outcome(client: Client, hook: Webhook) -> None:
    a_delivery(hook, state="delivered", status=204, attempts=1)
    a_delivery(hook, state="failed", detail="<b>answered 500</b>", attempts=4)
    a_delivery(Webhook.objects.create(owner=a_user("bob"), url="https://bob.example/"))
    html = html_of(client, PAGE)
    page = words_of(html)
    assert "delivered 204 parser" in page and "failed" in page
    assert "<b>answered" not in html and "bob.example" not in page


def test_deleting_drops_what_waits(client: Client, hook: Webhook) -> None:
    a_delivery(hook)
    client.post(reverse("webhook_delete", args=[hook.pk]))
    assert not Webhook.objects.exists() and not Delivery.objects.exists()


def test_the_api_adds_changes_lists_and_deletes(ada: User) -> None:
    caller = Caller(ada)
    made = caller.post("webhooks", {"url": URL, "occasions": ["blocked"], "secret": SECRET})
    assert made.status_code == 201 and SECRET not in made.content.decode()
    id = made.json()["id"]
    assert made.json()["signed"] is True
    changed = caller.patch(f"webhooks/{id}", {"secret": "", "active": False})
    assert (changed.json()["signed"], changed.json()["active"]) == (False, False)
    assert [one["id"] for one in caller.get("webhooks").json()["items"]] == [id]
    assert caller.delete(f"webhooks/{id}").status_code == 204
    assert caller.get("webhooks").json()["items"] == []
    actions = AuditEntry.objects.order_by("place").values_list("action", flat=True)
    assert list(actions) == ["webhook_added", "webhook_changed", "webhook_deleted"]


def test_the_api_pages_through_deliveries_newest_first(ada: User, hook: Webhook) -> None:
    rows = [a_delivery(hook) for _ in range(3)]
    caller = Caller(ada)
    first = caller.get(f"webhooks/{hook.pk}/deliveries", limit=2).json()
    rest = caller.get(f"webhooks/{hook.pk}/deliveries", limit=2, cursor=first["next"]).json()
    told = [one["id"] for page in (first, rest) for one in page["items"]]
    assert told == [row.key for row in reversed(rows)] and rest["next"] is None


def test_the_api_says_what_is_wrong_with_a_value(ada: User) -> None:
    caller = Caller(ada)
    refused = caller.post("webhooks", {"url": "http://10.0.0.1/", "occasions": ["blocked"]})
    assert problem(refused) == (422, "invalid", "url")
    unknown = caller.post("webhooks", {"url": URL, "occasions": ["all"]})
    assert problem(unknown) == (422, "invalid", "occasions")
    halved = {"url": URL, "occasions": ["blocked"], "secret": "word\ud800"}
    assert problem(caller.post("webhooks", halved)) == (422, "invalid", "secret")


def test_staff_set_one_for_anybody_in_the_admin(client: Client, ada: User) -> None:
    client.force_login(a_user("eve", is_staff=True))
    page = reverse("admin:hermesweb_webhook_add")
    values = {
        "owner": ada.pk,
        "url": URL,
        "occasions": [Occasion.THRASH],
        "secret": SECRET,
        "active": "on",
    }
    assert client.post(page, {**values, "url": "http://127.0.0.1/"}).status_code == 200
    assert not Webhook.objects.exists()
    assert client.post(page, values).status_code == 302
    hook = Webhook.objects.get()
    assert (hook.owner, hook.secret, hook.occasions) == (ada, SECRET, ["thrash"])
    change = reverse("admin:hermesweb_webhook_change", args=[hook.pk])
    assert SECRET not in html_of(client, change)
    inline = {
        "deliveries-TOTAL_FORMS": 0,
        "deliveries-INITIAL_FORMS": 0,
    }
    sent = {**values, "secret": "", "secret_variable": "HOOK_SECRET", **inline}
    assert client.post(change, sent).status_code == 302
    hook.refresh_from_db()
    assert (hook.secret, hook.secret_variable) == (SECRET, "HOOK_SECRET")
    entry = AuditEntry.objects.latest("place")
    assert (entry.who, entry.action) == ("eve", "webhook_changed")
    assert SECRET not in str(entry.new)


def test_the_admin_says_that_somebody_has_as_many_as_one_may(client: Client, ada: User) -> None:
    client.force_login(a_user("eve", is_staff=True))
    Webhook.objects.bulk_create(Webhook(owner=ada, url=URL) for _ in range(MOST_WEBHOOKS))
    values = {"owner": ada.pk, "url": URL, "occasions": [Occasion.BLOCKED], "active": "on"}
    response = client.post(reverse("admin:hermesweb_webhook_add"), values)
    assert "One may have 10 webhooks." in response.content.decode()
    assert Webhook.objects.count() == MOST_WEBHOOKS


def test_the_admin_asks_once_for_the_sessions_of_all_deliveries(
    client: Client, hook: Webhook
) -> None:
    client.force_login(a_user("eve", is_staff=True))
    change = reverse("admin:hermesweb_webhook_change", args=[hook.pk])
    a_delivery(hook)
    with CaptureQueriesContext(connection) as few:
        html_of(client, change)
    for _ in range(5):
        a_delivery(hook)
    with CaptureQueriesContext(connection) as many:
        html_of(client, change)
    assert len(many) <= len(few)


def test_a_test_is_sent_once_at_a_time_and_audited(client: Client, hook: Webhook) -> None:
    page = words_of(html_of(client, PAGE))
    assert "Send a test" in page and "a test has id, occasion and at alone" in page
    path = reverse("webhook_test", args=[hook.pk])
    told = words_of(client.post(path, follow=True).content.decode())
    assert "A test is on its way" in told
    row = hook.deliveries.get()
    assert (row.occasion, row.session, row.state) == ("test", None, "waiting")
    entry = AuditEntry.objects.get(action="webhook_tested")
    assert (entry.who, entry.new["host"]) == ("ada", "hook.example")
    told = words_of(client.post(path, follow=True).content.decode())
    assert "A test is on its way already." in told and hook.deliveries.count() == 1
    assert client.get(path).status_code == 405


def test_the_page_looks_again_while_a_test_is_on_its_way(client: Client, hook: Webhook) -> None:
    test = Delivery.objects.create(webhook=hook, occasion="test", seq=0, facts={})
    assert 'hx-trigger="load delay:2s"' in html_of(client, PAGE)
    Delivery.objects.filter(pk=test.pk).update(state="delivered", status=204)
    html = html_of(client, PAGE)
    assert "hx-trigger" not in html.partition('id="deliveries"')[2].partition(">")[0]
    assert "test delivered 204 none" in words_of(html)


def test_a_webhook_that_is_switched_off_or_of_another_is_sent_no_test(
    client: Client, hook: Webhook
) -> None:
    Webhook.objects.filter(pk=hook.pk).update(active=False)
    assert "Send a test" not in html_of(client, PAGE)
    refused = Caller(hook.owner).post(f"webhooks/{hook.pk}/test")
    assert problem(refused) == (409, "switched_off", None)
    assert problem(Caller(a_user("bob")).post(f"webhooks/{hook.pk}/test"))[0] == 404
    assert not Delivery.objects.exists()


def test_the_api_sends_a_test_too(ada: User, hook: Webhook) -> None:
    made = Caller(ada).post(f"webhooks/{hook.pk}/test")
    told = made.json()
    assert (made.status_code, told["occasion"], told["state"]) == (202, "test", "waiting")
    assert (told["session"], told["seq"]) == (None, None)
    assert Caller(ada).get(f"webhooks/{hook.pk}/deliveries").json()["items"] == [told]


def test_a_page_in_chinese_says_in_chinese_why_something_was_not_sent(
    client: Client, hook: Webhook
) -> None:
    client.cookies["django_language"] = "zh-hans"
    a_delivery(hook)
    values = {"url": URL, "occasions": ["blocked"]}
    assert client.post(reverse("webhook", args=[hook.pk]), values).status_code == 302
    row = Delivery.objects.get()
    assert (row.state, row.detail) == ("dropped", "the webhook was switched off")
    assert "此 Webhook 已停用" in words_of(html_of(client, PAGE))
    Delivery.objects.update(said={})
    assert '<span lang="en">the webhook was switched off</span>' in html_of(client, PAGE)
    values = {"url": "http://hook.example:8080/in", "occasions": ["blocked"]}
    told = words_of(client.post(PAGE, values).content.decode())
    assert "http://hook.example:8080/in：不能使用端口 8080，只能用 80, 443" in told
