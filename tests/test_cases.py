"""The index of the public cases: each is a test in tests/cases, or stands here with its reason."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent / "cases"
# What each of these waits for.
NOT_COVERED: dict[str, str] = {}
# Tests that prove some of the statements; what of the others is missing.
PARTLY: dict[str, str] = {}
# Tests elsewhere that prove the statements of a case which need a browser or a real worker.
ELSEWHERE = {
    "events-lost-while-offline": (
        "js/test_session_stream.py::test_events_arrive_once_each_and_in_order",
        "js/test_session_stream.py::test_a_lost_connection_comes_back_after_the_last_event",
        "js/test_session_stream.py::test_a_page_that_is_seen_again_asks_again",
        "js/test_session_stream.py::test_too_far_behind_offers_to_reload_and_stops",
        "js/test_turn_strip.py::test_a_turn_after_an_applied_compaction_stands_behind_a_gap",
        "browser/test_session.py::test_the_event_of_a_turn_changes_the_page_without_a_reload",
    ),
    "cancelled-compaction-leaves-state-busy": (
        "faults/test_recovery.py::"
        "test_a_session_goes_on_after_its_worker_was_killed_while_a_tool_ran",
    ),
}


def test_every_case_is_a_test_or_is_named_with_its_reason(
    shared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cases = {path.stem for path in (shared / "cases").glob("*.json")}
    covered = _covered()
    with capsys.disabled():
        print(f"\n{len(covered)} of {len(cases)} cases are tests; not covered yet:")
        for name, reason in sorted(NOT_COVERED.items()):
            print(f"  {name}: needs {reason}")
        for name, reason in sorted(PARTLY.items()):
            print(f"  {name}, in part: needs {reason}")
    assert covered | NOT_COVERED.keys() == cases
    assert not covered & NOT_COVERED.keys()
    assert PARTLY.keys() <= covered


@pytest.mark.parametrize("case", sorted(ELSEWHERE))
def test_what_a_case_leaves_to_other_tests_is_there(case: str) -> None:
    assert case in _covered()
    for place in ELSEWHERE[case]:
        path, name = place.split("::")
        assert name in {test.name for test in _tests(TESTS.parent / path)}


def test_every_test_of_a_case_looks_at_what_the_case_gives() -> None:
    for path in sorted(TESTS.glob("test_*.py")):
        for test in _tests(path):
            assert "case" in {argument.arg for argument in test.args.args}, test.name


def _covered() -> set[str]:
    return {
        test.name.removeprefix("test_").replace("_", "-")
        for path in TESTS.glob("test_*.py")
        for test in _tests(path)
    }


def _tests(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = ast.parse(path.read_text()).body
    return [one for one in nodes if isinstance(one, functions) and one.name.startswith("test_")]
