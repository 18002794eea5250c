from __future__ import annotations

from typing import Any

from cases.given import Desk, Summarizer, profile, speaker, summaries, text_of

from agentcore import compact, measure
from agentcore.breakdown import Category
from agentcore.compaction.result import Failure
from agentcore.events import EventKind


async def test_nothing_to_forget(case: dict[str, Any]) -> None:
    summarizer = Summarizer("I see no events to summarise, please share them.")
    result = compact(case["messages"], profile(case), force=True, summarize=summarizer)
    assert summarizer.inputs == []
    assert result.messages == case["messages"]
    assert result.reason is Failure.NOTHING_TO_COMPACT
    desk = Desk(case["messages"], profile(case), speaker("An answer."))
    await desk.compact()
    assert [event.facts["reason"] for event in desk.told(EventKind.COMPACTION_ENDED)] == [
        "nothing_to_compact"
    ]


def test_trim_multipart_content(case: dict[str, Any]) -> None:
    result = compact(case["messages"], profile(case), summarize=Summarizer("SUM"))
    first = measure([case["messages"][1]])
    assert result.new.sizes.chars < case["budget_chars"]
    assert summaries(result)
    assert "image_url" not in text_of(result.messages)
    assert first[Category.USER] > 90_000
    assert 0 < first[Category.IMAGES] < 200


async def test_trim_under_budget_must_not_touch(case: dict[str, Any]) -> None:
    summarizer = speaker("SUM")
    desk = Desk(
        case["messages"],
        profile(case),
        speaker("Sunny."),
        summarizer=summarizer,
    )
    result = compact(case["messages"], profile(case), summarize=Summarizer("SUM"))
    assert [message.wire for message in result.new.messages] == [
        message.wire for message in result.old.messages
    ]
    await desk.agent.run()
    assert summarizer.requests == []
    assert desk.told(EventKind.COMPACTION_STARTED) == []
    assert desk.told(EventKind.COMPACTION_ENDED) == []
