"""The command line of the library: `python -m agentcore COMMAND FILE`.

Exit codes: 0 fine, 1 problems found, 2 bad input with a message on stderr.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from agentcore.errors import AgentcoreError
from agentcore.transcripts import Format, Recording, load_all
from agentcore.transcripts.exact import count_tokens
from agentcore.transcripts.report import report

FINE, PROBLEMS, BAD_INPUT = range(3)
_ROWS_SHOWN = 40


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = _parser().parse_args(arguments)
    try:
        code: int = chosen.run(chosen)
    except AgentcoreError as error:
        print(f"{chosen.file}: {error}", file=sys.stderr)
        return BAD_INPUT
    return code


def inspect(chosen: argparse.Namespace) -> int:
    """Tell what fills the context of a recorded session, and what happened to it."""
    recordings = load_all(chosen.file, chosen.format)
    recording = recordings[0]
    if len(recordings) > 1:
        note = f"{chosen.file}: the first of {len(recordings)} conversations"
        print(note, file=sys.stderr)
    exact = count_tokens(recording.context(), recording.model) if chosen.exact else None
    told = report(recording, exact)
    print(json.dumps(told) if chosen.json else "\n".join(_table(recording, told)))
    return PROBLEMS if told["problems"] else FINE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m agentcore", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    about = inspect.__doc__
    command = commands.add_parser("inspect", help="what fills a session", description=about)
    command.add_argument("file", metavar="FILE")
    command.add_argument("--format", choices=[*Format], help="default: found out from the file")
    command.add_argument("--exact", action="store_true", help="count tokens with a tokenizer")
    command.add_argument("--json", action="store_true", help="one JSON object on stdout")
    command.set_defaults(run=inspect)
    return parser


def _table(recording: Recording, told: dict[str, Any]) -> list[str]:
    size, archive, peak, window = (told[key] for key in ("size", "archive", "peak", "window"))
    about = "" if size["tokens_are"] != "estimate" else "≈ "
    rows = [
        ("format", told["format"]),
        ("title", _printable(recording.title)),
        ("model", _printable(recording.model) or "not named"),
        ("context", f"{told['messages']} messages, {_kb(size['bytes'])}"),
        ("tokens", f"{about}{size['tokens']:,} ({size['tokens_are']})"),
        ("window", f"{window['tokens']:,} tokens ({window['from']})"),
        ("archive", f"{archive['messages']} messages, {_kb(archive['bytes'])}"),
        ("turns", f"{told['turns']}, peak {_kb(peak['bytes'])} in turn {peak['turn']}"),
        ("subagents", str(len(recording.subagents))),
        ("passed over", ", ".join(f"{_printable(k)} {n}" for k, n in recording.skipped) or "none"),
    ]
    lines = [f"{name:<14}{value}" for name, value in rows]
    lines += _section("breakdown", _breakdown_lines(told["breakdown"], size["bytes"]))
    lines += _section("largest", [_largest_line(row) for row in told["largest"]])
    lines += _section("compactions", [_compaction_line(one) for one in told["compactions"]])
    lines += _section("problems", [_problem_line(problem) for problem in told["problems"]])
    return lines


def _section(title: str, lines: list[str]) -> list[str]:
    """The lines under a title, the first ones where there are many."""
    hidden = len(lines) - _ROWS_SHOWN
    more = [f"  and {hidden} more"] if hidden > 0 else []
    return ["", title, *(f"  {line}" for line in lines[:_ROWS_SHOWN]), *more] if lines else []


def _breakdown_lines(breakdown: dict[str, int], whole: int) -> list[str]:
    """Shares are of the messages; the schemas of the tools are not among them."""
    return [
        f"{category:<16}{_kb(size):>12}"
        + (f"{size / whole:>8.1%}" if category != "tool_schemas" else "   beside")
        for category, size in breakdown.items()
    ]


def _largest_line(row: dict[str, int]) -> str:
    return f"message {row['number']:<7}{_kb(row['bytes']):>13}"


def _compaction_line(compaction: dict[str, Any]) -> str:
    before, after = _kb(compaction["before"]), _kb(compaction["after"])
    return f"after turn {compaction['turn']}: {before} to {after}"


def _problem_line(problem: dict[str, Any]) -> str:
    where = f"line {problem['line']}: " if problem["line"] else ""
    return f"{where}{problem['kind']}: {_printable(problem['detail'])}"


def _kb(size: int) -> str:
    return f"{size / 1000:,.1f} kB"


def _printable(text: str) -> str:
    """Text of a recording without what would steer a terminal."""
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)


if __name__ == "__main__":
    sys.exit(main())
