"""Five compactions in a row, their summaries written by a stand-in for a model that forgets."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from histories import Value, answer, user
from planted import Planted, unknown, work

from agentcore import PRESETS, Snapshot
from agentcore.compaction.compact import pressure_of
from agentcore.compaction.pipeline import Pipeline, run_pipeline
from agentcore.compaction.plan import apply_plan
from agentcore.compaction.repair import repair
from agentcore.compaction.result import CompactionResult, Trigger, WrittenSummary
from agentcore.compaction.summarizer import HEADINGS, SummaryRequest, accept, count_words
from agentcore.context import Context
from agentcore.errors import AgentcoreError
from agentcore.messages import Message, MessageLike, Role, born
from agentcore.options import Stage, SummaryOptions, SummarySource
from agentcore.transcripts import load_all

ROUNDS = 5
SHORT, STRUCTURED = Stage("keep_recent", keep=10), Stage("auto", keep=3)
# A structured summary has room for far more than a model writes.
STRUCTURED_CHARS = 6_000
# The longest sentence that is written, and the room that facts and earlier summaries may take.
SENTENCE_CHARS, HEADS_SHARE = 300, 2 / 3
OPENING = "So far:"
# A recording with fewer messages cannot be compacted five times.
FEWEST = 60
# Who is heard first, behind facts and earlier summaries.
SPEAKERS = ("user", "assistant")
_OWN = frozenset({*HEADINGS, OPENING})
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n")


@dataclass(frozen=True)
class _Sentence:
    text: str
    place: int
    draw: float
    rank: int


@dataclass
class Forgetful:
    """Reads sentence by sentence and takes up a `share` of them, each by a draw of its own (of
    `seed`, the round and the place), so that what stands there twice has two chances. Of what it
    took up it writes what has room: facts and earlier summaries from the front, in at most two
    thirds of it, then what people said, then agents, then what tools returned, each as the draw
    has it. It writes sentences as they stand and invents none. A real model paraphrases, weighs and
    errs in ways of its own: what comes out compares two inputs and tells nothing of a model."""

    share: float
    seed: int
    requests: list[tuple[int, int]] = field(default_factory=list)

    def write(self, request: SummaryRequest) -> WrittenSummary:
        """Its tokens, asked and written, by the estimate by script, go to `requests`."""
        opening = "\n".join(HEADINGS) if request.structured else OPENING
        page = _Page(opening, request)
        read = self._taken_up(request)
        heads = [one for one in read if one.place < request.heads]
        page.write(heads, share=HEADS_SHARE)
        page.write(sorted(read, key=lambda one: (one.rank, one.draw)))
        accepted = accept(page.text, False, request)
        assert isinstance(accepted, str), accepted
        asked = sum(one.sizes.tokens for one in request.messages())
        wrote = born({"role": "assistant", "content": accepted}).sizes.tokens
        self.requests.append((asked, wrote))
        return WrittenSummary(accepted)

    def _taken_up(self, request: SummaryRequest) -> list[_Sentence]:
        found: list[_Sentence] = []
        for place, line in enumerate(request.lines):
            who, _, said = line.partition(": ")
            rank = SPEAKERS.index(who) if who in SPEAKERS else len(SPEAKERS)
            for text in filter(None, map(_bare, _SENTENCE.split(said))):
                draw = self._draw(place, text)
                if text not in _OWN and draw < self.share:
                    found.append(_Sentence(text[:SENTENCE_CHARS], place, draw, rank))
        return found

    def _draw(self, place: int, sentence: str) -> float:
        told = f"{self.seed}/{len(self.requests)}/{place}/{sentence}".encode()
        return int.from_bytes(hashlib.sha256(told).digest()[:4], "big") / 2**32


class _Page:
    """Sentences, each once, as many as have room, in the order in which they were read."""

    def __init__(self, opening: str, request: SummaryRequest) -> None:
        options = request.options
        self._opening = opening
        self._chars = (STRUCTURED_CHARS if request.structured else options.chars) - len(opening)
        self._words = self._chars if request.structured else options.words - count_words(opening)
        self._placed: dict[str, int] = {}

    def write(self, sentences: Sequence[_Sentence], share: float = 1.0) -> None:
        words, chars = self._words * (1 - share), self._chars * (1 - share)
        for one in sentences:
            left = self._words - count_words(one.text), self._chars - len(one.text) - 1
            if one.text not in self._placed and left[0] >= words and left[1] >= chars:
                self._words, self._chars = left
                self._placed[one.text] = one.place

    @property
    def text(self) -> str:
        return "\n".join([self._opening, *sorted(self._placed, key=self._placed.__getitem__)])


@dataclass(frozen=True)
class Session:
    """Facts in its first turn, and what follows in parts."""

    name: str
    planted: Planted
    parts: tuple[Sequence[MessageLike], ...]


@dataclass(frozen=True)
class Outcome:
    """How many of the planted facts the list at the end tells; tokens of all requests and answers;
    messages that had no room in a request."""

    known: int
    planted: int
    asked: int
    wrote: int
    left_out: int


def compacted(session: Session, stage: Stage, source: SummarySource, model: Forgetful) -> Outcome:
    """The session with a compaction by hand after each part."""
    profile = PRESETS["balanced"].replace(stages=(stage,), summary=SummaryOptions(source=source))
    context, archive, left_out = Context(), dict[int, Message](), 0
    first = [*session.planted.first, session.planted.revision, answer("Noted.")]
    for part in ([*first, *session.parts[0]], *session.parts[1:]):
        for value in part:
            message = context.append(value)
            archive[message.number] = message
        run = run_pipeline(
            context.snapshot(),
            profile,
            pressure_of=pressure_of(profile),
            trigger=Trigger.MANUAL,
            originals=archive if source is SummarySource.ARCHIVE else None,
        )
        result = _answered(run, model)
        left_out += result.left_out
        if result.changed:  # Not so where its summary was larger than a small part.
            revision = context.apply(result.plan)
            archive |= {message.number: message for message, _ in revision.begun}
    facts = [*session.planted.must_know, session.planted.holds]
    lost = unknown(facts, context.messages)
    asked, wrote = (sum(column) for column in zip(*model.requests, strict=True))
    return Outcome(len(facts) - len(lost), len(facts), asked, wrote, left_out)


def working(part: int) -> list[Value]:
    """An instruction, 20 turns of work that tell nothing, and an answer."""
    return [user(f"Go on with part {part}."), *work(part * 20, 20), answer("Part done.")]


def talking(part: int) -> list[Value]:
    """Talk in which every turn has rules, decisions and values of its own."""
    values: list[Value] = []
    for turn in range(part * 15, part * 15 + 15):
        rule = f"Module m{turn} must not import module m{turn + 1}. Its port is {8000 + turn}."
        values += [
            user(f"Now take module m{turn}. {rule}"),
            *work(1_000 + turn, 1, 400),
            answer(f"I decided to give m{turn} a queue. Next step: test module m{turn}."),
        ]
    return values


def reading(part: int) -> list[Value]:
    """More in each part than a summary is made from."""
    return [user(f"Read part {part}."), *work(part * 120, 120, 3_000), answer("Read.")]


def generated(talk: str, planted: Planted, name: str = "") -> Session:
    talks = {"work": working, "talk": talking, "reading": reading}
    return Session(name or talk, planted, tuple(map(talks[talk], range(ROUNDS))))


def recorded(path: Path) -> Iterator[Sequence[Message]]:
    """The talk of each recording that is long enough; none of a file that no reader knows."""
    try:
        recordings = load_all(path)
    except AgentcoreError:
        return
    for recording in recordings:
        said = [one for one in recording.messages if not one.is_summary and one.replaces is None]
        whole = Snapshot.of(said)
        plan, _ = repair(whole)
        messages = apply_plan(plan, whole)[0].messages[whole.leading :]
        if len(messages) >= FEWEST:
            yield messages


def parted(messages: Sequence[Message]) -> tuple[Sequence[Message], ...]:
    """About as many messages in each part; no result is parted from its call."""
    cuts = [0]
    for part in range(1, ROUNDS):
        row = len(messages) * part // ROUNDS
        while messages[row].role is Role.TOOL:
            row += 1
        cuts.append(row)
    return tuple(messages[start:stop] for start, stop in pairwise([*cuts, len(messages)]))


def _answered(run: Pipeline, model: Forgetful) -> CompactionResult:
    try:
        request = next(run)
        while True:
            request = run.send(model.write(request))
    except StopIteration as stop:
        result: CompactionResult = stop.value
        return result


def _bare(sentence: str) -> str:
    return sentence.strip().removeprefix("- ")
