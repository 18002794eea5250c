"""Everything that an admin can tune, as one value that is checked as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from agentcore.breakdown import Sizes
from agentcore.errors import ProfileError
from agentcore.limits import Limits
from agentcore.options import (
    ApprovalOptions,
    Automatic,
    Ceilings,
    Direction,
    DocumentOptions,
    KeepDocs,
    Stage,
    SummaryFailure,
    SummaryInput,
    SummaryOptions,
    SummarySource,
    Thresholds,
    counts,
    flag,
    fraction,
    member,
    whole,
)
from agentcore.pressure import (
    ASSUMED_WINDOW,
    Budget,
    Pressure,
    TokenCounter,
    Unit,
    Window,
    window_of,
)
from agentcore.said import Said

RESULT_SHARE, BYTES_A_TOKEN = 0.05, 4
PICTURE_SHARE, BASE64_GROWTH = 0.25, 4 / 3
RESERVE_TOKENS, RESERVE_SHARE = 20_000, 0.05
# Where neither its stage nor the thresholds say when a strategy is due.
DEFAULT_AT = 0.80
# Of the window: the most that an absolute buffer may ask for.
BUFFER_SHARE = 0.25

# Fields that are groups of values.
GROUPS: Mapping[str, type[Any]] = {
    "thresholds": Thresholds,
    "limits": Limits,
    "summary": SummaryOptions,
    "ceilings": Ceilings,
    "documents": DocumentOptions,
    "approvals": ApprovalOptions,
}

# Fields of the groups that take a member of a closed list.
_LISTS: Mapping[str, type[StrEnum]] = {
    "direction": Direction,
    "source": SummarySource,
    "input": SummaryInput,
    "on_failure": SummaryFailure,
    "project_docs_keep": KeepDocs,
}


@dataclass(frozen=True, slots=True)
class Profile:
    """`budget` in `unit`, or None: the window is the limit. `window` in tokens, or None: from the
    model, else `assumed_window`. `reserve` in tokens, or None: 20,000, at most 5% of the window.
    `target` and `min_gain` are fractions of the limit; `compact_at_run_end`: pressure from
    which a run that was answered ends with a compaction; `pins_first_user`: the first user message
    is pinned by rule; `recall`: the archive is searched for each new instruction; `hooks`: names of
    those that installed packages offer."""

    stages: tuple[Stage, ...]
    thresholds: Thresholds = field(default_factory=Thresholds)
    budget: int | None = None
    unit: Unit = Unit.TOKENS
    window: int | None = None
    assumed_window: int = ASSUMED_WINDOW
    reserve: int | None = None
    counts_schemas: bool = True
    target: float = 0.60
    min_gain: float = 0.02
    automatic: Automatic = Automatic.ON
    compact_at_run_end: float | None = None
    pins_first_user: bool = False
    recall: bool = False
    limits: Limits = field(default_factory=Limits)
    result_share: bool = True
    summary: SummaryOptions = field(default_factory=SummaryOptions)
    ceilings: Ceilings = field(default_factory=Ceilings)
    documents: DocumentOptions = field(default_factory=DocumentOptions)
    approvals: ApprovalOptions = field(default_factory=ApprovalOptions)
    hooks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check(self)

    def replace(self, **changes: Any) -> Profile:
        """A copy with other values, checked as a whole. Raises ProfileError."""
        _known(Profile, changes, "")
        for name, members in (("unit", Unit), ("automatic", Automatic)):
            if name in changes:
                changes[name] = member(members, changes[name], name)
        return replace(self, **changes)

    def values(self) -> dict[str, Any]:
        """Plain JSON values; `Profile.of` reads them back."""
        return asdict(self)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Profile:
        """A profile from JSON values; what is missing has its default. Raises ProfileError."""
        if not isinstance(values, Mapping):
            said = Said("a profile is an object, not {value}", value=f"{values!r:.80}")
            raise ProfileError(said, "values")
        _known(cls, values, "")
        known = dict(values)
        known["stages"] = tuple(
            _nested(Stage, stage, "stages") for stage in _listed(values.get("stages", ()))
        )
        known["hooks"] = tuple(_listed(values.get("hooks", ()), "hooks"))
        for name, kind in GROUPS.items():
            known[name] = _nested(kind, values.get(name, {}), name)
        for name, members in (("unit", Unit), ("automatic", Automatic)):
            if name in known:
                known[name] = member(members, known[name], name)
        return cls(**known)

    def threshold(self, stage: Stage) -> float:
        """The pressure at which a stage is due."""
        if stage.at is not None:
            return stage.at
        own = stage.strategy in Thresholds.__dataclass_fields__
        return float(getattr(self.thresholds, stage.strategy) if own else DEFAULT_AT)

    def window_for(self, model: str) -> Window:
        """The profile's own window, else the model table's, else the assumed one."""
        return window_of(model, self.window, self.assumed_window)

    def budget_for(self, window: Window) -> Budget:
        if self.budget is None:
            return Budget(window.tokens, Unit.TOKENS)
        return Budget(self.budget, self.unit)

    def reserve_for(self, window: Window) -> int:
        if self.reserve is not None:
            return self.reserve
        return min(RESERVE_TOKENS, int(window.tokens * RESERVE_SHARE))

    def pressure(
        self, counter: TokenCounter, window: Window, messages: Sizes, schemas: Sizes
    ) -> Pressure:
        """Of a request with this list and these tools, against the budget in that window."""
        return counter.pressure(
            messages,
            schemas,
            budget=self.budget_for(window),
            window=window,
            reserve=self.reserve_for(window),
            counts_schemas=self.counts_schemas,
        )

    def limits_for(self, window: Window) -> Limits:
        """A result may take 5% of the window at most, a token taken as 4 bytes. Where the budget
        counts bytes or chars, a picture weighs what its base64 is long: a quarter at most."""
        limits = self.limits
        share = int(window.tokens * RESULT_SHARE) * BYTES_A_TOKEN
        if self.result_share and not 0 < limits.result_bytes <= share:
            limits = replace(limits, result_bytes=share)
        if self.budget is None or self.unit is Unit.TOKENS:
            return limits
        most = int(self.budget * PICTURE_SHARE / BASE64_GROWTH)
        if 0 < limits.picture_bytes <= most:
            return limits
        return replace(limits, picture_bytes=max(1, most))

    def warnings(self, window: Window | None = None) -> list[Said]:
        """What is allowed but will not work well, with its arithmetic (spec-compaction 11), for a
        window; without one for the profile's own."""
        window = window or self.window_for("")
        budget = self.budget_for(window)
        trigger = self._lowest_trigger(window, budget)
        target = round(self.target * budget.limit)
        found = [self._thrash(window, budget, trigger)]
        if target >= trigger:
            said = Said(
                "the target of {target:,} {unit} does not lie under the lowest trigger "
                "{trigger:,}: a compaction that reaches it is due again at once",
                target=target,
                unit=str(budget.unit),
                trigger=trigger,
            )
            found.append(said)
        return [said for said in found if said]

    def _lowest_trigger(self, window: Window, budget: Budget) -> int:
        """In the unit of the limit; a buffer in tokens counts where the limit is in tokens too."""
        triggers = []
        for stage in self.stages:
            triggers.append(round(self.threshold(stage) * budget.limit))
            if stage.buffer and budget.unit is Unit.TOKENS:
                buffer = min(stage.buffer, int(window.tokens * BUFFER_SHARE))
                triggers.append(window.tokens - buffer)
        return min(triggers)

    def _thrash(self, window: Window, budget: Budget, trigger: int) -> Said | None:
        """What the last stage leaves at most: fixed parts, the summary and the kept results."""
        last = max(self.stages, key=self.threshold)
        if last.to_target:
            return None
        limits = self.limits_for(window)
        fixed = limits.project_docs_bytes + limits.memory_chars
        summary = self.summary.chars
        if last.strategy == "auto":
            summary = self.summary.structured_tokens(window.tokens) * BYTES_A_TOKEN
        floor = last.keep * limits.result_bytes + summary + fixed
        weight = floor // BYTES_A_TOKEN if budget.unit is Unit.TOKENS else floor
        if weight <= trigger:
            return None
        in_tokens = f" bytes = {weight:,} tokens" if budget.unit is Unit.TOKENS else ""
        return Said(
            "{keep} kept results of {result:,} bytes + {summary:,} summary + {fixed:,} fixed "
            "= {sum} > {trigger:,}: compacts every turn",
            keep=last.keep,
            result=limits.result_bytes,
            summary=summary,
            fixed=fixed,
            sum=f"{floor:,}{in_tokens}",
            trigger=trigger,
        )


def _check(profile: Profile) -> None:
    for name, least in (("budget", 1), ("window", 1), ("assumed_window", 1), ("reserve", 0)):
        value = getattr(profile, name)
        if value is not None or name == "assumed_window":
            whole(value, name, least)
    for name in ("counts_schemas", "pins_first_user", "recall", "result_share"):
        flag(getattr(profile, name), name)
    counts(profile.limits, "limits")
    if not profile.stages:
        raise ProfileError(Said("a profile needs at least one stage"), "stages")
    ats = [profile.threshold(stage) for stage in profile.stages]
    if ats != sorted(ats):
        raise ProfileError(Said("thresholds ascend, not {value}", value=repr(ats)), "stages")
    fraction(profile.target, "target")
    if profile.target >= ats[0]:
        said = Said(
            "the target {target} lies under the lowest threshold {lowest}",
            target=profile.target,
            lowest=ats[0],
        )
        raise ProfileError(said, "target")
    if profile.compact_at_run_end is not None:
        fraction(profile.compact_at_run_end, "compact_at_run_end")
    if profile.min_gain != 0:
        fraction(profile.min_gain, "min_gain", most=0.5)
    if not all(isinstance(name, str) for name in profile.hooks):
        raise ProfileError(Said("hooks are names, not {value}", value=repr(profile.hooks)), "hooks")


def _listed(value: Any, name: str = "stages") -> list[Any]:
    if not isinstance(value, list | tuple):
        raise ProfileError(
            Said("{name} is a list, not {value}", name=name, value=repr(value)), name
        )
    return list(value)


def _nested(kind: type[Any], values: Any, name: str) -> Any:
    if not isinstance(values, Mapping):
        said = Said("{name} is an object, not {value}", name=name, value=repr(values))
        raise ProfileError(said, name)
    _known(kind, values, f"{name}.")
    known = {
        key: member(_LISTS[key], value, f"{name}.{key}") if key in _LISTS else value
        for key, value in values.items()
    }
    try:
        return kind(**known)
    except TypeError as error:
        raise ProfileError(Said("{name}: {error}", name=name, error=str(error)), name) from error


def _known(kind: type[Any], values: Mapping[str, Any], prefix: str) -> None:
    names = {one.name for one in fields(kind)}
    for key in values:
        if key not in names:
            there = ", ".join(sorted(names))
            name = f"{prefix}{key}"
            said = Said("unknown value {name}; there are {known}", name=name, known=there)
            raise ProfileError(said, name)
