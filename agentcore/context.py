"""The live list of one session: it grows by appending and changes by plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentcore.breakdown import NOTHING, Sizes
from agentcore.compaction.plan import CompactionPlan, Revision, apply_plan
from agentcore.compaction.result import CompactionResult
from agentcore.erasing import erased
from agentcore.errors import StalePlan
from agentcore.kinds import EventKind
from agentcore.ledger.extract import with_facts
from agentcore.messages import Message, MessageLike, as_message
from agentcore.said import Said
from agentcore.snapshot import PLACES_A_NUMBER, Outline, Snapshot, State


class Context:
    """Open lives in order of place, with running totals: appending costs the new message alone."""

    def __init__(self, snapshot: Snapshot | None = None) -> None:
        start = snapshot or Snapshot((), (), NOTHING, State(0, 0))
        self._messages = list(start.messages)
        self._places = list(start.places)
        self._sizes = start.sizes
        self._state = start.state
        self._outline = (start.known or Outline.of(start.messages)).copy()
        self._causes: dict[int, EventKind] = {}

    @property
    def state(self) -> State:
        return self._state

    @property
    def sizes(self) -> Sizes:
        return self._sizes

    @property
    def messages(self) -> Sequence[Message]:
        return self._messages

    def draft(self, value: MessageLike) -> Message:
        """The message with its number, the next one of the session, and its facts; not yet in the
        list."""
        return with_facts(as_message(value).numbered(self._state.last_number + 1))

    def append(self, value: MessageLike) -> Message:
        """Put it at the end of the list, with its number."""
        message = self.draft(value)
        number = message.number
        self._messages.append(message)
        self._outline.add(message)
        self._places.append(number * PLACES_A_NUMBER)
        self._sizes = self._sizes + message.sizes
        self._state = State(self._state.revision, number)
        return message

    def snapshot(self) -> Snapshot:
        return Snapshot(
            tuple(self._messages),
            tuple(self._places),
            self._sizes,
            self._state,
            self._outline.copy(),
        )

    def apply(
        self, plan: CompactionPlan, cause: EventKind = EventKind.COMPACTION_ENDED
    ) -> Revision:
        """Compare and swap: what was appended since the plan follows its result unchanged.

        Raises StalePlan when the list was revised meanwhile.
        """
        if plan.base.revision != self._state.revision:
            said = Said(
                "the list is at {now}, the plan was made at {base}: compute it again",
                now=str(self._state),
                base=str(plan.base),
            )
            raise StalePlan(said)
        after, revision = apply_plan(plan, self.snapshot())
        self._messages, self._places = list(after.messages), list(after.places)
        self._sizes, self._state = after.sizes, after.state
        self._outline = Outline.of(after.messages)
        for message, _ in revision.begun:
            # A note lets go of the messages that it carries the facts of.
            bool(message.facts)
        self._causes |= dict.fromkeys(revision.touched, cause)
        return revision

    def erase(self, number: int) -> Revision:
        """Take a message's text out, wherever the message is: a revision that moves nothing."""
        for row, old in enumerate(self._messages):
            if old.number == number:
                self._messages[row] = new = erased(old)
                self._sizes = self._sizes - old.sizes + new.sizes
        last = self._state.last_number
        self._state = State(self._state.revision + 1, last)
        self._causes[number] = EventKind.ERASED
        return Revision(self._state.revision, (), (), last)

    def applied(self, result: CompactionResult) -> CompactionResult:
        """The result with the list that it led to, applied where it changes something."""
        if not result.changed:
            return result
        revision = self.apply(result.plan)
        return replace(result, new=self.snapshot(), revision=revision)

    def take_causes(self) -> dict[int, EventKind]:
        """The messages that came or went by a change since this was asked last, and its kind."""
        causes, self._causes = self._causes, {}
        return causes
