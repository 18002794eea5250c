"""Strategies of installed packages; tests/first_line.py is the example to begin from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import first_line
import pytest
from histories import Value, group, system, user

from agentcore import PRESETS, Profile, compact
from agentcore.compaction import strategies
from agentcore.compaction.plan import CompactionPlan, Fate, Removal
from agentcore.compaction.result import Failure
from agentcore.compaction.strategies import STRATEGIES, strategy_names
from agentcore.compaction.strategy import Situation
from agentcore.errors import ProfileError
from agentcore.invariants import check
from agentcore.options import Stage

LONG = "first\n" + "x" * 600


class TakesCallsApart:
    """Drops the first result, without its call and without a note."""

    priority = 1

    def should_trigger(self, situation: Situation) -> bool:
        return True

    def compact(self, situation: Situation) -> CompactionPlan:
        return CompactionPlan(situation.snapshot.state, (Removal(3, 4, Fate.DROPPED, "x"),), ())


class NamesRowsThatAreNotThere(TakesCallsApart):
    def compact(self, situation: Situation) -> CompactionPlan:
        return CompactionPlan(situation.snapshot.state, (Removal(90, 91, Fate.DROPPED, "x"),), ())


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """What an installed package leaves on the path: the names of its entry points."""
    folder = tmp_path / "first_line-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: first-line\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(
        "[agentcore.strategies]\n"
        "first_line = first_line:FirstLine\n"
        f"apart = {__name__}:TakesCallsApart\n"
        f"beyond = {__name__}:NamesRowsThatAreNotThere\n"
        "absent = first_line:NoSuchClass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    strategies._installed.cache_clear()


def of(*names: str) -> Profile:
    stages = tuple(Stage(name, at=0.5) for name in names)
    return PRESETS["balanced"].replace(stages=stages, budget=1_000, unit="bytes", target=0.1)


def values() -> list[Value]:
    return [system(), user(), *(one for place in range(4) for one in group(place, [LONG]))]


def test_a_strategy_of_an_installed_package_is_used_by_its_name(installed: Path) -> None:
    assert strategy_names() == [*STRATEGIES, "absent", "apart", "beyond", first_line.NAME]
    done = compact(values(), of(first_line.NAME))
    assert [stage.stage for stage in done.stages] == [first_line.NAME]
    texts = [message.text for message in done.new.messages if message.role == "tool"]
    assert texts == ["first\n[the rest left the context]"] * 3 + [LONG]
    assert check(done.plan, done.old, done.new, frozenset()) == []
    assert not compact(done.new, of(first_line.NAME)).changed


def test_a_pin_is_spared_by_a_strategy_of_a_package(installed: Path) -> None:
    done = compact(values(), of(first_line.NAME), frozenset([3]))
    assert done.new.messages[3] == done.old.messages[3]


@pytest.mark.parametrize("name", ["apart", "beyond"])
def test_a_stage_that_breaks_a_rule_is_rolled_back_and_the_next_goes_on(
    installed: Path, name: str
) -> None:
    alone = compact(values(), of(name))
    assert (alone.changed, alone.reason) == (False, Failure.INVARIANT)
    done = compact(values(), of(name, first_line.NAME))
    assert [stage.stage for stage in done.stages] == [first_line.NAME]


def test_a_strategy_that_cannot_be_loaded_is_named(installed: Path) -> None:
    with pytest.raises(ProfileError, match="'absent' .*cannot be loaded.*NoSuchClass"):
        compact(values(), of("absent"))


def test_an_unknown_strategy_is_refused_with_those_there_are(installed: Path) -> None:
    with pytest.raises(ProfileError, match="unknown strategy 'magic'.*first_line"):
        compact(values(), of("magic"))
