from __future__ import annotations

import os
import re
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from hermesweb import acts
from hermesweb.admin.staff import ReadOnly, StaffAdmin
from hermesweb.labels import sentence
from hermesweb.models import Delivery, Webhook
from hermesweb.templatetags.units import retold
from hermesweb.webhook_form import NAMES

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")


class WebhookAdminForm(forms.ModelForm):
    occasions = forms.MultipleChoiceField(
        label=_("Occasions"), choices=list(NAMES.items()), widget=forms.CheckboxSelectMultiple
    )
    secret = forms.CharField(
        label=_("Secret"),
        required=False,
        strip=False,
        widget=forms.PasswordInput,
        help_text=_("Signs what is sent; never shown again. Empty: as it was."),
    )

    class Meta:
        model = Webhook
        fields = ("owner", "url", "occasions", "secret", "secret_variable", "active")
        help_texts = {
            "owner": _("It is told of this person's sessions."),
            "secret_variable": _(
                "The name of an environment variable that holds the secret instead."
            ),
        }

    def clean_secret_variable(self) -> str:
        name: str = self.cleaned_data["secret_variable"]
        if name and not _VARIABLE.fullmatch(name):
            raise forms.ValidationError(
                _("A variable's name has capital letters, digits and _ only.")
            )
        return name

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not cleaned.get("secret"):
            cleaned.pop("secret", None)
        if not self.errors:
            try:
                acts.check_webhook(**cleaned)
                if self.instance.pk is None:
                    acts.check_room(cleaned["owner"])
            except acts.Invalid as problem:
                self.add_error(problem.field, sentence(str(problem)))
            except acts.Refused as refusal:
                self.add_error("owner", sentence(str(refusal)))
        return cleaned

    @property
    def values(self) -> dict[str, Any]:
        return {name: value for name, value in self.cleaned_data.items() if name != "owner"}


class DeliveryInline(ReadOnly, admin.TabularInline):
    model = Delivery
    fields = readonly_fields = (
        *("at", "occasion", "session", "state", "attempts", "status", "reason", "ended_at"),
    )
    ordering = ("-pk",)
    extra = 0

    def get_queryset(self, request: HttpRequest) -> QuerySet[Delivery]:
        return super().get_queryset(request).select_related("session")

    @admin.display(description=_("detail"))
    def reason(self, delivery: Delivery) -> str:
        return retold(delivery.detail, delivery.said)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True


class WebhookAdmin(StaffAdmin):
    """Its acts are those of the owner's page, with the name of the member of staff in the audit."""

    form = WebhookAdminForm
    inlines = (DeliveryInline,)
    list_display = ("url", "owner", "active", "is_signed", "at")
    list_select_related = ("owner",)
    ordering = ("owner", "pk")

    def get_inlines(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.inlines if obj else ()

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("owner",) if obj else ()

    def save_model(self, request: Any, obj: Webhook, form: Any, change: bool) -> None:
        if change:
            found = Webhook.objects.get(pk=obj.pk)
            acts.change_webhook(request.user, found, **form.values)
        else:
            owner = form.cleaned_data["owner"]
            obj.pk = acts.add_webhook(request.user, owner, **form.values).pk

    def delete_model(self, request: Any, obj: Webhook) -> None:
        acts.delete_webhook(request.user, obj)

    def delete_queryset(self, request: Any, queryset: Any) -> None:
        for webhook in queryset:
            acts.delete_webhook(request.user, webhook)

    @admin.display(description=_("secret"))
    def is_signed(self, webhook: Webhook) -> str:
        """Of this process; the worker needs the variable too."""
        if webhook.secret_variable and not os.environ.get(webhook.secret_variable):
            return gettext("not set in the environment")
        return gettext("set") if webhook.signed else gettext("none")
