"""Memory in a real installation: one session leaves entries, another is given them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from house import wait_for
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.browser
ASKED = "Find where the scoreboard keeps its totals. You must never rename the scoreboard module."


def answered(watched: Any, folder: Path, text: str) -> str:
    """The id of a session of the explorer that ran to its answer."""
    headers = {"Authorization": f"Bearer {watched.house.api_token}"}
    api = f"{watched.house.url}/api/v1/sessions"
    body = {"workspace": str(folder), "model": "explorer", "profile": "balanced"}
    answer = watched.page.request.post(api, headers=headers, data={**body, "instruction": text})
    assert answer.ok, answer.text()
    session = str(answer.json()["id"])

    def is_answered() -> bool:
        got = watched.page.request.get(f"{api}/{session}", headers=headers).json()
        return bool(got["run_end"] == "answered")

    wait_for(is_answered, seconds=60)
    return session


@pytest.fixture
def folder(watched: Any) -> Path:
    made: Path = watched.house.data_dir / "workspaces" / "scores"
    made.mkdir(parents=True, exist_ok=True)
    (made / "scoreboard.py").write_text("totals = {}\n\n\ndef add(name, points):\n    ...\n")
    (made / "AGENTS.md").write_text("Keep functions short.\n")
    return made


def test_what_one_session_leaves_is_given_to_the_next_and_shown(watched: Any, folder: Path) -> None:
    page = watched.page
    first = answered(watched, folder, ASKED)
    second = answered(watched, folder, "Where does the scoreboard keep totals?")
    page.goto(f"{watched.house.url}/memory/")
    rule = page.locator(".memory__text", has_text="never rename the scoreboard")
    entry = page.locator(".memory__entry", has=rule)
    source = entry.get_by_role("link", name=ASKED)
    expect(source).to_have_attribute("href", f"/sessions/{first}/")
    given = page.locator("section", has_text="What runs were given").locator("li").first
    expect(given.get_by_role("link")).to_have_attribute("href", f"/sessions/{second}/")
    expect(given.locator("tbody tr").first).to_contain_text("scoreboard")
    page.goto(f"{watched.house.url}/sessions/{second}/messages/1/")
    sections = page.locator("section", has=page.locator("#sections-title"))
    expect(sections).to_contain_text("project docs")
    expect(sections).to_contain_text("memory")
    expect(page.locator(".body__text").first).to_contain_text("=== Memory ===")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_pages_of_memory_are_legible_in_both_themes_and_at_360_px(
    watched: Any, folder: Path, theme: str
) -> None:
    page = watched.page
    session = answered(watched, folder, ASKED)
    for path in ("/memory/", f"/sessions/{session}/messages/1/"):
        page.goto(watched.house.url + path)
        watched.theme(theme)
        for width in (1440, 360):
            page.set_viewport_size({"width": width, "height": 800})
            assert watched.findings() == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        if theme == "dark":
            assert watched.in_chinese() == []


def test_entries_are_added_changed_and_deleted_without_scripts(
    watched: Any, browser: Browser, folder: Path, signed_in: dict[str, Any]
) -> None:
    context = browser.new_context(java_script_enabled=False, storage_state=signed_in)
    page = context.new_page()
    page.goto(f"{watched.house.url}/memory/")
    form = page.locator("section", has_text="Add an entry").last
    form.get_by_label("Text").fill("The port is 5433.")
    form.get_by_label("Folder").fill(str(folder))
    page.get_by_role("button", name="Add").click()
    entry = page.locator(".memory__entry", has_text="The port is 5433.")
    entry.get_by_role("link", name="Edit").click()
    page.get_by_label("Text").fill("The port is 5544.")
    page.get_by_role("button", name="Save").click()
    entry = page.locator(".memory__entry", has_text="The port is 5544.")
    expect(entry).to_contain_text("written by you")
    entry.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("The port is 5544.")).to_have_count(0)
    context.close()
