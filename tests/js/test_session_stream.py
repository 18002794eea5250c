from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from chromium import until
from playwright.sync_api import Page, WebSocketRoute, expect

Show = Callable[..., Page]

LISTEN = """<script>
window.heard = [];
for (const name of ["message_added", "turn_ended", "news", "reload", "state", "delta"])
  document.addEventListener("session:" + name, (event) => heard.push([name, event.detail]));
</script>"""
STREAM = LISTEN + '<session-stream session="7" after="2"></session-stream>'


class Server:
    """The far end of the page's sockets, newest last."""

    def __init__(self, page: Page) -> None:
        self.sockets: list[WebSocketRoute] = []
        self.received: list[Any] = []
        page.route_web_socket("**/ws/**", self._accept)

    def _accept(self, socket: WebSocketRoute) -> None:
        self.sockets.append(socket)
        socket.on_message(lambda text: self.received.append(json.loads(text)))

    @property
    def addresses(self) -> list[str]:
        return [socket.url.partition("/ws/")[2] for socket in self.sockets]

    def send(self, **frame: Any) -> None:
        self.sockets[-1].send(json.dumps(frame))

    def send_events(self, *seqs: int, kind: str = "message_added") -> None:
        events = [{"seq": seq, "kind": kind, "data": {}, "at": ""} for seq in seqs]
        self.send(events=events, last=seqs[-1])


@pytest.fixture
def server(page: Page) -> Server:
    return Server(page)


def heard(page: Page, name: str) -> list[Any]:
    return page.evaluate(f"heard.filter(([name]) => name === '{name}').map(([, detail]) => detail)")


def seqs(page: Page) -> list[int]:
    return [event["seq"] for event in heard(page, "message_added")]


def wait_for_last(page: Page, last: int) -> None:
    page.wait_for_function(f"() => document.querySelector('session-stream').last === {last}")


def wait_for_sockets(page: Page, server: Server, count: int) -> None:
    until(page, lambda: len(server.sockets) >= count)


def test_it_asks_for_what_came_after_the_page(show: Show, server: Server) -> None:
    page = show(STREAM, "session-stream")
    wait_for_sockets(page, server, 1)
    assert server.addresses == ["sessions/7/?after=2"]


def test_events_arrive_once_each_and_in_order(show: Show, server: Server) -> None:
    page = show(STREAM, "session-stream")
    wait_for_sockets(page, server, 1)
    server.send_events(3, 4)
    server.send_events(2, 3, 4, 5)
    wait_for_last(page, 5)
    assert seqs(page) == [3, 4, 5]


def test_a_frame_is_announced_once_however_many_events_it_holds(show: Show, server: Server) -> None:
    page = show(STREAM, "session-stream")
    wait_for_sockets(page, server, 1)
    server.send_events(3, 4, 5)
    wait_for_last(page, 5)
    assert heard(page, "news") == [{"last": 5, "kinds": ["message_added"] * 3}]


def test_a_gap_is_fetched_again_from_the_last_event_taken(show: Show, server: Server) -> None:
    page = show(STREAM, "session-stream")
    wait_for_sockets(page, server, 1)
    server.send_events(3, 5)
    wait_for_sockets(page, server, 2)
    assert server.addresses[1] == "sessions/7/?after=3"
    server.send_events(4, 5)
    wait_for_last(page, 5)
    assert seqs(page) == [3, 4, 5]


def test_a_lost_connection_comes_back_after_the_last_event(show: Show, server: Server) -> None:
    page = show(STREAM, "session-stream")
    wait_for_sockets(page, server, 1)
    server.send_events(3)
    wait_for_last(page, 3)
    server.sockets[0].close(code=1011)
    wait_for_sockets(page, server, 2)
    assert server.addresses[1] == "sessions/7/?after=3"
    expect(page.locator("#connection")).to_have_text("Live")


def test_a_cursor_ahead_of_the_page_makes_it_ask_again(show: Show, server: Server) -> None:
    page = show(STREAM, "session-stream")
    wait_for_sockets(page, server, 1)
    server.send(cursor=2)
    server.send(cursor=9)
    until(page, lambda: bool(server.received))
    assert server.received == [{"after": 2}]


def test_a_page_that_is_seen_again_asks_again(show: Show, server: Server) -> None:
    page = show(STREAM, "session-stream")
    wait_for_sockets(page, server, 1)
    expect(page.locator("#connection")).to_have_text("Live")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    until(page, lambda: bool(server.received))
    assert server.received == [{"after": 2}]


def test_back_online_it_does_not_wait_for_its_turn(show: Show, server: Server, page: Page) -> None:
    page.clock.install()
    page.clock.pause_at("2100-01-01")
    show(STREAM, "session-stream")
    for count in range(1, 5):
        wait_for_sockets(page, server, count)
        expect(page.locator("#connection")).to_have_text("Live")
        server.sockets[-1].close(code=1012)
        expect(page.locator("#connection")).not_to_have_text("Live")
        page.evaluate("window.dispatchEvent(new Event('online'))")
    wait_for_sockets(page, server, 5)


@pytest.mark.parametrize(
    ("code", "words"), [(4401, "you are signed out"), (4403, "not shared with you")]
)
def test_a_refusal_is_told_and_not_tried_again(
    show: Show, server: Server, code: int, words: str
) -> None:
    page = show(STREAM, "session-stream")
    wait_for_sockets(page, server, 1)
    server.sockets[0].close(code=code)
    expect(page.locator("session-stream [role=status]")).to_contain_text(words)
    expect(page.locator("#connection")).to_have_text("Not live")
    page.wait_for_timeout(1_500)
    assert len(server.sockets) == 1


def test_too_far_behind_offers_to_reload_and_stops(show: Show, server: Server) -> None:
    page = show(STREAM, "session-stream")
    wait_for_sockets(page, server, 1)
    server.send(reload=True)
    expect(page.get_by_role("button", name="Reload")).to_be_visible()
    assert heard(page, "reload") == [{"last": 2}]


def test_streaming_text_is_passed_on_and_moves_no_cursor(show: Show, server: Server) -> None:
    page = show(STREAM, "session-stream")
    wait_for_sockets(page, server, 1)
    server.send(delta={"text": "Reading"})
    page.wait_for_function("() => heard.some(([name]) => name === 'delta')")
    assert heard(page, "delta") == [{"text": "Reading"}]
    assert page.evaluate("document.querySelector('session-stream').last") == 2


def test_waits_grow_to_half_a_minute_and_differ(show: Show) -> None:
    page = show("")
    waits = page.evaluate(
        """async () => {
          const { pause } = await import("/static/js/live-socket.js");
          return [pause(1, 0), pause(1, 1), pause(3, 1), pause(20, 0), pause(20, 1)];
        }"""
    )
    assert waits == [250, 500, 2000, 15_000, 30_000]


def test_the_title_says_how_full_the_window_is(show: Show, server: Server) -> None:
    page = show("<title>Read the tests</title>" + STREAM, "session-stream")
    wait_for_sockets(page, server, 1)
    for seq, used in enumerate((180, 2_470), 3):
        facts = {"used": used, "limit": 1_000}
        server.send(events=[{"seq": seq, "kind": "turn_ended", "data": facts}], last=seq)
    wait_for_last(page, 4)
    assert page.title() == "247% · Read the tests"


def test_title_and_icon_say_that_an_approval_is_wanted(show: Show, server: Server) -> None:
    body = '<section id="pressure" data-pressure="76" data-waiting="yes"></section>'
    head = '<link rel="icon" href="/wing.svg"><title>Read the tests</title>'
    page = show(head + body + STREAM, "session-stream")
    assert page.title() == "Approval wanted · 76% · Read the tests"
    icon = page.evaluate("document.querySelector('link[rel=icon]').href")
    assert icon.startswith("data:image/png")
    page.evaluate(
        """() => {
          delete document.getElementById("pressure").dataset.waiting;
          document.dispatchEvent(new CustomEvent("htmx:after:swap"));
        }"""
    )
    assert page.title() == "76% · Read the tests"
