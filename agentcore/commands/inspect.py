"""`inspect`: what fills the context of a recorded session, and what happened to it."""

from __future__ import annotations

import argparse
from typing import Any

from agentcore.commands.told import (
    FINE,
    PROBLEMS,
    add_json,
    kb,
    opened,
    printable,
    section,
    tell,
)
from agentcore.transcripts import Format, Recording
from agentcore.transcripts.exact import count_tokens
from agentcore.transcripts.report import report


def add(commands: Any) -> None:
    command = commands.add_parser(
        "inspect", help="what fills a session", description=inspect.__doc__
    )
    command.add_argument("file", metavar="FILE")
    command.add_argument("--format", choices=[*Format], help="default: found out from the file")
    command.add_argument("--exact", action="store_true", help="count tokens with a tokenizer")
    add_json(command)
    command.set_defaults(run=inspect)


def inspect(chosen: argparse.Namespace) -> int:
    """Tell what fills the context of a recorded session, and what happened to it."""
    recording = opened(chosen.file, chosen.format)
    exact = count_tokens(recording.context(), recording.model) if chosen.exact else None
    facts = report(recording, exact)
    tell(chosen, facts, _table(recording, facts))
    return PROBLEMS if facts["problems"] else FINE


def _table(recording: Recording, told: dict[str, Any]) -> list[str]:
    size, archive, peak, window = (told[key] for key in ("size", "archive", "peak", "window"))
    about = "" if size["tokens_are"] != "estimate" else "≈ "
    rows = [
        ("format", told["format"]),
        ("title", printable(recording.title)),
        ("model", printable(recording.model) or "not named"),
        ("context", f"{told['messages']} messages, {kb(size['bytes'])}"),
        ("tokens", f"{about}{size['tokens']:,} ({size['tokens_are']})"),
        ("window", f"{window['tokens']:,} tokens ({window['from']})"),
        ("archive", f"{archive['messages']} messages, {kb(archive['bytes'])}"),
        ("turns", f"{told['turns']}, peak {kb(peak['bytes'])} in turn {peak['turn']}"),
        ("subagents", str(len(recording.subagents))),
        ("passed over", ", ".join(f"{printable(k)} {n}" for k, n in recording.skipped) or "none"),
    ]
    lines = [f"{name:<14}{value}" for name, value in rows]
    lines += section("breakdown", _breakdown_lines(told["breakdown"], size["bytes"]))
    lines += section("largest", [_largest_line(row) for row in told["largest"]])
    lines += section("compactions", [_compaction_line(one) for one in told["compactions"]])
    lines += section("problems", [_problem_line(problem) for problem in told["problems"]])
    return lines


def _breakdown_lines(breakdown: dict[str, int], whole: int) -> list[str]:
    """Shares are of the messages; the schemas of the tools are not among them."""
    return [
        f"{category:<16}{kb(size):>12}"
        + (f"{size / whole:>8.1%}" if category != "tool_schemas" else "   beside")
        for category, size in breakdown.items()
    ]


def _largest_line(row: dict[str, int]) -> str:
    return f"message {row['number']:<7}{kb(row['bytes']):>13}"


def _compaction_line(compaction: dict[str, Any]) -> str:
    before, after = kb(compaction["before"]), kb(compaction["after"])
    return f"after turn {compaction['turn']}: {before} to {after}"


def _problem_line(problem: dict[str, Any]) -> str:
    where = f"line {problem['line']}: " if problem["line"] else ""
    return f"{where}{problem['kind']}: {printable(problem['detail'])}"
