"""What `agentcore` says of checks and of refused changes, in the reader's language.

It says it in English, and rows keep it so; what has another form stays as it is.
"""

from __future__ import annotations

import re

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

from hermesweb.labels import words

FORMS = (
    (r"(?P<count>\d+) messages, all paired", _("%(count)s messages, all paired")),
    (r"starts with (?P<role>\w+)", _("starts with %(role)s")),
    (r"nothing but system and summary", _("nothing but system and summary")),
    (r"this plan needs none", _("this plan needs none")),
    (r"message (?P<number>\d+)", _("message %(number)s")),
    (r"nothing stands for what left", _("nothing stands for what left")),
    (r"(?P<used>[\d,]+) of (?P<limit>[\d,]+) (?P<unit>\w+)", _("%(used)s of %(limit)s %(unit)s")),
    (r"the newest message was changed", _("the newest message was changed")),
    (r"the last (?P<count>\d+) messages", _("the last %(count)s messages")),
    (r"the tail differs", _("the tail differs")),
    (r"there is none", _("there is none")),
    (r"message (?P<number>\d+) (?P<reason>(?:is|was) .*)", _("message %(number)s %(reason)s")),
    (r"is a system message", _("is a system message")),
    (
        r"is pinned, or its group is: unpin it first",
        _("is pinned, or its group is: unpin it first"),
    ),
    (r"was not seen by the model yet", _("was not seen by the model yet")),
    (r"is the instruction in force", _("is the instruction in force")),
    (
        r"none of these messages is in the list: nothing to exclude",
        _("none of these messages is in the list: nothing to exclude"),
    ),
    (
        r"there is nothing to end: the list holds no conversation yet",
        _("there is nothing to end: the list holds no conversation yet"),
    ),
    (
        r"(?P<kept>\d+) of (?P<total>\d+) \((?P<share>\d+%)\)",
        _("%(kept)s of %(total)s (%(share)s)"),
    ),
    (
        r"(?P<kept>\d+) of (?P<total>\d+) \((?P<share>\d+%)\), lost: (?P<facts>.*)",
        _("%(kept)s of %(total)s (%(share)s), lost: %(facts)s"),
    ),
)
_FORMS = [(re.compile(pattern, re.DOTALL), text) for pattern, text in FORMS]


def detail(said: str) -> str:
    for pattern, text in _FORMS:
        if found := pattern.fullmatch(said):
            values = found.groupdict()
            if "role" in values:
                values["role"] = words(values["role"])
            if "reason" in values:
                values["reason"] = detail(values["reason"])
            return gettext(text) % values
    return said
