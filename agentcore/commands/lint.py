"""`lint`: what is wrong with a list of messages or a recorded session."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from agentcore.commands.told import FINE, PROBLEMS, add_json, opened, printable, tell
from agentcore.lint import Finding, lint_recording
from agentcore.transcripts.base import Problem


def add(commands: Any) -> None:
    command = commands.add_parser(
        "lint", help="what is wrong with a list or session", description=lint.__doc__
    )
    command.add_argument("file", metavar="FILE")
    add_json(command)
    command.set_defaults(run=lint)


def lint(chosen: argparse.Namespace) -> int:
    """Name each thing that is wrong in a file, by line, message number and index in the list."""
    recording = opened(chosen.file)
    problems = _joined(recording.problems, lint_recording(recording))
    lines = [_line(problem) for problem in problems] or ["nothing is wrong with it"]
    tell(chosen, {"problems": problems}, lines)
    return PROBLEMS if problems else FINE


def _joined(problems: Sequence[Problem], findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """What reading met, then what the list shows; what both name is told once, with its line."""
    lines = {(str(one.kind), one.number): one.line for one in problems}
    found = {(str(one.kind), one.number) for one in findings}
    met = [_row(one.line, one) for one in problems if (str(one.kind), one.number) not in found]
    return met + [_row(lines.get((str(one.kind), one.number)), one, one.index) for one in findings]


def _row(line: int | None, one: Problem | Finding, index: int | None = None) -> dict[str, Any]:
    return {
        "line": line,
        "number": one.number,
        "index": index,
        "kind": one.kind,
        "detail": one.detail,
    }


def _line(problem: dict[str, Any]) -> str:
    named = (("line", "line"), ("number", "message"), ("index", "index"))
    where = ", ".join(f"{name} {problem[key]}" for key, name in named if problem[key] is not None)
    return printable(f"{where or 'the whole'}: {problem['kind']}: {problem['detail']}")
