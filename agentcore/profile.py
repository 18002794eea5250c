"""Everything that an admin can tune, as one value that is checked as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from agentcore.errors import ProfileError
from agentcore.limits import Limits
from agentcore.pressure import Budget, Unit, Window

RESULT_SHARE, BYTES_A_TOKEN = 0.05, 4
RESERVE_TOKENS, RESERVE_SHARE = 20_000, 0.05


class Automatic(StrEnum):
    ON = "on"
    ASK = "ask"
    OFF = "off"


class SummaryFailure(StrEnum):
    """What happens to the list when its summary fails."""

    KEEP = "keep"
    NOTE = "note"


class SummaryInput(StrEnum):
    CALLS = "calls"
    CONTENT_ONLY = "content_only"


@dataclass(frozen=True, slots=True)
class Stage:
    """One strategy of a preset. `at`: pressure from which it may start (`above`: only past it);
    `keep`: newest messages it leaves alone; `to_target`: it goes on into those, down to the newest
    tool group, until the target is reached."""

    strategy: str
    at: float = 0.80
    above: bool = False
    keep: int = 10
    to_target: bool = False


@dataclass(frozen=True, slots=True)
class SummaryOptions:
    """`words` and `chars` bound the text, `input_tokens` what it is made from."""

    words: int = 300
    chars: int = 2_500
    input_tokens: int = 40_000
    seconds: int = 60
    input: SummaryInput = SummaryInput.CALLS
    on_failure: SummaryFailure = SummaryFailure.KEEP


@dataclass(frozen=True, slots=True)
class Ceilings:
    """What ends a run as `limit`; 0 means none."""

    turns: int = 100
    tool_calls: int = 300
    minutes: int = 60


@dataclass(frozen=True, slots=True)
class Profile:
    """`budget` in `unit`, or None: the window is the limit. `window` in tokens, or None: from the
    model. `reserve` in tokens, or None: 20,000, at most 5% of the window. `target` and `min_gain`
    are fractions of the limit."""

    stages: tuple[Stage, ...]
    budget: int | None = None
    unit: Unit = Unit.TOKENS
    window: int | None = None
    reserve: int | None = None
    counts_schemas: bool = True
    target: float = 0.60
    min_gain: float = 0.02
    automatic: Automatic = Automatic.ON
    limits: Limits = field(default_factory=Limits)
    result_share: bool = True
    summary: SummaryOptions = field(default_factory=SummaryOptions)
    ceilings: Ceilings = field(default_factory=Ceilings)

    def __post_init__(self) -> None:
        _check(self)

    def replace(self, **changes: Any) -> Profile:
        """A copy with other values, checked as a whole. Raises ProfileError."""
        _known(Profile, changes, "")
        if isinstance(changes.get("unit"), str):
            changes["unit"] = _member(Unit, changes["unit"], "unit")
        return replace(self, **changes)

    def values(self) -> dict[str, Any]:
        """Plain JSON values; `Profile.of` reads them back."""
        return asdict(self)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Profile:
        """A profile from JSON values; what is missing has its default. Raises ProfileError."""
        _known(cls, values, "")
        known = dict(values)
        known["stages"] = tuple(
            _nested(Stage, stage, "stages") for stage in _listed(values.get("stages", ()))
        )
        for name, kind in (("limits", Limits), ("summary", SummaryOptions), ("ceilings", Ceilings)):
            known[name] = _nested(kind, values.get(name, {}), name)
        for name, members in (("unit", Unit), ("automatic", Automatic)):
            if name in known:
                known[name] = _member(members, known[name], name)
        return cls(**known)

    def budget_for(self, window: Window) -> Budget:
        if self.budget is None:
            return Budget(window.tokens, Unit.TOKENS)
        return Budget(self.budget, self.unit)

    def reserve_for(self, window: Window) -> int:
        if self.reserve is not None:
            return self.reserve
        return min(RESERVE_TOKENS, int(window.tokens * RESERVE_SHARE))

    def limits_for(self, window: Window) -> Limits:
        """A result may take 5% of the window at most, a token taken as 4 bytes."""
        share = int(window.tokens * RESULT_SHARE) * BYTES_A_TOKEN
        if not self.result_share or 0 < self.limits.result_bytes <= share:
            return self.limits
        return replace(self.limits, result_bytes=share)

    def warnings(self) -> list[str]:
        """What is allowed but will not work well, with its arithmetic (spec-compaction 11)."""
        return [text for stage in self.stages if (text := self._thrash(stage))]

    def _thrash(self, stage: Stage) -> str:
        if self.budget is None or self.unit is not Unit.BYTES or stage.to_target:
            return ""
        fixed = self.limits.project_docs_bytes + self.limits.memory_chars
        kept = stage.keep * self.limits.result_bytes
        floor = kept + self.summary.chars + fixed
        trigger = round(self.budget * stage.at)
        if floor <= trigger:
            return ""
        return (
            f"{stage.keep} kept results of {self.limits.result_bytes:,} bytes + "
            f"{self.summary.chars:,} summary + {fixed:,} fixed = {floor:,} > {trigger:,}: "
            "compacts every turn"
        )


def _check(profile: Profile) -> None:
    for name, least in (("budget", 1), ("window", 1), ("reserve", 0)):
        value = getattr(profile, name)
        if value is not None:
            _whole(value, name, least)
    if not profile.stages:
        raise ProfileError("a profile needs at least one stage", "stages")
    for stage in profile.stages:
        _fraction(stage.at, "stages", most=1)
        _whole(stage.keep, "stages", 0)
    ats = [stage.at for stage in profile.stages]
    if ats != sorted(ats):
        raise ProfileError(f"thresholds ascend, not {ats}", "stages")
    _fraction(profile.target, "target", most=1)
    if profile.target >= ats[0]:
        raise ProfileError(
            f"the target {profile.target} lies under the lowest threshold {ats[0]}", "target"
        )
    if profile.min_gain:
        _fraction(profile.min_gain, "min_gain", most=0.5)
    for group in ("limits", "ceilings"):
        _counts(getattr(profile, group), group, least=0)
    _counts(profile.summary, "summary", least=1)


def _counts(group: Limits | Ceilings | SummaryOptions, name: str, *, least: int) -> None:
    for one in fields(group):
        value = getattr(group, one.name)
        if not isinstance(value, StrEnum):
            _whole(value, f"{name}.{one.name}", least)


def _whole(value: Any, name: str, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ProfileError(f"{name} is a whole number from {least}, not {value!r}", name)


def _fraction(value: Any, name: str, *, most: float) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= most:
        raise ProfileError(f"{name}: a fraction over 0, at most {most}, not {value!r}", name)


def _listed(stages: Any) -> list[Any]:
    if not isinstance(stages, list | tuple):
        raise ProfileError(f"stages is a list, not {stages!r}", "stages")
    return list(stages)


def _nested(kind: type[Any], values: Any, name: str) -> Any:
    if not isinstance(values, Mapping):
        raise ProfileError(f"{name} is an object, not {values!r}", name)
    _known(kind, values, f"{name}.")
    known = dict(values)
    if kind is SummaryOptions:
        for key, members in (("input", SummaryInput), ("on_failure", SummaryFailure)):
            if key in known:
                known[key] = _member(members, known[key], f"{name}.{key}")
    try:
        return kind(**known)
    except TypeError as error:
        raise ProfileError(f"{name}: {error}", name) from error


def _known(kind: type[Any], values: Mapping[str, Any], prefix: str) -> None:
    names = {one.name for one in fields(kind)}
    for key in values:
        if key not in names:
            there = ", ".join(sorted(names))
            raise ProfileError(f"unknown value {prefix}{key}; there are {there}", f"{prefix}{key}")


def _member(members: type[StrEnum], value: Any, name: str) -> StrEnum:
    try:
        return members(value)
    except ValueError:
        raise ProfileError(f"{name} is one of {', '.join(members)}, not {value!r}", name) from None


PRESETS: Mapping[str, Profile] = {
    "nanohermes": Profile(
        stages=(Stage("keep_recent", at=1.0, above=True, keep=10),),
        budget=120_000,
        unit=Unit.BYTES,
        reserve=0,
        counts_schemas=False,
        result_share=False,
        summary=SummaryOptions(input=SummaryInput.CONTENT_ONLY, on_failure=SummaryFailure.NOTE),
    ),
    "balanced": Profile(stages=(Stage("keep_recent", keep=10, to_target=True),)),
}
