"""Acts on many messages: by their numbers, or by a filter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, TypeAlias

from ninja import Router, Status
from pydantic import Field

from agentcore.breakdown import Category
from hermesweb import acts
from hermesweb.access import session_or_404
from hermesweb.api.instructions import ticket
from hermesweb.api.messages import Pin, pinned
from hermesweb.api.strict import Body
from hermesweb.bulk import Refused, Selection, selection
from hermesweb.http import SignedIn
from hermesweb.listing import FATES, Choice
from hermesweb.models import AgentSession
from hermesweb.shown import storable

router = Router(tags=["messages"])

MOST_AT_ONCE = 1_000
MOST_NUMBER = 10**9

Number: TypeAlias = Annotated[int, Field(ge=0, le=MOST_NUMBER)]
Text: TypeAlias = Annotated[str, Field(max_length=200)]


class Where(Body):
    """What all of the messages have: a part of that category, that tool, so many bytes at least,
    `q` in tool, path, command or the beginning of the text. `fate`: of those that left the list by
    it; else of those that are in it."""

    category: Text = ""
    tool: Text = ""
    fate: Text = ""
    size: int = Field(default=0, ge=0, le=MOST_NUMBER)
    q: Text = ""

    def of(self, session: AgentSession) -> Selection:
        for name, known in (("category", list(Category)), ("fate", list(FATES))):
            if (value := getattr(self, name)) and value not in known:
                raise acts.Invalid(f"{name} is one of {', '.join(known)}, not {value!r}", name)
        q = storable(self.q)
        choice = Choice(category=self.category, q=q, fate=self.fate, size=self.size)
        return selection(session, choice, storable(self.tool))


class Many(Body):
    """Either `numbers` or `where`; with `preview`, which goes with `where`, nothing is done."""

    numbers: list[Number] = Field(default=[], max_length=MOST_AT_ONCE)
    where: Where | None = None
    preview: bool = False

    def chosen(self, session: AgentSession) -> Selection | None:
        """None for numbers. Raises Invalid."""
        if bool(self.numbers) == (self.where is not None):
            raise acts.Invalid("give numbers, at least one, or where", "numbers")
        if self.where is None and self.preview:
            raise acts.Invalid("a preview is of where: numbers are known already", "preview")
        return self.where.of(session) if self.where else None


class ManyPins(Pin, Many):
    pass


@router.put("/sessions/{id}/messages/pin")
def pin_many(request: SignedIn, id: str, body: ManyPins) -> dict[str, Any]:
    """All or, where nothing else would fit beside them, none. Of `where` those that are not pinned
    yet."""
    session = session_or_404(request.user, id)
    chosen = body.chosen(session)
    if chosen and body.preview:
        return _shown(chosen)
    numbers = set(chosen.unpinned.numbers if chosen else body.numbers)
    acts.pin(request.user, session, numbers, reason=body.reason, until=body.until)
    return pinned(session, sorted(numbers), pinned=True)


@router.delete("/sessions/{id}/messages/pin")
def unpin_many(request: SignedIn, id: str, body: Many) -> dict[str, Any]:
    """Of `where` those that are pinned."""
    session = session_or_404(request.user, id)
    chosen = body.chosen(session)
    if chosen and body.preview:
        return _shown(chosen)
    numbers = set(chosen.pinned.numbers if chosen else body.numbers)
    acts.unpin(request.user, session, numbers)
    return pinned(session, sorted(numbers), pinned=False)


@router.put("/sessions/{id}/messages/excluded", response={200: Any, 202: Any})
def exclude_many(request: SignedIn, id: str, body: Many) -> Status[dict[str, Any]]:
    """One revision. Of `where` those that may leave: `refused` names the others. Of `numbers` all,
    or none where one of them has to stay."""
    session = session_or_404(request.user, id)
    chosen = body.chosen(session)
    if chosen and body.preview:
        return Status(200, _shown(chosen))
    numbers = set(chosen.leaving.numbers if chosen else body.numbers)
    queued = acts.exclude(request.user, session, numbers)
    return Status(202, {**ticket(session, queued), **(_shown(chosen) if chosen else {})})


@router.post("/sessions/{id}/messages/restore", response={200: Any, 202: Any})
def restore_many(request: SignedIn, id: str, body: Many) -> Status[dict[str, Any]]:
    """Brings them back with their groups, in one revision; `where` names a `fate`."""
    session = session_or_404(request.user, id)
    chosen = body.chosen(session)
    if chosen and body.preview:
        return Status(200, _shown(chosen))
    numbers = set(chosen.found.numbers if chosen else body.numbers)
    return Status(202, ticket(session, acts.restore(request.user, session, numbers)))


def _shown(chosen: Selection) -> dict[str, Any]:
    """Numbers, and bytes of their messages; `freed` is what the list would lose."""
    return {
        "found": chosen.found.numbers,
        "bytes": chosen.found.size,
        "pinned": chosen.pinned.numbers,
        "in_list": not chosen.gone,
        "leaving": chosen.leaving.numbers,
        "freed": chosen.freed,
        "notes": chosen.notes,
        "refused": _refused(chosen.refused),
    }


def _refused(refused: Sequence[Refused]) -> list[dict[str, Any]]:
    return [
        {"reason": one.reason, "numbers": one.found.numbers, "bytes": one.found.size}
        for one in refused
    ]
