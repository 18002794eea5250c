"""One GET or POST over the open network, and over nothing else.

A name is resolved once, every address is checked, and the connection goes to a checked address, so
that no second answer of a name server counts. Redirects of a GET are followed here, each checked
anew; those of a POST are not.
"""

from __future__ import annotations

import asyncio
import re
import socket
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_address
from typing import TypeAlias, TypeVar

import httpx

from agentcore.errors import ToolError
from agentcore.said import Said
from agentcore.tools.addresses import is_odd_number, is_public

# The addresses of a host, as text.
Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
T = TypeVar("T")

# What names and addresses of hosts are written with, other letters spelled out.
_NAME = re.compile(r"[A-Za-z0-9._:-]+")
REDIRECTS = 5
ADDRESSES_TRIED = 4
# The whole is bounded too; a shorter wait for a connection leaves time for other addresses.
TIMEOUT = httpx.Timeout(None, connect=10)
PORTS = {"http": 80, "https": 443}
HEADERS = {
    "User-Agent": "hermesweb/1.0 (agent tool)",
    "Accept": "text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.9,*/*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
    "Connection": "close",
}
# A packed body may be several, one after another; each takes a copy of those that follow.
PIECES = 100
# How zlib is told of each: with a header of either kind, without one.
PACKINGS = {"gzip": (47,), "x-gzip": (47,), "deflate": (47, -15)}
INSIDE = Said("leads to an inside address; only public ones can be fetched")


@dataclass(frozen=True, slots=True)
class Page:
    """What came. `url` is the last one asked; `truncated`: the body went on; `note` tells of a
    server that said what is not so."""

    url: str
    status: int
    content_type: str
    body: bytes
    truncated: bool = False
    note: str = ""


async def resolve(host: str, port: int) -> Sequence[str]:
    """All addresses of a host by the system's resolver."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


@dataclass(frozen=True, slots=True)
class Fetcher:
    """`ports` are those that may be asked. `trusted` (host, port) pairs may be asked though they
    lie inside: for a service of the set-up's own, never for what a model or a page names."""

    ports: frozenset[int] = frozenset(PORTS.values())
    trusted: frozenset[tuple[str, int]] = frozenset()
    resolve: Resolve = resolve

    async def get(self, address: str, *, max_bytes: int, seconds: int) -> Page:
        """Raises ToolError for what is refused, fails, or takes longer than `seconds` in all."""
        async with _within(seconds, address):
            return await self._followed(_url(address), max_bytes)

    async def post(
        self, address: str, content: bytes, headers: Mapping[str, str], *, seconds: int
    ) -> int:
        """The status, whatever it is; nothing else of the answer is read. Raises as `get`."""
        async with _within(seconds, address):
            ask = partial(_status, content=content, headers=headers)
            return await self._first(_url(address), ask)

    def check(self, address: str) -> None:
        """Raises ToolError for what is refused whatever a name server says."""
        url = _url(address)
        if not self._place(url) and _is_address(_host(url)) and not is_public(_host(url)):
            raise _at(url, INSIDE)

    async def _followed(self, url: httpx.URL, max_bytes: int) -> Page:
        for _ in range(REDIRECTS + 1):
            answer = await self._asked(url, max_bytes)
            if isinstance(answer, Page):
                return answer
            url = answer
        raise _at(url, Said("more than {most} redirects", most=REDIRECTS))

    async def _asked(self, url: httpx.URL, max_bytes: int) -> Page | httpx.URL:
        """The page, or where it is said to be."""
        return await self._first(url, partial(_answer, max_bytes=max_bytes))

    async def _first(self, url: httpx.URL, ask: Callable[[httpx.URL, str], Awaitable[T]]) -> T:
        """What is said at the first of its addresses that can be reached."""
        addresses = await self._checked(url)
        for address in addresses[:ADDRESSES_TRIED]:
            try:
                return await ask(url, address)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failure: httpx.HTTPError = error
            except httpx.HTTPError as error:
                raise _at(url, _told(error)) from error
        raise _at(url, _told(failure)) from failure

    async def _checked(self, url: httpx.URL) -> Sequence[str]:
        is_trusted = self._place(url)
        try:
            addresses = await self.resolve(url.raw_host.decode(), _port(url))
        except (OSError, UnicodeError) as error:
            raise _at(url, Said("no such host ({error})", error=str(error))) from error
        if not addresses or not (is_trusted or all(map(is_public, addresses))):
            raise _at(url, INSIDE)
        return addresses

    def _place(self, url: httpx.URL) -> bool:
        """Whether it is trusted; raises ToolError where no place is named that could be asked."""
        if url.scheme not in PORTS:
            raise _at(url, Said("only http and https addresses can be fetched"))
        if url.userinfo:
            raise _at(url.copy_with(userinfo=b""), Said("leave user and pass out"))
        host, name = _host(url), url.raw_host.decode()
        if not _NAME.fullmatch(name) or is_odd_number(name):
            raise _at(url, Said("{name!r} is not the name of a host", name=host or "nothing"))
        is_trusted = (host, _port(url)) in self.trusted
        if _port(url) not in self.ports and not is_trusted:
            allowed = ", ".join(map(str, sorted(self.ports)))
            said = Said(
                "port {port} cannot be used, only {allowed}", port=_port(url), allowed=allowed
            )
            raise _at(url, said)
        return is_trusted


@asynccontextmanager
async def _within(seconds: int, address: str) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds or None):
            yield
    except TimeoutError:
        raise _at(address, Said("no whole answer within {seconds} s", seconds=seconds)) from None


def _host(url: httpx.URL) -> str:
    """Spelled out where it is a name in other letters, and one that may be spelled out."""
    try:
        return url.host
    except UnicodeError:
        return url.raw_host.decode()


def _port(url: httpx.URL) -> int:
    return url.port or PORTS.get(url.scheme, 0)


def _is_address(host: str) -> bool:
    with suppress(ValueError):
        return bool(ip_address(host))
    return False


def _at(url: httpx.URL | str, reason: str) -> ToolError:
    return ToolError(Said("{address}: {reason}", address=str(url), reason=reason))


def _url(address: str) -> httpx.URL:
    try:
        return httpx.URL(address.strip())
    except (httpx.InvalidURL, UnicodeError) as error:
        said = Said(
            "{address} is no address: {error}", address=f"{address!a:.200}", error=str(error)
        )
        raise ToolError(said) from error


async def _answer(url: httpx.URL, address: str, max_bytes: int) -> Page | httpx.URL:
    async with _response("GET", url, address, HEADERS) as response:
        if response.has_redirect_location:
            return _target(url, response.headers["location"])
        body, truncated, note = await _body(url, response, max_bytes)
    kind = response.headers.get("content-type", "")
    return Page(str(url), response.status_code, kind, body, truncated, note)


async def _status(url: httpx.URL, address: str, content: bytes, headers: Mapping[str, str]) -> int:
    own = {name: HEADERS[name] for name in ("User-Agent", "Connection")}
    async with _response("POST", url, address, {**own, **headers}, content) as response:
        return response.status_code


@asynccontextmanager
async def _response(
    method: str, url: httpx.URL, address: str, headers: Mapping[str, str], content: bytes = b""
) -> AsyncIterator[httpx.Response]:
    """Ask one checked address, under the name it has."""
    request = httpx.Request(
        method,
        url.copy_with(host=address, fragment=None),
        headers={**headers, "Host": url.netloc.decode()},
        content=content or None,
        extensions={"sni_hostname": url.raw_host.decode(), "timeout": TIMEOUT.as_dict()},
    )
    async with httpx.AsyncHTTPTransport(trust_env=False) as transport:
        response = await transport.handle_async_request(request)
        try:
            yield response
        finally:
            await response.aclose()


def _target(url: httpx.URL, location: str) -> httpx.URL:
    try:
        return url.join(location)
    except (httpx.InvalidURL, UnicodeError) as error:
        place = f"{location!a:.200}"
        raise _at(url, Said("redirects to what is no address: {place}", place=place)) from error


async def _body(
    url: httpx.URL, response: httpx.Response, max_bytes: int
) -> tuple[bytes, bool, str]:
    """At most so many bytes of the body, whether it went on, and a note on what it is not."""
    packing = response.headers.get("content-encoding", "").strip().lower()
    if packing not in {*PACKINGS, "identity", ""}:
        said = Said("packed as {packing}, which nobody asked for", packing=f"{packing!a:.40}")
        raise _at(url, said)
    raw, truncated = bytearray(), False
    async for chunk in response.aiter_raw():
        raw += chunk
        if truncated := 0 < max_bytes < len(raw):
            break
    received = bytes(raw[: max_bytes or None])
    if not received:
        return b"", False, ""
    for window in PACKINGS.get(packing, ()):
        with suppress(zlib.error):
            body, is_more, is_whole = _unpacked(received, window, max_bytes)
            early = "" if is_whole or is_more or truncated else "the packed body ends too early"
            return body, truncated or is_more, early
    lie = f"it is not packed as {packing}, though the server says so"
    return received, truncated, lie if packing in PACKINGS else ""


def _unpacked(packed: bytes, window: int, most: int) -> tuple[bytes, bool, bool]:
    """The body, never more than may be kept, whatever it would unpack to; whether it went on, and
    whether its last piece has an end. Raises zlib.error where it begins with no packed piece."""
    body, rest = b"", packed
    for _ in range(PIECES):
        unpacking = zlib.decompressobj(window)
        try:
            body += unpacking.decompress(rest, most and most - len(body))
        except zlib.error:
            if rest is packed:
                raise
            return body, False, True
        is_full, rest = 0 < most <= len(body), unpacking.unused_data
        if is_full or not rest:
            return body, is_full and bool(rest or not unpacking.eof), unpacking.eof
    return body, True, True


def _told(error: httpx.HTTPError) -> str:
    return str(error) or type(error).__name__
