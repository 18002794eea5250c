"""A plan that was shown, as its row keeps it: JSON text, so that no character is lost."""

from __future__ import annotations

import json
from dataclasses import asdict, astuple, replace
from typing import Any

from agentcore.breakdown import Mark
from agentcore.compaction.asked import PreparedPlan
from agentcore.compaction.plan import Birth, CompactionPlan, Fate, Origin, Removal
from agentcore.compaction.result import StageReport, WrittenSummary
from agentcore.events import EventKind
from agentcore.messages import Message, ToolStatus, read
from agentcore.snapshot import State
from agentcore.usage import Usage
from hermesweb import facts
from hermesweb.models import AgentSession

# What brings the system message up to date when a run begins.
REBUILDS = (EventKind.SYSTEM_REBUILT, EventKind.MEMORY_INJECTED)


def packed(prepared: PreparedPlan) -> str:
    plan = prepared.plan
    value = {
        "base": astuple(plan.base),
        "removals": [astuple(cut) for cut in plan.removals],
        "births": [_birth(birth) for birth in plan.births],
        "stages": [astuple(stage) for stage in prepared.stages],
        "summaries": [asdict(summary) for summary in prepared.summaries],
        "left_out": prepared.left_out,
    }
    return json.dumps(value, separators=(",", ":"))


def unpacked(text: str) -> PreparedPlan:
    value = json.loads(text)
    plan = CompactionPlan(
        State(*value["base"]),
        tuple(
            Removal(start, stop, Fate(fate), stage)
            for start, stop, fate, stage in value["removals"]
        ),
        tuple(_born(birth) for birth in value["births"]),
    )
    stages = tuple(StageReport(*stage) for stage in value["stages"])
    summaries = tuple(_summary(summary) for summary in value["summaries"])
    return PreparedPlan(plan, stages, summaries, value["left_out"])


def fits(session: AgentSession, revision: int) -> bool:
    """Whether a plan made at that revision says the same of the list now: nothing was changed
    since, but for one system message in the place of another, which no plan touches."""
    since = session.revisions.filter(number__gt=revision)
    return not since.exclude(cause__in=REBUILDS, ended=1, begun=1).exists()


def rebased(session: AgentSession, prepared: PreparedPlan) -> PreparedPlan:
    """On the list now, where it fits there."""
    base = prepared.plan.base
    if not fits(session, base.revision):
        return prepared
    plan = replace(prepared.plan, base=replace(base, revision=session.revision))
    return replace(prepared, plan=plan)


def _birth(birth: Birth) -> dict[str, Any]:
    return {
        "at": birth.at,
        "origin": birth.origin,
        "stage": birth.stage,
        "covers": _runs(birth.covers),
        "message": _message(birth.message),
    }


def _message(message: Message) -> dict[str, Any]:
    return {
        "wire": message.wire,
        "mark": message.mark,
        "tool": message.tool,
        "status": message.status,
        "turn": message.turn,
        "original": message.original,
        "replaces": message.replaces,
        "stands_for": _runs(message.stands_for),
        "facts": facts.packed(message.facts, message.number),
    }


def _born(value: dict[str, Any]) -> Birth:
    origin = Origin(value["origin"]) if value["origin"] else None
    message = _read(value["message"])
    return Birth(value["at"], message, origin, value["stage"], _ranges(value["covers"]))


def _read(value: dict[str, Any]) -> Message:
    return read(
        value["wire"],
        mark=Mark(value["mark"]) if value["mark"] else None,
        tool=value["tool"],
        status=ToolStatus(value["status"]) if value["status"] else None,
        turn=value["turn"],
        original=value.get("original"),
        replaces=value.get("replaces"),
        stands_for=_ranges(value["stands_for"]),
        facts=facts.unpacked(value["facts"], 0),
    )


def _summary(value: dict[str, Any]) -> WrittenSummary:
    usage = Usage(**value["usage"]) if value["usage"] else None
    return WrittenSummary(**{**value, "usage": usage})


def _runs(ranges: tuple[range, ...]) -> list[tuple[int, int]]:
    return [(run.start, run.stop) for run in ranges]


def _ranges(runs: list[list[int]]) -> tuple[range, ...]:
    return tuple(range(start, stop) for start, stop in runs)
