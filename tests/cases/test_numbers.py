from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from anthropic.types import Usage as Reported
from builders import a_lease, a_session, said, turn_ended
from cases.given import Desk, profile, speaker
from django.template.loader import render_to_string

from agentcore import compact, measure
from agentcore.breakdown import Category
from agentcore.llm.anthropic import _usage
from agentcore.pressure import Budget, TokenCounter, Unit, Window, WindowSource
from agentcore.snapshot import Snapshot
from agentcore.transcripts.load import load_transcript
from hermesweb.gauge import gauge
from hermesweb.recorder import record
from hermesweb.templatetags.units import percent


def test_cached_prompt_shows_zero_percent(case: dict[str, Any]) -> None:
    usages = [
        _usage(Reported(**{key: one[key] for key in one if key != "request"}))
        for one in case["usage"]
    ]
    prompts = [usage.prompt for usage in usages]
    expect = case["expect"]
    assert prompts == expect["prompt_tokens"]
    shares = [round(100 * prompt / case["window_tokens"], 1) for prompt in prompts]
    assert shares == expect["percent_of_window"]
    read = [round(100 * usage.cache_read / usage.prompt, 1) for usage in usages]
    assert read == expect["cache_read_share_percent"]
    parts = [(usage.input, usage.cache_read, usage.cache_write) for usage in usages]
    assert [sum(part) for part in parts] == prompts


async def test_image_counted_as_text(case: dict[str, Any]) -> None:
    result = compact(case["messages"], profile(case))
    parts = measure(case["messages"])
    url = case["messages"][1]["content"][1]["image_url"]["url"]
    picture = Snapshot.of(case["messages"][1:]).sizes
    desk = Desk(case["messages"], profile(case), speaker("A login page."))
    await desk.agent.run()
    assert result.messages == case["messages"]
    assert len(url) <= parts[Category.IMAGES] < len(url) + 200
    assert 0 < parts[Category.USER] < 200
    assert 1 <= picture.tokens <= 10_000
    assert desk.sent[0] == case["messages"]


def test_over_hundred_percent(case: dict[str, Any]) -> None:
    drawn = gauge({"user": case["used"]}, case["used"], limit=case["window"], unit="tokens")
    html = render_to_string("_gauge.html", {"gauge": drawn})
    shown = f"{case['expect']['percent']}%"
    assert percent(drawn.pressure) == shown
    assert shown in html
    assert sum(part.width for part in drawn.segments) <= 100
    assert "gauge--over" in html


def test_subagent_records_in_main_list(case: dict[str, Any]) -> None:
    lines = "\n".join(json.dumps(record) for record in case["jsonl"])
    recording = load_transcript(lines.encode())
    expect = case["expect"]
    prompts = [turn.usage.prompt for turn in recording.turns if turn.usage]
    spent = recording.spent()
    assert len(recording.context()) == expect["main_messages"]
    assert prompts[-1] == expect["gauge_tokens"]
    assert max(prompts) < 9_000
    assert (spent.input, spent.output) == (expect["total_input"], expect["total_output"])
    assert [one.call_id for one in recording.subagents] == ["task1"]


@pytest.mark.django_db
def test_window_size_of_another_model(case: dict[str, Any]) -> None:
    points = []
    for event in case["events"]:
        window = Window(event["window"], WindowSource.MODEL_TABLE)
        snapshot = Snapshot.of([{"role": "user", "content": "x" * 4 * event["used"]}])
        counter = TokenCounter()
        counter.learn(event["used"], snapshot.sizes)
        points.append(
            counter.pressure(
                snapshot.sizes,
                Snapshot.of([]).sizes,
                budget=Budget(window.tokens, Unit.TOKENS),
                window=window,
                reserve=0,
                counts_schemas=True,
            )
        )
    expect = case["expect"]
    assert [round(100 * point.fraction) for point in points] == expect["percent"]
    assert [point.fraction >= case["threshold"] for point in points] == expect["over"]
    session = a_session()
    turns = [
        replace(turn_ended(number, [said(number, "go")]), pressure=point)
        for number, point in enumerate(points, 1)
    ]
    record(session.pk, a_lease(session).fence, turns)
    stored = session.stored_turns.order_by("number").values_list("window_tokens", flat=True)
    assert list(stored) == [event["window"] for event in case["events"]]
