"""Which lines of a result tell something is the same, whatever is looked at first."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agentcore.facts import FactKind
from agentcore.ledger import results
from agentcore.ledger.results import FAILURES, WARNINGS, facts_of_result

WORDS = (
    *("error:", "Error", "exception:", "fatal:", "failed", "failure[E1]:", "panic:", "exit code 2"),
    *("traceback (", "permission denied", "no such file", "command not found", "timed out", "错误"),
    *(
        "warning:",
        "warn ",
        "deprecated",
        "警告",
        "0 errors",
        "no warnings",
        "src/a.py:3:",
        "12:30:01",
    ),
    *("the", "row", "done", "raise ", "#", "12\t", "[", "]", "("),
)
LINES = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)


def told_by(line: str) -> FactKind | None:
    """By all four patterns, on the line alone."""
    low = line.lower()
    if results._LISTING.match(low) or results._NONE.search(low) or not results._SIGN.search(low):
        return None
    if results._FAILURE.match(low):
        return FactKind.FAILURE
    return FactKind.WARNING if results._WARNING.match(low) else None


@settings(max_examples=400, deadline=None)
@given(st.lists(LINES, max_size=30))
def test_the_first_lines_of_each_kind_are_told(lines: list[str]) -> None:
    found = [
        fact.kind
        for fact in facts_of_result("\n".join(lines), 1, status=None, call="")
        if fact.kind is not FactKind.NUMBER
    ]
    kinds = [kind for kind in map(told_by, lines) if kind]
    room = {FactKind.FAILURE: FAILURES, FactKind.WARNING: WARNINGS}
    wanted = []
    for kind in kinds:
        if room[kind]:
            room[kind] -= 1
            wanted.append(kind)
    assert found == wanted


def test_a_line_that_begins_with_no_error_tells_none() -> None:
    text = "started\nno error: all is well\n0 failed error: none"
    assert [
        fact
        for fact in facts_of_result(text, 1, status=None, call="")
        if fact.kind is FactKind.FAILURE
    ] == []
