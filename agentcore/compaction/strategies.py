"""Which strategy a name stands for: ours, and those of installed packages."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points

from agentcore.compaction import (
    auto,
    collapse,
    elastic,
    fair_share,
    keep_recent,
    last_resort,
    mask,
    micro,
    partial,
    share,
    snip,
)
from agentcore.compaction.strategy import CompactionStrategy
from agentcore.errors import ProfileError
from agentcore.options import Stage
from agentcore.said import Said

# Entry points of this group name classes that make a strategy without arguments.
GROUP = "agentcore.strategies"
STRATEGIES: Mapping[str, CompactionStrategy] = {
    keep_recent.NAME: keep_recent.KeepRecent(),
    snip.NAME: snip.Snip(),
    micro.NAME: micro.Micro(),
    collapse.NAME: collapse.Collapse(),
    auto.NAME: auto.Auto(),
    partial.NAME: partial.Partial(),
    last_resort.NAME: last_resort.LastResort(),
    mask.NAME: mask.Mask(),
    elastic.NAME: elastic.Elastic(),
    share.NAME: share.Share(),
    fair_share.NAME: fair_share.FairShare(),
}


def strategy_of(stage: Stage) -> CompactionStrategy:
    """Ours before one of a package. Raises ProfileError for a name that no strategy has."""
    if stage.strategy in STRATEGIES:
        return STRATEGIES[stage.strategy]
    return _installed(stage.strategy)


def strategy_names() -> list[str]:
    """Those that a stage may name; ours first."""
    others = {entry.name for entry in entry_points(group=GROUP)} - STRATEGIES.keys()
    return [*STRATEGIES, *sorted(others)]


@cache
def _installed(name: str) -> CompactionStrategy:
    for entry in entry_points(group=GROUP, name=name):
        try:
            made: CompactionStrategy = entry.load()()
        except (ImportError, AttributeError, TypeError) as error:
            said = Said(
                "the strategy {name} ({place}) cannot be loaded: {error}",
                name=repr(name),
                place=entry.value,
                error=str(error),
            )
            raise ProfileError(said, "stages") from error
        return made
    known = ", ".join(strategy_names())
    said = Said("unknown strategy {name}; there are {known}", name=repr(name), known=known)
    raise ProfileError(said, "stages")
