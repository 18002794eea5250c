"""The pages in a real browser: how soon, how large, how many nodes.

`python tests/bench/pages.py`: a real installation with imported recordings of 150, 5,000 and
10,000 turns (two messages each), read in Chromium; each time is the median of five. Paint: first
contentful paint of a warm reload. Strip: the element put into the page with 10,000 rows, then one
`turn_ended`. Plotly: its `react` on the rows the server gives of 10,000 turns, the script loaded.
List, of 5,000 turns: from the click to the new rows, laid out. `tests/bench/live.py` measures how
soon a live turn is read.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

import chromium  # noqa: E402
from house import House, manage, up  # noqa: E402

SHORT, LIST, LONG = 150, 5_000, 10_000
REPEATS = 5
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? -1"
STRIP = """async (rows) => {
  const { packed } = window.bench ??= { packed: (rows) => ({
    turn: rows.map((row) => row.turn), bytes: rows.map((row) => row.used),
    used: rows.map((row) => row.used), limit: rows.map(() => 200000),
    compacted_before: rows.map((row) => row.turn % 70 === 0),
    breakdown: {
      system_prompt: rows.map(() => 9000),
      tool_results: rows.map((row) => row.used - 9000),
    },
  }) };
  const made = Array.from({ length: rows }, (_, place) => (
    { turn: place + 1, used: 10000 + (place * 997) % 150000 }));
  const data = document.createElement("script");
  data.type = "application/json";
  data.id = "bench-turns";
  data.textContent = JSON.stringify(packed(made));
  document.body.append(data);
  const strip = document.createElement("turn-strip");
  const facts = { data: data.id, unit: "bytes", threshold: "0.8", name: "snip" };
  for (const [name, value] of Object.entries(facts)) strip.setAttribute(name, value);
  const place = document.querySelector("turn-strip").parentElement;
  let begun = performance.now();
  place.append(strip);
  const first = performance.now() - begun;
  const event = new CustomEvent("session:turn_ended", { detail: { data: {
    turn: rows + 1, bytes: 90000, used: 90000, limit: 200000,
    breakdown: { tool_results: 90000 } } } });
  document.querySelector("turn-strip").remove();
  begun = performance.now();
  document.dispatchEvent(event);
  const more = performance.now() - begun;
  strip.remove();
  return [first, more];
}"""
PLOT = """async () => {
  const plot = document.querySelector(".plot");
  const { data, layout } = plot;
  const config = { displayModeBar: false };
  const fresh = document.createElement("div");
  fresh.className = "plot";
  plot.after(fresh);
  const time = async () => {
    const begun = performance.now();
    await Plotly.react(fresh, data.map((trace) => ({ ...trace })), { ...layout }, config);
    return performance.now() - begun;
  };
  const first = await time();
  const again = await time();
  Plotly.purge(fresh);
  fresh.remove();
  return [first, again];
}"""
CLICK = """(words) => new Promise((resolve) => {
  const links = [...document.querySelectorAll("#messages a")];
  const link = links.find((one) => one.textContent.trim() === words);
  const begun = performance.now();
  const done = () => {
    document.querySelector("#messages .entry").getBoundingClientRect();
    resolve(performance.now() - begun);
  };
  document.addEventListener("htmx:after:swap", done, { once: true });
  link.click();
})"""


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        up(Path(folder) / "data") as house,
        sync_playwright() as driver,
    ):
        sessions = {turns: imported(house, Path(folder), turns) for turns in (SHORT, LIST, LONG)}
        browser = driver.chromium.launch(executable_path=chromium.program(), args=chromium.FLAGS)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(house.sign_in_url)
        rows = [
            *(
                row
                for turns in (SHORT, LONG)
                for row in opened(page, house, sessions[turns], turns)
            ),
            *listed(page, f"{house.url}/sessions/{sessions[LIST]}/"),
            *drawn(page, f"{house.url}/sessions/{sessions[LONG]}/"),
        ]
        browser.close()
    print(__doc__)
    tell(rows)


def imported(house: House, folder: Path, turns: int) -> str:
    file = folder / f"{turns}.json"
    file.write_text(json.dumps(recording(turns)))
    done = manage("import_session", str(file), data_dir=house.data_dir)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[0]


def recording(turns: int) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "Be careful. " * 50},
        {"role": "user", "content": "Fix the parser."},
    ]
    for turn in range(1, turns + 1):
        arguments = json.dumps({"path": f"src/part_{turn % 40}.py"})
        call = {
            "id": f"call_{turn}",
            "type": "function",
            "function": {"name": "read_file", "arguments": arguments},
        }
        messages.append({"role": "assistant", "content": f"Step {turn}.", "tool_calls": [call]})
        text = f"line of part {turn}\n" * (5 + turn % 60)
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return messages


def opened(
    page: Page, house: House, session: str, turns: int
) -> list[tuple[str, float, float, str]]:
    address = f"{house.url}/sessions/{session}/"
    page.goto(address)
    paints = []
    for _ in range(REPEATS):
        page.reload()
        page.wait_for_timeout(700)
        paints.append(float(page.evaluate(PAINT)))
    size = len(page.request.get(address).body()) / 1_000
    page.mouse.wheel(0, 20_000)
    page.wait_for_timeout(1_500)
    nodes = page.evaluate("document.querySelectorAll('*').length")
    return [
        (f"first contentful paint, {turns:,} turns", statistics.median(paints), 400, "ms"),
        (f"HTML of the session page, {turns:,} turns", size, 200, "kB"),
        (f"DOM nodes when all was seen, {turns:,} turns", nodes, 3_000, ""),
    ]


def listed(page: Page, address: str) -> list[tuple[str, float, float, str]]:
    page.goto(address)
    page.wait_for_timeout(1_500)
    lists = []
    for _ in range(REPEATS):
        first = page.evaluate(CLICK, "Largest")
        page.evaluate(CLICK, "In order")
        page.evaluate(CLICK, "earlier messages")
        lists.append((first, page.evaluate(CLICK, "newest")))
    return [
        ("message list, 10,000 messages: first rows", middle(lists, 0), 40, "ms"),
        ("message list, 10,000 messages: to the end", middle(lists, 1), 150, "ms"),
    ]


def drawn(page: Page, address: str) -> list[tuple[str, float, float, str]]:
    page.goto(address)
    page.locator("turn-chart").scroll_into_view_if_needed()
    page.locator("turn-chart .main-svg").first.wait_for()
    plots = [page.evaluate(PLOT) for _ in range(REPEATS)]
    strips = []
    for _ in range(REPEATS):
        page.goto(address)
        page.wait_for_timeout(300)
        strips.append(page.evaluate(STRIP, LONG))
    return [
        ("turn strip, 10,000 turns: first draw", middle(strips, 0), 50, "ms"),
        ("turn strip, 10,000 turns: one more", middle(strips, 1), 16, "ms"),
        ("Plotly chart, 10,000 turns: first draw", middle(plots, 0), 300, "ms"),
        ("Plotly chart, 10,000 turns: redraw", middle(plots, 1), 200, "ms"),
    ]


def middle(pairs: list[Any], place: int) -> float:
    return statistics.median(float(pair[place]) for pair in pairs)


def tell(rows: list[tuple[str, float, float, str]]) -> None:
    missed = 0
    for name, value, most, unit in rows:
        over = value > most
        missed += over
        print(
            f"{name:45} {value:9,.1f} {unit:2}  at most {most:,} {unit}{'  MISSED' if over else ''}"
        )
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
