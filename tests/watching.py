"""Sessions that are watched in a browser: a live one at rest, and a recording."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from house import BASE_DIR, wait_for

EXCHANGES = 14
TURNS = 8


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


def forked(watched: Any, folder: Path) -> str:
    """A recording's fork, by the key of its compact page."""
    session = imported(watched, folder)
    page = watched.page
    page.goto(f"{watched.house.url}/sessions/{session}/compact/?stage=keep_recent")
    page.locator("#fork").wait_for()
    page.keyboard.press("f")
    page.wait_for_url("**/forks?at=*")
    page.locator("#id_workspace").fill(str(BASE_DIR))
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile(r"/sessions/\w+/$"))
    found: str = re.search(r"/sessions/(\w+)/$", page.url)[1]  # type: ignore[index]
    assert found != session
    return found
