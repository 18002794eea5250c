"""What hooks do to a list at work: whom they were, what they added, and how it is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentcore.compaction.hooks import (
    Abort,
    AfterTurn,
    BeforeCompaction,
    HookAnswer,
    Hooks,
    call_hooks,
)
from agentcore.compaction.result import CompactionResult, Deed, HookReport
from agentcore.context import Context
from agentcore.events import Event, HookFailed, MessageAdded


@dataclass(frozen=True, slots=True)
class Heard:
    """`events` tell what was added to the list already; `wish`: who wants a compaction, and why."""

    events: tuple[Event, ...] = ()
    reports: tuple[HookReport, ...] = ()
    abort: Abort | None = None
    wish: HookReport | None = None


class Hooking:
    """Asks the hooks of one session, and adds what they give to its list."""

    def __init__(self, hooks: Hooks, context: Context) -> None:
        self._hooks = hooks
        self._context = context

    async def before(
        self, event: BeforeCompaction, turn: int, wish: HookReport | None = None
    ) -> Heard:
        """`wish`: of the hook that asked for the compaction."""
        answers = await call_hooks(self._hooks.pre_compact, event)
        heard = self._heard(answers, Deed.INJECTED, turn)
        return replace(heard, reports=(wish, *heard.reports)) if wish else heard

    async def after(self, result: CompactionResult, turn: int) -> Heard:
        """Nobody is asked about a list that did not change."""
        hooks = self._hooks.post_compact if result.changed else ()
        return self._heard(await call_hooks(hooks, result), Deed.APPENDED, turn)

    async def after_turn(self, event: AfterTurn) -> Heard:
        """Up to the first that wants a compaction."""
        answers = await call_hooks(self._hooks.after_turn, event)
        wishes = (HookReport(one.hook, Deed.ASKED, one.wish) for one in answers if one.wish)
        return replace(self._heard(answers, Deed.ASKED, event.turn), wish=next(wishes, None))

    def _heard(self, answers: Sequence[HookAnswer], did: Deed, turn: int) -> Heard:
        events: list[Event] = []
        reports: list[HookReport] = []
        for answer in answers:
            if answer.failure:
                events.append(HookFailed(f"{answer.hook}: {answer.failure.detail}"))
                reports.append(answer.failure)
            if answer.abort:
                reports.append(HookReport(answer.hook, Deed.ABORTED, answer.abort.reason))
            if answer.messages:
                added = [self._context.append(message) for message in answer.messages]
                events += [MessageAdded(message, turn) for message in added]
                numbers = tuple(message.number for message in added)
                reports.append(HookReport(answer.hook, did, messages=numbers))
        aborts = (answer.abort for answer in answers if answer.abort)
        return Heard(tuple(events), tuple(reports), next(aborts, None))
