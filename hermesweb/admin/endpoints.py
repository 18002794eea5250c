from __future__ import annotations

import os
import re
from typing import cast

from django import forms
from django.contrib import admin
from django.http import QueryDict
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from hermesweb.admin.staff import Audited, StaffAdmin
from hermesweb.endpoints import OWN
from hermesweb.models import ModelEndpoint

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")


class EndpointForm(forms.ModelForm):
    class Meta:
        model = ModelEndpoint
        fields = "__all__"
        help_texts = {
            "base_url": _("Empty: the provider's own address."),
            "key_variable": _(
                "The name of the environment variable that holds the key, never the key itself. "
                "Empty for an endpoint without one."
            ),
            "window": _("Tokens; empty: from the model's name."),
            "tier": _("1 is the strongest; a higher one is cheaper, and is asked for summaries."),
            "input_price": _("Prices are USD a million tokens."),
        }

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name in OWN:
            raise forms.ValidationError(
                _("%(name)s is built in: choose another name.") % {"name": name}
            )
        return name

    def clean_base_url(self) -> str:
        url: str = self.cleaned_data["base_url"]
        if url and not url.startswith(("http://", "https://")):
            raise forms.ValidationError(_("An address begins with http:// or https://."))
        return url

    def clean_key_variable(self) -> str:
        """What looks like a key is neither stored nor shown again."""
        name: str = self.cleaned_data["key_variable"]
        if name and not _VARIABLE.fullmatch(name):
            self.data = entered = cast(QueryDict, self.data).copy()
            entered["key_variable"] = ""
            raise forms.ValidationError(
                _(
                    "A variable's name has capital letters, digits and _ only. Put the key into "
                    "the environment, and its variable's name here."
                )
            )
        return name


class EndpointAdmin(Audited, StaffAdmin):
    form = EndpointForm
    list_display = ("name", "kind", "model", "base_url", "tier", "window", "key_variable", "key")
    readonly_fields = ("key",)

    @admin.display(description=_("key"))
    def key(self, endpoint: ModelEndpoint) -> str:
        """Of this process; the worker needs it too."""
        if not endpoint.key_variable:
            return gettext("none needed")
        is_set = os.environ.get(endpoint.key_variable)
        return gettext("set") if is_set else gettext("not set in the environment")
