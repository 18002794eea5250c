"""The form of a profile: one field a value, made from the profile's own types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields as fields_of
from enum import StrEnum
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from django import forms
from django.utils.translation import gettext_lazy as _

from agentcore.compaction.strategies import strategy_names
from agentcore.options import Stage
from agentcore.profile import GROUPS
from agentcore.profile import Profile as ProfileValue
from hermesweb.acts import Invalid
from hermesweb.acts.profiles import checked_profile
from hermesweb.labels import words_lazy
from hermesweb.models import Profile
from hermesweb.sentences import told
from hermesweb.shown import storable

STAGE_ROWS = 8
TOP = [one.name for one in fields_of(ProfileValue) if one.name not in (*GROUPS, "stages")]
HELP = {
    "budget": _("In the unit below; empty: the window is the limit."),
    "window": _("Tokens; empty: from the model."),
    "reserve": _("Tokens; empty: 20,000, at most 5% of the window."),
    "target": _("A fraction of the limit that a compaction aims at."),
    "min_gain": _("A fraction of the limit; what frees less is not done."),
    "persona": _("Stands in every system message, after the mode."),
    "doc_names": _("Files of the AGENTS.md chain in each folder, one a line."),
    "project_docs_keep": _("Which end of the chain stays where it is too long."),
    "approvals.plan": _("In plan mode, calls with these effects wait for a person to allow them."),
    "approvals.debug": _("The same in debug mode."),
    "approvals.goal": _("The same in goal mode: command and write ask before anything is changed."),
    "approvals.minutes": _("Not answered within these is a no; 0: it waits as long as it takes."),
    "hooks": _("Of installed packages, by name, one a line: asked after turns and at compactions."),
    "memory": _("Show entries of earlier sessions, and keep some of these."),
}


class Lines(forms.CharField):
    """One value a line."""

    widget = forms.Textarea

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(map(str, value)) if isinstance(value, list | tuple) else value

    def clean(self, value: Any) -> tuple[str, ...]:
        return tuple(filter(None, map(str.strip, super().clean(value).splitlines())))


class ProfileFormBase(forms.ModelForm):
    """Checked as a whole; what is allowed but works badly has to be accepted by a second click."""

    accept_warnings = forms.BooleanField(required=False, label=_("Save in spite of the warnings"))

    class Meta:
        model = Profile
        fields = ("name",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial.update(flat(self.instance.current.values))

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        if self.instance.pk and len(_stages(self.instance.current.values)) > STAGE_ROWS:
            raise forms.ValidationError(
                _("This profile has more than %(count)s stages: change it with the API.")
                % {"count": STAGE_ROWS}
            )
        try:
            value = checked_profile(self.values)
        except Invalid as error:
            self.add_error(_place(error.field), str(error))
            return cleaned
        warnings = value.warnings()
        if warnings and not cleaned["accept_warnings"]:
            self.add_error(
                "accept_warnings", [*map(told, warnings), _("Tick this to save all the same.")]
            )
        return cleaned

    @property
    def values(self) -> dict[str, Any]:
        """What was entered, as a profile's values."""
        entered = self.cleaned_data
        return {
            **{name: entered[name] for name in TOP},
            **{
                group: {name: entered[f"{group}.{name}"] for name in _types(kind)}
                for group, kind in GROUPS.items()
            },
            "stages": [
                {name: entered[f"stages.{row}.{name}"] for name in _types(Stage)}
                for row in range(STAGE_ROWS)
                if entered[f"stages.{row}.strategy"]
            ],
        }


def stage_fields(row: int) -> list[str]:
    return [f"stages.{row}.{name}" for name in _types(Stage)]


def group_fields(group: str) -> list[str]:
    return [f"{group}.{name}" for name in _types(GROUPS[group])]


def flat(values: Any) -> dict[str, Any]:
    """A profile's values by the names of the form's fields; of a version that is refused, those
    that stand where they should."""
    values = _object(storable(values))
    found = {name: values[name] for name in TOP if name in values}
    for group in GROUPS:
        named = _object(values.get(group)).items()
        found |= {f"{group}.{name}": value for name, value in named}
    for row, stage in enumerate(_stages(values)):
        found |= {f"stages.{row}.{name}": value for name, value in _object(stage).items()}
    return found


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _stages(values: Any) -> list[Any]:
    stages = _object(values).get("stages")
    return stages if isinstance(stages, list) else []


def _declared() -> Iterator[tuple[str, forms.Field]]:
    top = _types(ProfileValue)
    defaults = {one.name: one.default for one in fields_of(ProfileValue)}
    for name in TOP:
        yield name, _field(name, top[name], defaults[name])
    for group, kind in GROUPS.items():
        for one in fields_of(kind):
            key = f"{group}.{one.name}"
            yield key, _field(one.name, _types(kind)[one.name], one.default, key)
    for row in range(STAGE_ROWS):
        for one in fields_of(Stage):
            field = _field(one.name, _types(Stage)[one.name], one.default)
            yield f"stages.{row}.{one.name}", _strategy(row) if one.name == "strategy" else field


def _field(name: str, kind: Any, default: Any, key: str = "") -> forms.Field:
    """Numbers that may be None may be left empty. `key` tells names apart that groups share."""
    members = [one for one in get_args(kind) if one is not NoneType]
    bare = members[0] if members else kind
    options: dict[str, Any] = {
        "label": _("starts at") if name == "at" else words_lazy(name),
        "initial": default,
        "required": not members,
        "help_text": HELP.get(key, HELP.get(name, "")),
    }
    if bare is bool:
        return forms.BooleanField(**{**options, "required": False})
    if bare is float:
        return forms.FloatField(**options)
    if get_origin(kind) is tuple and issubclass(bare, StrEnum):
        options |= {"required": False, "widget": forms.CheckboxSelectMultiple}
        return forms.MultipleChoiceField(choices=_choices(bare), **options)
    if get_origin(kind) is tuple:
        return Lines(**options)
    if bare is str and members:
        return forms.CharField(**options, empty_value=None)
    if bare is str:
        return forms.CharField(**{**options, "required": False}, widget=forms.Textarea)
    if isinstance(bare, type) and issubclass(bare, StrEnum):
        return forms.ChoiceField(choices=_choices(bare), **options)
    return forms.IntegerField(**options)


def _choices(members: type[StrEnum]) -> list[tuple[str, Any]]:
    return [(one.value, words_lazy(one.value)) for one in members]


def _strategy(row: int) -> forms.Field:
    names = [(name, words_lazy(name)) for name in strategy_names()]
    return forms.ChoiceField(
        choices=[("", _("none")), *names], required=row == 0, label=_("strategy")
    )


def _types(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind)


def _place(field: str) -> str:
    return "stages.0.at" if field == "stages" else field


ProfileForm = type("ProfileForm", (ProfileFormBase,), dict(_declared()))
