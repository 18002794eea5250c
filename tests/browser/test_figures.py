"""What fills the window, found by keyboard; addresses that bring it back; the pages of figures."""

from __future__ import annotations

from typing import Any

import pytest
from house import BASE_DIR, wait_for
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.browser


@pytest.fixture
def session(watched: Any) -> str:
    """A run of the explorer that has ended, with compactions."""
    token = {"Authorization": f"Bearer {watched.house.api_token}"}
    api = f"{watched.house.url}/api/v1/sessions"
    body = {
        "workspace": str(BASE_DIR / "agentcore"),
        "model": "explorer",
        "profile": "small",
        "instruction": "Say where messages are measured.",
    }
    made = watched.page.request.post(api, headers=token, data=body)
    assert made.ok, made.text()
    id = str(made.json()["id"])

    def ended() -> bool:
        row = watched.page.request.get(f"{api}/{id}", headers=token).json()
        return row["status"] == "idle" and row["turns"] > 0

    wait_for(ended, seconds=90)
    return id


CUT = "(cells) => cells.filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.title)"


def test_the_largest_message_is_found_pinned_and_filtered_by_keyboard(
    watched: Any, session: str
) -> None:
    page = watched.page
    page.goto(f"{watched.house.url}/sessions/{session}/")
    page.keyboard.press("g")
    page.wait_for_url("**order=largest**")
    page.wait_for_selector(".row:focus-within")
    sizes = page.locator("#messages .row__bytes").all_text_contents()
    assert (
        page.evaluate(
            "document.activeElement.closest('.row').querySelector('.row__bytes').textContent"
        )
        == sizes[0]
    )
    page.keyboard.press("p")
    expect(page.locator(".pin[aria-pressed=true]")).to_have_count(1)
    page.keyboard.press("/")
    page.keyboard.type("glob")
    page.wait_for_url("**q=glob**")
    expect(page.locator("#messages .row__who").filter(has_text="system")).to_have_count(0)


def test_a_reload_shows_the_same_turn_message_and_filters(watched: Any, session: str) -> None:
    page = watched.page
    page.goto(f"{watched.house.url}/sessions/{session}/?view=all&category=tool_results")
    page.keyboard.press("C")
    turn = page.evaluate("document.querySelector('turn-strip').turn")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("details.body[open]")).to_have_count(1)
    assert f"turn={turn - 1}" in page.url
    address, opened = page.url, page.locator("details.body summary").first.inner_text()
    page.reload()
    assert page.url == address
    assert page.evaluate("document.querySelector('turn-strip').turn") == turn - 1
    expect(page.locator("details.body[open] summary").first).to_have_text(opened)
    assert set(page.locator("#messages .letter").all_text_contents()) == {"R"}


def test_whole_texts_are_searched_and_the_search_comes_back(watched: Any, session: str) -> None:
    page = watched.page
    page.goto(f"{watched.house.url}/sessions/{session}/?view=all")
    page.get_by_label("whole texts").check()
    page.locator("#filter").fill("measure")
    page.wait_for_url("**whole=1**")
    expect(page.locator("#messages mark").first).to_be_visible()
    page.reload()
    expect(page.locator("text-search [role=status]")).to_contain_text("found in")


def test_the_pages_of_figures_have_no_grave_finding(watched: Any, session: str) -> None:
    page = watched.page
    home = f"{watched.house.url}/sessions/{session}/"
    findings = []
    for path in ("lifetimes/", "rollup/?by=path", "ledger/", "?q=measure&whole=1"):
        page.goto(home + path)
        for theme in ("light", "dark"):
            watched.theme(theme)
            findings += watched.findings()
        page.set_viewport_size({"width": 360, "height": 800})
        page.reload()
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
        # Paths differ at their ends.
        assert page.locator(".rollup th[scope=row]").evaluate_all(CUT) == []
        findings += watched.in_chinese()
        page.set_viewport_size({"width": 1440, "height": 900})
    assert findings == []


def test_figures_are_read_without_a_script(watched: Any, session: str, browser: Browser) -> None:
    state = watched.page.context.storage_state()
    context = browser.new_context(java_script_enabled=False, storage_state=state)
    page = context.new_page()
    page.goto(f"{watched.house.url}/sessions/{session}/")
    expect(page.get_by_role("region", name="The newest turns").locator("table")).to_be_visible()
    for name in ("turn-strip", "turn-chart", ".chart-key"):
        expect(page.locator(name)).to_be_hidden()
    page.get_by_role("link", name="By tool, path and command").click()
    expect(page.locator("table.rollup")).to_be_visible()
    page.go_back()
    page.get_by_role("link", name="The ledger of turns").click()
    expect(page.locator("#ledger table").first).to_be_visible()
    page.go_back()
    page.get_by_role("link", name="Lifetime map").click()
    page.get_by_text("The same as a table").click()
    expect(page.get_by_role("region", name="Lifetimes").locator("table")).to_be_visible()
    context.close()
