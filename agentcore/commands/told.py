"""What commands share: reading a recording, choosing a profile, and telling the outcome."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentcore.compaction.strategies import strategy_of
from agentcore.errors import InputError, ProfileError, TranscriptError
from agentcore.presets import PRESETS
from agentcore.pressure import Unit
from agentcore.profile import Profile
from agentcore.transcripts import Recording, load_all

FINE, PROBLEMS, BAD_INPUT = range(3)
ROWS_SHOWN = 40


def opened(file: str, format: str | None = None) -> Recording:
    """The recording in a file; where it holds several the first, and stderr says so."""
    try:
        recordings = load_all(file, format)
    except TranscriptError as error:
        raise TranscriptError(f"{file}: {error}") from error
    if len(recordings) > 1:
        note(f"{file}: the first of {len(recordings)} conversations")
    return recordings[0]


def note(text: str) -> None:
    print(printable(text), file=sys.stderr)


def tell(chosen: argparse.Namespace, facts: Mapping[str, Any], lines: Iterable[str]) -> None:
    """One JSON object and nothing else, or lines for a person."""
    print(json.dumps(facts) if chosen.json else "\n".join(lines))


def add_json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="one JSON object on stdout")


def add_profile(command: argparse.ArgumentParser) -> None:
    """The options that change a preset."""
    command.add_argument("--budget", type=int, metavar="N", help="the limit")
    command.add_argument("--unit", choices=[*Unit], help="of the budget")
    command.add_argument(
        "--set",
        action="append",
        default=[],
        dest="changes",
        metavar="KEY=VALUE",
        help="another value of the profile, as limits.result_bytes=8000",
    )


def profile(preset: str, chosen: argparse.Namespace) -> Profile:
    """The preset with the changes that were asked for, checked as a whole."""
    values = PRESETS[preset].values()
    for change in chosen.changes:
        _change(values, change)
    if chosen.budget is not None:
        values["budget"] = chosen.budget
    if chosen.unit is not None:
        values["unit"] = chosen.unit
        if values["budget"] is None:
            raise InputError(f"--unit {chosen.unit} is of a budget: give --budget too")
    try:
        made = Profile.of(values)
        for stage in made.stages:
            strategy_of(stage)
        return made
    except ProfileError as error:
        raise InputError(f"{preset}: {error}") from error


def section(title: str, lines: Sequence[str]) -> list[str]:
    """The lines under a title, the first ones where there are many; nothing without lines."""
    hidden = len(lines) - ROWS_SHOWN
    more = [f"  and {hidden} more"] if hidden > 0 else []
    return ["", title, *(f"  {line}" for line in lines[:ROWS_SHOWN]), *more] if lines else []


def kb(size: int | None) -> str:
    return "" if size is None else f"{size / 1000:,.1f} kB"


def printable(text: str) -> str:
    """Text of a recording without what would steer a terminal."""
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in text)


def _change(values: dict[str, Any], change: str) -> None:
    """Set one value, or one of a group. Whether there is such a key, the profile says."""
    key, is_pair, text = change.partition("=")
    if not key or not is_pair:
        raise InputError(f"--set takes KEY=VALUE, not {change!r:.80}")
    *groups, name = key.split(".")
    for group in groups:
        values = values.get(group)  # type: ignore[assignment]
        if not isinstance(values, dict):
            raise InputError(f"--set {key}: the profile has no group {group!r:.80}")
    values[name] = _value(text)


def _value(text: str) -> Any:
    """JSON where it is JSON, else the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
