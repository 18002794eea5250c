"""Allow, alter and deny a call of a live session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from house import wait_for
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.browser
# Of the explorer's first calls this one is a command.
COMMAND = "git --no-optional-locks status"


def told(watched: Any, method: str, path: str, body: Any = None) -> Any:
    answer = watched.page.request.fetch(
        f"{watched.house.url}/api/v1/{path}",
        method=method,
        headers={
            "Authorization": f"Bearer {watched.house.api_token}",
            "Content-Type": "application/json",
        },
        data=None if body is None else json.dumps(body),
    )
    assert answer.ok, answer.text()
    return answer.json()


@pytest.fixture
def asking(watched: Any) -> str:
    """A session on its page, whose run waits with a command; its id."""
    house, page = watched.house, watched.page
    workspace = Path(__file__).resolve().parents[1] / "browser"
    values = told(watched, "GET", "profiles/balanced")["values"]
    values["approvals"] = {**values["approvals"], "goal": ["command"]}
    told(watched, "PUT", "profiles/careful", {"values": values, "accept_warnings": True})
    new = {"workspace": str(workspace), "model": "explorer", "profile": "careful"}
    session = str(told(watched, "POST", "sessions", new)["id"])
    page.goto(f"{house.url}/sessions/{session}/")
    expect(page.locator("#connection")).to_have_text("Live")
    told(watched, "POST", f"sessions/{session}/instructions", {"text": "Say what is tested here."})
    expect(page.locator("#approvals")).to_contain_text(COMMAND)
    return session


def result(watched: Any, session: str) -> str:
    """What the model read of its command, once the run is over; later ones may run as well."""
    questions = f"sessions/{session}/approvals"

    def ended() -> bool:
        for one in told(watched, "GET", questions)["items"]:
            answer = {"allow": True, "question": one["question"]}
            told(watched, "POST", f"{questions}/{one['call']}", answer)
        return bool(told(watched, "GET", f"sessions/{session}")["status"] == "idle")

    expect(watched.page.locator("#approvals")).not_to_contain_text(COMMAND)
    wait_for(ended, seconds=60)
    rows = told(watched, "GET", f"sessions/{session}/messages?view=all&limit=50")["items"]
    first = next(row for row in rows if row["tool"] == "run_command")
    wire = told(watched, "GET", f"sessions/{session}/messages/{first['number']}")["wire"]
    return str(json.loads(wire)["content"])


def test_a_call_is_asked_about_live_and_allowed_by_its_key(watched: Any, asking: str) -> None:
    page = watched.page
    assert page.title().startswith("Approval wanted · ")
    assert watched.findings() == []
    assert watched.in_chinese() == []
    assert page.title().startswith("请求批准 · ")
    page.reload()
    page.keyboard.press("y")
    assert result(watched, asking).startswith("run_command (exit code")
    expect(page.locator("#approvals")).to_be_empty()
    assert not page.title().startswith("Approval wanted")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_arguments_are_altered_on_the_page_of_the_question(
    watched: Any, asking: str, theme: str
) -> None:
    page = watched.page
    watched.theme(theme)
    page.set_viewport_size({"width": 360, "height": 800})
    page.keyboard.press("a")
    page.wait_for_url("**/approvals/*/")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert watched.findings() == []
    if theme == "dark":
        assert watched.in_chinese() == []
        page.reload()
    page.fill("#arguments", '{"command": 1}')
    page.get_by_role("button", name="Run it with these arguments").click()
    expect(page.locator("#problem")).to_contain_text("command is a string")
    page.fill("#arguments", '{"command": "echo by hand"}')
    page.get_by_role("button", name="Run it with these arguments").click()
    page.wait_for_url(f"**/sessions/{asking}/")
    text = result(watched, asking)
    assert text.startswith("[a person altered the arguments before run_command ran")
    assert '{"command":"echo by hand"}' in text and "\nby hand" in text
    watched.told[:] = [line for line in watched.told if "400 (Bad Request)" not in line]


def test_a_denial_is_read_by_the_model_and_a_second_answer_is_told(
    watched: Any, asking: str
) -> None:
    page = watched.page
    page.get_by_role("link", name="Alter, or say why not").click()
    page.wait_for_url("**/approvals/*/")
    other = page.context.new_page()
    other.goto(page.url)
    page.fill("#reason", "nothing is committed here")
    page.get_by_role("button", name="Deny").click()
    page.wait_for_url(f"**/sessions/{asking}/")
    other.get_by_role("button", name="Run it with these arguments").click()
    expect(other.locator("#problem")).to_contain_text("denied it")
    other.close()
    assert result(watched, asking) == (
        "[run_command was not run: a person denied it: nothing is committed here]"
    )


def test_it_is_answered_without_javascript(
    watched: Any, asking: str, browser: Browser, signed_in: Any
) -> None:
    context = browser.new_context(java_script_enabled=False, storage_state=signed_in)
    page = context.new_page()
    page.goto(f"{watched.house.url}/sessions/{asking}/")
    page.get_by_role("button", name="Deny").click()
    page.wait_for_url(f"**/sessions/{asking}/")
    expect(page.get_by_text("The run goes on without it.")).to_be_visible()
    context.close()
    assert "a person denied it" in result(watched, asking)
