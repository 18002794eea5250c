from __future__ import annotations

from typing import Any

import pytest

from agentcore import PRESETS, Profile, compact
from agentcore.compaction.compact import Summarize
from agentcore.compaction.notes import summary_note
from agentcore.compaction.plan import Fate
from agentcore.compaction.result import Failure
from agentcore.compaction.summarizer import SHORT, TASK, summary_request
from agentcore.errors import ModelError
from agentcore.messages import born
from agentcore.options import SummaryFailure, SummaryOptions

NANO = PRESETS["nanohermes"]
TALK = [
    {"role": "system", "content": "You work."},
    *({"role": role, "content": "a" * 300} for _ in range(8) for role in ("user", "assistant")),
]


def test_the_source_of_a_summary_takes_at_most_80_percent_of_the_window() -> None:
    gone = [born({"role": "user", "content": "b" * 1_000}).numbered(n) for n in range(1, 101)]
    small = summary_request(gone, SummaryOptions(), 10_000)
    assert 31_000 < len(small.text) <= 32_000
    assert small.left_out == 100 - len(small.text.splitlines())
    assert summary_request(gone, SummaryOptions(), 200_000).left_out == 0


def test_an_earlier_summary_reaches_the_next_one_whole() -> None:
    text = "c" * 2_499 + "!"
    note = summary_note(text)
    request = summary_request([note], SummaryOptions(), 200_000)
    assert request.text == f"earlier summary: {text}"


@pytest.mark.parametrize(
    ("error", "reason"),
    [(TimeoutError("late"), Failure.TIMEOUT), (ModelError("down"), Failure.ERROR)],
)
def test_a_summarizer_that_fails_leaves_the_list_as_it_was(
    error: Exception, reason: Failure
) -> None:
    result = compact(TALK, _on_failure(SummaryFailure.KEEP), force=True, summarize=_raise(error))
    assert not result.changed
    assert [(one.reason, one.detail) for one in result.failures] == [(reason, str(error))]
    assert result.messages == TALK


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, Failure.EMPTY),
        (" \n", Failure.EMPTY),
        ("word " * 2_000, Failure.TOO_LONG),
        (TASK + SHORT.format(words=300), Failure.REFUSAL),
        ("I cannot help with that.", Failure.REFUSAL),
        ("Error code: 429 - {'error': 'slow down'}", Failure.ERROR),
        ("openai.RateLimitError: slow down", Failure.ERROR),
        ('{"error": {"message": "slow down"}}', Failure.ERROR),
        ("HTTP 502 Bad Gateway", Failure.ERROR),
    ],
)
def test_what_a_summarizer_returns_instead_of_a_summary_changes_nothing(
    answer: Any, reason: Failure
) -> None:
    keeping = _on_failure(SummaryFailure.KEEP)
    result = compact(TALK, keeping, force=True, summarize=lambda text, *, max_words: answer)
    assert (result.changed, result.messages) == (False, TALK)
    assert [one.reason for one in result.failures] == [reason]


@pytest.mark.parametrize(
    "summary",
    [
        "Error handling was moved to errors.py; HTTP clients retry.",
        "Goal: find why requests fail. Error: 502 from the proxy came up twice.",
        "The error code is now in the response.",
    ],
)
def test_a_summary_that_tells_of_errors_is_taken(summary: str) -> None:
    result = compact(TALK, NANO, force=True, summarize=lambda text, *, max_words: summary)
    assert result.new.messages[1].text.endswith(summary)


def test_what_leaves_without_a_summary_is_dropped_not_summarized() -> None:
    failed = _on_failure(SummaryFailure.NOTE)
    after_failure = compact(TALK, failed, force=True, summarize=_raise(ModelError("down")))
    without = compact(TALK, failed, force=True)
    with_one = compact(TALK, failed, force=True, summarize=lambda text, *, max_words: "SUM")
    fates = [
        {cut.fate for cut in result.plan.removals} for result in (after_failure, without, with_one)
    ]
    assert fates == [{Fate.DROPPED}, {Fate.DROPPED}, {Fate.SUMMARIZED}]


def _on_failure(what: SummaryFailure) -> Profile:
    return NANO.replace(summary=SummaryOptions(on_failure=what))


def _raise(error: Exception) -> Summarize:
    def summarize(text: str, *, max_words: int) -> str:
        raise error

    return summarize
