"""How a person wants a compaction made, as its page's address and form say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext_lazy as _

from agentcore import PRESETS
from agentcore.compaction.asked import STAGES, CompactionOptions
from hermesweb import endpoints
from hermesweb.labels import words_lazy

FOCUS_CHARS = 2_000


class CompactForm(forms.Form):
    preset = forms.ChoiceField(
        label=_("Preset"),
        choices=[("", _("as the profile says")), *((name, name) for name in PRESETS)],
        required=False,
        widget=forms.RadioSelect,
    )
    stage = forms.ChoiceField(
        choices=[("", _("all of them")), *((name, words_lazy(name)) for name in STAGES)],
        required=False,
        label=_("Stages"),
    )
    keep_last = forms.IntegerField(
        min_value=0,
        max_value=10_000,
        required=False,
        label=_("Keep the last"),
        help_text=_("Messages, results or turns, as each stage counts; empty: as it is set."),
    )
    up_to = forms.IntegerField(
        min_value=1,
        max_value=10**9,
        required=False,
        label=_("Nothing behind message"),
        help_text=_("A number of the list, or b on a row below."),
    )
    focus = forms.CharField(
        max_length=FOCUS_CHARS,
        required=False,
        label=_("Focus of the summary"),
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("Told to the model that writes it."),
    )
    model = forms.ChoiceField(
        required=False,
        label=_("Summary written by"),
        help_text=_("Asked only when you say so; the price is told before and after."),
    )

    def __init__(self, data: Mapping[str, Any]) -> None:
        super().__init__(data, auto_id="compact-%s")
        self.fields["model"].choices = [  # type: ignore[attr-defined]
            ("", _("the model that the session chooses")),
            *((row.name, row.name) for row in endpoints.at_hand()),
        ]

    @property
    def options(self) -> CompactionOptions:
        """Only once the form is valid."""
        chosen = self.cleaned_data
        return CompactionOptions(
            chosen["preset"],
            chosen["stage"],
            chosen["keep_last"],
            chosen["focus"],
            chosen["up_to"],
            model=chosen["model"],
        )


def query_of(options: CompactionOptions) -> str:
    """The options as a page's address says them; a summary is not among them."""
    named = {name: getattr(options, name) for name in CompactForm.base_fields}
    return urlencode({name: value for name, value in named.items() if value not in ("", None)})
