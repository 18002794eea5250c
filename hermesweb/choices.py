"""What an address says of which rows to show, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from agentcore.breakdown import Category
from agentcore.compaction.plan import Fate, Origin
from agentcore.memory import EntryKind
from hermesweb.labels import words_lazy
from hermesweb.listing import ALIVE, FATES, Choice, Order, View
from hermesweb.rollup import By
from hermesweb.templatetags.units import plain

MOST_DIGITS = 18


class KeyField(forms.RegexField):
    """`PLACE.NUMBER` as two numbers."""

    def __init__(self) -> None:
        pattern = rf"^\d{{1,{MOST_DIGITS}}}\.\d{{1,9}}$"
        super().__init__(pattern, required=False, error_messages={"invalid": "not PLACE.NUMBER"})

    def clean(self, value: Any) -> tuple[int, int] | None:
        text = super().clean(value)
        if not text:
            return None
        place, number = text.split(".")
        return int(place), int(number)


class MessageChoice(forms.Form):
    view = forms.ChoiceField(choices=[(one, one) for one in View], required=False)
    order = forms.ChoiceField(choices=[(one, one) for one in Order], required=False)
    category = forms.ChoiceField(choices=[(one, one) for one in Category], required=False)
    q = forms.CharField(max_length=200, required=False)
    whole = forms.BooleanField(required=False)
    fate = forms.ChoiceField(choices=[(one, one) for one in (ALIVE, *FATES)], required=False)
    size = forms.IntegerField(min_value=0, max_value=10**9, required=False)
    message = forms.IntegerField(min_value=1, max_value=10**9, required=False)
    before = KeyField()
    after = KeyField()
    seen = forms.IntegerField(min_value=0, max_value=10**9, required=False)

    @property
    def choice(self) -> Choice:
        """Only once the form is valid."""
        chosen = self.cleaned_data
        # What is gone stands in the transcript alone.
        gone = chosen["fate"] not in ("", ALIVE)
        return Choice(
            view=View.ALL if gone else View(chosen["view"] or View.MODEL),
            order=Order(chosen["order"] or Order.IN_ORDER),
            category=chosen["category"],
            q=chosen["q"],
            whole=chosen["whole"],
            fate=chosen["fate"],
            size=chosen["size"] or 0,
            message=chosen["message"],
            before=chosen["before"],
            after=chosen["after"],
            seen=chosen["seen"],
        )


class DiffChoice(forms.Form):
    """`fate`: only rows of this fate or origin; `note`: only those that this summary or
    note stands for; `start`: the first row; `open`: nothing folded."""

    fate = forms.ChoiceField(choices=[(one, one) for one in (*Fate, *Origin)], required=False)
    note = forms.IntegerField(min_value=1, max_value=10**9, required=False)
    start = forms.IntegerField(min_value=0, max_value=10**9, required=False)
    open = forms.BooleanField(required=False)


class RollupChoice(forms.Form):
    by = forms.ChoiceField(choices=[(one, one) for one in By], required=False)

    @property
    def chosen(self) -> By:
        """Only once the form is valid."""
        return By(self.cleaned_data["by"] or By.TOOL)


class MemoryChoice(forms.Form):
    q = forms.CharField(
        max_length=200, required=False, label=_("Text"), widget=forms.TextInput({"type": "search"})
    )
    workspace = forms.ChoiceField(required=False, label=_("Folder"))
    kind = forms.ChoiceField(
        label=_("Kind"),
        choices=[("", _("all kinds")), *((one, words_lazy(one)) for one in EntryKind)],
        required=False,
    )

    def __init__(self, *args: Any, workspaces: Sequence[str], **options: Any) -> None:
        super().__init__(*args, **options)
        folders = [("", _("all folders")), *((one, plain(one)) for one in workspaces)]
        self.fields["workspace"].choices = folders  # type: ignore[attr-defined]


def problems(form: forms.Form) -> str:
    """What is wrong with an address, by name."""
    return "; ".join(f"{name}: {' '.join(map(str, texts))}" for name, texts in form.errors.items())
