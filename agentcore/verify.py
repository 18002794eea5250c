"""What is looked at after every compaction: seven checks, and which facts survived it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from agentcore.compaction.plan import CompactionPlan, Fate
from agentcore.facts import Fact, FactKind
from agentcore.invariants import legal
from agentcore.ledger import Ledger, Survival, survival
from agentcore.messages import Role
from agentcore.pressure import Pressure
from agentcore.snapshot import Snapshot

SHOWN = 5
FACT_CHARS = 80
_LEAVING = frozenset({Fate.SUMMARIZED, Fate.DROPPED})


class Check(StrEnum):
    HISTORY_LEGAL = "history_legal"
    CUT_LEGAL = "cut_legal"
    SUMMARY_PRESENT = "summary_present"
    BUDGET_HOLDS = "budget_holds"
    RECENT_INTACT = "recent_intact"
    GOAL_KNOWN = "goal_known"
    PATHS_KNOWN = "paths_known"


# Kinds of facts that two of the checks ask for.
ASKED_FOR: Mapping[Check, tuple[FactKind, ...]] = {
    Check.GOAL_KNOWN: (FactKind.GOAL, FactKind.STATE),
    Check.PATHS_KNOWN: (FactKind.CHANGED_PATH,),
}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """`detail` says what was found, in one line, whether it is well or not."""

    check: Check
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Verification:
    checks: tuple[CheckResult, ...]
    survival: Survival

    @property
    def ok(self) -> bool:
        return all(result.ok for result in self.checks)


def verify(
    before: Snapshot,
    after: Snapshot,
    plan: CompactionPlan,
    pressure: Pressure,
    *,
    ledger: Ledger | None = None,
) -> Verification:
    """Look at the list that a plan led to; `pressure` is of that list. `ledger`: of the list
    before, or of the whole session where it is at hand; else made from the list before."""
    known = survival(ledger or Ledger.of(before.messages), after.messages)
    checks = (
        _history_legal(after),
        _cut_legal(after),
        _summary_present(after, plan),
        _budget_holds(pressure),
        _recent_intact(before, after, plan),
        *(_known(check, known, kinds) for check, kinds in ASKED_FOR.items()),
    )
    return Verification(checks, known)


def _history_legal(after: Snapshot) -> CheckResult:
    broken = legal(after.messages)
    detail = broken[0].detail if broken else f"{len(after.messages)} messages, all paired"
    return CheckResult(Check.HISTORY_LEGAL, not broken, detail)


def _cut_legal(after: Snapshot) -> CheckResult:
    """A kept list never starts with a result, summaries in front passed over."""
    rest = after.messages[after.leading :]
    first = next((message for message in rest if not message.is_summary), None)
    detail = f"starts with {first.role}" if first else "nothing but system and summary"
    return CheckResult(Check.CUT_LEGAL, first is None or first.role is not Role.TOOL, detail)


def _summary_present(after: Snapshot, plan: CompactionPlan) -> CheckResult:
    if not any(cut.fate in _LEAVING for cut in plan.removals):
        return CheckResult(Check.SUMMARY_PRESENT, True, "this plan needs none")
    first = after.messages[after.leading : after.leading + 1]
    ok = bool(first) and first[0].is_summary
    detail = f"message {first[0].number}" if ok else "nothing stands for what left"
    return CheckResult(Check.SUMMARY_PRESENT, ok, detail)


def _budget_holds(pressure: Pressure) -> CheckResult:
    detail = f"{pressure.used:,} of {pressure.limit:,} {pressure.unit}"
    return CheckResult(Check.BUDGET_HOLDS, pressure.used < pressure.limit, detail)


def _recent_intact(before: Snapshot, after: Snapshot, plan: CompactionPlan) -> CheckResult:
    """The rows behind the last one that the plan touches."""
    touched = max(
        (*(cut.stop for cut in plan.removals), *(birth.at for birth in plan.births)), default=0
    )
    old = [message.wire for message in before.messages[touched:]]
    new = [message.wire for message in after.messages[-len(old) :]] if old else []
    if not old and before.messages:
        return CheckResult(Check.RECENT_INTACT, False, "the newest message was changed")
    detail = f"the last {len(old)} messages" if old == new else "the tail differs"
    return CheckResult(Check.RECENT_INTACT, old == new, detail)


def _known(check: Check, known: Survival, kinds: Sequence[FactKind]) -> CheckResult:
    found = [known[kind] for kind in kinds if kind in known]
    total, kept = sum(one.total for one in found), sum(one.kept for one in found)
    if not total:
        return CheckResult(check, True, "there is none")
    lost = [fact for one in found for fact in one.lost]
    detail = f"{kept} of {total} ({kept / total:.0%}){_named(lost)}"
    return CheckResult(check, not lost, detail)


def _named(lost: Sequence[Fact]) -> str:
    if not lost:
        return ""
    names = "; ".join(f"{fact.text[:FACT_CHARS]} (message {fact.number})" for fact in lost[:SHOWN])
    more = f" and {len(lost) - SHOWN} more" if len(lost) > SHOWN else ""
    return f", lost: {names}{more}"
