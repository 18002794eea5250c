from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from histories import Value, answer, broken_lists, calls, group, legal_lists, result, system, user
from hypothesis import given
from recorded import answered, boundary, call, load, replied, said, text

from agentcore import clamp
from agentcore.compaction.notes import summary_note
from agentcore.compaction.plan import Revision, apply_plan
from agentcore.compaction.repair import repair
from agentcore.errors import AgentcoreError
from agentcore.lint import Finding, LintKind, lint, lint_recording
from agentcore.messages import Message, as_message
from agentcore.snapshot import Snapshot
from agentcore.transcripts import Recording, load_all

LEGALITY = {
    LintKind.ORPHAN_RESULT,
    LintKind.UNANSWERED_CALL,
    LintKind.DUPLICATE_RESULT,
    LintKind.EMPTY_MESSAGE,
}


def linted(*values: Value, **known: int) -> list[tuple[str, int | None]]:
    found = lint(Snapshot.of(values).messages, **known)
    return [(str(one.kind), one.index) for one in found]


def kinds(found: list[Finding]) -> list[LintKind]:
    return [one.kind for one in found]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([system(), user(), *group(0, ["a", "b"]), answer()], []),
        ([system(), result("x")], [("orphan_result", 1)]),
        ([result("c"), calls("c"), result("c")], [("orphan_result", 0)]),
        ([calls("c"), result("c"), user(), result("c")], [("duplicate_result", 3)]),
        ([calls("c"), result("c"), result("c")], [("duplicate_result", 2)]),
        ([calls("c", "d"), result("c"), user()], [("unanswered_call", 0)]),
        ([user(), calls("c")], [("unanswered_call", 1)]),
        ([calls("c"), user(), result("c")], [("unanswered_call", 0), ("orphan_result", 2)]),
        ([user(), answer("")], [("empty_message", 1)]),
        ([user(" \n"), answer()], [("empty_message", 0)]),
        ([calls("c"), result("c", "")], [("empty_message", 1)]),
    ],
)
def test_what_is_illegal_is_named_by_its_place(
    values: list[Value], expected: list[tuple[str, int]]
) -> None:
    assert linted(*values) == expected


def test_a_message_that_is_only_a_picture_is_not_empty() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    assert linted({"role": "user", "content": [picture]}) == []


@pytest.mark.parametrize(
    ("body", "is_cut"),
    [
        ("x" * 20_000, True),
        ("x" * 20_001, False),
        ("界" * 6_666, True),
        ("界" * 20_000, True),
        ("x" * 19_990 + "...(cut off)", False),
        (clamp("x" * 30_000, 20_000), False),
        ("x" * 1_000, False),
    ],
    ids=range(7),
)
def test_a_result_as_long_as_a_known_limit_was_cut_in_silence(body: str, is_cut: bool) -> None:
    expected = [("silent_cut", 1)] if is_cut else []
    assert linted(calls("c"), result("c", body)) == expected


@pytest.mark.parametrize("body", ["half \ufffd", "lone \ud83d"])
def test_a_broken_character_is_found(body: str) -> None:
    found = lint(Snapshot.of([calls("c"), result("c", body)]).messages)
    assert kinds(found) == [LintKind.BROKEN_CHARACTER]
    assert found[0].detail == "1 broken, the first at character 5"


def test_fat_arguments_are_found() -> None:
    fat = calls("c")
    fat["tool_calls"][0]["function"]["arguments"] = '{"content": "' + "x" * 20_000 + '"}'
    assert linted(fat, result("c")) == [("fat_summary_input", 0)]


def test_two_memory_blocks_are_one_too_many() -> None:
    block = "=== Memory ===\n- tea\n=== End of memory ==="
    assert linted(system(f"be careful\n\n{block}"), user()) == []
    assert linted(system(f"be careful\n\n{block}\n\n{block}"), user()) == [("memory_piles_up", 0)]
    assert linted(system(block), system(block), user()) == [("memory_piles_up", 1)]
    assert linted(system(block), user(f"what is {block}?")) == []


def test_a_talk_over_its_budget_without_tools_is_never_compacted_by_some() -> None:
    talk = [user("x" * 600), answer("y" * 600)]
    assert linted(*talk, budget=1_000) == [("never_compacted", None)]
    assert linted(*talk, budget=2_000) == []
    assert linted(*talk, *group(0, ["a"]), budget=1_000) == []
    assert linted(summary_note("s").value(), *talk, budget=1_000) == []


def turn(at: int, parent: str, results: int = 1) -> list[object]:
    calls_made = [call(f"t{at}_{n}", file_path="a") for n in range(results)]
    answers = [(f"t{at}_{n}", "ok") for n in range(results)]
    return [
        replied(f"a{at}", parent, f"r{at}", *calls_made),
        answered(f"b{at}", f"a{at}", *answers),
    ]


def compacted(at: int, summary: str = "short") -> list[object]:
    """A boundary and the summary that follows it."""
    return [
        boundary(f"k{at}"),
        said(f"s{at}", f"k{at}", summary, isCompactSummary=True),
    ]


def recording(*parts: list[object]) -> Recording:
    return load(*[record for part in parts for record in part])  # type: ignore[arg-type]


def test_a_summary_larger_than_what_it_stands_for_is_found() -> None:
    told = recording([said("u", None, "hello")], turn(1, "u"), compacted(1, "long " * 400))
    found = lint_recording(told)
    assert LintKind.SUMMARY_LARGER in kinds(found)
    shorter = recording([said("u", None, "hello " * 99)], turn(1, "u"), compacted(1))
    assert LintKind.SUMMARY_LARGER not in kinds(lint_recording(shorter))


def test_compactions_in_every_turn_are_a_thrash() -> None:
    parts: list[list[object]] = [[said("u", None, "hello " * 50)]]
    parent = "u"
    for at in range(1, 4):
        parts += [turn(at, parent), compacted(at)]
        parent = f"s{at}"
    found = [one for one in lint_recording(recording(*parts)) if one.kind is LintKind.THRASH]
    assert [one.detail for one in found] == ["3 compactions from turn 1 to 3"]


@dataclass(frozen=True)
class Change:
    """A compaction after `turn` that ended the numbers before `first_kept`."""

    revision: Revision
    turn: int


@dataclass(frozen=True)
class Shrink:
    turn: int
    revision: int | None
    before: int = 2
    after: int = 1


@dataclass(frozen=True)
class Played:
    messages: tuple[Message, ...]
    revisions: tuple[Change, ...]
    compactions: tuple[Shrink, ...]

    def snapshot(self) -> Snapshot:
        return Snapshot.of(self.messages[-1:])


def kept_tails(*results_of_turns: tuple[int, int]) -> Played:
    """For each pair: two turns with so many results each, then a compaction that keeps both."""
    messages: list[Message] = []
    changes: list[Change] = []
    gone = 0
    for at, results in enumerate(results_of_turns, 1):
        first = len(messages)
        for place, count in enumerate(results):
            values = group(10 * at + place, ["ok"] * count)
            for value in values:
                messages.append(as_message(value).numbered(len(messages) + 1))
        note = summary_note("s").numbered(len(messages) + 1)
        messages.append(note)
        ended = tuple(range(gone + 1, first + 1))
        gone = first
        changes.append(Change(Revision(at, ended, ((note, 1),), note.number), at))
    shrinks = tuple(Shrink(at, at) for at in range(1, len(changes) + 1))
    return Played(tuple(messages), tuple(changes), shrinks)


@pytest.mark.parametrize(
    ("results", "is_found"),
    [(((1, 1), (5, 4)), True), (((1, 1), (1, 2)), False), (((3, 3),), False)],
)
def test_a_tail_kept_by_turns_grows_with_the_calls(
    results: tuple[tuple[int, int], ...], is_found: bool
) -> None:
    found = lint_recording(kept_tails(*results))
    assert (LintKind.KEPT_BY_TURNS in kinds(found)) is is_found


def test_what_left_the_list_is_looked_at_too_and_has_no_index() -> None:
    told = recording(
        [said("u", None, "half \ufffd " * 50), replied("a", "u", "r", text("yes"))], compacted(1)
    )
    found = [one for one in lint_recording(told) if one.kind is LintKind.BROKEN_CHARACTER]
    assert [(one.number, one.index) for one in found] == [(1, None)]


@given(legal_lists())
def test_a_legal_list_has_no_finding_of_legality(values: list[Value]) -> None:
    legal = [value for value in values if value["content"] != ""]
    assert LEGALITY & set(kinds(lint(Snapshot.of(legal).messages))) <= {LintKind.EMPTY_MESSAGE}


@given(broken_lists())
def test_after_repair_no_pair_is_broken(values: list[Value]) -> None:
    snapshot = Snapshot.of(values)
    plan, reasons = repair(snapshot)
    found = set(kinds(lint(snapshot.messages)))
    pairs = LEGALITY - {LintKind.EMPTY_MESSAGE}
    repaired = apply_plan(plan, snapshot)[0] if not plan.is_empty else snapshot
    assert not pairs & set(kinds(lint(repaired.messages)))
    if pairs & found:
        assert reasons


def test_every_recording_is_linted(shared: Path) -> None:
    for path in sorted((shared / "transcripts").rglob("*.json*")):
        try:
            recordings = load_all(str(path), None)
        except AgentcoreError:
            continue
        for told in recordings:
            numbers = {message.number: at for at, message in enumerate(told.context())}
            for one in lint_recording(told):
                assert one.index is None or one.index == numbers[one.number or 0]
