from __future__ import annotations

import pytest

from hermesweb.forecast import FARTHEST, Burst, Growth, Point, burst, growth, turns_to_compaction


@pytest.mark.parametrize(
    ("used", "turns"),
    [
        ([10, 20, 30], 5),
        ([10, 20, 31], 5),
        ([0, 70, 71, 72, 73, 74, 75, 76, 77], 3),
        ([10, 80], 0),
        ([90], 0),
        ([10, 20], None),
        ([30, 30, 30], None),
        ([40, 30, 20], None),
        ([], None),
    ],
)
def test_the_pace_of_the_newest_turns_says_when(used: list[int], turns: int | None) -> None:
    assert turns_to_compaction(used, 80) == turns


def test_what_lies_far_ahead_is_not_forecast() -> None:
    assert turns_to_compaction([1, 2, 3], 3 + FARTHEST) == FARTHEST
    assert turns_to_compaction([1, 2, 3], 4 + FARTHEST) is None


def points(*rows: tuple[int, int]) -> list[Point]:
    """Of (user, tool_results) in bytes after each turn; used is half of it."""
    return [
        Point(turn, (user + results) // 2, {"user": user, "tool_results": results})
        for turn, (user, results) in enumerate(rows, 1)
    ]


def test_growth_is_shared_out_by_what_grew() -> None:
    found = growth(points((100, 0), (110, 90), (120, 180)))
    assert found == [Growth("tool_results", 45, 0.9), Growth("user", 5, 0.1)]


def test_what_shrank_is_left_out_and_without_growth_there_is_none() -> None:
    assert [one.category for one in growth(points((100, 0), (90, 90), (80, 180)))] == [
        "tool_results"
    ]
    assert growth(points((100, 0), (100, 0), (100, 0))) == []
    assert growth(points((100, 0), (110, 0))) == []


def test_one_turn_that_added_more_than_the_others_is_a_burst() -> None:
    assert burst(points((100, 0), (102, 0), (102, 90), (104, 90))) == Burst(3, 45, "tool_results")
    assert burst(points((0, 0), (10, 0), (20, 0), (30, 0))) is None
    assert burst(points((30, 0), (20, 0), (10, 0))) is None


def test_a_turn_that_added_little_of_what_is_used_is_no_burst() -> None:
    assert burst(points((2_000, 0), (2_000, 0), (2_000, 90))) is None
    assert burst(points((2_000, 0), (2_000, 0), (2_000, 220)))
