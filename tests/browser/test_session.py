"""The way of a newcomer: sign in, watch an agent work, steer it, read what a compaction did."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from house import BASE_DIR, wait_for
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser
INSTRUCTION = "Find where the context is compacted and say how it is decided."
PICTURE = BASE_DIR / "docs" / "session.png"
TURN = "document.querySelector('turn-strip').turn ?? 0"
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
    """By its button; the number of the message."""
    result = page.locator(".row:has(.letter.cat-tool_results)").last
    name = result.locator(".pin").get_attribute("aria-label")
    assert name is not None and name.startswith("Pin message ")
    number = int(name.rsplit(" ", 1)[1])
    page.locator(f"#pin-{number}").click()
    expect(page.locator(f"#pin-{number}")).to_have_attribute("aria-pressed", "true")
    return number


def manual_compaction(watched: Any, session: str) -> int | None:
    """The number of the compaction that was asked for, once it is applied."""
    answer = watched.page.request.get(
        f"{watched.house.url}/api/v1/sessions/{session}/compactions",
        headers={"Authorization": f"Bearer {watched.house.api_token}"},
    )
    rows = [row for row in answer.json()["items"] if row["trigger"] == "manual"]
    return rows[0]["number"] if rows and rows[0]["state"] == "applied" else None


def test_a_newcomer_watches_steers_and_reads_what_a_compaction_did(watched: Any) -> None:
    session = start(watched)
    page = watched.page

    turn = until(page, TURN)
    page.locator("turn-chart").scroll_into_view_if_needed()
    bars = until(page, BARS)
    until(page, TURN, turn)
    until(page, BARS, bars)

    pinned = pin_newest_result(page)
    expect(page.locator("#pressure .gauge__pin")).not_to_have_count(0)
    page.get_by_role("button", name="Compact now").click()
    wait_for(lambda: manual_compaction(watched, session), seconds=60)
    number = manual_compaction(watched, session)

    expect(page.locator("#diff-link")).to_be_visible()
    page.goto(f"{watched.house.url}/sessions/{session}/compactions/{number}/")
    expect(page.locator(".head__facts")).to_contain_text("asked for by owner")
    band = page.locator(".diff__band[data-fate=pinned]")
    rows = band.locator(f".diff__row[data-number='{pinned}']")
    expect(rows).to_have_count(2)


def test_the_event_of_a_turn_changes_the_page_without_a_reload(watched: Any) -> None:
    start(watched)
    page = watched.page
    page.evaluate("window.stayed = true")
    turn, before, after = page.evaluate(
        """() => new Promise((resolve) => {
          const told = () => document.querySelector("turn-strip .readout strong")?.textContent;
          const read = () => Number(told()?.match(/\\d+/)[0] ?? 0);
          const before = read();
          document.addEventListener("session:turn_ended", (event) => requestAnimationFrame(
            () => resolve([event.detail.data.turn, before, read()])), { once: true });
        })"""
    )
    assert before < turn <= after
    until(page, "document.querySelectorAll('#messages .entry').length", 3)
    assert page.evaluate("window.stayed")


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
        page.set_viewport_size({"width": 1440, "height": 900})
    assert findings == []
    take_picture(page, watched.house.url + home)


def take_picture(page: Page, url: str) -> None:
    """For the README; taken anew where it is missing or asked for."""
    if PICTURE.exists() and "HERMESWEB_PICTURES" not in os.environ:
        return
    page.context.clear_cookies(name="theme")
    page.emulate_media(color_scheme="light")
    page.goto(url)
    until(page, BARS)
    page.evaluate("scrollTo(0, 0)")
    PICTURE.parent.mkdir(exist_ok=True)
    page.screenshot(path=PICTURE)
