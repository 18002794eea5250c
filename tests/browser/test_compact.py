"""Compacting as a reviewed change, in two real browsers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from house import BASE_DIR, wait_for
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser
EXCHANGES = 14
TURNS = 8
SLOW = 20_000


def at_rest(watched: Any) -> str:
    """A live explorer session that was stopped after a while; its page is open."""
    made = call(
        watched,
        "sessions",
        workspace=str(BASE_DIR),
        model="explorer",
        profile="balanced",
        instruction="Find where the context is compacted.",
    )
    path = f"sessions/{made['id']}"
    wait_for(lambda: call(watched, path)["turns"] >= TURNS, seconds=60)
    call(watched, f"{path}/stop", stop=True)
    wait_for(lambda: call(watched, path)["status"] == "idle", seconds=30)
    watched.page.goto(f"{watched.house.url}/{path}/")
    return str(made["id"])


def call(watched: Any, path: str, **body: Any) -> Any:
    """With a body it is posted."""
    address = f"{watched.house.url}/api/v1/{path}"
    options = {"headers": {"Authorization": f"Bearer {watched.house.api_token}"}}
    request = watched.page.request
    if not body:
        return request.get(address, **options).json()
    return request.post(address, data=body if "stop" not in body else None, **options).json()


def imported(watched: Any, folder: Path) -> str:
    """A recording of its own: a talk with results of two kilobytes."""
    talk: list[dict[str, Any]] = [
        {"role": "system", "content": "Be careful."},
        {"role": "user", "content": "Fix the parser. Never touch the port 8080."},
    ]
    for turn in range(EXCHANGES):
        function = {"name": "read_file", "arguments": json.dumps({"path": f"src/part{turn}.py"})}
        call = {"id": f"c{turn}", "type": "function", "function": function}
        talk.append({"role": "assistant", "content": None, "tool_calls": [call]})
        talk.append({"role": "tool", "tool_call_id": f"c{turn}", "content": f"line {turn}\n" * 250})
    file = folder / "talk.json"
    file.write_text(json.dumps({"messages": talk}))
    page = watched.page
    page.goto(f"{watched.house.url}/imports/new/")
    page.locator("input[type=file]").set_input_files(file)
    page.get_by_role("button", name="Import").click()
    page.wait_for_url(re.compile(r"/(sessions|imports)/\w+/"))
    if "/imports/" in page.url:
        page.locator("main a[href^='/sessions/']").first.click()
        page.wait_for_url("**/sessions/*/")
    found: str = re.search(r"/sessions/(\w+)/", page.url)[1]  # type: ignore[index]
    return found


def open_preview(page: Page) -> None:
    """By its key, from the session's page."""
    page.locator("body").press("k")
    page.wait_for_url("**/compact/")
    expect(page.locator("#plan h2").first).to_contain_text("Would")


def test_a_person_looks_chooses_edits_applies_and_undoes_by_keyboard(watched: Any) -> None:
    session = at_rest(watched)
    page = watched.page
    open_preview(page)
    first = page.locator("#preview-id").input_value()
    page.locator("#compact-stage").select_option("keep_recent")
    expect(page.locator("#preview-id")).not_to_have_value(first, timeout=SLOW)
    second = page.locator("#preview-id").input_value()
    page.locator("#compact-keep_last").fill("3")
    page.locator("#compact-keep_last").press("Tab")
    expect(page.locator("#preview-id")).not_to_have_value(second, timeout=SLOW)
    expect(page.locator("#summary-text")).not_to_be_empty()
    before = page.locator("#preview-id").input_value()
    page.locator("#summary-text").fill("Looked around; nothing is changed yet.")
    expect(page.locator("#preview-id")).not_to_have_value(before, timeout=SLOW)
    expect(page.locator("#plan")).to_contain_text("by hand", timeout=SLOW)
    page.keyboard.press("Control+Enter")
    page.wait_for_url(f"**/sessions/{session}/compactions/*/")
    expect(page.locator(".verdict h2")).to_contain_text("Freed", timeout=30_000)
    expect(page.locator("#diff")).to_contain_text("summarized")
    page.locator("#undo").click()
    page.wait_for_url(f"**/sessions/{session}/")
    expect(page.locator("#head .status")).to_contain_text("idle", timeout=30_000)
    page.go_back()
    page.reload()
    expect(page.locator(".verdict h2")).to_contain_text("was undone")


def test_the_second_of_two_tabs_is_told_and_given_a_new_preview(watched: Any) -> None:
    session = at_rest(watched)
    page = watched.page
    other = page.context.new_page()
    address = f"{watched.house.url}/sessions/{session}/compact/?stage=keep_recent&keep_last=4"
    for tab in (page, other):
        tab.goto(address)
        expect(tab.locator("#apply")).to_be_visible()
    page.locator("#apply").click()
    page.wait_for_url("**/compactions/*/")
    expect(page.locator(".verdict h2")).to_contain_text("Freed", timeout=30_000)
    expect(other.locator("#outcome")).to_contain_text("The list moved on", timeout=10_000)
    other.close()


def test_a_recording_is_looked_at_and_never_changed(watched: Any, tmp_path: Path) -> None:
    session = imported(watched, tmp_path)
    page = watched.page
    page.goto(f"{watched.house.url}/sessions/{session}/compact/?preset=nanohermes")
    expect(page.locator("#plan h2").first).to_contain_text("Would free")
    expect(page.locator("#plan")).to_contain_text("A recording is only looked at")
    expect(page.locator("#apply")).to_have_count(0)
    shown = page.locator("#preview-id").input_value()
    page.locator("body").press("4")
    expect(page.locator("#preview-id")).not_to_have_value(shown, timeout=SLOW)
    expect(page.locator("#diff")).to_contain_text("masked")
    page.locator(".diff__row:has(a.diff__to) a").first.focus()
    page.keyboard.press("b")
    page.wait_for_url("**up_to=*")


def test_its_pages_are_sound_in_both_themes_and_narrow_enough(watched: Any, tmp_path: Path) -> None:
    session = imported(watched, tmp_path)
    page = watched.page
    findings: list[str] = []
    for path in (
        "compact/?stage=keep_recent",
        "at/turn:5/",
        "diff/?from=turn:2&to=turn:9",
        "pins/",
        "messages/2/",
    ):
        page.goto(f"{watched.house.url}/sessions/{session}/{path}")
        for theme in ("light", "dark"):
            watched.theme(theme)
            findings += watched.findings()
        page.set_viewport_size({"width": 360, "height": 800})
        page.reload()
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
        findings += watched.in_chinese()
        page.set_viewport_size({"width": 1440, "height": 900})
    assert findings == []


def test_one_travels_by_keys_and_by_the_slider(watched: Any, tmp_path: Path) -> None:
    session = imported(watched, tmp_path)
    page = watched.page
    page.goto(f"{watched.house.url}/sessions/{session}/at/turn:5/")
    page.locator("body").press("ArrowRight")
    expect(page.locator("#moment-title")).to_contain_text("turn 6", timeout=SLOW)
    page.locator("body").press("Home")
    page.wait_for_url("**/at/0.4/")
    page.locator("#stop").focus()
    page.keyboard.press("End")
    expect(page.locator("#moment-title")).to_contain_text(f"turn {EXCHANGES}", timeout=SLOW)
    page.wait_for_url("**/at/0.30/")
    page.locator("#compare-to").fill("turn:3")
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**/diff/?from=0.30&to=turn*3")
    expect(page.locator("#diff")).to_contain_text("appended 22")
