from __future__ import annotations

import asyncio

from processes import PATIENCE

from hermesweb.inprocess import OneLoopLayer


async def test_news_of_another_thread_reaches_the_loop_of_the_sockets() -> None:
    layer = OneLoopLayer()
    channel = await layer.new_channel()
    await layer.group_add("overview", channel)
    heard = asyncio.create_task(layer.receive(channel))
    await asyncio.sleep(0)

    news = {"type": "news", "seq": 7}
    await asyncio.to_thread(asyncio.run, layer.group_send("overview", news))

    async with asyncio.timeout(PATIENCE):
        assert await heard == news
