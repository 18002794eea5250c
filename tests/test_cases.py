"""The index of the public cases: each is a test in tests/cases, or stands here with its reason."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).parent / "cases"
# What each of these waits for.
NOT_COVERED: dict[str, str] = {}
# Tests that prove some of the statements; what of the others is missing.
PARTLY = {
    "events-lost-while-offline": "the card and the curve in a browser: tests/js, tests/browser",
    "page-of-a-very-long-session": "search through the texts",
    "cancelled-compaction-leaves-state-busy": "the killed worker: tests/faults",
    "path-leaves-the-workspace": "names of uploads: tests/web",
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
