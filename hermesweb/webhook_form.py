from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from hermesweb.forms import ActForm
from hermesweb.models import Webhook
from hermesweb.occasions import Occasion

NAMES = {
    Occasion.NEAR_THRESHOLD: _("near the threshold"),
    Occasion.COMPACTED: _("compacted"),
    Occasion.BLOCKED: _("blocked: the next request does not fit"),
    Occasion.THRASH: _("thrash: compacting no longer helps"),
    Occasion.BREAKER_OPEN: _("breaker open: summaries failed too often"),
    Occasion.APPROVAL_WANTED: _("approval wanted: the run waits for you"),
    Occasion.RUN_ENDED: _("run ended"),
}


class WebhookForm(ActForm):
    """Of `acts.add_webhook`; of one that is there, a secret that is left empty stays."""

    url = forms.CharField(
        label=_("Address"),
        widget=forms.URLInput(attrs={"placeholder": "https://", "autocomplete": "off"}),
        help_text=_(
            "A public http or https address on port 80 or 443. Others only where "
            "HERMESWEB_WEBHOOK_HOSTS names their HOST:PORT."
        ),
        error_messages={"required": _("Write the address that is to be told.")},
    )
    occasions = forms.MultipleChoiceField(
        label=_("Tell it of"),
        choices=list(NAMES.items()),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one occasion.")},
    )
    secret = forms.CharField(
        label=_("Secret"),
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text=_("Signs what is sent, and is never shown again. Empty: not signed."),
    )

    def __init__(self, *args: Any, webhook: Webhook | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._webhook = webhook
        if webhook is None:
            self.fields["occasions"].initial = list(Occasion)
            return
        self.initial = {"url": webhook.url, "occasions": webhook.occasions}
        self.fields["active"] = forms.BooleanField(
            required=False,
            label=_("Switched on"),
            initial=webhook.active,
            help_text=_("What waits for one that is switched off is dropped."),
        )
        self.fields["secret"].help_text = _("Empty: as it was. It is never shown again.")
        if webhook.signed:
            self.fields["unsigned"] = forms.BooleanField(
                required=False, label=_("Send without a signature from now on")
            )

    @property
    def values(self) -> dict[str, Any]:
        told = dict(self.cleaned_data)
        unsigned = told.pop("unsigned", False)
        if unsigned:
            return {**told, "secret": "", "secret_variable": ""}
        if self._webhook and not told["secret"]:
            del told["secret"]
        return told
