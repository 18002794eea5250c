"""What a compaction did, or would do, in the words of `compact --json`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from agentcore import diff
from agentcore.compaction.asked import CompactionOptions
from agentcore.ledger.survival import as_json
from agentcore.snapshot import Snapshot
from hermesweb import attempts, drafting, looks, totals
from hermesweb.models import AgentSession
from hermesweb.planning import Planned
from hermesweb.shown import shown


def shape(session: AgentSession, plan: Planned, options: CompactionOptions) -> dict[str, Any]:
    """`freed` is in bytes; `summary` the text that would stand in the list, with what it took;
    `would_ask` the model that it would be asked of, estimated tokens and cost."""
    result, proof = plan.result, plan.verification
    stands_for = {one.number: _ranges(one.stands_for) for one in plan.born}
    return {
        "changed": result.changed,
        "reason": result.reason,
        "before": _side(result.old),
        "after": _side(result.new),
        "freed": result.freed,
        "used_before": plan.before.used,
        "used_after": plan.after.used,
        "limit": plan.after.limit,
        "unit": plan.after.unit,
        "stages": [asdict(stage) for stage in result.stages],
        "checks": shown([asdict(check) for check in proof.checks]) if proof else [],
        "survival": _survival(proof.survival) if proof else {},
        "fates": changed_rows(plan.rows),
        "added": added_rows(plan.rows, stands_for),
        "summary": _summary(session, plan),
        "would_ask": _ask(session, plan, options),
    }


def changed_rows(rows: Sequence[diff.Row]) -> list[dict[str, Any]]:
    return [
        {
            "number": one.number,
            "index": one.index_before,
            "fate": one.fate,
            "stage": one.stage or None,
            "bytes_before": one.bytes_before,
            "bytes_after": one.bytes_after,
        }
        for one in rows
        if one.fate and not one.is_unchanged
    ]


def added_rows(rows: Sequence[diff.Row], stands_for: Mapping[int, Any]) -> list[dict[str, Any]]:
    return [
        {
            "number": one.number,
            "origin": one.origin,
            "bytes": one.bytes_after,
            "stands_for": stands_for.get(one.number, []),
        }
        for one in rows
        if one.fate is None
    ]


def _side(snapshot: Snapshot) -> dict[str, Any]:
    return {"size": snapshot.sizes.bytes, "breakdown": totals.plain(snapshot.sizes.breakdown)}


def _survival(found: Any) -> dict[str, Any]:
    return {kind: attempts.bounded(told) for kind, told in as_json(found).items()}


def usd(cost: Decimal | None) -> str | None:
    return None if cost is None else f"{cost.normalize():f}"


def _summary(session: AgentSession, plan: Planned) -> dict[str, Any] | None:
    result = plan.result
    if plan.request is None:
        return None
    by = result.summaries[-1].model if result.summaries else "ledger"
    made = looks.as_made(session, plan)
    return {
        "text": shown(plan.summary),
        "words": plan.words,
        "by": by,
        "tokens": made.usage,
        "cost": usd(made.cost),
    }


def _ask(session: AgentSession, plan: Planned, options: CompactionOptions) -> dict[str, Any] | None:
    ask = drafting.ask(session, plan, options)
    if ask is None:
        return None
    return {
        "model": ask.name,
        "reason": ask.reason or None,
        "tokens_are": "estimate",
        "input": ask.input,
        "output": ask.output,
        "cost": usd(ask.cost),
    }


def _ranges(runs: Sequence[range]) -> list[list[int]]:
    return [[run.start, run.stop - 1] for run in runs]
