"""What was looked at after a compaction, as its page says it: checks, and the facts it kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agentcore.facts import FactKind
from agentcore.usage import Usage
from agentcore.verify import ASKED_FOR, Check
from hermesweb import wishes
from hermesweb.labels import unit_word
from hermesweb.models import AgentSession, Compaction

LOST_SHOWN = 50
# What is found where a check fails, and where it passes.
FOUND: Mapping[str, tuple[Promise, Promise]] = {
    Check.HISTORY_LEGAL: (
        _("calls and results do not belong together"),
        _("every call has its result, right behind it"),
    ),
    Check.CUT_LEGAL: (_("it begins with a tool result"), _("it does not begin in mid-call")),
    Check.SUMMARY_PRESENT: (
        _("nothing stands for what left"),
        _("what left, if anything, is told of"),
    ),
    Check.RECENT_INTACT: (
        _("the newest messages were changed"),
        _("the newest messages are as they were"),
    ),
}


@dataclass(frozen=True, slots=True)
class Kept:
    """Facts of a kind; the widths in percent of the bar."""

    kind: str
    kept: int
    lost: int

    @property
    def total(self) -> int:
        return self.kept + self.lost

    @property
    def width_kept(self) -> float:
        return 100.0 * self.kept / self.total if self.total else 0.0

    @property
    def width_lost(self) -> float:
        return 100.0 * self.lost / self.total if self.total else 0.0


@dataclass(frozen=True, slots=True)
class Looked:
    """A check; `detail` is agentcore's English, where `found` does not say all."""

    check: str
    ok: bool
    found: str
    detail: str


@dataclass(frozen=True, slots=True)
class Lost:
    """A fact that the list no longer tells, and the message that said it; `alive`: that message is
    in the list now."""

    kind: str
    text: str
    number: int
    pinned: bool
    alive: bool


@dataclass(frozen=True, slots=True)
class Proof:
    """`no_undo` says why it cannot be undone; `before` names the state that it was made on."""

    checks: list[Looked]
    kept: list[Kept]
    lost: list[Lost]
    more: int
    usage: Usage | None
    no_undo: str
    before: str

    @property
    def gone(self) -> int:
        return sum(one.lost for one in self.kept)

    @property
    def passed(self) -> int:
        return sum(one.ok for one in self.checks)


def proof(session: AgentSession, row: Compaction) -> Proof:
    kept = [
        Kept(kind, told["kept"], len(told["lost"]) + told.get("more", 0))
        for kind, told in row.survival.items()
    ]
    facts = [(kind, fact) for kind, told in row.survival.items() for fact in told["lost"]]
    facts.sort(key=lambda told: _rank(told[0], told[1]["text"]))
    shown = facts[:LOST_SHOWN]
    sources = session.messages.filter(number__in=[fact["number"] for _, fact in shown])
    pinned = set(sources.filter(pinned=True).values_list("number", flat=True))
    alive = set(sources.filter(lives__to_revision=None).values_list("number", flat=True))
    return Proof(
        checks=[_looked(row, kept, told) for told in row.checks],
        kept=kept,
        lost=[
            Lost(
                kind,
                fact["text"],
                fact["number"],
                pinned=fact["number"] in pinned,
                alive=fact["number"] in alive,
            )
            for kind, fact in shown
        ],
        more=sum(one.lost for one in kept) - len(shown),
        usage=Usage(**row.usage) if row.usage else None,
        no_undo=_no_undo(session, row),
        before=_before(session, row),
    )


def _rank(kind: str, text: str) -> int:
    """What is missed least comes last: values, and of them amounts without a name, as `0.1 s`."""
    if kind != FactKind.NUMBER:
        return 0
    return 1 if ":" in text or "=" in text else 2


def _looked(row: Compaction, kept: Sequence[Kept], told: Mapping[str, Any]) -> Looked:
    """In words of its own, by the figures that the row has anyhow."""
    check, ok = told["check"], told["ok"]
    if check in FOUND:
        found = str(FOUND[check][ok])
    elif check == Check.BUDGET_HOLDS:
        facts = {"used": f"{row.used_after or 0:,}", "limit": f"{row.limit or 0:,}"}
        found = gettext("%(used)s of %(limit)s %(unit)s") % {**facts, "unit": unit_word(row.unit)}
    else:
        asked = [one for one in kept if one.kind in ASKED_FOR[check]]
        found = _share(sum(one.kept for one in asked), sum(one.total for one in asked))
    broken = check == Check.HISTORY_LEGAL and not ok
    return Looked(check, ok, found, told["detail"] if broken else "")


def _share(kept: int, total: int) -> str:
    if not total:
        return gettext("there is none")
    facts = {"kept": kept, "total": total, "share": f"{kept / total:.0%}"}
    return gettext("%(kept)s of %(total)s (%(share)s)") % facts


def _no_undo(session: AgentSession, row: Compaction) -> str:
    if wishes.made_by(session) != row.revision:
        return gettext("The list was changed since.")
    return wishes.why_no_undo(session)


def _before(session: AgentSession, row: Compaction) -> str:
    change = session.revisions.filter(number=row.revision or 0).first()
    return f"{change.number - 1}.{change.last_number}" if change else ""
