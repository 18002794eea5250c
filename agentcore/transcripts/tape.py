"""What a reader writes while it goes through a recording: messages, turns and changes of the list
in the order of the talk. Numbers, places and sizes are given at the end, in `writing`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from agentcore.breakdown import Mark
from agentcore.errors import TranscriptError
from agentcore.messages import Message, ToolStatus
from agentcore.said import Said
from agentcore.transcripts.base import ChangeKind, Problem, ProblemKind, TurnStatus
from agentcore.usage import Usage

# A list that changes at each record comes to work, and to lives, that grow with the square of the
# file: no recording seen needs a hundredth of these.
MOST_WORK, MOST_MOVED = 20_000_000, 500_000


@dataclass(slots=True, eq=False)
class TurnDraft:
    response_id: str | None = None
    model: str = ""
    usage: Usage | None = None
    status: TurnStatus = TurnStatus.OK
    at: str | None = None


@dataclass(slots=True, eq=False)
class Draft:
    """A message to be. `owner`: the one it stands or falls with, as a result with its call;
    `parent`: the one it was said after; `stands_in`: what holds its place after it was replaced.
    `place`: at or right behind which draft it stands (None: in front), when not as born."""

    value: dict[str, Any]
    line: int | None = None
    at: str | None = None
    mark: Mark | None = None
    tool: str | None = None
    status: ToolStatus | None = None
    turn: TurnDraft | None = None
    owner: Draft | None = None
    parent: Draft | None = None
    stands_in: Draft | None = None
    replaces: Draft | None = None
    stands_for: Sequence[Draft] = ()
    place: tuple[Draft | None, int] | None = None
    live: bool = False
    known: bool = False
    message: Message | None = None

    @property
    def current(self) -> Draft:
        draft = self
        while draft.stands_in:
            draft = draft.stands_in
        return draft


@dataclass(slots=True, eq=False)
class Change:
    """`born` are the drafts among `begun` that were not there before."""

    kind: ChangeKind
    ended: list[Draft]
    begun: list[Draft]
    born: list[Draft]
    at: str | None = None
    asked_by: str = ""
    tokens_before: int | None = None


Step: TypeAlias = Draft | Change


@dataclass(slots=True, eq=False)
class Tape:
    """`live` is the list in force, `steps` all that happened; `work` counts what was looked at to
    change the list, `moved` what came into it or left it by changes."""

    steps: list[Step] = field(default_factory=list)
    live: list[Draft] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    title: str = ""
    call_id: str | None = None
    work: int = 0
    moved: int = 0

    @property
    def tip(self) -> Draft | None:
        return self.live[-1] if self.live else None

    @property
    def is_empty(self) -> bool:
        return not self.steps

    @property
    def first(self) -> Draft | None:
        return next((step for step in self.steps if isinstance(step, Draft)), None)

    def append(self, draft: Draft) -> Draft:
        draft.live = draft.known = True
        self.steps.append(draft)
        self.live.append(draft)
        return draft

    def insert(self, draft: Draft, behind: Draft) -> Draft:
        """Put the draft behind one that is live, with the number it would have had there, unless
        the list was changed since that one was born."""
        draft.live = draft.known = True
        self.live.insert(_index(self.live, behind) + 1, draft)
        index = last = len(self.steps)
        while isinstance(self.steps[index - 1], Draft) and self.steps[index - 1] is not behind:
            index -= 1
        self.spend(last - index)
        if isinstance(self.steps[index - 1], Change):
            draft.place = (behind, 1)
            index = len(self.steps)
        self.steps.insert(index, draft)
        return draft

    def rewrite(
        self,
        kind: ChangeKind,
        after: Sequence[Draft],
        *,
        at: str | None = None,
        asked_by: str = "",
        tokens_before: int | None = None,
    ) -> None:
        """The list becomes `after`: what is not in it ends, what was not live begins."""
        self.spend(len(self.live) + len(after))
        kept = set(after)
        ended = [draft for draft in self.live if draft not in kept]
        begun = [draft for draft in after if not draft.live]
        born = [draft for draft in begun if not draft.known]
        self.moved += len(ended) + len(begun)
        for draft in ended:
            draft.live = False
        for draft in begun:
            draft.live = draft.known = True
        self.steps.extend(born)
        self.steps.append(Change(kind, ended, begun, born, at, asked_by, tokens_before))
        self.live = list(after)

    def spend(self, work: int) -> None:
        """Raises TranscriptError for a recording that jumps about more than can be followed."""
        self.work += work
        if self.work > MOST_WORK or self.moved > MOST_MOVED:
            said = Said(
                "it jumps between branches too often to be followed ({count:,} messages put in "
                "and taken out): import a part of it",
                count=self.moved,
            )
            raise TranscriptError(said)

    def problem(self, line: int | None, kind: ProblemKind, detail: str) -> None:
        self.problems.append(Problem(line, kind, detail))


def _index(drafts: Sequence[Draft], draft: Draft) -> int:
    """Where the draft is, looked for from the end."""
    return next(index for index in range(len(drafts) - 1, -1, -1) if drafts[index] is draft)
