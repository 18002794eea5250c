"""From a tape to a recording: every message numbered and measured once, totals kept as it grows."""

from __future__ import annotations

from typing import Any

from agentcore.breakdown import NOTHING, total
from agentcore.compaction.plan import Revision, runs_of
from agentcore.errors import MessageError, WireError
from agentcore.messages import Message, born
from agentcore.redact import masked_start
from agentcore.said import Said
from agentcore.snapshot import PLACES_A_NUMBER, State
from agentcore.transcripts.base import (
    ChangeKind,
    Format,
    ProblemKind,
    RecordedCompaction,
    RecordedRevision,
    RecordedTurn,
    Recording,
)
from agentcore.transcripts.pairing import pairing_problems
from agentcore.transcripts.tape import Change, Draft, Tape, TurnDraft

TITLE_CHARS = 80
COMPACTIONS = frozenset({ChangeKind.COMPACTION, ChangeKind.MICROCOMPACTION})


def write(
    tape: Tape,
    format: Format,
    *,
    model: str = "",
    tools: tuple[dict[str, Any], ...] = (),
    subagents: tuple[Recording, ...] = (),
) -> Recording:
    """The recording of a tape. A draft that is no message is told and left out."""
    writing = _Writing(tape)
    for step in tape.steps:
        if isinstance(step, Draft):
            writing.message(step)
        else:
            writing.change(step)
    messages = tuple(writing.messages)
    tape.problems.extend(pairing_problems(tape.steps))
    return Recording(
        format,
        title=tape.title or _first_instruction(messages),
        model=next((turn.model for turn in reversed(writing.turns) if turn.model), model),
        started=next((at for at in writing.times if at), None),
        messages=messages,
        times=tuple(writing.times),
        revisions=tuple(writing.revisions),
        turns=tuple(writing.turns),
        compactions=tuple(writing.compactions),
        problems=tuple(sorted(tape.problems, key=lambda problem: problem.line or 0)),
        skipped=tuple(sorted(tape.skipped.items())),
        tools=tools,
        subagents=subagents,
        call_id=tape.call_id,
    )


class _Writing:
    """`sizes` are those of the list in force; messages of a change count from the change on."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._born = {
            draft for step in tape.steps if isinstance(step, Change) for draft in step.born
        }
        self._turn_rows: dict[TurnDraft, int] = {}
        self._places: dict[Draft, int] = {}
        self._sizes = NOTHING
        self.messages: list[Message] = []
        self.times: list[str | None] = []
        self.turns: list[RecordedTurn] = []
        self.revisions: list[RecordedRevision] = []
        self.compactions: list[RecordedCompaction] = []

    @property
    def _state(self) -> State:
        return State(len(self.revisions), len(self.messages))

    def message(self, draft: Draft) -> None:
        before = self._state
        message = self._written(draft)
        if message is None:
            return
        draft.message = message
        self.messages.append(message)
        self.times.append(draft.at)
        self._places[draft] = self._place(draft, message.number)
        if draft not in self._born:
            self._sizes = self._sizes + message.sizes
        if draft.turn:
            self._turn(draft.turn, message.number, before)

    def change(self, change: Change) -> None:
        before = self._sizes.bytes
        ended = [draft.message for draft in change.ended if draft.message]
        begun = [(draft.message, self._places[draft]) for draft in change.begun if draft.message]
        gone = total(message.sizes for message in ended)
        come = total(message.sizes for message, _ in begun)
        self._sizes = self._sizes - gone + come
        if ended or begun:
            number = len(self.revisions) + 1
            numbers = tuple(message.number for message in ended)
            revision = Revision(number, numbers, tuple(begun), len(self.messages))
            self.revisions.append(
                RecordedRevision(revision, change.kind, len(self.turns), change.at)
            )
        if change.kind in COMPACTIONS:
            self._compaction(change, before, bool(ended or begun))

    def _written(self, draft: Draft) -> Message | None:
        number = len(self.messages) + 1
        replaced = draft.replaces.message if draft.replaces else None
        gone = [one.message.number for one in draft.stands_for if one.message]
        try:
            _check_parts(draft.value.get("content"))
            message = born(
                draft.value,
                mark=draft.mark,
                tool=draft.tool,
                status=draft.status,
                replaces=replaced.number if replaced else None,
                stands_for=runs_of(gone),
            )
        except (MessageError, WireError, RecursionError) as error:
            self._tape.problem(draft.line, ProblemKind.BAD_MESSAGE, str(error))
            return None
        return message.numbered(number)

    def _place(self, draft: Draft, number: int) -> int:
        if draft.place is None:
            return number * PLACES_A_NUMBER
        beside, offset = draft.place
        return (self._places.get(beside, 0) if beside else 0) + offset

    def _turn(self, draft: TurnDraft, number: int, before: State) -> None:
        row = self._turn_rows.setdefault(draft, len(self.turns))
        known = self.turns[row] if row < len(self.turns) else None
        turn = RecordedTurn(
            row + 1,
            draft.response_id,
            draft.model,
            draft.usage,
            draft.status,
            draft.at,
            first=known.first if known else number,
            last=number,
            requested=known.requested if known else before,
            ended=self._state,
            sizes=self._sizes,
        )
        self.turns[row : row + 1] = [turn]

    def _compaction(self, change: Change, before: int, changed: bool) -> None:
        self.compactions.append(
            RecordedCompaction(
                len(self.turns),
                change.kind,
                before,
                self._sizes.bytes,
                change.asked_by,
                change.tokens_before,
                len(self.revisions) if changed else None,
                change.at,
            )
        )


def _check_parts(content: Any) -> None:
    """What reads parts goes by their type."""
    for part in content if isinstance(content, list) else []:
        kind = part.get("type") if isinstance(part, dict) else None
        if not isinstance(kind, str | None):
            name = type(kind).__name__
            raise MessageError(Said("the type of a part is a name, not {kind}", kind=name))


def _first_instruction(messages: tuple[Message, ...]) -> str:
    """The first line of the first one; one in angle brackets only when there is no other."""
    texts = (message.text.strip() for message in messages if message.is_instruction)
    lines = [masked_start(text.splitlines()[0], TITLE_CHARS) for text in texts if text]
    return next((line for line in lines if not line.startswith("<")), next(iter(lines), ""))
