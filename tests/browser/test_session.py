"""The way of a newcomer: sign in, watch an agent work, steer it, read what a compaction did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from house import BASE_DIR, wait_for
from playwright.sync_api import Page, expect
from watching import at_rest, call

pytestmark = pytest.mark.browser
INSTRUCTION = "Find where the context is compacted and say how it is decided."
TURN = "document.querySelector('turn-strip').turn ?? 0"
# In one step, since a list that is live may take the row away between two.
PIN_NEWEST = """() => {
  const pins = document.querySelectorAll(".row:has(.cat-tool_results) .pin[aria-pressed=false]");
  const newest = [...pins].at(-1);
  newest?.click();
  return newest?.id.split("-")[1] ?? 0;
}"""
BARS = "document.querySelector('turn-chart .plot')?.data?.[0]?.x.length ?? 0"


def start(watched: Any, workspace: Path = BASE_DIR) -> str:
    """Starts the explorer by the form; the session's id."""
    page = watched.page
    page.goto(f"{watched.house.url}/sessions/new/")
    page.fill("[name=instruction]", INSTRUCTION)
    page.fill("[name=workspace]", str(workspace))
    page.select_option("[name=model]", "explorer")
    page.select_option("[name=profile]", "small")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/sessions/*/")
    return str(page.url.rstrip("/").rsplit("/", 1)[1])


def until(page: Page, what: str, more_than: int = 0) -> int:
    """The value of an expression once it passes a number. Asked for from here: the policy of the
    pages lets no script of theirs wait for one."""
    for _ in range(600):
        value = int(page.evaluate(what))
        if value > more_than:
            return value
        page.wait_for_timeout(100)
    raise AssertionError(f"{what} stays at {value}, not over {more_than}")


def pin_newest_result(page: Page) -> int:
    """By its button; the number of the message. One that a compaction takes out of the list in
    just that moment is let go, and the newest one is tried again."""
    for _ in range(10):
        number = int(page.evaluate(PIN_NEWEST))
        page.wait_for_timeout(1_500)
        if page.locator("#pressure .gauge__pin").count():
            return number
    raise AssertionError("no pinned result stays in the list")


def compactions(watched: Any, session: str) -> list[dict[str, Any]]:
    """Newest last."""
    answer = watched.page.request.get(
        f"{watched.house.url}/api/v1/sessions/{session}/compactions",
        headers={"Authorization": f"Bearer {watched.house.api_token}"},
    )
    rows: list[dict[str, Any]] = answer.json()["items"]
    return sorted(rows, key=lambda row: int(row["number"]))


def asked_for(watched: Any, session: str) -> dict[str, Any] | None:
    """The one that was asked for by hand, once it came to something."""
    rows = compactions(watched, session)
    by_hand = (row for row in rows if row["trigger"] == "manual")
    return next((row for row in by_hand if row["state"] in ("applied", "noop")), None)


def applied_from(watched: Any, session: str, number: int) -> int | None:
    rows = compactions(watched, session)
    found = (row["number"] for row in rows if row["state"] == "applied")
    return next((one for one in found if one >= number), None)


def test_a_newcomer_watches_steers_and_reads_what_a_compaction_did(watched: Any) -> None:
    session = start(watched)
    page = watched.page

    turn = until(page, TURN)
    page.locator("turn-chart").scroll_into_view_if_needed()
    bars = until(page, BARS)
    # The run may have ended before the chart was drawn: then another one follows.
    page.locator("#say").fill("Look again.")
    page.locator("#say").press("Control+Enter")
    until(page, TURN, turn)
    until(page, BARS, bars)

    pinned = pin_newest_result(page)
    page.get_by_role("button", name="Compact now").click()
    wait_for(lambda: asked_for(watched, session), seconds=60)
    first = asked_for(watched, session)
    assert first is not None
    # Right after an automatic one there may be nothing to do by hand: the next one then.
    wait_for(lambda: applied_from(watched, session, first["number"]), seconds=60)
    number = applied_from(watched, session, first["number"])

    expect(page.locator("#diff-link")).to_be_visible()
    page.goto(f"{watched.house.url}/sessions/{session}/compactions/{number}/")
    band = page.locator(".diff__band[data-fate=pinned]")
    rows = band.locator(f".diff__row[data-number='{pinned}']")
    expect(rows).to_have_count(2)


def test_the_event_of_a_turn_changes_the_page_without_a_reload(watched: Any) -> None:
    start(watched)
    page = watched.page
    expect(page.locator("#head .status")).to_contain_text("idle", timeout=60_000)
    page.evaluate(
        """() => {
          const told = () => document.querySelector("turn-strip .readout strong")?.textContent;
          const read = () => Number(told()?.match(/\\d+/)[0] ?? 0);
          const before = read();
          document.addEventListener("session:turn_ended", (event) => requestAnimationFrame(
            () => (window.heard = [event.detail.data.turn, before, read()])), { once: true });
        }"""
    )
    page.locator("#say").fill("Look again.")
    page.locator("#say").press("Control+Enter")
    until(page, "window.heard ? 1 : 0")
    turn, before, after = page.evaluate("window.heard")
    assert before < turn <= after
    until(page, "document.querySelectorAll('#messages .entry').length", 3)


def test_the_pages_are_worked_by_keyboard(watched: Any) -> None:
    session = start(watched)
    page = watched.page
    page.wait_for_selector("#diff-link", timeout=60_000)
    expect(page.locator("#head .status")).to_contain_text("idle", timeout=60_000)
    page.locator("body").press("ArrowDown")
    page.keyboard.press("p")
    expect(page.locator(".pin[aria-pressed=true]")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator("details.body")).to_be_visible()
    page.locator("h1").click()
    page.keyboard.press("m")
    expect(page.locator("#messages .choice [aria-current]").first).to_have_text("Full transcript")
    assert "view=all" in page.url
    page.keyboard.press("/")
    page.keyboard.type("glob")
    expect(page.locator("#messages .row__who").filter(has_text="system")).to_have_count(0)
    expect(page.locator("#filter")).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("d")
    page.wait_for_url(f"**/sessions/{session}/compactions/*/")


def test_the_key_of_a_new_topic_leads_to_a_question(watched: Any) -> None:
    session = at_rest(watched)
    page = watched.page
    page.locator("h1").click()
    page.keyboard.press("t")
    page.wait_for_url("**/new_topic")
    expect(page.locator("main")).to_contain_text("would leave the context now")
    assert call(watched, f"sessions/{session}")["revision"] == 0
    page.keyboard.press("Control+Enter")
    page.wait_for_url(f"**/sessions/{session}/")
    expect(page.locator("main")).to_contain_text("A new topic begins now")


def test_what_is_beneath_a_notice_is_clicked_through_it(watched: Any) -> None:
    at_rest(watched)
    page = watched.page
    page.set_viewport_size({"width": 360, "height": 400})
    page.evaluate(
        """() => document.dispatchEvent(new CustomEvent("session:blocked",
          { detail: { data: { occasions: ["blocked", "thrash", "breaker_open"] } } }))"""
    )
    expect(page.locator("notice-list .note")).to_have_count(3)
    page.locator("#look").click(timeout=5_000)
    page.wait_for_url("**/compact/")


def test_a_refusal_is_a_note_until_an_act_succeeds(watched: Any) -> None:
    session = start(watched)
    page = watched.page
    expect(page.locator("#head .status")).to_contain_text("idle", timeout=60_000)
    page.evaluate(
        "(path) => document.querySelector('.pin').setAttribute('hx-post', path)",
        f"/sessions/{session}/stop",
    )
    page.locator(".pin").first.click()
    expect(page.get_by_role("alert")).to_contain_text("nothing runs here")
    page.locator(".pin").nth(1).click()
    expect(page.locator(".pin[aria-pressed=true]")).to_have_count(1)
    expect(page.get_by_role("alert")).to_have_count(0)
    # The browser itself logs each answer of 400 and more.
    assert len(watched.told) == 1 and "409" in watched.told.pop()


def test_the_pages_work_without_a_script(watched: Any, browser: Any) -> None:
    session = start(watched)
    state = watched.page.context.storage_state()
    expect(watched.page.locator("#head .status")).to_contain_text("idle", timeout=60_000)
    context = browser.new_context(java_script_enabled=False, storage_state=state)
    page = context.new_page()
    page.goto(f"{watched.house.url}/sessions/{session}/")
    page.locator(".pin").first.click()
    expect(page.locator(".pin[aria-pressed=true]")).to_have_count(1)
    page.locator(".row__text").first.click()
    expect(page.locator(".body__text").first).to_be_visible()
    page.go_back()
    page.locator("#say").fill("Look again.")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Your instruction is queued")).to_be_visible()
    context.close()


def test_no_page_has_a_grave_finding_and_none_scrolls_sideways(watched: Any) -> None:
    session = start(watched)
    page = watched.page
    page.wait_for_selector("#diff-link", timeout=60_000)
    expect(page.locator("#head .status")).to_contain_text("idle", timeout=60_000)
    home = f"/sessions/{session}/"
    findings = []
    for path in ("/", "/sessions/new/", home, f"{home}compactions/1/", f"{home}messages/1/"):
        page.goto(watched.house.url + path)
        for theme in ("light", "dark"):
            watched.theme(theme)
            findings += watched.findings()
        page.set_viewport_size({"width": 360, "height": 800})
        page.reload()
        sideways = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert sideways <= 0, path
        findings += watched.in_chinese()
        page.set_viewport_size({"width": 1440, "height": 900})
    assert findings == []
