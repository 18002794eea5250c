from __future__ import annotations

import asyncio
import json
import ssl
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from net import HTML, PLAIN, Net, call
from processes import PATIENCE
from servers import Server, redirect, said, serving, silence

from agentcore.limits import Limits
from agentcore.messages import ToolStatus
from agentcore.tools import Lent, Mode, Web, toolbox
from agentcore.tools.base import Outcome, Workspace
from agentcore.tools.fetcher import REDIRECTS, Fetcher


async def test_a_page_is_read_as_text_under_its_own_name() -> None:
    page = "<title>T</title><h1>Head</h1><p>one &amp; <b>two</b></p><script>bad()</script>"
    async with serving(said(page, HTML)) as server:
        url = f"http://web.example:{server.port}/a?b=1#part"
        outcome = await Net(web=server).fetch(url)
    assert outcome.text == (
        f"web_fetch {url} (200; text/html; {len(page)} bytes)\nHead\n\none & two"
    )
    assert outcome.status is ToolStatus.OK
    assert f"\r\nHost: web.example:{server.port}\r\n" in server.requests[0]
    assert server.requests[0].startswith("GET /a?b=1 HTTP/1.1\r\n")


async def test_an_error_page_is_shown_as_a_failure() -> None:
    async with serving(said("gone", PLAIN, status="404 Not Found")) as server:
        outcome = await Net(web=server).fetch(f"http://web.example:{server.port}/")
    assert "(404; text/plain; 4 bytes)\ngone" in outcome.text
    assert outcome.status is ToolStatus.FAILED


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://127.0.0.1/", "inside address"),
        ("http://[::1]/", "inside address"),
        ("http://[::ffff:127.0.0.1]/", "inside address"),
        ("http://169.254.169.254/latest/meta-data/", "inside address"),
        ("http://name-of-ten.example/", "inside address"),
        ("http://one-of-two.example/", "inside address"),
        ("http://nothing.example/", "inside address"),
        ("http://localhost/", "inside address"),
        ("http://0x7f000001/", "not the name of a host"),
        ("http://2130706433/", "not the name of a host"),
        ("http://127.1/", "not the name of a host"),
        ("http://localhost:8000/", "port 8000 cannot be used, only 80, 443"),
        ("http://absent.example/", "no such host"),
        ("http://me:word@public.example/", "leave user and pass out"),
        ("http://public.example@127.0.0.1/", "leave user and pass out"),
        ("file:///etc/hosts", "only http and https"),
        ("ftp://public.example/", "only http and https"),
        ("public.example", "only http and https"),
        ("http://", "not the name of a host"),
        ("http://[#/", "not the name of a host"),
        ("http://host]/", "not the name of a host"),
        ("http://two names.example/", "not the name of a host"),
        ("http://a%2fb.example/", "not the name of a host"),
        ("http://a\r\nHost: x/", "no address"),
    ],
)
async def test_what_is_not_public_is_refused_and_not_asked(url: str, told: str) -> None:
    net = Net(
        {
            "name-of-ten.example": ["10.0.0.5"],
            "one-of-two.example": ["93.184.215.14", "127.0.0.1"],
            "nothing.example": [],
            "localhost": ["127.0.0.1"],
        }
    )
    outcome = await net.fetch(url)
    assert outcome.text.startswith("web_fetch: ")
    assert told in outcome.text
    assert "word" not in outcome.text
    assert outcome.status is ToolStatus.FAILED


@pytest.mark.parametrize("host", ["xn--ls8h.example", "xn--.example"])
async def test_a_name_that_cannot_be_spelled_out_is_one_all_the_same(host: str) -> None:
    async with serving(said("found", PLAIN)) as server:
        net = Net({host: ["127.0.0.1"]})
        inside = await net.fetch(f"http://{host}/")
        assert "leads to an inside address" in inside.text
        absent = await Net().fetch(f"http://{host}/")
        assert "no such host" in absent.text
        trusted = Fetcher(trusted=frozenset([(host, server.port)]), resolve=net.fetcher.resolve)
        url = f"http://{host}:{server.port}/"
        outcome = await call(Web(trusted), "web_fetch", Limits(), url=url)
        assert outcome.text.endswith("\nfound")
    async with serving(redirect(f"http://{host}/")) as server:
        told = (await Net(web=server).fetch(f"http://web.example:{server.port}/")).text
        assert "no such host" in told


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "inner.example", "[::ffff:7f00:1]"])
async def test_a_redirect_inside_is_refused_without_a_connection(host: str) -> None:
    async with AsyncExitStack() as servers:
        inner = await servers.enter_async_context(serving(said("inner secret")))
        to = f"http://{host}:{inner.port}/"
        outer = await servers.enter_async_context(serving(redirect(to)))
        known = Net({"inner.example": ["127.0.0.1"]}, web=outer).fetcher
        # As if the inner server stood at a port that may be used.
        fetcher = replace(known, ports=frozenset([inner.port]))
        url = f"http://web.example:{outer.port}/"
        outcome = await call(Web(fetcher), "web_fetch", Limits(), url=url)
    assert "inside address" in outcome.text
    assert inner.requests == []
    assert len(outer.requests) == 1


async def test_each_hop_is_resolved_once_and_connected_to_what_was_checked() -> None:
    async with AsyncExitStack() as servers:
        second = await servers.enter_async_context(serving(said("there", PLAIN)))
        to = f"http://two.example:{second.port}/x"
        first = await servers.enter_async_context(serving(redirect(to)))
        net = Net(one=first, two=second)
        outcome = await net.fetch(f"http://one.example:{first.port}/")
    assert outcome.text.endswith("\nthere")
    assert f"web_fetch http://two.example:{second.port}/x (200" in outcome.text
    assert net.asked == ["one.example", "two.example"]


async def test_redirects_in_a_circle_end() -> None:
    async with serving(redirect("/again")) as server:
        outcome = await Net(web=server).fetch(f"http://web.example:{server.port}/")
    assert f"more than {REDIRECTS} redirects" in outcome.text
    assert len(server.requests) == REDIRECTS + 1


async def test_no_cookie_of_one_answer_goes_into_the_next_request() -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 302 Found\r\nSet-Cookie: a=b\r\nLocation: /b\r\n\r\n")

    async with serving(answer) as server:
        await Net(web=server).fetch(f"http://web.example:{server.port}/")
    assert len(server.requests) > 1
    assert all("ookie" not in request for request in server.requests)


async def test_another_address_of_the_host_is_tried_when_one_is_dead() -> None:
    async with serving(said("alive", PLAIN)) as server:
        net = Net({"web.example": ["127.0.0.9", "127.0.0.1"]}, web=server)
        outcome = await net.fetch(f"http://web.example:{server.port}/")
    assert outcome.text.endswith("\nalive")


async def test_a_server_that_never_answers_ends_in_time() -> None:
    begun = time.monotonic()
    async with serving(silence) as server:
        outcome = await Net(web=server).fetch(f"http://web.example:{server.port}/", web_seconds=1)
    assert "no whole answer within 1 s" in outcome.text
    assert time.monotonic() - begun < PATIENCE


async def test_a_server_that_drips_ends_in_time() -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        for _ in range(1_000):
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.1)

    async with serving(drip) as server:
        outcome = await Net(web=server).fetch(f"http://web.example:{server.port}/", web_seconds=1)
    assert "no whole answer within 1 s" in outcome.text


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 200_000,
        b"HTTP/1.1 302 Found\r\nLocation: http://x:port/\r\nContent-Length: 0\r\n\r\n",
    ],
)
async def test_an_answer_that_is_no_http_is_a_failure_that_can_be_read(raw: bytes) -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(raw)

    async with serving(answer) as server:
        outcome = await Net(web=server).fetch(f"http://web.example:{server.port}/")
    assert outcome.status is ToolStatus.FAILED
    assert outcome.text.startswith(f"web_fetch: http://web.example:{server.port}/: ")


async def test_a_secure_connection_names_the_host_and_trusts_no_stranger(tmp_path: Path) -> None:
    named: list[str | None] = []
    secure = _self_signed(tmp_path)
    secure.sni_callback = lambda _, name, __: named.append(name)
    async with serving(said("secret"), secure) as server:
        outcome = await Net(web=server).fetch(f"https://web.example:{server.port}/")
    assert named == ["web.example"]
    assert "certificate verify failed" in outcome.text


def _self_signed(folder: Path) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "web.example")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(1))
    paths = folder / "cert", folder / "key"
    pem = serialization.Encoding.PEM
    form, locked = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    paths[0].write_bytes(builder.sign(key, hashes.SHA256()).public_bytes(pem))
    paths[1].write_bytes(key.private_bytes(pem, form, locked))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*paths)
    return context


async def searched(answer: Any, **limits: int) -> tuple[Outcome, Server]:
    body = answer if isinstance(answer, str) else json.dumps(answer)
    async with serving(said(body, "Content-Type: application/json")) as server:
        web = Web(search=f"http://127.0.0.1:{server.port}/base/")
        outcome = await call(web, "web_search", Limits(**limits), query="näher & mehr")
    return outcome, server


async def test_a_search_gives_titles_addresses_and_a_few_words() -> None:
    hits = [
        {"title": f"Title {n}", "url": f"https://x/{n}", "content": "words " * 100}
        for n in range(9)
    ]
    outcome, server = await searched({"results": hits})
    lines = outcome.text.split("\n")
    assert lines[0] == "web_search 'näher & mehr': 8 hits"
    assert lines[1:3] == ["1. Title 0", "   https://x/0"]
    assert len(lines[3].strip()) == 301
    assert lines[-1] == "… stopped after 8 hits"
    asked = "GET /base/search?q=n%C3%A4her+%26+mehr&format=json HTTP/1.1"
    assert server.requests[0].startswith(asked)


async def test_half_a_character_in_a_query_is_asked_for_as_a_question_mark() -> None:
    async with serving(said('{"results": []}')) as server:
        web = Web(search=f"http://127.0.0.1:{server.port}")
        outcome = await call(web, "web_search", Limits(), query="a\ud800b")
    assert outcome.text.endswith(": no hit")
    assert server.requests[0].startswith("GET /search?q=a%3Fb&")


async def test_a_title_and_an_address_that_are_cut_say_so() -> None:
    long = {"title": "t" * 300, "url": f"https://x/{'u' * 3_000}", "content": ""}
    text = (await searched({"results": [long]}))[0].text
    assert f"1. {'t' * 200}…\n" in text
    assert text.endswith(f"https://x/{'u' * 1_990}…")


async def test_a_search_without_hits_and_one_without_json_say_so() -> None:
    assert (await searched({"results": []}))[0].text == "web_search 'näher & mehr': no hit"
    odd = {"results": [3, {"title": None, "url": "https://x", "content": ["y"]}]}
    assert "1 hit\n1. \n   https://x" in (await searched(odd))[0].text
    for answer in ("<html>", "[]", "{}", "[" * 100_000):
        outcome, _ = await searched(answer)
        assert "let it offer the format json" in outcome.text
        assert outcome.status is ToolStatus.FAILED


def test_web_tools_are_offered_where_the_set_up_lends_the_network() -> None:
    def offered(mode: Mode, web: Web | None) -> set[str]:
        schemas = toolbox(Workspace(Path("/")), mode, Lent(web=web)).schemas
        names = {str(schema["function"]["name"]) for schema in schemas}
        return {name for name in names if name.startswith("web")}

    assert offered(Mode.GOAL, None) == set()
    assert offered(Mode.PLAN, Web(search="http://x")) == set()
    assert offered(Mode.DEBUG, Web()) == {"web_fetch"}
    assert offered(Mode.GOAL, Web(search="http://x")) == {"web_fetch", "web_search"}
