"""What a person sets of where occasions are told; secrets are taken and never given back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from agentcore.errors import ToolError
from agentcore.said import Said
from hermesweb import audit, posting, webhooks
from hermesweb.acts.errors import Gone, Invalid, Refused
from hermesweb.models import Delivery, DeliveryState, Webhook
from hermesweb.models.webhooks import URL_CHARS
from hermesweb.occasions import TEST, Occasion
from hermesweb.sentences import told
from hermesweb.shown import storable
from hermesweb.wake import deliver

MOST_WEBHOOKS = 10
SECRET_CHARS = 200


def add_webhook(who: User, owner: User, **values: Any) -> Webhook:
    """Values as those of `change_webhook`. Raises Invalid, and Refused beyond what one may have."""
    webhook = Webhook(owner=owner)
    values = {"url": "", "occasions": [], **values}
    with transaction.atomic():
        User.objects.select_for_update().get(pk=owner.pk)
        check_room(owner)
        _set(webhook, values)
        webhook.save()
        audit.write(who, "webhook_added", new=_facts(webhook))
    return webhook


def change_webhook(who: User, webhook: Webhook, **values: Any) -> None:
    """Any of `url`, `occasions`, `secret` (empty: none), `secret_variable`, `active`. What waits of
    one that is switched off is dropped. Raises Invalid."""
    old = _facts(webhook)
    _set(webhook, values)
    with transaction.atomic():
        _lock(webhook)
        webhook.save(update_fields=list(values))
        if not webhook.active:
            webhooks.drop(webhook, Said("the webhook was switched off"))
        masked = {"secret": "***"} if "secret" in values else {}
        audit.write(who, "webhook_changed", old=old, new={**_facts(webhook), **masked})


def delete_webhook(who: User, webhook: Webhook) -> None:
    """What waits for it goes too."""
    with transaction.atomic():
        _lock(webhook)
        audit.write(who, "webhook_deleted", old=_facts(webhook))
        webhook.delete()


def test_webhook(who: User, webhook: Webhook) -> Delivery:
    """Send it something that says no more than that it is a test, once. Refused for one that is
    switched off, and while another test is on its way."""
    with transaction.atomic():
        _lock(webhook)
        if not webhook.active:
            raise Refused(_("the webhook is switched off: switch it on first"), "switched_off")
        waiting = webhook.deliveries.filter(session=None, state=DeliveryState.WAITING)
        if waiting.exists():
            raise Refused(_("a test is on its way already"), "waiting")
        test = Delivery.objects.create(webhook=webhook, occasion=TEST, seq=0, facts={})
        audit.write(who, "webhook_tested", new=_facts(webhook))
        deliver(webhook.pk)
    return test


def check_room(owner: User) -> None:
    """Raises Refused for who has as many as one may have."""
    if webhooks.of_owner(owner).count() >= MOST_WEBHOOKS:
        text = _("one may have %(most)s webhooks")
        raise Refused(text % {"most": MOST_WEBHOOKS}, "too_many")


def _lock(webhook: Webhook) -> None:
    """Raises Gone where somebody else deleted it first."""
    if not Webhook.objects.select_for_update().filter(pk=webhook.pk).exists():
        raise Gone(f"there is no webhook {webhook.pk} any more")


def check_webhook(**values: Any) -> dict[str, Any]:
    """The values as they are stored. Raises Invalid."""
    if "url" in values:
        values["url"] = _address(values["url"])
    if "occasions" in values:
        values["occasions"] = _occasions(values["occasions"])
    secret = values.get("secret", "")
    if len(secret) > SECRET_CHARS:
        text = _("a secret has at most %(most)s characters")
        raise Invalid(text % {"most": SECRET_CHARS}, "secret")
    if secret != storable(secret):
        text = _("a secret holds a character that cannot be stored")
        raise Invalid(text, "secret")
    return values


def _set(webhook: Webhook, values: dict[str, Any]) -> None:
    for name, value in check_webhook(**values).items():
        setattr(webhook, name, value)


def _address(url: str) -> str:
    url = url.strip()
    if not 0 < len(url) <= URL_CHARS:
        text = _("an address has 1 to %(most)s characters, not %(count)s")
        raise Invalid(text % {"most": URL_CHARS, "count": len(url)}, "url")
    try:
        posting.fetcher().check(url)
    except ToolError as error:
        text = _("%(reason)s; HERMESWEB_WEBHOOK_HOSTS names inside receivers and other ports")
        raise Invalid(text % {"reason": told(str(error))}, "url") from error
    return url


def _occasions(names: Sequence[str]) -> list[str]:
    unknown = [name for name in names if name not in list(Occasion)]
    if unknown or not names:
        text = _("occasions are %(known)s, not %(value)s")
        if not unknown:
            text = _("occasions are %(known)s, at least one")
        facts = {"known": ", ".join(Occasion), "value": f"{[*unknown, ''][0]!r:.80}"}
        raise Invalid(text % facts, "occasions")
    return [name for name in Occasion if name in names]


def _facts(webhook: Webhook) -> dict[str, Any]:
    """Of the address only the host: services put their secrets into the rest."""
    parts = urlsplit(webhook.url)
    return {
        "id": webhook.pk,
        "owner": str(webhook.owner),
        "host": parts.hostname,
        "occasions": webhook.occasions,
        "active": webhook.active,
    }
