from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

import pytest
from redis.exceptions import ConnectionError as NoBroker

from hermesweb import live


class Layer:
    """Takes what is sent, or is down."""

    def __init__(self, down: Exception | None = None) -> None:
        self.sent: list[tuple[str, Mapping[str, Any]]] = []
        self._down = down

    async def group_send(self, group: str, message: Mapping[str, Any]) -> None:
        if self._down:
            raise self._down
        self.sent.append((group, message))


@pytest.fixture
def layer(monkeypatch: pytest.MonkeyPatch) -> Layer:
    layer = Layer()
    monkeypatch.setattr(live, "get_channel_layer", lambda: layer)
    return layer


async def test_news_goes_to_the_session_its_owners_overview_and_that_of_staff(
    layer: Layer,
) -> None:
    await live.announce("abc", 7, 12)
    news = {"type": "news", "session": "abc", "seq": 12}
    groups = ["session.abc", "overview.7", "overview.staff"]
    assert layer.sent == [(group, news) for group in groups]


async def test_a_burst_is_told_by_its_first_and_its_last(layer: Layer) -> None:
    announcer = live.Announcer("abc", 7)
    for seq in range(1, 201):
        announcer.tell(seq)
        await asyncio.sleep(0)
    await announcer.close()
    told = [message["seq"] for group, message in layer.sent if group == "session.abc"]
    assert told == [1, 200]


async def test_nothing_is_told_twice_and_text_alone_is_no_news(layer: Layer) -> None:
    announcer = live.Announcer("abc", 7)
    announcer.tell(5)
    await announcer.close()
    await announcer.text("Hel")
    await announcer.text("lo\n")
    await announcer.close()
    kinds = [message["type"] for group, message in layer.sent if group == "session.abc"]
    assert kinds == ["news", "delta"]
    assert layer.sent[-1][1]["delta"] == {"text": "Hello\n"}


async def test_streamed_text_is_masked_even_where_a_secret_comes_in_pieces(layer: Layer) -> None:
    announcer = live.Announcer("abc", 7)
    for piece in ("PASS", "WORD=corr", "ect horse\n-----BEGIN PRIV", "ATE KEY-----\nMIIex", "a\n"):
        await announcer.text(piece)
        await asyncio.sleep(0)
    await announcer.text("-----END PRIVATE KEY-----\nMONKEY=banana\nand")
    await announcer.close()
    told = "".join(message["delta"]["text"] for _, message in layer.sent)
    assert told == "PASSWORD=[masked]\n[masked]\nMONKEY=banana\n"


@pytest.mark.parametrize("error", [NoBroker("down"), ConnectionRefusedError("down")])
async def test_a_broker_that_is_down_costs_the_news_and_not_the_run(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    monkeypatch.setattr(live, "get_channel_layer", lambda: Layer(error))
    with caplog.at_level(logging.WARNING):
        await live.announce("abc", 7, 12)
    assert "the cursor will find it" in caplog.text
