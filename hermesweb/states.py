from __future__ import annotations

import re
from collections.abc import Mapping

from django.utils.translation import gettext as _

from agentcore.snapshot import State
from hermesweb.acts import Invalid
from hermesweb.models import AgentSession

_FORMS = re.compile(r"turn:(?P<turn>\d{1,9})|(?P<revision>\d{1,9})(?:\.(?P<number>\d{1,9}))?")


def state_of(session: AgentSession, text: str, field: str = "at") -> State:
    """`turn:42` is the end of that turn, `REV.NUMBER` the list when that message was the last one
    born, `REV` the list as that revision left it to the next. Raises Invalid."""
    found = _FORMS.fullmatch(text)
    if found is None:
        refusal = _("%(text)s is no state: write turn:42, REV or REV.NUMBER")
        raise Invalid(refusal % {"text": f"{text!r:.60}"}, field)
    if found["turn"]:
        return _end_of_turn(session, int(found["turn"]), field)
    revision = int(found["revision"])
    if revision > session.revision:
        refusal = _("there is no revision %(number)s; the last is %(last)s")
        raise Invalid(refusal % {"number": revision, "last": session.revision}, field)
    number = int(found["number"] or session.last_number)
    if number > session.last_number:
        refusal = _("there is no message %(number)s; the last is %(last)s")
        raise Invalid(refusal % {"number": number, "last": session.last_number}, field)
    return State(revision, number)


def ends_of(session: AgentSession, query: Mapping[str, str]) -> tuple[State, State, bool]:
    """The earlier and the later state that `from` and `to` of an address name, and whether they
    stood the other way round there. Raises Invalid."""
    start = state_of(session, query.get("from", "0.0"), "from")
    end = state_of(session, query.get("to", str(session.revision)), "to")
    turned = (start.revision, start.last_number) > (end.revision, end.last_number)
    return (end, start, True) if turned else (start, end, False)


def _end_of_turn(session: AgentSession, number: int, field: str) -> State:
    ends = session.stored_turns.filter(number=number)
    state = ends.values_list("ended_revision", "ended_number").first()
    if state is None:
        refusal = _("there is no turn %(number)s; the last is %(last)s")
        raise Invalid(refusal % {"number": number, "last": session.turns}, field)
    return State(*state)
