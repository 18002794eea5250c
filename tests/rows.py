"""A session that the real recorder writes, as a store of the rule machine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from builders import a_lease, a_session, added
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from machine import Edit, SessionMachine

from agentcore import Profile, Snapshot
from agentcore.compaction.compact import pressure_of
from agentcore.compaction.result import CompactionResult
from agentcore.events import CompactionEnded, Edited
from agentcore.messages import Message
from agentcore.snapshot import State
from hermesweb import lives, pins
from hermesweb.models import AgentSession
from hermesweb.recorder import record

# Steps between two lines that say how far it is.
TOLD_EVERY = 2_000


class Rows:
    """Everything is read back from rows, as after a crash."""

    def __init__(self) -> None:
        self._session = a_session()
        self._fence = a_lease(self._session).fence

    def added(self, messages: Sequence[Message]) -> None:
        record(self._session.pk, self._fence, added(*messages, turn=0))

    def compacted(self, result: CompactionResult, profile: Profile) -> None:
        before, after = map(pressure_of(profile), (result.old, result.new))
        told = CompactionEnded(result, before, after, 0, 0.1)
        record(self._session.pk, self._fence, [told])

    def edited(self, edit: Edit) -> None:
        kind, before, plan, revision = edit
        sizes = self.now().sizes
        record(self._session.pk, self._fence, [Edited(kind, before, plan, revision, sizes, 0)])

    def pinned(self, number: int, pin: bool) -> None:
        self._session.messages.filter(number=number).update(pinned=pin)

    def pins(self) -> frozenset[int]:
        return pins.in_force(self._session)

    def now(self) -> Snapshot:
        read = AgentSession.objects.only("revision", "last_number")
        return lives.snapshot_of(read.get(pk=self._session.pk))

    def at(self, state: State) -> Snapshot:
        return lives.snapshot_of(self._session, state)


class RowsMachine(SessionMachine):
    make_store = Rows


def run_steps(steps: int, a_session_lasts: int = 30) -> int:
    """Run at least so many steps on the database of the settings; how many it were."""
    begun = RowsMachine.steps
    some = partial(
        settings,
        stateful_step_count=a_session_lasts,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    while (left := steps - (RowsMachine.steps - begun)) > 0:
        examples = max(1, min(left, TOLD_EVERY) // a_session_lasts)
        run_state_machine_as_test(RowsMachine, settings=some(max_examples=examples))
        print(f"{RowsMachine.steps - begun:,} steps", flush=True)
    return RowsMachine.steps - begun
