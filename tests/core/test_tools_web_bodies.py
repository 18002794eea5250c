"""What a server sends: huge, packed, in whatever encoding, and what it says of it."""

from __future__ import annotations

import asyncio
import gzip
import time
import zlib

import pytest
from net import HTML, PLAIN, Net, fetched
from processes import PATIENCE
from servers import serving

from agentcore.messages import ToolStatus


async def test_a_gigabyte_is_cut_at_its_limit_and_told() -> None:
    sent = 0

    async def endless(writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        head = f"HTTP/1.1 200 OK\r\n{PLAIN}\r\nContent-Length: {1_073_741_824}\r\n\r\n"
        writer.write(head.encode())
        for _ in range(16_384):
            writer.write(b"line of a log\n\n\n" * 4_096)
            await writer.drain()
            sent += 65_536

    async with serving(endless) as server:
        outcome = await Net(web=server).fetch(f"http://web.example:{server.port}/", result_bytes=0)
    assert outcome.text.endswith("\n[response truncated at 2097152 bytes]")
    assert "… page text truncated (2077152 chars not shown)" in outcome.text
    assert len(outcome.captured) > 2_097_152
    assert sent < 32 * 1_048_576


async def test_page_text_is_cut_by_characters_and_the_whole_is_kept() -> None:
    body = "中" * 25_000
    outcome = await fetched(f"<p>{body}</p>", HTML, result_bytes=0)
    assert outcome.text.endswith("中\n… page text truncated (5000 chars not shown)")
    assert outcome.text.count("中") == 20_000
    assert outcome.captured.count("中") == 25_000


@pytest.mark.parametrize(
    ("body", "packing", "text"),
    [
        (gzip.compress(b"packed"), "gzip", "packed"),
        (zlib.compress(b"packed"), "deflate", "packed"),
        (zlib.compress(b"packed")[2:-4], "deflate", "packed"),
        (gzip.compress(b"packed"), "GZIP", "packed"),
        (gzip.compress(b"pack") + gzip.compress(b"ed"), "gzip", "packed"),
        (gzip.compress(b"packed") + b"\0" * 9, "gzip", "packed"),
        (b"plain", "identity", "plain"),
        (b"", "gzip", ""),
    ],
)
async def test_packed_bodies_are_unpacked(body: bytes, packing: str, text: str) -> None:
    outcome = await fetched(body, PLAIN, f"Content-Encoding: {packing}")
    assert outcome.text.partition("\n")[2] == text


async def test_a_body_that_is_not_packed_as_said_is_read_as_it_is() -> None:
    outcome = await fetched(b"plain", PLAIN, "Content-Encoding: gzip")
    assert "it is not packed as gzip, though the server says so" in outcome.text.split("\n")[0]
    assert outcome.text.endswith("\nplain")
    outcome = await fetched(b"x", PLAIN, "Content-Encoding: br")
    assert "packed as 'br', which nobody asked for" in outcome.text


async def test_a_packed_body_without_its_end_says_so() -> None:
    outcome = await fetched(gzip.compress(b"packed " * 9)[:-9], PLAIN, "Content-Encoding: gzip")
    assert "the packed body ends too early" in outcome.text.split("\n")[0]
    assert "packed" in outcome.text.split("\n")[1]
    outcome = await fetched(b"", PLAIN, "Content-Encoding: gzip")
    assert outcome.text.endswith("(200; text/plain; 0 bytes)\n")


async def test_of_a_body_of_very_many_pieces_the_first_are_read_and_the_cut_is_told() -> None:
    body = gzip.compress(b"") * 50_000 + gzip.compress(b"end")
    outcome = await fetched(gzip.compress(b"begin") + body, PLAIN, "Content-Encoding: gzip")
    assert "\nbegin\n[response truncated at 5 bytes]" in outcome.text


async def test_a_body_that_unpacks_to_much_more_is_cut() -> None:
    bomb = gzip.compress(b"0" * 300_000_000, 1)
    outcome = await fetched(bomb, PLAIN, "Content-Encoding: gzip")
    assert "[response truncated at 2097152 bytes]" in outcome.captured
    assert len(outcome.captured) < 2_200_000
    pieces = gzip.compress(b"0" * 1_500_000) * 2
    outcome = await fetched(pieces, PLAIN, "Content-Encoding: gzip")
    assert "[response truncated at 2097152 bytes]" in outcome.captured
    whole = gzip.compress(b"0" * 1_048_576) * 2
    assert "truncated" not in (await fetched(whole, PLAIN, "Content-Encoding: gzip")).captured


@pytest.mark.parametrize(
    ("body", "kind", "note"),
    [
        ("日本語のテキスト".encode("shift_jis"), "text/plain; charset=shift_jis", ""),
        ("日本語のテキスト".encode(), "text/plain; charset=shift_jis", "not in shift_jis"),
        ("日本語のテキスト".encode("utf-16"), "text/plain; charset=latin-1", ""),
        ("日本語のテキスト".encode(), "text/plain", ""),
        ("日本語のテキスト".encode(), "text/plain; charset=punycode", "not in punycode"),
        ("日本語のテキスト".encode(), "text/plain; charset=no-such", "not in no-such"),
        ("<meta charset=euc-jp>日本語のテキスト".encode("euc-jp"), "text/html", ""),
        ("<meta charset=utf-8>日本語のテキスト".encode("euc-jp"), "text/html; charset=euc-jp", ""),
    ],
)
async def test_the_encoding_is_what_the_bytes_are(body: bytes, kind: str, note: str) -> None:
    outcome = await fetched(body, f"Content-Type: {kind}")
    assert outcome.text.endswith("\n日本語のテキスト")
    assert note in outcome.text.split("\n")[0]


@pytest.mark.parametrize("kind", ["image/png", "application/octet-stream", "text/plain", "x"])
async def test_what_is_no_text_is_named_and_refused(kind: str) -> None:
    outcome = await fetched(b"\x89PNG\0\0\0", f"Content-Type: {kind}")
    assert f"is {kind}, 7 bytes: not text" in outcome.text
    assert outcome.status is ToolStatus.FAILED


@pytest.mark.parametrize(
    "piece", ["<div>", "<a ", "&#0;", "<table><tr><td>", "<b><i>", "<!--", "<ul><li>"]
)
async def test_hostile_html_is_read_in_bounded_time(piece: str) -> None:
    begun = time.monotonic()
    outcome = await fetched(f"{piece * 100_000}end", HTML)
    assert outcome.status is ToolStatus.OK
    assert time.monotonic() - begun < PATIENCE
