"""Facts of turn 1 after five compactions at a budget of a fifth of the history, without a model."""

from __future__ import annotations

import random
from itertools import permutations
from pathlib import Path

import pytest
from forgetful import parted, recorded
from histories import Value, answer, user
from planted import Planted, chinese, english, unknown, work

from agentcore import PRESETS, Profile, Snapshot, compact
from agentcore.context import Context
from agentcore.invariants import check
from agentcore.ledger import Ledger
from agentcore.messages import Message
from agentcore.options import Direction, Stage

ROUNDS = 5
BUDGET_SHARE = 0.2
SIX = ("snip", "micro", "collapse", "auto", "partial", "last_resort")
BALANCED = PRESETS["balanced"]


def in_order(*names: str, keep: int = 3) -> Profile:
    """The stages in this order, all due at once; a summary without a model is the ledger."""
    return BALANCED.replace(stages=tuple(Stage(name, at=0.8, keep=keep) for name in names))


def orders() -> list[tuple[str, ...]]:
    """Each stage first, each alone that summarizes, and others as they come."""
    rotations = [SIX[place:] + SIX[:place] for place in range(len(SIX))]
    alone = [("auto",), ("partial",), ("last_resort",), ("keep_recent",)]
    others = random.Random(4).sample(list(permutations(SIX)), 6)
    return [*rotations, *alone, *others]


def part(number: int) -> list[Value]:
    """An instruction, 20 turns of work, and an answer: what was said before may leave."""
    return [user(f"Go on with part {number}."), *work(number * 20, 20), answer("Part done.")]


def compacted(planted: Planted, profile: Profile) -> list[list[Message]]:
    """The list after each of the compactions."""
    values = [*planted.first, planted.revision, answer("Noted.")]
    context = Context(Snapshot.of([*values, *part(0), *part(1)], facts=True))
    small = profile.replace(budget=int(context.sizes.bytes * BUDGET_SHARE), unit="bytes")
    lists = []
    for number in range(ROUNDS):
        done = compact(context.snapshot(), small)
        assert done.changed
        assert check(done.plan, done.old, done.new, frozenset()) == []
        context.apply(done.plan)
        lists.append(list(done.new.messages))
        for value in part(number + 2):
            context.append(value)
    return lists


@pytest.mark.parametrize("planted", [english(), chinese()], ids=["english", "chinese"])
@pytest.mark.parametrize("names", orders(), ids=" ".join)
def test_rules_goal_and_paths_are_there_after_five_compactions(
    planted: Planted, names: tuple[str, ...]
) -> None:
    for messages in compacted(planted, in_order(*names)):
        assert unknown([*planted.must_know, planted.holds], messages) == []


@pytest.mark.parametrize("planted", [english(), chinese()], ids=["english", "chinese"])
@pytest.mark.parametrize("names", orders(), ids=" ".join)
def test_a_replaced_value_is_gone_from_the_ledger(planted: Planted, names: tuple[str, ...]) -> None:
    last = compacted(planted, in_order(*names))[-1]
    told = Ledger.of(last).text(10_000)
    assert planted.holds in told and planted.gone not in told


@pytest.mark.parametrize("direction", Direction)
def test_the_direction_of_a_partial_summary_loses_nothing(direction: Direction) -> None:
    stage = Stage("partial", at=0.8, keep=5, direction=direction)
    for messages in compacted(english(), BALANCED.replace(stages=(stage,))):
        assert unknown([*english().must_know, english().holds], messages) == []


@pytest.mark.parametrize("preset", sorted(PRESETS.keys() - {"nanohermes"}))
def test_presets_keep_what_was_planted(preset: str) -> None:
    for messages in compacted(english(), PRESETS[preset]):
        assert unknown([*english().must_know, english().holds], messages) == []


@pytest.mark.parametrize("planted", [english(), chinese()], ids=["english", "chinese"])
@pytest.mark.parametrize("preset", sorted(PRESETS.keys() - {"nanohermes"}))
def test_facts_outlive_five_compactions_of_what_people_really_did(
    shared: Path, planted: Planted, preset: str
) -> None:
    """Recorded sessions behind the first turn, each with rules, values and paths of its own."""
    folder = shared / "transcripts"
    talks = [talk for path in sorted(folder.rglob("*.*")) for talk in recorded(path)]
    assert len(talks) >= 6
    for talk in talks:
        context = Context()
        first = [*planted.first, planted.revision, answer("Noted.")]
        size = Snapshot.of([*first, *talk]).sizes.bytes
        small = PRESETS[preset].replace(budget=int(size * BUDGET_SHARE), unit="bytes", min_gain=0.0)
        for values in ([*first, *parted(talk)[0]], *parted(talk)[1:]):
            for value in values:
                context.append(value)
            done = compact(context.snapshot(), small, force=True)
            if done.changed:
                context.apply(done.plan)
        assert unknown([*planted.must_know, planted.holds], context.messages) == []
        assert planted.gone not in Ledger.of(context.messages).text(100_000)


def test_the_bare_note_of_nanohermes_loses_all_of_it() -> None:
    """What the preset shows honestly: without a model nothing is told of what left."""
    last = compacted(english(), PRESETS["nanohermes"])[-1]
    assert unknown(english().must_know, last) == list(english().must_know)
