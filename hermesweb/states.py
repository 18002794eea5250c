from __future__ import annotations

import re

from agentcore.snapshot import State
from hermesweb.acts import Invalid
from hermesweb.models import AgentSession

_FORMS = re.compile(r"turn:(?P<turn>\d{1,9})|(?P<revision>\d{1,9})(?:\.(?P<number>\d{1,9}))?")


def state_of(session: AgentSession, text: str, field: str = "at") -> State:
    """`turn:42` is the end of that turn, `REV.NUMBER` the list when that message was the last one
    born, `REV` the list as that revision left it to the next. Raises Invalid."""
    found = _FORMS.fullmatch(text)
    if found is None:
        raise Invalid(f"{text!r:.60} is no state: write turn:42, REV or REV.NUMBER", field)
    if found["turn"]:
        return _end_of_turn(session, int(found["turn"]), field)
    revision = int(found["revision"])
    if revision > session.revision:
        raise Invalid(f"there is no revision {revision}; the last is {session.revision}", field)
    number = int(found["number"] or session.last_number)
    if number > session.last_number:
        raise Invalid(f"there is no message {number}; the last is {session.last_number}", field)
    return State(revision, number)


def _end_of_turn(session: AgentSession, number: int, field: str) -> State:
    ends = session.stored_turns.filter(number=number)
    state = ends.values_list("ended_revision", "ended_number").first()
    if state is None:
        raise Invalid(f"there is no turn {number}; the last is {session.turns}", field)
    return State(*state)
