"""`simulate`: a recorded session once more under other profiles."""

from __future__ import annotations

import argparse
from typing import Any

from agentcore.commands.told import FINE, add_json, add_profile, kb, opened, profile, section, tell
from agentcore.presets import PRESETS
from agentcore.simulate import simulate as replay


def add(commands: Any) -> None:
    command = commands.add_parser(
        "simulate", help="a session under other profiles", description=simulate.__doc__
    )
    command.add_argument("file", metavar="FILE")
    command.add_argument("--preset", choices=[*PRESETS], action="append", required=True)
    add_profile(command)
    add_json(command)
    command.set_defaults(run=simulate)


def simulate(chosen: argparse.Namespace) -> int:
    """Replay a recorded session under each preset, without a model: how full the list gets, how
    often it is compacted, what of the input is found in a cache, and which facts survive."""
    recording = opened(chosen.file)
    profiles = {preset: profile(preset, chosen) for preset in chosen.preset}
    runs = [
        {"preset": preset, **replay(recording, wanted).facts} for preset, wanted in profiles.items()
    ]
    tell(chosen, {"runs": runs}, _table(runs))
    return FINE


def _table(runs: list[dict[str, Any]]) -> list[str]:
    lines = [
        f"{'preset':<20}{'peak':>12}{'compactions':>13}{'floor':>12}{'input':>14}{'cached':>8}"
        f"{'facts lost':>12}"
    ]
    for run in runs:
        whole = run["cumulative_input"]
        cached = f"{run['cached_input'] / whole:.0%}" if whole else ""
        lost = sum(len(kept["lost"]) for kept in run["survival"].values())
        lines.append(
            f"{run['preset']:<20}{kb(run['peak']):>12}{run['compactions']:>13}"
            f"{kb(run['floor']):>12}{kb(whole):>14}{cached:>8}{lost:>12}"
            f"{'  thrashes' if run['thrash'] else ''}"
        )
    for run in runs:
        acted = [point for point in run["series"] if point["action"]]
        lines += section(
            f"{run['preset']}: after turn",
            [f"{point['turn']:<6}{point['action']:<14}{kb(point['bytes']):>12}" for point in acted],
        )
    return lines
