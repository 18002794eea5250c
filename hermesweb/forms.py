from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.models import User
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from agentcore.errors import TranscriptError
from agentcore.limits import Limits
from agentcore.memory import EntryKind
from agentcore.options import Mode
from agentcore.transcripts import Format
from hermesweb import access, endpoints
from hermesweb.acts import Invalid
from hermesweb.labels import sentence, words_lazy
from hermesweb.models import AgentSession, Profile
from hermesweb.sentences import told
from hermesweb.templatetags.units import plain

# An upload is read into memory as a whole.
MOST_IMPORT_BYTES = 200_000_000
MOST_PREDECESSORS = 30
KINDS = [(one.value, words_lazy(one)) for one in EntryKind]


def _workspace() -> forms.CharField:
    return forms.CharField(
        label=_("Folder"),
        help_text=_(
            "The agent's file tools stay in this folder; "
            "its commands reach what the worker's user can."
        ),
        error_messages={"required": _("Name the folder that the agent works in.")},
    )


class ActForm(forms.Form):
    """The fields of an act, which checks the values."""

    def add_invalid(self, error: Invalid) -> None:
        """Of a field that is not seen it is told above the others."""
        seen = {field.name for field in self.visible_fields()}
        self.add_error(error.field if error.field in seen else None, sentence(str(error)))


class NewSession(ActForm):
    """Of `acts.create`."""

    instruction = forms.CharField(
        strip=False,
        label=_("What should the agent do?"),
        widget=forms.Textarea(attrs={"rows": 6, "autofocus": True}),
        error_messages={"required": _("Write what the agent should do.")},
    )
    workspace = _workspace()
    model = forms.CharField(label=_("Model"), widget=forms.Select)
    profile = forms.CharField(
        label=_("Profile"),
        widget=forms.Select,
        help_text=_("Sets the budget, and when and how it is compacted."),
    )
    mode = forms.ChoiceField(
        label=_("Mode"),
        required=False,
        choices=[(one.value, words_lazy(one)) for one in Mode],
        initial=Mode.GOAL,
        help_text=_("Plan reads and searches; debug also runs commands; goal also changes files."),
    )
    title = forms.CharField(
        label=_("Title"),
        required=False,
        max_length=200,
        help_text=_("Without one the instruction's first line."),
    )
    predecessor = forms.CharField(
        required=False,
        label=_("Go on from"),
        widget=forms.Select,
        help_text=_("Its goal, decisions, changed files and state are handed over."),
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._readable = access.visible(user).order_by("-changed_at")
        self.fields["workspace"].initial = str(settings.ALLOWED_ROOTS[-1])
        # `replay` needs a recording: it is started from that session's page.
        self._offer("model", [name for name in endpoints.names() if name != endpoints.REPLAY])
        self._offer("profile", Profile.objects.order_by("name").values_list("name", flat=True))
        self.fields["profile"].initial = "balanced"
        self._offer_predecessors(str(self["predecessor"].value() or ""))

    def clean_predecessor(self) -> AgentSession | None:
        chosen = self.cleaned_data["predecessor"]
        found = self._readable.filter(pk=chosen).first() if chosen else None
        if chosen and found is None:
            raise forms.ValidationError(_("There is no session %(id)s.") % {"id": plain(chosen)})
        return found

    def clean_mode(self) -> str:
        return self.cleaned_data["mode"] or Mode.GOAL

    def clean_instruction(self) -> str:
        text: str = self.cleaned_data["instruction"]
        if not text.strip():
            raise forms.ValidationError(self.fields["instruction"].error_messages["required"])
        return text

    def add_invalid(self, error: Invalid) -> None:
        super().add_invalid(Invalid(str(error), "instruction") if error.field == "text" else error)

    def _offer(self, field: str, names: Any) -> None:
        self.fields[field].widget.choices = [(name, name) for name in names]

    def _offer_predecessors(self, chosen: str) -> None:
        """The sessions that changed last, and the one that the address names."""
        found = self._readable.only("pk", "title")
        sessions = [*found.filter(pk=chosen), *found.exclude(pk=chosen)[:MOST_PREDECESSORS]]
        named = [(one.pk, plain(one)) for one in sessions]
        self.fields["predecessor"].widget.choices = [("", _("no other session")), *named]


class ForkSession(ActForm):
    """Of `acts.fork`: what the source has, where it has it."""

    at = forms.CharField(widget=forms.HiddenInput)
    text = forms.CharField(
        required=False,
        strip=False,
        label=_("In place of its last instruction"),
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_("Empty: the fork waits for an instruction."),
    )
    workspace = _workspace()
    model = forms.CharField(label=_("Model"), widget=forms.Select)
    profile = forms.CharField(label=_("Profile"), widget=forms.Select)

    def __init__(self, data: Any = None, *, source: AgentSession, at: str = "") -> None:
        names = endpoints.names()
        profiles = list(Profile.objects.order_by("name").values_list("name", flat=True))
        own = str(source.profile) if source.profile else profiles[0]
        given = {
            "at": at,
            "workspace": source.workspace or str(settings.ALLOWED_ROOTS[-1]),
            "model": source.model if source.model in names else endpoints.EXPLORER,
            "profile": own,
        }
        # The buttons of other pages say no more than where.
        super().__init__({**given, **data.dict()} if data else None, initial=given)
        for field, offered in (("model", names), ("profile", profiles)):
            self.fields[field].widget.choices = [(name, name) for name in offered]


class Correction(ActForm):
    """What a person may change of a memory entry."""

    kind = forms.ChoiceField(label=_("Kind"), choices=KINDS)
    text = forms.CharField(
        label=_("Text"),
        max_length=Limits().memory_entry_chars,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=format_lazy(
            _("One sentence, at most {most} characters."), most=Limits().memory_entry_chars
        ),
        error_messages={"required": _("Write what later sessions should know.")},
    )


class NewEntry(Correction):
    workspace = forms.CharField(
        label=_("Folder"),
        widget=forms.TextInput(attrs={"list": "workspaces"}),
        help_text=_("Sessions in this folder may be given the entry, and no others."),
        error_messages={"required": _("Name the folder.")},
    )
    kind = forms.ChoiceField(label=_("Kind"), choices=KINDS, initial=EntryKind.FACT)
    field_order = ("text", "kind", "workspace")


class ImportFile(forms.Form):
    file = forms.FileField(
        label=_("Recording"),
        error_messages={
            "required": _("Choose a file."),
            "empty": _("The file is empty. Nothing was stored."),
        },
    )

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > MOST_IMPORT_BYTES:
            raise forms.ValidationError(
                _(
                    "%(size)s bytes are over the %(most)s of an upload: manage.py import_session "
                    "reads a file of any size."
                )
                % {"size": f"{file.size:,}", "most": f"{MOST_IMPORT_BYTES:,}"}
            )
        return file

    def add_refusal(self, name: str, error: TranscriptError) -> None:
        formats = ", ".join(name.replace("-", " ") for name in Format)
        text = _("%(file)s: %(reason)s. Nothing was stored. Known: %(formats)s.")
        facts = {"file": plain(name), "reason": plain(told(str(error))), "formats": formats}
        self.add_error("file", text % facts)
