from __future__ import annotations

import json
from typing import Any

import pytest

from agentcore import PRESETS, Profile
from agentcore.errors import ProfileError
from agentcore.options import Stage
from agentcore.pressure import Unit, Window, WindowSource, window_of

NANO, BALANCED = PRESETS["nanohermes"], PRESETS["balanced"]


def known(tokens: int) -> Window:
    return Window(tokens, WindowSource.PROFILE)


def test_nanohermes_has_the_numbers_of_its_source() -> None:
    assert (NANO.budget, NANO.unit, NANO.reserve, NANO.counts_schemas) == (
        120_000,
        "bytes",
        0,
        False,
    )
    (stage,) = NANO.stages
    assert (stage.strategy, stage.keep, stage.at, stage.above) == ("keep_recent", 10, 1.0, True)
    assert NANO.limits_for(known(32_000)).result_bytes == 20_000


@pytest.mark.parametrize(
    ("window", "reserve", "result_bytes"),
    [(32_000, 1_600, 6_400), (128_000, 6_400, 20_000), (1_000_000, 20_000, 20_000)],
)
def test_balanced_follows_the_window(window: int, reserve: int, result_bytes: int) -> None:
    assert BALANCED.budget_for(known(window)).limit == window
    assert BALANCED.reserve_for(known(window)) == reserve
    assert BALANCED.limits_for(known(window)).result_bytes == result_bytes
    assert BALANCED.warnings() == []


@pytest.mark.parametrize("window", [32_000, 128_000, 200_000, 1_000_000])
def test_balanced_is_sane_at_every_window(window: int) -> None:
    assert BALANCED.warnings(known(window)) == []


def test_a_target_over_the_buffer_of_a_hybrid_stage_is_warned_of() -> None:
    """At 32K tokens the buffer is capped at a quarter: the first stage is due at 24,000."""
    stages = (Stage("snip", at=0.99, buffer=40_000, keep=0),)
    profile = BALANCED.replace(stages=stages, target=0.8)
    (warning,) = profile.warnings(known(32_000))
    assert "target of 25,600 tokens" in warning and "trigger 24,000" in warning


def test_a_profile_in_tokens_that_keeps_too_much_is_warned_of() -> None:
    profile = BALANCED.replace(stages=(Stage("keep_recent", at=0.8, keep=40),))
    (warning,) = profile.warnings(known(32_000))
    assert "40 kept results of 6,400 bytes" in warning and "tokens > 25,600" in warning


def test_nanohermes_is_warned_of_with_its_arithmetic() -> None:
    (warning,) = NANO.warnings()
    assert warning == (
        "10 kept results of 20,000 bytes + 2,500 summary + 22,400 fixed = 224,900 > 120,000: "
        "compacts every turn"
    )


def test_a_structured_summary_counts_with_its_own_cap() -> None:
    profile = BALANCED.replace(stages=(Stage("auto", keep=3),), budget=110_000, unit="bytes")
    (warning,) = profile.warnings(known(200_000))
    assert warning == (
        "3 kept results of 20,000 bytes + 40,000 summary + 22,400 fixed = 122,400 > 104,500: "
        "compacts every turn"
    )
    assert profile.replace(budget=130_000).warnings(known(200_000)) == []


@pytest.mark.parametrize("name", PRESETS)
def test_a_profile_reads_back_from_its_json(name: str) -> None:
    values = json.loads(json.dumps(PRESETS[name].values()))
    assert Profile.of(values) == PRESETS[name]


def test_what_is_missing_has_its_default() -> None:
    assert Profile.of({"stages": [{"strategy": "keep_recent"}]}) == Profile((Stage("keep_recent"),))


def test_one_value_changes_and_the_rest_stays() -> None:
    changed = NANO.replace(budget=24_000, unit="chars")
    assert (changed.budget, changed.unit, changed.limits) == (24_000, Unit.CHARS, NANO.limits)
    assert NANO.budget == 120_000


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"budget": 0}, "budget"),
        ({"budget": "many"}, "budget"),
        ({"window": -1}, "window"),
        ({"reserve": -1}, "reserve"),
        ({"unit": "words"}, "unit"),
        ({"automatic": "maybe"}, "automatic"),
        ({"target": 1.0}, "target"),
        ({"target": 0}, "target"),
        ({"min_gain": 1}, "min_gain"),
        ({"min_gain": None}, "min_gain"),
        ({"min_gain": ""}, "min_gain"),
        ({"assumed_window": None}, "assumed_window"),
        ({"stages": []}, "stages"),
        ({"stages": [{"strategy": "keep_recent", "at": 1.2}]}, "stages"),
        ({"stages": [{"strategy": "k", "at": 0.9}, {"strategy": "k", "at": 0.8}]}, "stages"),
        ({"stages": [{"strategy": "keep_recent", "keep": -1}]}, "stages"),
        ({"stages": [{"strategy": "keep_recent", "at": "x"}]}, "stages"),
        ({"stages": [{"at": 0.8}]}, "stages"),
        ({"stages": 3}, "stages"),
        ({"limits": {"result_bytes": -1}}, "limits.result_bytes"),
        ({"limits": {"result_bytes": 1.5}}, "limits.result_bytes"),
        ({"limits": {"results": 1}}, "limits.results"),
        ({"ceilings": {"turns": True}}, "ceilings.turns"),
        ({"summary": {"on_failure": "panic"}}, "summary.on_failure"),
        ({"summary": {"words": 0}}, "summary.words"),
        ({"summary": []}, "summary"),
        ({"documents": {"persona": 3}}, "documents.persona"),
        ({"documents": {"persona": "x" * 20_001}}, "documents.persona"),
        ({"documents": {"doc_names": "AGENTS.md"}}, "documents.doc_names"),
        ({"documents": {"doc_names": ["../secret"]}}, "documents.doc_names"),
        ({"documents": {"doc_names": [""]}}, "documents.doc_names"),
        ({"documents": {"project_docs_keep": "both"}}, "documents.project_docs_keep"),
        ({"documents": {"memory": 1}}, "documents.memory"),
        ({"approvals": {"minutes": 527_041}}, "approvals.minutes"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_nonsense_is_refused_by_name(changes: dict[str, Any], field: str) -> None:
    values = {**NANO.values(), **changes}
    with pytest.raises(ProfileError) as caught:
        Profile.of(values)
    assert caught.value.field == field
    assert str(caught.value)


@pytest.mark.parametrize(
    ("model", "tokens", "source"),
    [
        ("claude-opus-4-5", 200_000, "model_table"),
        ("openai/gpt-4o-mini", 128_000, "model_table"),
        ("gpt-4.1", 1_047_576, "model_table"),
        ("local-llama", 128_000, "assumed"),
        ("", 128_000, "assumed"),
    ],
)
def test_window_is_known_or_says_that_it_is_assumed(model: str, tokens: int, source: str) -> None:
    assert window_of(model) == Window(tokens, WindowSource(source))
    assert window_of(model, 32_000) == known(32_000)
