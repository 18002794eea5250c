"""What others may do before and after a compaction, and when they may want one (spec-compaction 9).
Hooks are plain callables; one that raises or takes too long is reported and passed over.

An installed package offers them under a name that profiles then use: an entry point of the group
below names a class that is made without arguments, with any of the methods `pre_compact`,
`post_compact` and `after_turn`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from typing import Any, TypeAlias

from agentcore.compaction.result import CompactionResult, Deed, HookReport, Trigger
from agentcore.errors import MessageError, ProfileError
from agentcore.messages import Role, born
from agentcore.pressure import Pressure
from agentcore.said import Said
from agentcore.snapshot import Snapshot

HOOK_SECONDS = 5.0
GROUP = "agentcore.hooks"


@dataclass(frozen=True, slots=True)
class Abort:
    """No compaction now; the reason is shown."""

    reason: str


@dataclass(frozen=True, slots=True)
class BeforeCompaction:
    trigger: Trigger
    snapshot: Snapshot
    pressure: Pressure


@dataclass(frozen=True, slots=True)
class AfterTurn:
    """Of the turn that ended last, where nothing else has the list compacted."""

    turn: int
    snapshot: Snapshot
    pressure: Pressure


# Messages to put at the end of the list before it is compacted, or an Abort.
Before: TypeAlias = Callable[[BeforeCompaction], Sequence[Mapping[str, Any]] | Abort | None]
# Recovery messages to append after it.
After: TypeAlias = Callable[[CompactionResult], Sequence[Mapping[str, Any]] | None]
# Why the list is to be compacted now, or None.
Wish: TypeAlias = Callable[[AfterTurn], str | None]


@dataclass(frozen=True, slots=True)
class Hooks:
    """Called in order, each in a thread of its own with a time limit."""

    pre_compact: tuple[Before, ...] = ()
    post_compact: tuple[After, ...] = ()
    after_turn: tuple[Wish, ...] = ()


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """Of one hook: messages to add, that nothing is to be compacted, why something is, or how it
    failed."""

    hook: str
    messages: tuple[Mapping[str, Any], ...] = ()
    abort: Abort | None = None
    wish: str = ""
    failure: HookReport | None = None


def hooks_of(names: Sequence[str]) -> Hooks:
    """Those that installed packages offer under these names. Raises ProfileError."""
    found = [_installed(name) for name in names]
    moments = ("pre_compact", "post_compact", "after_turn")
    return Hooks(
        *(
            tuple(call for one in found if (call := getattr(one, moment, None)))
            for moment in moments
        )
    )


async def call_hooks(hooks: Sequence[Callable[[Any], Any]], event: Any) -> list[HookAnswer]:
    """Every hook in order; the first that aborts, or wants a compaction, is the last that is
    called, and what the others wanted to add is dropped."""
    answers: list[HookAnswer] = []
    for hook in hooks:
        answer = await _answer(hook, event)
        if answer.abort or answer.wish:
            return [*(one for one in answers if one.failure), answer]
        answers.append(answer)
    return answers


async def _answer(hook: Callable[[Any], Any], event: Any) -> HookAnswer:
    name = _name(hook)
    try:
        async with asyncio.timeout(HOOK_SECONDS):
            given = await asyncio.to_thread(hook, event)
        return _read(name, given, wishes=isinstance(event, AfterTurn))
    except TimeoutError:
        report = HookReport(name, Deed.TIMED_OUT, f"took over {HOOK_SECONDS:g} s")
    except Exception as error:  # Whatever a stranger's code raises must not end the run.
        report = HookReport(name, Deed.RAISED, f"{type(error).__name__}: {error}")
    return HookAnswer(name, failure=report)


def _read(name: str, given: Any, *, wishes: bool) -> HookAnswer:
    """Raises TypeError and MessageError for what is no answer."""
    if wishes:
        if not isinstance(given, str | None):
            raise TypeError(f"a reason is a text, not {type(given).__name__}")
        return HookAnswer(name, wish=given or "")
    if isinstance(given, Abort):
        return HookAnswer(name, abort=given)
    return HookAnswer(name, tuple(_checked(one) for one in given or ()))


def _name(hook: Any) -> str:
    """A method goes by the class of its object."""
    owner = getattr(hook, "__self__", hook)
    return str(getattr(owner, "__name__", type(owner).__name__))


@cache
def _installed(name: str) -> Any:
    for entry in entry_points(group=GROUP, name=name):
        try:
            return entry.load()()
        except (ImportError, AttributeError, TypeError) as error:
            said = Said(
                "the hook {name} ({place}) cannot be loaded: {error}",
                name=repr(name),
                place=entry.value,
                error=str(error),
            )
            raise ProfileError(said, "hooks") from error
    known = ", ".join(sorted(entry.name for entry in entry_points(group=GROUP)))
    said = Said(
        "unknown hook {name}; there are {known}", name=repr(name), known=known or Said("none")
    )
    raise ProfileError(said, "hooks")


def _checked(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Raises MessageError for what is no message, or would part a call from its result."""
    message = born(value)
    if message.calls or message.role is Role.TOOL:
        raise MessageError("a hook adds messages without calls and results")
    return value
