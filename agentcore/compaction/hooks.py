"""What others may do before and after a compaction (spec-compaction 9). Hooks are plain callables;
one that raises or takes too long is reported and passed over."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from agentcore.compaction.result import CompactionResult, Trigger
from agentcore.errors import MessageError
from agentcore.messages import Role, born
from agentcore.pressure import Pressure
from agentcore.snapshot import Snapshot

HOOK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Abort:
    """No compaction now; the reason is shown."""

    reason: str


@dataclass(frozen=True, slots=True)
class BeforeCompaction:
    trigger: Trigger
    snapshot: Snapshot
    pressure: Pressure


# Messages to put at the end of the list before it is compacted, or an Abort.
Before: TypeAlias = Callable[[BeforeCompaction], Sequence[Mapping[str, Any]] | Abort | None]
# Recovery messages to append after it.
After: TypeAlias = Callable[[CompactionResult], Sequence[Mapping[str, Any]] | None]


@dataclass(frozen=True, slots=True)
class Hooks:
    """Called in order, each in a thread of its own with a time limit."""

    pre_compact: tuple[Before, ...] = ()
    post_compact: tuple[After, ...] = ()


@dataclass(frozen=True, slots=True)
class Called:
    """What the hooks of one moment came to; `reports` are of those that failed."""

    messages: tuple[Mapping[str, Any], ...] = ()
    abort: Abort | None = None
    reports: tuple[str, ...] = ()


async def call_hooks(hooks: Sequence[Callable[[Any], Any]], event: Any) -> Called:
    """Every hook in order; the first that aborts is the last that is called."""
    messages: list[Mapping[str, Any]] = []
    reports: list[str] = []
    for hook in hooks:
        answer = await _answer(hook, event, reports)
        if isinstance(answer, Abort):
            return Called((), answer, tuple(reports))
        messages += answer
    return Called(tuple(messages), None, tuple(reports))


async def _answer(
    hook: Callable[[Any], Any], event: Any, reports: list[str]
) -> Abort | list[Mapping[str, Any]]:
    name = getattr(hook, "__name__", type(hook).__name__)
    try:
        async with asyncio.timeout(HOOK_SECONDS):
            answer = await asyncio.to_thread(hook, event)
        return answer if isinstance(answer, Abort) else [_checked(one) for one in answer or ()]
    except TimeoutError:
        reports.append(f"{name}: took over {HOOK_SECONDS:g} s")
    except Exception as error:  # Whatever a stranger's code raises must not end the run.
        reports.append(f"{name}: {type(error).__name__}: {error}")
    return []


def _checked(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Raises MessageError for what is no message, or would part a call from its result."""
    message = born(value)
    if message.calls or message.role is Role.TOOL:
        raise MessageError("a hook adds messages without calls and results")
    return value
