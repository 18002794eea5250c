"""The groups of values that a profile is made of, each checked by itself."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from decimal import Decimal
from enum import StrEnum
from typing import Any

from agentcore.errors import ProfileError
from agentcore.said import Said

PERSONA_CHARS = 20_000
# No value of a profile is larger: rows and the system would not take it, and 0 means no limit.
MOST = 10**15
# A date so far off is still one.
YEAR_MINUTES = 366 * 24 * 60
# Of a window, for a structured summary.
STRUCTURED_SHARE = 0.05
_AMOUNT = re.compile(r"\d{1,6}(\.\d{1,8})?", re.ASCII)


class Automatic(StrEnum):
    ON = "on"
    ASK = "ask"
    OFF = "off"


class Mode(StrEnum):
    """Each may do what the one before may, and more: read and search, run commands and look into
    the web, change files."""

    PLAN = "plan"
    DEBUG = "debug"
    GOAL = "goal"


class Effect(StrEnum):
    """What a tool does outside the list, the widest of it."""

    READ = "read"
    COMMAND = "command"
    WEB = "web"
    WRITE = "write"


class SummaryFailure(StrEnum):
    """What happens to the list when its summary fails: nothing, or what leaves goes all the same,
    with an omission note and the ledger under it, or with the bare note."""

    KEEP = "keep"
    LEDGER = "ledger"
    NOTE = "note"


class SummaryInput(StrEnum):
    """What a summary is made from: calls with their arguments too, or the contents alone."""

    CALLS = "calls"
    CONTENT_ONLY = "content_only"


class SummarySource(StrEnum):
    """The last summary and what came since, or the ledger, the last summary and the originals."""

    ROLLING = "rolling"
    ARCHIVE = "archive"


class Direction(StrEnum):
    """What partial takes: from the head up to the kept tail, or up to the last checkpoint."""

    FROM = "from"
    UP_TO = "up_to"


class KeepDocs(StrEnum):
    """Which end of the AGENTS.md chain is kept where it is too long."""

    GENERAL = "general"
    SPECIFIC = "specific"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The pressures at which the six stages are due (spec-compaction 4)."""

    snip: float = 0.80
    micro: float = 0.85
    collapse: float = 0.90
    auto: float = 0.95
    partial: float = 0.98
    last_resort: float = 0.99

    def __post_init__(self) -> None:
        for one in fields(self):
            fraction(getattr(self, one.name), f"thresholds.{one.name}")


@dataclass(frozen=True, slots=True)
class Stage:
    """One strategy of a preset. `at`: pressure from which it may start (`above`: only past it),
    None: that of its name among the thresholds; `buffer`: tokens left in the window at which it
    may start too, at most a quarter of the window; `keep`: newest messages, results or turns it
    leaves alone; `to_target`: keep-recent goes on into those, down to the newest tool group;
    `direction`: of partial."""

    strategy: str
    at: float | None = None
    above: bool = False
    buffer: int = 0
    keep: int = 10
    to_target: bool = False
    direction: Direction = Direction.FROM

    def __post_init__(self) -> None:
        if not isinstance(self.strategy, str):
            said = Said("a strategy is a name, not {value}", value=repr(self.strategy))
            raise ProfileError(said, "stages")
        if self.at is not None:
            fraction(self.at, "stages")
        for value in (self.above, self.to_target):
            flag(value, "stages")
        whole(self.keep, "stages")
        whole(self.buffer, "stages")


@dataclass(frozen=True, slots=True)
class SummaryOptions:
    """`words` and `chars` bound a short summary, `tokens` a structured one (at most 5% of the
    window), `input_tokens` what either is made from; `seconds` is the time it may take. The default
    `source` is the one that holds what was planted (docs/summary-source.md)."""

    words: int = 300
    chars: int = 2_500
    tokens: int = 20_000
    input_tokens: int = 40_000
    seconds: int = 60
    source: SummarySource = SummarySource.ARCHIVE
    input: SummaryInput = SummaryInput.CALLS
    on_failure: SummaryFailure = SummaryFailure.KEEP

    def __post_init__(self) -> None:
        counts(self, "summary", least=1)

    def structured_tokens(self, window: int) -> int:
        """The most that a structured summary takes in a window of so many tokens."""
        return min(self.tokens, int(window * STRUCTURED_SHARE))


@dataclass(frozen=True, slots=True)
class Ceilings:
    """What ends a run as `limit`; 0 means none. `cost` is USD as decimal text, for its turns,
    retries and summaries; None: none. What has no price does not count. Before it ends a run, a
    cheaper model answers, where there is one; calls beyond `tool_calls` are not run."""

    turns: int = 100
    tool_calls: int = 300
    minutes: int = 60
    cost: str | None = None

    def __post_init__(self) -> None:
        for name in ("turns", "tool_calls", "minutes"):
            whole(getattr(self, name), f"ceilings.{name}")
        if self.cost is not None and not _is_amount(self.cost):
            said = Said(
                "cost is an amount of USD as text, such as 2.50, not {value}",
                value=f"{self.cost!r:.40}",
            )
            raise ProfileError(said, "ceilings.cost")


@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """What the system message holds besides the built-in prompt. `doc_names`: the files of the
    AGENTS.md chain in each folder, in order; `memory`: whether entries of earlier sessions are
    shown to it, and kept of it."""

    persona: str = ""
    doc_names: tuple[str, ...] = ("AGENTS.md",)
    project_docs_keep: KeepDocs = KeepDocs.SPECIFIC
    memory: bool = True

    def __post_init__(self) -> None:
        persona: Any = self.persona
        if not isinstance(persona, str) or len(persona) > PERSONA_CHARS:
            said = Said("a persona is text of at most {most:,} characters", most=PERSONA_CHARS)
            raise ProfileError(said, "documents.persona")
        names = self.doc_names
        if not _are_file_names(names):
            said = Said(
                "doc_names are names of files, without folders, not {value}",
                value=f"{names!r:.80}",
            )
            raise ProfileError(said, "documents.doc_names")
        object.__setattr__(self, "doc_names", tuple(names))
        flag(self.memory, "documents.memory")


@dataclass(frozen=True, slots=True)
class ApprovalOptions:
    """The effects that a tool call asks a person for before it runs, by the mode of the session.
    `minutes` without an answer are a no; 0: it is waited as long as it takes."""

    plan: tuple[Effect, ...] = ()
    debug: tuple[Effect, ...] = ()
    goal: tuple[Effect, ...] = ()
    minutes: int = 15

    def __post_init__(self) -> None:
        whole(self.minutes, "approvals.minutes", most=YEAR_MINUTES)
        for mode in Mode:
            effects = _effects(getattr(self, mode), f"approvals.{mode}")
            object.__setattr__(self, mode, effects)

    def of(self, mode: Mode) -> tuple[Effect, ...]:
        effects: tuple[Effect, ...] = getattr(self, mode)
        return effects


def counts(group: Any, name: str, *, least: int = 0) -> None:
    """Every field that is no member of a closed list is a whole number."""
    for one in fields(group):
        value = getattr(group, one.name)
        if not isinstance(value, StrEnum):
            whole(value, f"{name}.{one.name}", least)


def whole(value: Any, name: str, least: int = 0, most: int = MOST) -> None:
    """Raises ProfileError for what is no whole number from `least`, or one too large to count."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        said = Said(
            "{name} is a whole number from {least}, not {value}",
            name=name,
            least=least,
            value=repr(value),
        )
        raise ProfileError(said, name)
    if value > most:
        said = Said("{name} is too large: it is at most {most:,}", name=name, most=most)
        raise ProfileError(said, name)


def flag(value: Any, name: str) -> None:
    """Raises ProfileError for what is neither true nor false."""
    if not isinstance(value, bool):
        said = Said("{name} is true or false, not {value}", name=name, value=repr(value))
        raise ProfileError(said, name)


def fraction(value: Any, name: str, most: float = 1) -> None:
    """Raises ProfileError for what is not over 0 and at most `most`."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= most:
        said = Said(
            "{name}: a fraction over 0, at most {most}, not {value}",
            name=name,
            most=most,
            value=repr(value),
        )
        raise ProfileError(said, name)


def member(members: type[StrEnum], value: Any, name: str) -> StrEnum:
    """Raises ProfileError for what is no member of a closed list."""
    try:
        return members(value)
    except ValueError:
        said = Said(
            "{name} is one of {known}, not {value}",
            name=name,
            known=", ".join(members),
            value=repr(value),
        )
        raise ProfileError(said, name) from None


def _effects(values: Any, name: str) -> tuple[Effect, ...]:
    """In one order, each once. Raises ProfileError."""
    if not isinstance(values, list | tuple):
        said = Said(
            "{name} is a list of {known}, not {value}",
            name=name,
            known=", ".join(Effect),
            value=f"{values!r:.80}",
        )
        raise ProfileError(said, name)
    chosen = {member(Effect, value, name) for value in values}
    return tuple(effect for effect in Effect if effect in chosen)


def _is_amount(value: Any) -> bool:
    return isinstance(value, str) and bool(_AMOUNT.fullmatch(value)) and Decimal(value) > 0


def _are_file_names(names: Any) -> bool:
    return isinstance(names, list | tuple) and all(
        isinstance(name, str) and name not in ("", ".", "..") and not {"/", "\0"} & set(name)
        for name in names
    )
