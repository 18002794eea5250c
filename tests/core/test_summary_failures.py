from __future__ import annotations

import pytest

from agentcore import PRESETS, Profile, compact
from agentcore.compaction.compact import Summarize
from agentcore.compaction.notes import summary_note
from agentcore.compaction.plan import Fate
from agentcore.compaction.result import Failure
from agentcore.compaction.summarizer import summary_request
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
