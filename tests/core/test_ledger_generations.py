"""What was planted in the first turn, after five compactions without a model."""

from __future__ import annotations

import pytest
from histories import Value, answer, user
from planted import Planted, chinese, english, unknown, work

from agentcore import PRESETS, Profile, Snapshot, compact
from agentcore.facts import FactKind
from agentcore.ledger import Ledger, facts_of
from agentcore.messages import Message

SHARE = 0.20
COMPACTIONS = 5
TURNS = 30
PLANTED = {"english": english(), "chinese": chinese()}


def first_list(planted: Planted) -> list[Value]:
    return [*planted.first, *work(0, TURNS)]


def profile(preset: str, values: list[Value]) -> Profile:
    budget = round(SHARE * Snapshot.of(values).sizes.bytes)
    chosen = PRESETS[preset].replace(budget=budget, unit="bytes")
    return chosen.replace(window=20_000) if preset == "claude-code" else chosen


def later(at: int, planted: Planted) -> list[Value]:
    """What is appended before the compaction after next: the revision once, then more work."""
    said = planted.revision if at == 1 else user(f"go on with part {at}")
    return [answer("part done"), said, *work(100 * at, TURNS)]


def compacted(planted: Planted, preset: str, as_dicts: bool) -> tuple[Message, ...]:
    values = first_list(planted)
    chosen = profile(preset, values)
    snapshot = Snapshot.of(values, facts=True)
    for at in range(1, COMPACTIONS + 1):
        result = compact(snapshot, chosen, force=True)
        assert result.changed, f"compaction {at}: {result.reason}"
        kept = result.messages if as_dicts else list(result.new.messages)
        if at < COMPACTIONS:
            new = later(at, planted)
            born = result.new.state.last_number
            numbered = [m.numbered(born + n) for n, m in enumerate(Snapshot.of(new).messages, 1)]
            kept = [*kept, *(new if as_dicts else numbered)]
            snapshot = Snapshot.of(kept, facts=True)
    return result.new.messages


@pytest.mark.parametrize("as_dicts", [False, True], ids=["messages", "dicts"])
@pytest.mark.parametrize("preset", ["balanced", "kairo"])
@pytest.mark.parametrize("name", PLANTED)
def test_rules_goal_values_and_paths_outlive_five_compactions(
    name: str, preset: str, as_dicts: bool
) -> None:
    planted = PLANTED[name]
    messages = compacted(planted, preset, as_dicts)
    assert unknown(planted.must_know, messages) == []
    assert unknown([planted.holds], messages) == []


@pytest.mark.parametrize("name", PLANTED)
def test_a_replaced_value_is_gone_from_the_ledger(name: str) -> None:
    planted = PLANTED[name]
    ledger = Ledger.of(compacted(planted, "balanced", False))
    text = ledger.text(4_000)
    assert planted.holds in text and planted.gone not in text
    assert [fact.text for fact in ledger.facts(FactKind.CHANGED_PATH)]


def test_facts_keep_the_numbers_of_their_messages_over_generations() -> None:
    messages = compacted(PLANTED["english"], "balanced", False)
    alive = {message.number for message in messages}
    goals = [f for m in messages for f in facts_of(m) if f.text.startswith("Build the nightly")]
    assert {fact.number for fact in goals} == {2}
    assert 2 in alive or all(fact.number not in alive for fact in goals)
