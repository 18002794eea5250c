"""The context by turn: what the strip, the chart, the table and the downloads draw."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from agentcore.breakdown import Category
from agentcore.compaction.result import CompactionState
from agentcore.pressure import TokenSource, Unit
from hermesweb import spending
from hermesweb.models import AgentSession, ProfileVersion, StoredTurn

CHART_ROWS = 1_000
STRIP_ROWS = 300
TABLE_ROWS = 20


DRAWN = (
    *("session", "number", "bytes", "used", "limit", "unit", "tokens_are", "breakdown"),
    *("stable_prefix", "request_bytes", "unseen"),
)
# What the strip draws of a turn, beside what fills it.
# Of a compaction that was applied: its number and how many bytes it freed.
Cut = tuple[int, int]
STRIP_COLUMNS = ("turn", "bytes", "used", "limit", "unseen", "compacted_before")


def chart(session: AgentSession, version: ProfileVersion, most: int = CHART_ROWS) -> dict[str, Any]:
    """At most `most` rows, oldest first: of neighbours the fullest stands for all. `threshold` is
    the fraction of the limit at which stage `name` of the profile starts, 0 where that is refused.
    """
    profile = version.readable
    first = profile.stages[0] if profile else None
    return {
        "unit": session.unit,
        "threshold": profile.threshold(first) if profile and first else 0.0,
        "name": first.strategy.replace("_", " ") if first else "",
        "turns": chart_rows(session, most),
    }


def chart_rows(session: AgentSession, most: int) -> list[dict[str, Any]]:
    turns = session.stored_turns.order_by("number")
    light = list(turns.values_list("number", "used"))
    peaks = dict(_peaks(light, _cuts(session), most))
    turns = turns.only(*DRAWN)
    if len(peaks) < len(light):
        turns = turns.filter(number__in=peaks)
    # A turn that ended between the two queries is drawn when it is told of.
    return [
        {**_row(turn), **_compacted(peaks[turn.number])} for turn in turns if turn.number in peaks
    ]


def packed(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The rows of the strip by columns, since a page carries hundreds of them; a category that
    fills nothing has none."""
    present = {name for row in rows for name, size in row["breakdown"].items() if size}
    return {
        **{name: [row[name] for row in rows] for name in STRIP_COLUMNS},
        "breakdown": {
            name: [row["breakdown"].get(name, 0) for row in rows] for name in sorted(present)
        },
    }


def with_parts(turn: StoredTurn) -> dict[str, Any]:
    """One line of the downloads: the facts, and the bytes of each category by its name."""
    parts = {f"{one}_bytes": turn.breakdown.get(one, 0) for one in Category}
    return {**turn_facts(turn), **parts}


def turn_facts(turn: StoredTurn) -> dict[str, Any]:
    prompt, source = spending.prompt(turn)
    return {
        "turn": turn.number,
        "run": turn.run,
        "requested": f"{turn.requested_revision}.{turn.requested_number}",
        "ended": f"{turn.ended_revision}.{turn.ended_number}",
        "bytes": turn.bytes,
        "chars": turn.chars,
        "tokens": turn.tokens,
        "tokens_are": turn.tokens_are,
        "unseen": turn.unseen,
        "used": turn.used,
        "limit": turn.limit,
        "unit": turn.unit,
        "pressure": round(turn.pressure, 4),
        "request_bytes": turn.request_bytes,
        "stable_prefix": turn.stable_prefix,
        "break": turn.break_reason or None,
        "break_number": turn.break_number,
        "prompt": prompt,
        "prompt_are": source,
        "cached": spending.cached(turn),
        "estimate": turn.request_estimate or None,
        "ratio": round(turn.ratio, 4),
        "cost": spending.usd(turn.cost),
        "action": turn.action or None,
        "after": turn.after,
        "model": turn.model,
        "routed": turn.routed or None,
        "at": turn.at.isoformat(),
    }


def _row(turn: StoredTurn) -> dict[str, Any]:
    return {
        "turn": turn.number,
        "bytes": turn.bytes,
        "used": turn.used,
        "limit": turn.limit or None,
        "unseen": turn.unseen if turn.unit == Unit.TOKENS else 0,
        "breakdown": turn.breakdown,
        "stable": _stable(turn),
        "estimate": turn.unit == Unit.TOKENS and turn.tokens_are == TokenSource.ESTIMATE,
    }


def _stable(turn: StoredTurn) -> float | None:
    """The share of the request that was the same as in the one before."""
    if not turn.request_bytes:
        return None
    return round(min(turn.stable_prefix / turn.request_bytes, 1.0), 3)


def _cuts(session: AgentSession) -> Mapping[int, list[Cut]]:
    """By the turn they were made after."""
    applied = session.stored_compactions.filter(state=CompactionState.APPLIED).order_by("number")
    found: dict[int, list[Cut]] = defaultdict(list)
    for number, turn, before, after in applied.values_list("number", "turn", "before", "after"):
        found[turn].append((number, (before or 0) - (after or 0)))
    return found


def _compacted(cuts: Sequence[Cut]) -> dict[str, Any]:
    """The compactions before a row, told as one."""
    if not cuts:
        return {"compacted_before": False, "compactions": None}
    numbers, freed = zip(*cuts, strict=True)
    told = {"first": numbers[0], "last": numbers[-1], "freed": sum(freed)}
    return {"compacted_before": True, "compactions": told}


def _peaks(
    light: Sequence[tuple[int, int]], cuts: Mapping[int, list[Cut]], most: int
) -> list[tuple[int, list[Cut]]]:
    """The fullest turn of each bin, and the compactions before those of the bin."""
    size = max(1, -(-len(light) // most))
    bins = [light[start : start + size] for start in range(0, len(light), size)]
    return [
        (
            max(part, key=lambda turn: turn[1])[0],
            [cut for number, _ in part for cut in cuts.get(number - 1, ())],
        )
        for part in bins
    ]
