from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from histories import Value, answer, exchange, group, legal_lists, system, user
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded import answered, boundary, call, load, replied, said, text

from agentcore import PRESETS, Profile, Snapshot
from agentcore.compaction.compact import compact
from agentcore.errors import TranscriptError
from agentcore.facts import FactKind
from agentcore.invariants import check
from agentcore.messages import Role
from agentcore.simulate import Simulation, simulate
from agentcore.transcripts import Recording, load_all

NANO = PRESETS["nanohermes"]
# N's own example of twelve turns: (messages born in the turn, thousands of bytes after it).
SEED_LEDGER = [
    (3, 4), (3, 12), (4, 26), (4, 38), (6, 52), (4, 64), (6, 78), (6, 96), (6, 118), (6, 132),
    (6, 46), (6, 60),
]  # fmt: skip


def summary(words: str, *, max_words: int) -> str:
    return "s" * 2_000


def size_of(values: list[Value]) -> int:
    return Snapshot.of(values).sizes.bytes


def turn_of(turn: int, count: int, size: int) -> list[Value]:
    """A reply with its results, in the first turn after an instruction, of `size` bytes."""
    asked = [user("fix it")] if turn == 1 else []
    bare = [*asked, *group(turn, [""] * (count - len(asked) - 1))]
    share, rest = divmod(size - size_of(bare), count - len(asked) - 1)
    made = [*asked, *group(turn, ["x" * share] * (count - len(asked) - 1))]
    made[-1]["content"] += "x" * rest
    return made


def seed_session() -> list[Value]:
    values: list[Value] = [system("s" * 2_000)]
    for turn, (count, thousands) in enumerate(SEED_LEDGER[:10], 1):
        values += turn_of(turn, count, thousands * 1_000 - size_of(values))
    after = compact(values, NANO, summarize=summary).new.sizes.bytes
    values += turn_of(11, 6, 46_000 - after)
    return values + turn_of(12, 6, 14_000)


def test_the_seeds_ledger_of_twelve_turns_comes_out_of_a_replay() -> None:
    done = simulate(seed_session(), NANO, summarize=summary)
    assert [point.bytes for point in done.series] == [kb * 1_000 for _, kb in SEED_LEDGER]
    assert [point.turn for point in done.series if point.action] == [10]
    assert (done.compactions, done.cumulative_input, done.peak) == (1, 726_000, 132_000)
    assert done.floor is not None and done.floor < 46_000 and not done.thrash


@pytest.mark.parametrize(("results", "over"), [(1, False), (3, True)])
def test_the_seeds_own_numbers_thrash_in_a_replay(results: int, over: bool) -> None:
    values = [system("s" * 2_500), user()]
    for turn in range(1, 13):
        values += group(turn, ["x" * 19_900] * results)
    done = simulate([*values, answer()], NANO, summarize=summary)
    compacted = [point.turn for point in done.series if point.action]
    assert compacted[-6:] == [7, 8, 9, 10, 11, 12] and done.thrash
    assert done.floor is not None and (done.floor > 120_000) == over


def test_a_roomy_profile_compacts_nothing_and_finds_all_of_the_prefix_again() -> None:
    done = simulate(exchange(6), PRESETS["balanced"])
    sizes = [point.bytes for point in done.series]
    first_request = size_of(exchange(0))
    assert (done.compactions, done.floor, done.thrash) == (0, None, False)
    assert sizes[-1] == done.peak == size_of(exchange(6))
    assert done.cached_input == first_request + sum(sizes[:-2])
    assert all(not kept.lost for kept in done.survival.values())


def test_a_compaction_costs_the_prefix_behind_it() -> None:
    small = PRESETS["balanced"].replace(budget=12_000, unit="bytes")
    roomy, tight = simulate(exchange(30), PRESETS["balanced"]), simulate(exchange(30), small)
    assert tight.compactions and tight.peak < roomy.peak
    lost = roomy.cumulative_input - roomy.cached_input, tight.cumulative_input - tight.cached_input
    assert lost[0] < lost[1]


def recorded(*behind: Any) -> Recording:
    """Two turns, a recorded compaction, and a third one."""
    return load(
        said("u1", None, "never touch the live table"),
        replied("a1", "u1", "m1", call("c1", file_path="src/a.py")),
        answered("r1", "a1", ("c1", "x" * 9_000)),
        replied("a2", "r1", "m2", text("two")),
        boundary("b1"),
        said("s1", "b1", "all of it", isCompactSummary=True),
        said("u3", "s1", "go on"),
        replied("a3", "u3", "m3", text("three")),
        *behind,
    )


def test_what_a_recording_compacted_is_taken_back() -> None:
    session = recorded()
    done = simulate(session, PRESETS["balanced"])
    told = [one for one in session.messages if not one.is_summary]
    assert done.series[-1].bytes == sum(one.sizes.bytes for one in told)
    assert [point.turn for point in done.series] == [turn.number for turn in session.turns]


def test_summaries_of_a_replay_go_back_to_the_originals_as_those_of_a_run() -> None:
    asked: list[str] = []

    def summarize(text: str, *, max_words: int) -> str:
        asked.append(text)
        return "so far"

    small = PRESETS["recall"].replace(budget=8_000, unit="bytes")
    simulate(exchange(30), small, summarize=summarize)
    assert len(asked) > 1 and asked[-1].startswith("facts so far: ")
    assert asked[-1].count("result of read_file") > 2 * asked[0].count("result of read_file")


def test_what_was_never_answered_is_in_no_turn() -> None:
    values = exchange(2)
    assert simulate([*values, user("still there?")], NANO) == simulate(values, NANO)
    assert simulate([system(), user()], NANO).series == ()


def test_lost_facts_name_the_messages_of_the_recording() -> None:
    tight = NANO.replace(budget=10_000)
    done = simulate(recorded(), tight.replace(stages=tight.stages[:1], budget=9_000))
    known = done.survival[FactKind.CONSTRAINT]
    assert known.total == 1
    assert {fact.number for kept in done.survival.values() for fact in kept.lost} <= {1, 2, 3, 4}


def test_a_broken_list_is_repaired_before_it_is_replayed() -> None:
    values = exchange(3)
    del values[-1]
    done = simulate(values, NANO)
    assert len(done.series) == 3 and done.peak > size_of(values)


@settings(max_examples=120, deadline=None)
@given(legal_lists(least=4), st.sampled_from(sorted(PRESETS)), st.integers(300, 4_000))
def test_no_rule_is_broken_in_a_replay(values: list[Value], preset: str, budget: int) -> None:
    profile = PRESETS[preset].replace(budget=budget, unit="bytes", min_gain=0.0)
    must_hold(simulate(values, profile))


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_every_recording_runs_under_every_preset(
    shared: Path, capsys: pytest.CaptureFixture[str], preset: str
) -> None:
    lines = []
    for path in sorted((shared / "transcripts").rglob("*.*")):
        for session in _recordings(path):
            for profile in (PRESETS[preset], PRESETS[preset].replace(budget=40_000, unit="bytes")):
                done = simulate(session, profile)
                must_hold(done)
                replies = any(one.role is Role.ASSISTANT for one in session.messages)
                assert bool(done.series) is replies
                lines.append(_line(path, profile, done))
    assert len(lines) > 40
    with capsys.disabled():
        print(f"\n{preset}, as it is and at 40,000 bytes\n" + "\n".join(lines))


def must_hold(done: Simulation) -> None:
    for result in done.results:
        assert check(result.plan, result.old, result.new, frozenset()) == []
    assert done.cached_input <= done.cumulative_input
    assert done.peak == max((point.bytes for point in done.series), default=0)


def _recordings(path: Path) -> tuple[Recording, ...]:
    try:
        return load_all(path)
    except TranscriptError as error:
        assert re.match("no reader knows|neither JSON nor JSONL|cannot be read: Is a", str(error))
        return ()


def _line(path: Path, profile: Profile, done: Simulation) -> str:
    return (
        f"{path.stem[:34]:34} {profile.budget or 'window':>7} {len(done.series):4} turns"
        f" {done.peak:9,} peak {done.compactions:3} compactions {done.floor or 0:8,} floor"
        f" {done.cumulative_input:11,} input {done.cached_input:11,} cached"
        f"{' thrash' if done.thrash else ''}"
    )
