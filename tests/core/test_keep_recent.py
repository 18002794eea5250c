from __future__ import annotations

from typing import Any

import pytest
from histories import answer, calls, exchange, group, legal_lists, result, system, user
from hypothesis import given, settings
from hypothesis import strategies as st

from agentcore import PRESETS, Profile, Snapshot, compact
from agentcore.compaction.result import CompactionResult, Failure
from agentcore.invariants import check
from agentcore.options import Stage

NANO = PRESETS["nanohermes"]


def keeping(keep: int, **changes: Any) -> Profile:
    return NANO.replace(stages=(Stage("keep_recent", at=1.0, above=True, keep=keep),), **changes)


def to_target(budget: int) -> Profile:
    stage = Stage("keep_recent", at=0.8, keep=10, to_target=True)
    return PRESETS["balanced"].replace(stages=(stage,), budget=budget, unit="bytes")


def numbers(result: CompactionResult) -> list[int]:
    return [message.number for message in result.new.messages]


LONG = "x" * 400


@pytest.mark.parametrize(
    ("values", "keep", "kept"),
    [
        # The cut falls on a user, on an answer, on a call.
        ([answer(LONG), answer(LONG), user("2"), answer(), user("3")], 3, [4, 5, 6]),
        ([answer(LONG), answer(LONG), answer(), user("3")], 2, [4, 5]),
        ([answer(LONG), answer(LONG), *group(1, ["a"]), user("3")], 3, [4, 5, 6]),
        # It falls on a result of an older group: the group goes whole.
        ([answer(LONG), *group(1, [LONG, "b"]), *group(2, ["c"]), user("3")], 4, [6, 7, 8]),
        # It falls on a result of the newest group: the cut moves back to the call.
        ([answer(LONG), answer(LONG), *group(1, ["a", "b", "c"])], 2, [4, 5, 6, 7]),
        ([answer(LONG), answer(LONG), *group(1, ["a", "b"]), user("3")], 2, [4, 5, 6, 7]),
    ],
)
def test_cut_never_falls_inside_a_tool_group(
    values: list[dict[str, Any]], keep: int, kept: list[int]
) -> None:
    done = compact([system(), *values], keeping(keep), force=True)
    note = len(values) + 2
    assert numbers(done) == [1, note, *kept]
    assert done.new.messages[1].text.startswith("[Messages omitted; reference only]\n")


def test_nothing_is_done_at_the_budget_and_below() -> None:
    values = exchange(20)
    size = Snapshot.of(values).sizes.bytes
    assert not compact(values, keeping(10, budget=size)).changed
    assert compact(values, keeping(10, budget=size - 1)).changed


def test_nothing_is_done_with_few_messages_however_large() -> None:
    values = [system(), answer("x" * 90_000), *exchange(4, 40_000)[1:]]
    assert len(values) == 11
    assert compact([*values, answer()], keeping(10)).changed
    done = compact(values, keeping(10))
    assert (done.changed, done.reason) == (False, Failure.NOTHING_TO_COMPACT)


def test_the_question_of_the_moment_stays_however_old() -> None:
    done = compact(exchange(100), keeping(10), force=True)
    assert done.new.messages[2].text == "fix the parser"
    assert len(done.new.messages) == 13


def test_pinned_message_keeps_its_bytes_its_order_and_its_group() -> None:
    values = [system(), user("old"), *group(1, [LONG, LONG]), answer(), *exchange(20)[1:]]
    done = compact(values, keeping(10), frozenset({3}), force=True)
    assert [message.number for message in done.new.messages[2:6]] == [3, 4, 5, 7]
    assert [message.wire for message in done.new.messages[2:5]] == [
        message.wire for message in done.old.messages[2:5]
    ]


def test_an_old_summary_goes_into_the_next_one() -> None:
    first = compact(exchange(100), keeping(10), force=True, summarize=lambda text, max_words: "ONE")
    again = [*first.messages, *exchange(100)[2:]]
    sources: list[str] = []

    def summarize(text: str, *, max_words: int) -> str:
        sources.append(text)
        return "TWO"

    second = compact(again, keeping(10), force=True, summarize=summarize)
    notes = [message.text for message in second.new.messages if message.is_summary]
    assert notes == ["[Earlier summary; reference only]\nTWO"]
    assert "earlier summary: ONE" in sources[0]
    assert "reference only" not in sources[0]


def test_a_standing_summary_alone_is_not_summarized_again() -> None:
    values = [system(), system("[Earlier summary; reference only]\nS" + LONG), user(), answer()]
    done = compact(values, keeping(2), force=True)
    assert (done.changed, done.reason) == (False, Failure.NOTHING_TO_COMPACT)


def test_a_note_larger_than_what_it_stands_for_is_refused() -> None:
    values = [system(), answer("a"), *exchange(5)[1:]]
    done = compact(values, keeping(10), force=True)
    assert (done.changed, done.reason) == (False, Failure.DID_NOT_SHRINK)


def test_to_target_it_goes_on_into_the_tail_until_its_target() -> None:
    profile = to_target(60_000)
    done = compact(exchange(20, 9_000), profile)
    assert done.new.sizes.bytes <= 36_000
    assert done.new.messages[-1].wire == done.old.messages[-1].wire


def test_to_target_it_keeps_the_newest_group_whatever_its_size() -> None:
    profile = to_target(60_000)
    values = exchange(10, 9_000) + group(99, ["y" * 50_000])
    done = compact(values, profile)
    assert numbers(done)[-2:] == [23, 24]
    assert done.changed


def test_parallel_results_over_the_budget_are_not_taken_apart() -> None:
    values = [system(), user(), *group(1, ["x" * 20_000] * 10)]
    done = compact(values, keeping(10))
    assert (done.changed, done.reason) == (False, Failure.NOTHING_TO_COMPACT)


# N's own example of twelve turns: (messages in the turn, bytes of the list after it).
SEED_LEDGER = [
    (3, 4), (3, 12), (4, 26), (4, 38), (6, 52), (4, 64), (6, 78), (6, 96), (6, 118), (6, 132),
    (6, 46), (6, 60),
]  # fmt: skip


def test_the_ledger_of_twelve_turns_has_one_compaction() -> None:
    """spec-compaction 3: one compaction before the 11th request, cumulative input 726,000."""
    values: list[dict[str, Any]] = []
    rows: list[tuple[int, int, int | None]] = []
    born = compactions = after = 0
    for turn, (count, target) in enumerate(SEED_LEDGER, 1):
        done = compact(values, NANO, summarize=lambda text, max_words: "s" * 2_000)
        if done.changed:
            compactions += 1
            values, after = done.messages, done.new.sizes.bytes
            rows[-1] = (*rows[-1][:2], after)
        values += turn_of(turn, count, target * 1_000 - size_of(values))
        born += count
        rows.append((born, size_of(values), None))
    assert [row[0] for row in rows] == [3, 6, 10, 14, 20, 24, 30, 36, 42, 48, 54, 60]
    assert [round(row[1], -3) // 1_000 for row in rows] == [target for _, target in SEED_LEDGER]
    assert (compactions, sum(row[1] for row in rows)) == (1, 726_000)
    assert [turn for turn, row in enumerate(rows, 1) if row[2]] == [10]
    assert after < 46_000


def size_of(values: list[dict[str, Any]]) -> int:
    return Snapshot.of(values).sizes.bytes


def turn_of(turn: int, count: int, size: int) -> list[dict[str, Any]]:
    """A user message where the turn has an odd one out, then groups that fill up to `size`."""
    values: list[dict[str, Any]] = [user(f"step {turn}")] if turn == 1 else []
    pairs = (count - len(values)) // 2
    if (count - len(values)) % 2:
        values.append(answer("next"))
    for pair in range(pairs):
        values += [calls(f"t{turn}_{pair}"), result(f"t{turn}_{pair}", "")]
    room = size - size_of(values)
    share = room // pairs
    for value in values:
        if value["role"] == "tool":
            value["content"] = "x" * share
    values[-1]["content"] += "x" * (room - share * pairs)
    return values


@pytest.mark.parametrize(("results", "over"), [(1, False), (3, True)])
def test_the_seeds_own_numbers_thrash(results: int, over: bool) -> None:
    """Ten kept messages of capped results weigh about the budget: every turn compacts."""
    values = [system("s" * 2_500), user()]
    compacted: list[int] = []
    for turn in range(1, 13):
        done = compact(values, NANO, summarize=lambda text, max_words: "s" * 2_000)
        if done.changed:
            compacted.append(turn)
            values = done.messages
            assert (done.new.sizes.bytes > 120_000) == over
        values += group(turn, ["x" * 19_900] * results)
    assert compacted[-6:] == [7, 8, 9, 10, 11, 12]


@settings(max_examples=300, deadline=None)
@given(legal_lists(least=3), st.integers(1, 12), st.data())
def test_every_rule_holds_on_any_legal_list(
    values: list[dict[str, Any]], keep: int, data: st.DataObject
) -> None:
    pinned = data.draw(st.frozensets(st.integers(0, len(values) - 1), max_size=3))
    target = data.draw(st.booleans())
    profile = to_target(500) if target else keeping(keep)
    summarize = data.draw(st.sampled_from([None, lambda text, max_words: "so far"]))
    done = compact(values, profile, pinned, force=True, summarize=summarize)
    pins = frozenset(done.old.messages[index].number for index in pinned)
    assert done.undo() == values
    if done.changed:
        assert check(done.plan, done.old, done.new, pins) == []
        rows = frozenset(done.new.indexes_of(pins))
        assert not compact(done.new, profile, rows, summarize=summarize).changed
        assert not compact(done.new, profile, rows, force=True, summarize=summarize).changed
    else:
        assert done.reason is not None
