"""A server on the loopback that answers as a test says, and counts who asked."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

Answer: TypeAlias = Callable[[asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Server:
    port: int = 0
    requests: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)


def said(body: bytes | str, *headers: str, status: str = "200 OK") -> Answer:
    """An answer with its true length."""
    raw = body.encode() if isinstance(body, str) else body

    async def answer(writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(raw)}", "", ""]
        writer.write("\r\n".join(lines).encode() + raw)

    return answer


def redirect(to: str) -> Answer:
    return said("", f"Location: {to}", status="302 Found")


async def silence(writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(3_600)


@asynccontextmanager
async def serving(answer: Answer, secure: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    server = Server()
    busy: set[asyncio.Task[None]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            server.requests.append(head)
            length = re.search(r"(?i)^content-length: (\d+)", head, re.MULTILINE)
            server.bodies.append(await reader.readexactly(int(length[1])) if length else b"")
            await answer(writer)
            await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        busy.add(asyncio.create_task(handle(reader, writer)))

    listening = await asyncio.start_server(take, "127.0.0.1", 0, ssl=secure)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        for task in busy:
            task.cancel()
        await asyncio.gather(*busy, return_exceptions=True)
