"""A message's facts as its row keeps them: JSON text, so that no character of theirs is lost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agentcore.facts import Fact, FactKind


def packed(facts: Sequence[Fact] | None, number: int) -> str | None:
    """None where they were not looked for. A fact's number is told where it is not the message's:
    notes tell of others."""
    if facts is None:
        return None
    rows = [
        [
            *(fact.kind, fact.text, fact.key if fact.key != fact.text else None),
            *(fact.subject, fact.bound, fact.call, fact.revises),
            *([fact.number] if fact.number != number else []),
        ]
        for fact in facts
    ]
    return json.dumps(rows, separators=(",", ":"))


def unpacked(text: str | None, number: int) -> tuple[Fact, ...] | None:
    if text is None:
        return None
    return tuple(_fact(row, number) for row in json.loads(text)) if text != "[]" else ()


def _fact(row: Sequence[Any], number: int) -> Fact:
    kind, text, key, subject, bound, call, revises, *other = row
    return Fact(
        FactKind(kind),
        text,
        other[0] if other else number,
        text if key is None else key,
        subject=subject,
        bound=bound,
        call=call,
        revises=revises,
    )
