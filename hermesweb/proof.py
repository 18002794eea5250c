"""What was looked at after a compaction, as its page says it: checks, and the facts it kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from agentcore.usage import Usage
from hermesweb import wishes
from hermesweb.models import AgentSession, Compaction

LOST_SHOWN = 50


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

    checks: list[Mapping[str, Any]]
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
        return sum(check["ok"] for check in self.checks)


def proof(session: AgentSession, row: Compaction) -> Proof:
    kept = [
        Kept(kind, told["kept"], len(told["lost"]) + told.get("more", 0))
        for kind, told in row.survival.items()
    ]
    facts = [(kind, fact) for kind, told in row.survival.items() for fact in told["lost"]]
    shown = facts[:LOST_SHOWN]
    sources = session.messages.filter(number__in=[fact["number"] for _, fact in shown])
    pinned = set(sources.filter(pinned=True).values_list("number", flat=True))
    alive = set(sources.filter(lives__to_revision=None).values_list("number", flat=True))
    return Proof(
        checks=row.checks,
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


def _no_undo(session: AgentSession, row: Compaction) -> str:
    if wishes.made_by(session) != row.revision:
        return _("The list was changed since.")
    return wishes.why_no_undo(session)


def _before(session: AgentSession, row: Compaction) -> str:
    change = session.revisions.filter(number=row.revision or 0).first()
    return f"{change.number - 1}.{change.last_number}" if change else ""
