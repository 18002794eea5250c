from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentcore.compaction.plan import Fate, Origin
from agentcore.diff import Entry, Row, rows, totals


def kept(number: int, size: int = 100, *, pinned: bool = False) -> Entry:
    return Entry(number, 4 * number, size, pinned=pinned)


def gone(number: int, fate: Fate, size: int = 100) -> Entry:
    return Entry(number, 4 * number, size, after=False, fate=fate, ended_stage="stage")


def added(number: int, place: int, origin: Origin | None, **more: int) -> Entry:
    size = more.pop("size", 10)
    return Entry(number, place, size, before=False, origin=origin, begun_stage="stage", **more)


def by_number(found: list[Row]) -> dict[int, Row]:
    return {row.number: row for row in found}


def test_a_row_that_stays_is_kept_with_its_place_in_both_lists() -> None:
    row = by_number(rows([kept(1), gone(2, Fate.SUMMARIZED), kept(3)]))[3]
    assert (row.fate, row.index_before, row.index_after) == (Fate.KEPT, 2, 1)
    assert row.bytes_before == row.bytes_after == 100


def test_a_pinned_row_says_so() -> None:
    assert rows([kept(1, pinned=True)])[0].fate is Fate.PINNED


def test_a_row_that_went_has_its_fate_its_stage_and_no_place_after() -> None:
    row = rows([gone(1, Fate.SUMMARIZED)])[0]
    assert (row.fate, row.stage, row.index_after) == (Fate.SUMMARIZED, "stage", None)
    assert row.bytes_after is None


def test_a_summary_stands_at_its_place_with_its_origin() -> None:
    found = rows([kept(1), gone(2, Fate.SUMMARIZED), kept(3), added(4, 5, Origin.SUMMARY)])
    assert [row.number for row in found] == [1, 4, 2, 3]
    assert (found[1].origin, found[1].fate, found[1].index_after) == (Origin.SUMMARY, None, 1)


def test_what_replaces_a_row_shares_it() -> None:
    found = rows([kept(1), gone(2, Fate.SNIPPED), added(3, 8, None, replaces=2)])
    assert [row.number for row in found] == [1, 2]
    assert (found[1].fate, found[1].replaced_by) == (Fate.SNIPPED, 3)
    assert (found[1].index_after, found[1].bytes_after) == (1, 10)


def test_a_row_without_a_stored_origin_that_replaces_nothing_was_appended() -> None:
    assert rows([added(1, 4, None)])[0].origin is Origin.APPENDED


def test_totals_are_those_of_the_two_lists() -> None:
    found = rows([kept(1), gone(2, Fate.DROPPED, 50), added(3, 5, Origin.NOTE, size=7)])
    assert totals(found) == {
        "before": {"messages": 2, "bytes": 150},
        "after": {"messages": 2, "bytes": 107},
    }


def test_the_facts_of_a_row_are_those_of_the_command_line() -> None:
    summary, row = rows([gone(2, Fate.SUMMARIZED), added(3, 5, Origin.SUMMARY)])
    assert row.facts == {
        "number": 2,
        "index_before": 0,
        "index_after": None,
        "fate": "summarized",
        "stage": "stage",
        "bytes_before": 100,
        "bytes_after": None,
    }
    assert summary.facts["origin"] == "summary"
    assert "fate" not in summary.facts


def test_a_list_of_nothing_has_no_rows() -> None:
    assert rows([]) == []


@given(st.lists(st.tuples(st.sampled_from(["kept", "gone", "replaced"]), st.integers(1, 99))))
def test_each_row_before_has_one_fate_and_the_places_after_are_gapless(
    history: list[tuple[str, int]],
) -> None:
    entries: list[Entry] = []
    next_number = len(history) + 1
    for number, (kind, size) in enumerate(history, 1):
        if kind == "kept":
            entries.append(kept(number, size))
            continue
        entries.append(gone(number, Fate.SNIPPED, size))
        if kind == "replaced":
            entries.append(added(next_number, 4 * number, None, replaces=number))
            next_number += 1
    found = rows(entries)
    assert [row.index_before for row in found] == list(range(len(history)))
    assert all(row.fate for row in found)
    after = [row.index_after for row in found if row.index_after is not None]
    assert after == list(range(len(after)))
