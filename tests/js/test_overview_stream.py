from __future__ import annotations

import json
from collections.abc import Callable

from playwright.sync_api import Page, WebSocketRoute

Show = Callable[..., Page]

WALL = """<p id="session-1"></p><overview-stream></overview-stream>
<script>
window.heard = [];
document.addEventListener("wall:stale", () => heard.push("wall"));
document.getElementById("session-1").addEventListener("news", () => heard.push("row"));
</script>"""


def open_wall(show: Show, page: Page) -> WebSocketRoute:
    sockets: list[WebSocketRoute] = []
    page.route_web_socket("**/ws/overview/", lambda socket: sockets.append(socket))
    show(WALL, "overview-stream")
    page.wait_for_function("() => heard.length === 1")
    return sockets[0]


def hint(page: Page, socket: WebSocketRoute, session: str) -> None:
    socket.send(json.dumps({"session": session, "seq": 1}))


def heard(page: Page, count: int) -> list[str]:
    """So many as are expected next, and whatever came with them."""
    page.wait_for_function(f"() => heard.length >= {count}")
    return page.evaluate("heard.splice(0)")


def test_once_connected_the_whole_wall_is_fetched(show: Show, page: Page) -> None:
    open_wall(show, page)
    assert page.evaluate("heard") == ["wall"]


def test_news_of_a_row_concern_that_row_and_later_the_order(show: Show, page: Page) -> None:
    page.clock.install()
    page.clock.pause_at("2100-01-01")
    socket = open_wall(show, page)
    hint(page, socket, "1")
    assert heard(page, 2) == ["wall", "row"]
    hint(page, socket, "1")
    assert heard(page, 1) == ["row"]
    page.clock.run_for(4_900)
    assert page.evaluate("heard") == []
    page.clock.run_for(200)
    assert heard(page, 1) == ["wall"]


def test_news_of_a_session_without_a_row_concern_the_wall(show: Show, page: Page) -> None:
    socket = open_wall(show, page)
    hint(page, socket, "2")
    assert heard(page, 2) == ["wall", "wall"]
