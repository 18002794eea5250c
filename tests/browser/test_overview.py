"""The wall and the frame of all pages: live rows, filters, keys, theme, and no script at all."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from house import BASE_DIR
from playwright.sync_api import Browser, Error, expect

pytestmark = pytest.mark.browser
WIDER = """(walls) => walls.map((one) => one.scrollWidth - one.parentElement.clientWidth)
  .filter((by) => by > 0)"""


def begin(watched: Any, title: str, profile: str = "small") -> None:
    """Starts the explorer over the API, as if from elsewhere."""
    answer = watched.page.request.post(
        f"{watched.house.url}/api/v1/sessions",
        headers={"Authorization": f"Bearer {watched.house.api_token}"},
        data={
            "workspace": str(BASE_DIR / "agentcore"),
            "model": "explorer",
            "profile": profile,
            "title": title,
            "instruction": "Say where messages are measured.",
        },
    )
    assert answer.ok, answer.text()


def test_a_row_appears_and_moves_without_a_reload(watched: Any) -> None:
    page = watched.page
    page.goto(watched.house.url)
    expect(page.locator("#connection")).to_have_text("Live")
    page.evaluate("window.stayed = true")
    begin(watched, "seen from the wall")
    row = page.locator("tr", has_text="seen from the wall")
    expect(row.locator(".status")).to_have_text("running")
    expect(row.locator(".wall__late")).to_contain_text("run ended", timeout=60_000)
    expect(row.locator(".status")).to_have_text("idle")
    expect(row.locator("path.spark__cut").first).to_be_attached()
    assert page.evaluate("window.stayed") is True


def test_a_filter_keeps_the_focus_and_its_address(watched: Any) -> None:
    page = watched.page
    for title in ("alpha one", "beta two"):
        begin(watched, title)
    page.goto(watched.house.url)
    page.keyboard.press("/")
    page.keyboard.type("alpha")
    expect(page.locator("tr", has_text="beta two")).to_have_count(0)
    expect(page.locator("#q")).to_be_focused()
    assert "q=alpha" in page.url
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/sessions/*/")
    page.go_back()
    expect(page.locator("#q")).to_have_value("alpha")
    expect(page.locator("tr", has_text="alpha one")).to_have_count(1)


def test_a_part_of_a_page_leads_the_whole_page_to_sign_in_and_back(watched: Any) -> None:
    page = watched.page
    begin(watched, "for later")
    page.goto(f"{watched.house.url}/?sort=title")
    page.context.clear_cookies()
    # The running session may lead there first; more than one part may, each stopping another.
    with suppress(Error):
        page.evaluate("document.body.dispatchEvent(new CustomEvent('wall:stale'))")
    expect(page.locator("h1")).to_have_text("Sign in", timeout=30_000)
    assert page.url.endswith("?next=%2F%3Fsort%3Dtitle")


def test_the_theme_holds_over_a_reload(watched: Any) -> None:
    page = watched.page
    scheme = "getComputedStyle(document.documentElement).colorScheme"
    page.goto(watched.house.url)
    with page.expect_response("**/theme/"):
        page.get_by_text("Dark", exact=True).click()
    assert page.evaluate(scheme) == "dark"
    page.reload()
    assert page.evaluate(scheme) == "dark"


def test_a_recording_is_imported_by_its_form(watched: Any, tmp_path: Path) -> None:
    page = watched.page
    recording = tmp_path / "chat.json"
    said = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
    recording.write_text(json.dumps(said))
    page.goto(watched.house.url)
    page.keyboard.press("i")
    page.get_by_label("Recording", exact=True).set_input_files(recording)
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_text("2 messages, 1 turn, 0 compactions")).to_be_visible()
    for theme in ("light", "dark"):
        watched.theme(theme)
        assert watched.findings() == []
    assert watched.in_chinese() == []
    page.reload()
    page.get_by_role("link", name="Open session").click()
    expect(page.locator("#message-2")).to_be_visible()


def test_without_a_script_the_wall_filters_and_the_theme_changes(
    watched: Any, browser: Browser, signed_in: Any
) -> None:
    begin(watched, "gamma three")
    plain = browser.new_context(storage_state=signed_in, java_script_enabled=False)
    page = plain.new_page()
    page.goto(watched.house.url)
    page.locator("#q").fill("no such session")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("No session matches")).to_be_visible()
    page.get_by_role("link", name="Clear filter").click()
    expect(page.locator("tr", has_text="gamma three")).to_have_count(1)
    page.get_by_text("Dark", exact=True).click()
    page.get_by_role("button", name="Set").click()
    expect(page.get_by_label("Dark")).to_be_checked()
    plain.close()


@pytest.mark.parametrize("width", [1440, 1024, 360])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_page_has_a_grave_finding_and_none_scrolls_sideways(
    watched: Any, theme: str, width: int
) -> None:
    page = watched.page
    begin(watched, "A_title_of_" + "many_words_" * 9)
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(watched.house.url)
    watched.theme(theme)
    for path in ("/", "/?q=nothing+like+it", "/sessions/new/", "/imports/new/"):
        page.goto(watched.house.url + path)
        assert watched.findings() == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator(".wall").evaluate_all(WIDER) == []
        if (theme, width) == ("dark", 360):
            assert watched.in_chinese() == []
