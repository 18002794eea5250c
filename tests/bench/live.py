"""From the commit of an event to the changed page in a real browser.

`python tests/bench/live.py [EVENTS]`: a real installation, one session page open in Chromium, and
19 more sockets of that session that read all they are sent. A process of its own records
`turn_ended` events, 5 a second, through the recorder and announces them as a worker does; it notes
the time when the transaction is through. The page notes the time when the turn strip's readout
names the turn. Both clocks are that of this machine.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

sys.path.insert(0, str(Path(__file__).parents[1]))

from house import BASE_DIR, House, up  # noqa: E402

EVENTS, A_SECOND, OTHERS = 100, 5, 19
TARGET_MS = 150
# Notes when each turn is first read in the strip, in ms of the machine's clock.
NOTE = """() => {
  window.seen = {};
  const strip = document.querySelector("turn-strip");
  new MutationObserver(() => {
    const turn = strip.querySelector(".readout strong")?.textContent.match(/\\d+/)?.[0];
    if (turn) window.seen[turn] ??= performance.timeOrigin + performance.now();
  }).observe(strip, { childList: true, subtree: true });
}"""
WRITE = """
import asyncio, json, sys, time
import django
django.setup()
from asgiref.sync import sync_to_async
from builders import said, turn_ended
from hermesweb import lease, live
from hermesweb.models import AgentSession
from hermesweb.recorder import record

session = AgentSession.objects.get(pk=sys.argv[1])
events, pause = int(sys.argv[2]), 1 / float(sys.argv[3])
held = lease.take(session.pk, "bench")
messages = [said(1, "x" * 4_000)]
committed = {}

def write(turn):
    lease.renew(held)
    seq = record(session.pk, held.fence, [turn_ended(turn, messages)])
    committed[turn] = 1000 * time.time()
    return seq

async def work():
    announcer = live.Announcer(session.pk, session.owner_id)
    begin = time.monotonic()
    for turn in range(1, events + 1):
        announcer.tell(await sync_to_async(write)(turn))
        await asyncio.sleep(max(0, begin + turn * pause - time.monotonic()))
    await announcer.close()

asyncio.run(work())
print(json.dumps(committed))
"""


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else EVENTS
    with (
        tempfile.TemporaryDirectory() as folder,
        up(Path(folder)) as house,
        sync_playwright() as playwright,
    ):
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(house.sign_in_url)
        session = _session(page, house)
        page.goto(f"{house.url}/sessions/{session}/")
        page.wait_for_selector("#connection[data-state=live]")
        page.evaluate(NOTE)
        others = _others(house, session, page)
        committed = _written(house, session, events, page)
        page.wait_for_timeout(2_000)
        seen = page.evaluate("window.seen")
        browser.close()
        for socket in others:
            socket.close()
    _tell(committed, seen, events)


def _session(page: Page, house: House) -> str:
    answer = page.request.post(
        f"{house.url}/api/v1/sessions",
        headers={"Authorization": f"Bearer {house.api_token}"},
        data={"workspace": str(BASE_DIR), "model": "explorer", "profile": "small"},
    )
    assert answer.ok, answer.text()
    return str(answer.json()["id"])


def _others(house: House, session: str, page: Page) -> list[ClientConnection]:
    """Each is read by a thread of its own, as browsers would."""
    cookies = "; ".join(f"{one['name']}={one['value']}" for one in page.context.cookies())
    address = f"ws://{house.url.partition('//')[2]}/ws/sessions/{session}/?after=0"
    headers = {"Cookie": cookies}
    sockets = [
        connect(address, origin=Origin(house.url), additional_headers=headers)
        for _ in range(OTHERS)
    ]
    for socket in sockets:
        threading.Thread(target=_read, args=(socket,), daemon=True).start()
    return sockets


def _read(socket: ClientConnection) -> None:
    for _ in socket:
        pass


def _written(house: House, session: str, events: int, page: Page) -> dict[str, float]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE, session, str(events), str(A_SECOND)],
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "hermesweb.settings",
            "HERMESWEB_DATA_DIR": str(house.data_dir),
            "PYTHONPATH": f"{BASE_DIR}{os.pathsep}{BASE_DIR / 'tests'}",
        },
        stdout=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None:
        page.wait_for_timeout(100)
    assert process.stdout is not None and process.returncode == 0
    committed: dict[str, float] = json.loads(process.stdout.read())
    return committed


def _tell(committed: dict[str, float], seen: dict[str, float], events: int) -> None:
    waits = sorted(seen[turn] - at for turn, at in committed.items() if turn in seen)
    missed = events - len(waits)
    median, late = statistics.median(waits), waits[int(0.95 * (len(waits) - 1))]
    print(__doc__)
    print(f"{events} events at {A_SECOND} a second, {missed} not read in the page by themselves")
    print(f"median {median:.0f} ms (at most {TARGET_MS}), 95th percentile {late:.0f} ms, ", end="")
    print(f"longest {waits[-1]:.0f} ms")
    sys.exit(median > TARGET_MS or missed > 0)


if __name__ == "__main__":
    main()
