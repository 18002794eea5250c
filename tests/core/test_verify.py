from __future__ import annotations

from dataclasses import replace

from histories import Value, answer, calls, exchange, legal_lists, omission, result, system, user
from hypothesis import given
from planted import english

from agentcore import PRESETS, Snapshot, compact
from agentcore.breakdown import NOTHING
from agentcore.compaction.notes import summary_note
from agentcore.compaction.plan import Birth, CompactionPlan, Fate, Origin, Removal, apply_plan
from agentcore.facts import FactKind
from agentcore.messages import Message
from agentcore.pressure import Budget, Pressure, TokenCounter, Unit, window_of
from agentcore.verify import Check, Verification, verify


def pressure(after: Snapshot, limit: int = 1_000_000) -> Pressure:
    return TokenCounter().pressure(
        after.sizes,
        NOTHING,
        budget=Budget(limit, Unit.BYTES),
        window=window_of(""),
        reserve=0,
        counts_schemas=False,
    )


def cut(before: Snapshot, start: int, stop: int, note: Message | None) -> CompactionPlan:
    births = (Birth(start, note, Origin.NOTE, "test"),) if note else ()
    return CompactionPlan(before.state, (Removal(start, stop, Fate.SUMMARIZED, "test"),), births)


def verified(values: list[Value], stop: int, note: Message | None) -> Verification:
    before = Snapshot.of(values, facts=True)
    plan = cut(before, 1, stop, note)
    after, _ = apply_plan(plan, before)
    return verify(before, after, plan, pressure(after))


def failed(found: Verification) -> list[Check]:
    return [one.check for one in found.checks if not one.ok]


HISTORY = [*english().first, *exchange(3)[1:]]


def test_a_sound_compaction_passes_all_seven() -> None:
    note = summary_note(
        "Build the nightly importer for the parcel register, region eu-north-7, ticket INC-4471, "
        "budget 1847.20 with all amounts in EUR; "
        "src/importer/reader.py and src/importer/writer.py are written."
    )
    found = verified(HISTORY, 6, note)
    assert [one.check for one in found.checks] == list(Check)
    assert failed(found) == [] and found.ok


def test_a_result_without_its_call_is_neither_legal_nor_a_legal_cut() -> None:
    found = verified([system(), *exchange(2)[1:]], 3, omission())
    assert {Check.HISTORY_LEGAL, Check.CUT_LEGAL} <= set(failed(found))


def test_what_left_without_a_note_is_missed() -> None:
    assert Check.SUMMARY_PRESENT in failed(verified(HISTORY, 6, None))


def test_placeholders_alone_need_no_summary() -> None:
    before = Snapshot.of([system(), user(), calls("a"), result("a", "x" * 900), answer(), user()])
    short = replace(before.messages[3], number=0, replaces=4)
    plan = CompactionPlan(
        before.state, (Removal(3, 4, Fate.SNIPPED, "snip"),), (Birth(3, short, None, "snip"),)
    )
    after, _ = apply_plan(plan, before)
    assert failed(verify(before, after, plan, pressure(after))) == []


def test_a_list_at_its_budget_does_not_hold_it() -> None:
    before = Snapshot.of(HISTORY)
    plan = cut(before, 1, 6, omission(before.messages[1:6]))
    after, _ = apply_plan(plan, before)
    size = after.sizes.bytes
    assert Check.BUDGET_HOLDS in failed(verify(before, after, plan, pressure(after, size)))
    assert Check.BUDGET_HOLDS not in failed(verify(before, after, plan, pressure(after, size + 1)))


def test_a_tail_that_was_altered_is_told() -> None:
    before = Snapshot.of(HISTORY)
    plan = cut(before, 1, 6, omission())
    after, _ = apply_plan(plan, before)
    other = Snapshot.of([*after.messages[:-1], answer("something else")])
    assert Check.RECENT_INTACT in failed(verify(before, other, plan, pressure(other)))
    whole = cut(before, 1, len(before.messages), omission())
    after, _ = apply_plan(whole, before)
    assert Check.RECENT_INTACT in failed(verify(before, after, whole, pressure(after)))


def test_a_lost_goal_and_lost_paths_are_named_with_their_messages() -> None:
    found = verified(HISTORY, 6, omission())
    details = {one.check: one.detail for one in found.checks}
    assert {Check.GOAL_KNOWN, Check.PATHS_KNOWN} <= set(failed(found))
    assert details[Check.PATHS_KNOWN].startswith("0 of 2 (0%), lost: src/importer/reader.py")
    assert "(message 2)" in details[Check.GOAL_KNOWN]
    assert [fact.number for fact in found.survival[FactKind.CHANGED_PATH].lost] == [3, 5]


@given(legal_lists(least=4))
def test_what_compact_returns_is_legal_and_keeps_its_tail(values: list[Value]) -> None:
    result = compact(values, PRESETS["nanohermes"], force=True)
    if not result.changed:
        return
    found = verify(result.old, result.new, result.plan, pressure(result.new))
    assert not {Check.HISTORY_LEGAL, Check.CUT_LEGAL, Check.RECENT_INTACT} & set(failed(found))
