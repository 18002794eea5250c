from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hermesweb.occasions import Occasion

Show = Callable[..., Page]
LIST = "<notice-list></notice-list>"


def tell(page: Page, kind: str, *occasions: str, **facts: Any) -> None:
    page.evaluate(
        """([kind, data]) => document.dispatchEvent(
          new CustomEvent("session:" + kind, { detail: { seq: 1, kind, data } }))""",
        [kind, {**facts, "occasions": occasions}],
    )


def notes(page: Page) -> list[str]:
    return page.locator("notice-list p").all_text_contents()


@pytest.mark.parametrize(
    ("kind", "occasion", "facts", "said"),
    [
        (
            *("turn_ended", "near_threshold"),
            *({"used": 75, "limit": 100}, "75% full: a compaction is near."),
        ),
        (
            *("compaction_ended", "compacted"),
            {"before": 19_500, "after": 900},
            "Compacted: 19.5 kB before, 900 B after.",
        ),
        (
            *("compaction_ended", "thrash"),
            *({}, "Compacting no longer helps: automatic compaction has stopped."),
        ),
        (
            *("compaction_failed", "breaker_open"),
            *({}, "Summaries failed too often: for a while none is asked for."),
        ),
        (
            *("blocked", "blocked"),
            {},
            "The next request does not fit the window: unpin something or choose a larger one.",
        ),
        (
            *("approval_wanted", "approval_wanted"),
            *({"tool": "run_command"}, "The run waits for you to allow run_command."),
        ),
        (
            *("approval_wanted", "approval_wanted"),
            *({}, "The run waits for you to allow a compaction."),
        ),
        ("run_ended", "run_ended", {"end": "answered"}, "The run ended with an answer."),
    ],
)
def test_it_tells(show: Show, kind: str, occasion: str, facts: dict[str, Any], said: str) -> None:
    page = show(LIST, "notice-list")
    tell(page, kind, occasion, **facts)
    assert notes(page) == [said]


@pytest.mark.parametrize("occasion", Occasion)
def test_it_has_words_for_every_occasion(show: Show, occasion: str) -> None:
    page = show(LIST, "notice-list")
    tell(page, "run_ended", occasion, end="answered", used=1, limit=2, before=2, after=1)
    assert len(notes(page)) == 1


def test_a_newer_one_of_an_occasion_takes_the_place_of_the_last(show: Show) -> None:
    page = show(LIST, "notice-list")
    for used in (75, 80):
        tell(page, "turn_ended", "near_threshold", used=used, limit=100)
        tell(page, "run_ended", "run_ended", end="answered")
        page.get_by_role("button", name="Close").first.focus()
    assert notes(page) == ["80% full: a compaction is near.", "The run ended with an answer."]
    expect(page.get_by_role("button", name="Close").first).to_be_focused()


def test_of_more_than_three_the_oldest_that_is_not_grave_goes(show: Show) -> None:
    page = show(LIST, "notice-list")
    tell(page, "blocked", "blocked")
    tell(page, "turn_ended", "near_threshold", used=75, limit=100)
    tell(page, "compaction_ended", "compacted", "thrash", before=2, after=1)
    looks = page.locator("notice-list .note").evaluate_all(
        "all => all.map(one => one.dataset.occasion)"
    )
    assert looks == ["blocked", "compacted", "thrash"]


def test_it_goes_by_itself_but_not_from_under_the_focus(show: Show, page: Page) -> None:
    page.clock.install()
    show(LIST, "notice-list")
    tell(page, "compaction_ended", "compacted", before=2, after=1)
    page.get_by_role("button", name="Close").focus()
    page.clock.run_for(9_000)
    assert len(notes(page)) == 1
    page.evaluate("document.activeElement.blur()")
    page.clock.run_for(9_000)
    assert notes(page) == []


def test_what_is_grave_is_an_alert_and_stays_until_it_is_closed(show: Show) -> None:
    page = show(LIST, "notice-list")
    tell(page, "run_ended", "run_ended", end="failed")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The run failed.")
    page.get_by_role("button", name="Close").click()
    expect(alert).to_have_count(0)


def test_what_is_no_occasion_is_not_told(show: Show) -> None:
    page = show(LIST, "notice-list")
    tell(page, "compaction_ended", state="noop")
    tell(page, "compaction_failed", failure="hook", detail="no")
    tell(page, "turn_ended", used=10, limit=0)
    tell(page, "run_ended", "run_ended", end="blocked")
    assert notes(page) == []
