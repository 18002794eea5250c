from __future__ import annotations

from typing import Any

from agentcore.transcripts.load import load_transcript


def test_bad_line_in_the_middle(case: dict[str, Any]) -> None:
    lines = [line if isinstance(line, bytes) else line.encode() for line in case["lines"]]
    recording = load_transcript(b"\n".join(lines) + b"\n")
    assert [message.text for message in recording.context()] == ["before", "after"]
    assert [problem.line for problem in recording.problems] == [2, 3, 4]
    assert all(problem.detail for problem in recording.problems)
    assert recording.incomplete
