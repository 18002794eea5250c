from __future__ import annotations

from collections.abc import Sequence

import pytest
from servers import Server, redirect, said, serving, silence

from agentcore.errors import ToolError
from agentcore.tools.fetcher import Fetcher


def fetcher(*servers: Server) -> Fetcher:
    """One that finds every name on the loopback, and may ask these servers as `hook.example`."""

    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    trusted = frozenset(("hook.example", server.port) for server in servers)
    return Fetcher(trusted=trusted, resolve=resolve)


def address(server: Server) -> str:
    return f"http://hook.example:{server.port}/in?a=1"


async def test_a_post_gives_the_status_and_is_sent_under_its_own_name() -> None:
    async with serving(said("thanks", status="202 Accepted")) as server:
        status = await fetcher(server).post(
            address(server), b'{"a": 1}', {"X-Name": "v"}, seconds=5
        )
    assert status == 202
    head = server.requests[0]
    assert head.startswith("POST /in?a=1 HTTP/1.1\r\n")
    assert f"Host: hook.example:{server.port}\r\n" in head
    assert "X-Name: v\r\n" in head and "Content-Length: 8\r\n" in head


async def test_a_redirect_of_a_post_is_not_followed() -> None:
    async with serving(said("no")) as target, serving(redirect(address(target))) as server:
        both = fetcher(server, target)
        assert await both.post(address(server), b"{}", {}, seconds=5) == 302
    assert target.requests == []


async def test_a_post_goes_to_no_inside_address() -> None:
    async with serving(said("no")) as server:
        with pytest.raises(ToolError, match="inside address"):
            await fetcher().post("http://hook.example/", b"{}", {}, seconds=5)
    assert server.requests == []


async def test_a_receiver_that_says_nothing_is_waited_for_no_longer_than_it_may() -> None:
    async with serving(silence) as server:
        with pytest.raises(ToolError, match="within 1 s"):
            await fetcher(server).post(address(server), b"{}", {}, seconds=1)


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://a.example/", "http://u:p@a.example/", "http://a.example:22/", "http://127.1/"),
        *("http://127.0.0.1/", "http://[::1]/", "http://169.254.169.254/", "no address"),
    ],
)
def test_what_no_name_server_could_make_right_is_refused_without_asking(url: str) -> None:
    with pytest.raises(ToolError):
        Fetcher().check(url)


def test_what_may_be_right_passes() -> None:
    Fetcher().check("https://93.184.216.34/hook")
    Fetcher().check("https://hook.example/x?y=1")
    Fetcher(trusted=frozenset([("127.0.0.1", 9000)])).check("http://127.0.0.1:9000/")
