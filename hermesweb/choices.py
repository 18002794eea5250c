"""What an address says of which rows to show, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext_lazy as _

from agentcore.breakdown import Category
from agentcore.compaction.plan import Fate, Origin
from agentcore.memory import EntryKind
from hermesweb.categories import label
from hermesweb.labels import words_lazy
from hermesweb.listing import ALIVE, FATES, SIZES, Choice, Order, View
from hermesweb.rollup import By
from hermesweb.templatetags.units import plain, size

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
    raw = forms.BooleanField(required=False)
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
            raw=chosen["raw"],
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


class BulkChoice(forms.Form):
    """Which messages an act on many is about, none before a filter is set or `all` are meant;
    `revision` and `last` say which list was shown when the act was chosen."""

    category = forms.ChoiceField(required=False, label=_("Category"))
    tool = forms.ChoiceField(required=False, label=_("Tool"))
    fate = forms.ChoiceField(required=False, label=_("What became of it"))
    size = forms.IntegerField(
        min_value=0, max_value=10**9, required=False, label=_("Size"), widget=forms.Select
    )
    q = forms.CharField(
        max_length=200,
        required=False,
        label=_("Tool, path, command, beginning of the text"),
        widget=forms.TextInput({"type": "search", "data-key": "/", "data-key-label": _("filter")}),
    )
    all = forms.BooleanField(required=False, label=_("All of the list"))
    revision = forms.IntegerField(min_value=0, max_value=10**9, required=False)
    last = forms.IntegerField(min_value=0, max_value=10**9, required=False)

    def __init__(self, data: Mapping[str, Any], *, tools: Sequence[str]) -> None:
        super().__init__(data, auto_id="bulk-%s")
        sizes = [(one, _("%(size)s and more") % {"size": size(one)}) for one in SIZES]
        offered: dict[str, list[tuple[Any, Any]]] = {
            "category": [("", _("every category")), *((one, label(one)) for one in Category)],
            "tool": [("", _("every tool")), *((one, plain(one)) for one in tools)],
            "fate": [("", _("in the list now")), *((one, words_lazy(one)) for one in FATES)],
        }
        for name, choices in offered.items():
            self.fields[name].choices = choices  # type: ignore[attr-defined]
        self.fields["size"].widget.choices = [("", _("any size")), *sizes]

    @property
    def shown(self) -> list[forms.BoundField]:
        return [self[name] for name in ("category", "tool", "fate", "size", "q", "all")]

    @property
    def choice(self) -> Choice:
        """Only once the form is valid."""
        chosen = self.cleaned_data
        return Choice(
            category=chosen["category"],
            q=chosen["q"],
            fate=chosen["fate"],
            size=chosen["size"] or 0,
        )

    @property
    def names_some(self) -> bool:
        """Only once the form is valid."""
        return bool(self.query)

    @property
    def query(self) -> str:
        """Only once the form is valid."""
        named = {bound.name: self.cleaned_data[bound.name] for bound in self.shown}
        return urlencode({name: value for name, value in named.items() if value})


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
