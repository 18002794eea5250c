"""A compaction as a person asks for it, and the plan that was shown before it is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from agentcore.compaction.plan import CompactionPlan, apply_plan
from agentcore.compaction.result import CompactionResult, StageReport, Trigger, WrittenSummary
from agentcore.errors import ProfileError, StalePlan
from agentcore.invariants import check
from agentcore.options import Stage
from agentcore.presets import PRESETS
from agentcore.profile import Profile
from agentcore.said import Said
from agentcore.snapshot import Snapshot

# Every stage that some preset has, with its parameters there.
STAGES: Mapping[str, Stage] = {
    stage.strategy: stage for preset in PRESETS.values() for stage in preset.stages
}


@dataclass(frozen=True, slots=True)
class CompactionOptions:
    """`preset`: its stages instead of the profile's; `stage`: that one alone; `keep_last`: newest
    messages, results or turns that each stage leaves alone; `up_to`: number of the last message
    that may leave; `focus`: what a summary is to keep above all; `summary`: its text, by a
    person; `model`: the name of the one that is asked for it."""

    preset: str = ""
    stage: str = ""
    keep_last: int | None = None
    focus: str = ""
    up_to: int | None = None
    summary: str | None = None
    model: str = ""

    def applied_to(self, profile: Profile) -> Profile:
        """The profile with other stages; its budget and limits stay. Raises ProfileError."""
        if self.preset:
            profile = _with_preset(profile, self.preset)
        stages = (_alone(profile, self.stage),) if self.stage else profile.stages
        if self.keep_last is not None:
            kept = self.keep_last
            stages = tuple(replace(stage, keep=kept, to_target=False) for stage in stages)
        return profile.replace(stages=stages)

    def held(self, snapshot: Snapshot) -> frozenset[int]:
        """The messages behind the boundary; tool groups are not cut. Raises StalePlan where it is
        not in the list."""
        if self.up_to is None:
            return frozenset()
        rows = snapshot.indexes_of(frozenset([self.up_to]))
        if not rows:
            said = Said(
                "message {number} is not in the list: choose another boundary", number=self.up_to
            )
            raise StalePlan(said)
        behind = snapshot.messages[snapshot.group_at(rows[0]).stop :]
        return frozenset(message.number for message in behind)


@dataclass(frozen=True, slots=True)
class PreparedPlan:
    """What a run of the pipeline came to, to be applied exactly as it was shown."""

    plan: CompactionPlan
    stages: tuple[StageReport, ...]
    summaries: tuple[WrittenSummary, ...] = ()
    left_out: int = 0

    @classmethod
    def of(cls, result: CompactionResult) -> PreparedPlan:
        return cls(result.plan, result.stages, result.summaries, result.left_out)

    def on(self, snapshot: Snapshot, pins: frozenset[int], trigger: Trigger) -> CompactionResult:
        """The result on the list as it is now; what was appended since follows unchanged. Raises
        StalePlan where the list was revised, or where a rule now forbids the plan."""
        base, now = self.plan.base, snapshot.state
        if base.revision != now.revision:
            said = Said(
                "the list is at {now}, the plan was made at {base}: look at it again",
                now=str(now),
                base=str(base),
            )
            raise StalePlan(said)
        after, revision = apply_plan(self.plan, snapshot)
        if broken := check(self.plan, snapshot, after, pins):
            raise StalePlan(Said("the plan no longer holds: {reason}", reason=broken[0].detail))
        return CompactionResult(
            snapshot,
            after,
            trigger,
            self.plan,
            revision,
            stages=self.stages,
            summaries=self.summaries,
            left_out=self.left_out,
        )


def _with_preset(profile: Profile, name: str) -> Profile:
    if name not in PRESETS:
        known = ", ".join(PRESETS)
        said = Said("there is no preset {name}; there are {known}", name=repr(name), known=known)
        raise ProfileError(said, "preset")
    preset = PRESETS[name]
    return profile.replace(
        stages=preset.stages,
        thresholds=preset.thresholds,
        target=preset.target,
        pins_first_user=preset.pins_first_user,
        summary=replace(
            profile.summary,
            source=preset.summary.source,
            input=preset.summary.input,
            on_failure=preset.summary.on_failure,
        ),
    )


def _alone(profile: Profile, name: str) -> Stage:
    """One stage, as the profile has it or else as a preset does; never due before the first one,
    so that the target stays under it."""
    own = {stage.strategy: stage for stage in profile.stages}
    stage = own.get(name) or STAGES.get(name)
    if stage is None:
        known = ", ".join(STAGES)
        said = Said("there is no stage {name}; there are {known}", name=repr(name), known=known)
        raise ProfileError(said, "stage")
    lowest = profile.threshold(profile.stages[0])
    return replace(stage, at=max(lowest, profile.threshold(stage)))
