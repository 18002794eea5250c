"""What keeps automatic compaction, or summaries, from being tried: columns of the session."""

from __future__ import annotations

import math
import time
from datetime import timedelta

from django.utils import timezone

from agentcore.compaction.breaker import Breaker
from hermesweb.models import AgentSession

# Of a threshold: so much is near.
NEAR = 0.9


def hold(session: AgentSession) -> None:
    """No automatic compaction until the list has grown by what one must gain at least."""
    gain = session.profile_version.value.min_gain * session.limit
    session.hold, session.hold_until = True, session.used + max(1, round(gain))


def end_hold(session: AgentSession) -> None:
    session.hold, session.hold_until = False, 0


def grown(session: AgentSession) -> None:
    """A hold with a bound ends where the list has grown up to it."""
    if session.hold and 0 < session.hold_until <= session.used:
        end_hold(session)


def nears(session: AgentSession) -> bool:
    """Whether the first threshold has come near: once, until it was further off again."""
    profile = session.profile_version.value
    threshold = profile.threshold(profile.stages[0]) * session.limit
    was, session.near = session.near, bool(threshold) and session.used >= NEAR * threshold
    return session.near and not was


def breaker_of(session: AgentSession) -> Breaker:
    """As the worker's clock has it."""
    if session.breaker_until is None:
        return Breaker(session.breaker_failures)
    left = (session.breaker_until - timezone.now()).total_seconds()
    return Breaker(session.breaker_failures, time.monotonic() + left)


def breaker_seconds(session: AgentSession) -> int:
    """Whole seconds until summaries are asked for again."""
    return math.ceil(breaker_of(session).seconds_left(time.monotonic()))


def keep_breaker(session: AgentSession, breaker: Breaker) -> None:
    left = breaker.seconds_left(time.monotonic())
    session.breaker_failures = breaker.failures
    session.breaker_until = timezone.now() + timedelta(seconds=left) if left else None
