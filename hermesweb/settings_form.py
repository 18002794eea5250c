from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agentcore.options import Automatic, Mode
from hermesweb import versions
from hermesweb.forms import ActForm
from hermesweb.labels import words, words_lazy
from hermesweb.models import AgentSession, ProfileVersion
from hermesweb.reading import can_steer


class SessionSettings(ActForm):
    """What may be changed of a session that is there; `changes` has what was, measured against
    what the page showed, so that nothing is set back that somebody else changed meanwhile."""

    title = forms.CharField(
        label=_("Title"), required=False, max_length=200, show_hidden_initial=True
    )
    profile = forms.ChoiceField(
        label=_("Profile"),
        required=False,
        show_hidden_initial=True,
        help_text=_("Sets the budget, and when and how it is compacted."),
    )
    mode = forms.ChoiceField(
        label=_("Mode"),
        choices=[(one.value, words_lazy(one)) for one in Mode],
        show_hidden_initial=True,
        help_text=_("Plan reads and searches; debug also runs commands; goal also changes files."),
    )
    automatic = forms.ChoiceField(
        label=_("Automatic compaction"),
        required=False,
        show_hidden_initial=True,
        help_text=_("On compacts at each threshold; ask asks a person first; off waits for you."),
    )

    def __init__(self, data: Any = None, *, session: AgentSession) -> None:
        version = session.version_in_force
        given = {
            "title": session.title,
            "profile": session.profile.name if session.profile else "",
            "mode": session.mode,
            "automatic": session.automatic,
        }
        super().__init__(data, initial=given)
        if not can_steer(session):
            for name in ("profile", "mode", "automatic"):
                del self.fields[name]
            return
        self._offer("profile", _profiles(None if session.profile else version))
        by_profile = gettext("as the profile says")
        if version.readable:
            by_profile = gettext("as the profile says (now %(value)s)")
            by_profile %= {"value": words(version.readable.automatic)}
        self._offer(
            "automatic",
            [
                ("", by_profile),
                *((one.value, words(one)) for one in Automatic),
            ],
        )

    @property
    def changes(self) -> dict[str, str]:
        """Only once the form is valid."""
        return {name: self.cleaned_data[name] for name in self.changed_data}

    def clean_profile(self) -> str:
        """A session that left its profile stays with the version that it kept, or follows one."""
        chosen: str = self.cleaned_data["profile"]
        if not chosen and "profile" in self.changed_data:
            raise forms.ValidationError(gettext("Choose a profile."))
        return chosen

    def _offer(self, field: str, choices: list[tuple[str, str]]) -> None:
        self.fields[field].choices = choices  # type: ignore[attr-defined]


def _profiles(kept: ProfileVersion | None) -> list[tuple[str, str]]:
    """Each with the version in force; before them the version that a session keeps."""
    text = gettext("%(name)s, version %(number)d")
    choices = [
        (one.profile.name, text % {"name": one.profile.name, "number": one.number})
        for one in versions.current().order_by("profile__name")
    ]
    if kept:
        text = gettext("%(name)s, version %(number)d, kept")
        return [("", text % {"name": kept.profile.name, "number": kept.number}), *choices]
    return choices
