"""The closed lists of spec-compaction 2, 6, 8, 9 and the presets of 10, word for word."""

from __future__ import annotations

from enum import StrEnum

import pytest

from agentcore import PRESETS, Profile
from agentcore.compaction.plan import Fate, Origin
from agentcore.compaction.result import CompactionState, Failure, Trigger
from agentcore.errors import ProfileError
from agentcore.facts import FactKind
from agentcore.lint import LintKind
from agentcore.options import SummaryFailure, SummarySource, Thresholds
from agentcore.pressure import Unit, Window, WindowSource
from agentcore.verify import Check

LISTS = {
    Fate: "kept pinned snipped masked cut folded summarized dropped excluded repaired rebuilt",
    Origin: "summary note injected restored appended",
    Trigger: "threshold hybrid overflow run_end manual hook recorded",
    CompactionState: "queued running applied noop failed undone",
    Failure: (
        "nothing_to_compact empty tool_call refusal headings too_long did_not_shrink error timeout "
        "breaker_open invariant aborted cancelled stale"
    ),
    Check: (
        "history_legal cut_legal summary_present budget_holds recent_intact goal_known paths_known"
    ),
    LintKind: (
        "orphan_result unanswered_call duplicate_result empty_message silent_cut broken_character "
        "kept_by_turns fat_summary_input memory_piles_up never_compacted summary_larger thrash"
    ),
    FactKind: (
        "goal constraint preference decision changed_path read_path command number warning failure "
        "state"
    ),
    SummaryFailure: "keep ledger note",
    SummarySource: "rolling archive",
}
SIX = ["snip", "micro", "collapse", "auto", "partial", "last_resort"]


@pytest.mark.parametrize("members", LISTS, ids=lambda members: members.__name__)
def test_a_closed_list_is_spelt_as_its_spec_has_it(members: type[StrEnum]) -> None:
    assert sorted(members) == sorted(LISTS[members].split())


@pytest.mark.parametrize(
    ("preset", "stages"),
    [
        ("nanohermes", ["keep_recent"]),
        ("kairo", SIX),
        ("claude-code", ["share", "snip", "micro", "collapse", "auto"]),
        ("observation-masking", ["mask"]),
        ("elastic", ["elastic"]),
        ("recall", ["keep_recent"]),
        ("balanced", [*SIX, "fair_share"]),
    ],
)
def test_a_preset_is_an_ordered_list_of_strategies(preset: str, stages: list[str]) -> None:
    assert [stage.strategy for stage in PRESETS[preset].stages] == stages


def test_the_six_stages_have_their_thresholds_and_what_each_leaves_alone() -> None:
    for name in ("kairo", "balanced"):
        profile = PRESETS[name]
        ats = [profile.threshold(stage) for stage in profile.stages[:6]]
        assert ats == [0.80, 0.85, 0.90, 0.95, 0.98, 0.99]
        assert [stage.keep for stage in profile.stages[:6]] == [5, 0, 0, 3, 5, 0]
        assert [stage.buffer for stage in profile.stages] == [
            40_000,
            *[0] * (len(profile.stages) - 1),
        ]


def test_to_override_one_threshold_leaves_the_others() -> None:
    changed = PRESETS["balanced"].replace(thresholds=Thresholds(micro=0.88))
    ats = [changed.threshold(stage) for stage in changed.stages[:6]]
    assert ats == [0.80, 0.88, 0.90, 0.95, 0.98, 0.99]
    read = Profile.of({**changed.values(), "thresholds": {"micro": 0.88}})
    assert read == changed
    with pytest.raises(ProfileError, match="ascend"):
        changed.replace(thresholds=Thresholds(micro=0.79))


def test_limits_and_reserves_are_those_of_their_sources() -> None:
    unknown = PRESETS["kairo"].window_for("")
    assert (unknown.tokens, unknown.is_known) == (200_000, False)
    known = Window(200_000, WindowSource.PROFILE)
    reserves = {name: profile.reserve_for(known) for name, profile in PRESETS.items()}
    assert reserves == {
        "nanohermes": 0,
        "kairo": 0,
        "claude-code": 20_000,
        "observation-masking": 10_000,
        "elastic": 10_000,
        "recall": 10_000,
        "balanced": 10_000,
    }
    budgets = {name: (one.budget, one.unit) for name, one in PRESETS.items() if one.budget}
    assert budgets == {"nanohermes": (120_000, Unit.BYTES)}
    assert [name for name, one in PRESETS.items() if one.pins_first_user] == ["kairo"]
    assert [name for name, one in PRESETS.items() if one.recall] == ["recall"]
