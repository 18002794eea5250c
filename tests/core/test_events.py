from __future__ import annotations

import json

import pytest
from histories import exchange
from stage import DONE, Stage, use

from agentcore import PRESETS
from agentcore.context import Context
from agentcore.events import EventKind, shown
from agentcore.snapshot import Snapshot
from agentcore.wire import dumps


async def test_facts_of_every_event_are_small_json_of_a_known_kind() -> None:
    profile = PRESETS["balanced"].replace(budget=6_000, unit="bytes")
    hostile = '{"text": "\\u0000<script>\\ud800 ", "times": 300}'
    lines = [use(hostile, hostile, said="x" * 9_000)] * 9 + [DONE]
    stage = Stage(lines, profile, Context(Snapshot.of(exchange(4)))).say("中" * 9_000)
    await stage.run()
    told = [event for batch in stage.told for event in batch]
    assert len({event.kind for event in told}) >= 8
    for event in told:
        text = json.dumps(event.facts, ensure_ascii=False, allow_nan=False)
        assert len(text.encode()) < 2_000, event.kind
        assert "\0" not in str(json.loads(text).values())
        assert event.kind in EventKind
        assert dumps(json.loads(text))


@pytest.mark.parametrize(
    ("text", "seen"), [("a\0b", "a\u2400b"), ("half \ud800", "half ?"), ("x" * 500, "x" * 160)]
)
def test_text_from_outside_is_shown_so_that_any_column_takes_it(text: str, seen: str) -> None:
    assert shown(text) == seen
