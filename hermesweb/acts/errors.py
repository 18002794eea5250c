from __future__ import annotations

from collections.abc import Iterable

from django.http import Http404
from django.utils.translation import gettext as _

from hermesweb.labels import words


class Invalid(Exception):
    """Input that cannot be used; `field` is where it stands."""

    def __init__(self, text: str, field: str) -> None:
        super().__init__(text)
        self.field = field


class Refused(Exception):
    """An act that cannot be done as things are; `code` is a word for scripts."""

    def __init__(self, text: str, code: str) -> None:
        super().__init__(text)
        self.code = code


class Gone(Http404):
    """What an act is about was deleted meanwhile."""


def not_one_of(field: str, known: Iterable[str], value: str) -> str:
    facts = {"field": field, "known": ", ".join(known), "value": f"{value!r:.80}"}
    return _("%(field)s is one of %(known)s, not %(value)s") % facts


def read_only(kind: str) -> Refused:
    text = _("a session of kind %(kind)s can only be read")
    return Refused(text % {"kind": words(kind)}, "read_only")
