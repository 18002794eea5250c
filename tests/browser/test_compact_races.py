"""Two people at one session: each race has one outcome, and who lost it is told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from house import wait_for
from playwright.sync_api import Browser, Page, expect
from watching import at_rest, call, forked

pytestmark = pytest.mark.browser
LATE = re.compile("moved on|is queued already|is running already")


@pytest.fixture
def other(browser: Browser, browser_context_args: dict[str, Any]) -> Iterator[Page]:
    """A second browser, that hears of nothing until it asks."""
    context = browser.new_context(**browser_context_args)
    context.route("**/previews/*/?still=1*", lambda route: route.abort())
    yield context.new_page()
    context.close()


@pytest.fixture(params=["live", "recorded"])
def session(request: pytest.FixtureRequest, watched: Any, tmp_path: Path) -> str:
    """That of the explorer after a while, or the fork of a recording."""
    return at_rest(watched) if request.param == "live" else forked(watched, tmp_path)


def look(watched: Any, page: Page, session: str) -> None:
    query = "stage=keep_recent&keep_last=4"
    page.goto(f"{watched.house.url}/sessions/{session}/compact/?{query}")
    expect(page.locator("#apply")).to_be_visible()


def apply(page: Page) -> None:
    page.locator("#apply").click()
    page.wait_for_url("**/compactions/*/")


def winner(*pages: Page) -> Page:
    """The one of them that is led to its compaction."""
    for _ in range(300):
        for page in pages:
            if "/compactions/" in page.url:
                return page
        pages[0].wait_for_timeout(100)
    raise AssertionError("nobody compacted")


def states(watched: Any, session: str) -> list[str]:
    found = call(watched, f"sessions/{session}/compactions")["items"]
    return sorted(one["state"] for one in found)


def test_of_two_who_apply_at_once_one_compacts_and_the_other_is_told(
    watched: Any, other: Page, session: str
) -> None:
    page = watched.page
    look(watched, page, session)
    look(watched, other, session)
    page.locator("#apply").click(no_wait_after=True)
    other.locator("#apply").click()
    first = winner(page, other)
    late = other if first is page else page
    expect(late.locator("main")).to_contain_text(LATE)
    expect(first.locator(".verdict h2")).to_contain_text("Freed")
    assert states(watched, session) == ["applied"]


def test_a_pin_that_another_sets_after_the_preview_is_honoured_and_told(
    watched: Any, other: Page, tmp_path: Path
) -> None:
    session = forked(watched, tmp_path)
    page = watched.page
    look(watched, page, session)
    other.goto(f"{watched.house.url}/sessions/{session}/messages/3/")
    other.locator("body").press("p")
    expect(other.locator("#pin-3")).to_have_attribute("aria-pressed", "true")
    apply(page)
    expect(page.locator(".verdict")).to_contain_text("failed; the list is as it was")
    expect(page.locator(".verdict")).to_contain_text("the plan no longer holds")
    assert call(watched, f"sessions/{session}/messages/3")["index"] is not None
    assert states(watched, session) == ["failed"]


def test_an_instruction_that_another_sends_meanwhile_follows_the_result(
    watched: Any, other: Page
) -> None:
    session = at_rest(watched)
    page = watched.page
    look(watched, page, session)
    other.goto(f"{watched.house.url}/sessions/{session}/")
    other.locator("#say").fill("Say what you found so far.")
    other.keyboard.press("Control+Enter")
    apply(page)
    expect(page.locator(".verdict h2")).to_contain_text("Freed")
    found = call(watched, f"sessions/{session}/messages?limit=200")["items"]
    said = [one["number"] for one in found if one["preview"] == "Say what you found so far."]
    assert len(said) == 1
    assert states(watched, session) == ["applied"]
    call(watched, f"sessions/{session}/stop", stop=True)


def test_after_another_turn_an_undo_is_refused_and_a_fork_is_offered(
    watched: Any, other: Page
) -> None:
    session = at_rest(watched)
    page = watched.page
    look(watched, page, session)
    apply(page)
    expect(page.locator("#undo")).to_be_visible()
    turns = call(watched, f"sessions/{session}")["turns"]
    other.goto(f"{watched.house.url}/sessions/{session}/")
    other.locator("#say").fill("Go on.")
    other.keyboard.press("Control+Enter")
    wait_for(lambda: call(watched, f"sessions/{session}")["turns"] > turns, seconds=60)
    call(watched, f"sessions/{session}/stop", stop=True)
    page.locator("#undo").click()
    page.wait_for_url(f"**/sessions/{session}/")
    # Memory that other sessions left changes the list too, when the run begins.
    refused = re.compile("a request was sent since, in turn|the list was changed since compaction")
    expect(page.locator("main")).to_contain_text(refused)
    page.goto(f"{watched.house.url}/sessions/{session}/compactions/1/")
    expect(page.locator("#made-by")).to_contain_text("Not to be undone")
    page.locator("#fork").click()
    page.wait_for_url(lambda url: re.search(r"/sessions/\w+/$", url) and session not in url)
    assert states(watched, session)[0] == "applied"


def test_a_summary_edited_to_nothing_or_to_a_book_is_told_and_cannot_be_applied(
    watched: Any, tmp_path: Path
) -> None:
    session = forked(watched, tmp_path)
    page = watched.page
    look(watched, page, session)
    text = page.locator("#summary-text")
    text.fill("")
    expect(page.locator("#plan [role=alert]")).to_contain_text("has no text")
    expect(page.locator("#apply")).to_have_count(0)
    text.fill("word " * 50_000)
    expect(page.locator("#plan [role=alert]")).to_contain_text("50,000 words")
    text.fill("It is half done.")
    expect(page.locator("#plan")).to_contain_text("by hand")
    expect(text).to_have_value("It is half done.")
    apply(page)
    expect(page.locator(".verdict h2")).to_contain_text("Freed")
    refused = [one for one in watched.told if "compact/summary" in one and "400" in one]
    assert watched.told == refused and len(refused) == 2
    watched.told.clear()
