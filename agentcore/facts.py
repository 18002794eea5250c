"""A fact that must not get lost, and the kinds of them (spec-compaction 7)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agentcore.frozen import maker

# Of a state that is one open item of a list; a later list replaces the whole of it.
TODO_SUBJECT = "todo"
ALL_DONE = "every to-do is done"


class FactKind(StrEnum):
    GOAL = "goal"
    CONSTRAINT = "constraint"
    PREFERENCE = "preference"
    DECISION = "decision"
    CHANGED_PATH = "changed_path"
    READ_PATH = "read_path"
    COMMAND = "command"
    NUMBER = "number"
    WARNING = "warning"
    FAILURE = "failure"
    STATE = "state"


@dataclass(frozen=True, slots=True)
class Fact:
    """`text` is what message `number` says, on one line; `key` what a list must hold for the fact
    to be known: a value, a path, or the text.

    `subject`: the words that name what it is about. `bound`: for limits their side and unit, as
    `<=kb`. `call`: the id of the call it belongs to. `revises`: it says that it changes something
    said before.
    """

    kind: FactKind
    text: str
    number: int
    key: str
    subject: str = ""
    bound: str = ""
    call: str = ""
    revises: bool = False


make_fact = maker(Fact)
