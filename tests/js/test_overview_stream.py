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


def hint(page: Page, socket: WebSocketRoute, session: str) -> list[str]:
    """What was heard after the socket told of the session."""
    socket.send(json.dumps({"session": session, "seq": 1}))
    page.wait_for_timeout(100)
    return page.evaluate("heard.splice(0)")


def test_once_connected_the_whole_wall_is_fetched(show: Show, page: Page) -> None:
    open_wall(show, page)
    assert page.evaluate("heard") == ["wall"]


def test_news_of_a_row_concern_that_row_and_later_the_order(show: Show, page: Page) -> None:
    socket = open_wall(show, page)
    assert hint(page, socket, "1") == ["wall", "row"]
    assert hint(page, socket, "1") == ["row"]
    page.wait_for_function("() => heard.includes('wall')", timeout=6_000)


def test_news_of_a_session_without_a_row_concern_the_wall(show: Show, page: Page) -> None:
    socket = open_wall(show, page)
    assert hint(page, socket, "2") == ["wall", "wall"]
