"""The list of a session at a state, as the beginning of another session."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import islice

from agentcore.breakdown import Breakdown, Sizes
from agentcore.snapshot import State
from hermesweb import bodies, lives, totals
from hermesweb.models import AgentSession, Life, StoredMessage

CHUNK = 500


def copy_list(source: AgentSession, state: State, target: AgentSession) -> None:
    """Messages keep their numbers, places and flags; long texts are shared."""
    rows = lives.lives_at(source, state).select_related(None).select_related("message")
    following = rows.iterator(chunk_size=CHUNK)
    while chunk := list(islice(following, CHUNK)):
        _copy(chunk, target)
    target.last_number = state.last_number


def _copy(chunk: Sequence[Life], target: AgentSession) -> None:
    messages = [_message(life.message, target) for life in chunk]
    bodies.share([key for one in messages for key in (one.body_id, one.captured_id) if key])
    StoredMessage.objects.bulk_create(messages, batch_size=CHUNK)
    Life.objects.bulk_create(
        [
            Life(
                session=target,
                message=message,
                number=message.number,
                place=life.place,
                from_revision=0,
                origin=life.origin,
                begun_stage=life.begun_stage,
            )
            for life, message in zip(chunk, messages, strict=True)
        ],
        batch_size=CHUNK,
    )
    for one in messages:
        totals.weigh(target, Sizes(one.bytes, one.chars, one.tokens, Breakdown(one.categories)))
    target.messages_alive += len(messages)


def _message(row: StoredMessage, target: AgentSession) -> StoredMessage:
    message = copy(row)
    message.pk, message.session = None, target
    message._state = copy(row._state)
    message._state.adding = True
    return message
