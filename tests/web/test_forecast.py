from __future__ import annotations

import pytest

from hermesweb.forecast import turns_to_compaction


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
