"""Screenshots of every page in both languages, both themes and three widths, for review.

./run shots [FOLDER] [--picture]    --picture also takes the README's picture anew
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import chromium
from house import BASE_DIR, House, up, wait_for
from playwright.sync_api import Page, sync_playwright

LANGUAGES = ("en", "zh-hans")
THEMES = ("light", "dark")
WIDTHS = (1440, 1024, 360)
PICTURE = BASE_DIR / "docs" / "session.png"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, prog="./run shots")
    parser.add_argument("folder", nargs="?", type=Path, default=BASE_DIR / "shots")
    parser.add_argument("--picture", action="store_true")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as data,
        up(Path(data), "--demo") as house,
        sync_playwright() as driver,
    ):
        browser = driver.chromium.launch(executable_path=chromium.program(), args=chromium.FLAGS)
        page = browser.new_page()
        page.goto(house.sign_in_url)
        session = settled(page, house)
        taken = list(take(page, house, options.folder, session))
        print(f"{len(taken)} screenshots in {options.folder}")
        if options.picture:
            page.context.clear_cookies(name="theme")
            page.context.clear_cookies(name="django_language")
            one(page, f"{house.url}/sessions/{session}/", PICTURE, 1440, whole=False)
        browser.close()


def settled(page: Page, house: House) -> str:
    """The demo's session once it has ended: nothing on its pages moves any more."""

    def ended() -> str | None:
        answer = page.request.get(
            f"{house.url}/api/v1/sessions", headers={"Authorization": f"Bearer {house.api_token}"}
        )
        found = [row["id"] for row in answer.json()["items"] if row["status"] == "idle"]
        return found[0] if found else None

    wait_for(ended, seconds=180)
    session = ended()
    assert session
    return session


def take(page: Page, house: House, folder: Path, session: str) -> Iterator[Path]:
    shown = pages(session).items()
    for language, theme, width, (name, path) in product(LANGUAGES, THEMES, WIDTHS, shown):
        chosen = {"django_language": language, "theme": theme}
        page.context.add_cookies(
            [{"name": key, "value": value, "url": house.url} for key, value in chosen.items()]
        )
        file = folder / f"{name}-{width}-{theme}-{language}.png"
        one(page, house.url + path, file, width)
        yield file


def pages(session: str) -> dict[str, str]:
    home = f"/sessions/{session}/"
    return {
        "overview": "/",
        "new": "/sessions/new/",
        "import": "/imports/new/",
        "memory": "/memory/",
        "webhooks": "/webhooks/",
        "profiles": "/admin/hermesweb/profile/",
        "session": home,
        "transcript": f"{home}?view=all&order=largest",
        "message": f"{home}messages/1/",
        "tools": f"{home}rollup/?by=path",
        "lifetimes": f"{home}lifetimes/",
        "compaction": f"{home}compactions/1/",
        "compact": f"{home}compact/",
        "as-it-was": f"{home}at/turn:5/",
        "difference": f"{home}diff/?from=turn:2&to=turn:9",
        "pins": f"{home}pins/",
        "many-at-once": f"{home}bulk/?category=tool_results",
        "new-topic": f"{home}new_topic",
        "settings": f"{home}settings/",
        "ledger": f"{home}ledger/",
    }


def one(page: Page, address: str, file: Path, width: int, *, whole: bool = True) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    answer = page.goto(address)
    assert answer and answer.ok, f"{address} answered {answer and answer.status}"
    chart = page.locator("turn-chart")
    if chart.count():
        chart.scroll_into_view_if_needed()
        page.locator("turn-chart .main-svg").first.wait_for()
        # What comes when it is seen is on the picture too.
        page.locator("#rollup").scroll_into_view_if_needed()
        page.locator("#rollup table").wait_for()
        page.evaluate("scrollTo(0, 0)")
    page.wait_for_load_state("networkidle")
    if whole:
        # So that what is fixed to the window's edge does not cover the middle of the picture.
        height = page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size({"width": width, "height": min(height, 6_000)})
    page.screenshot(path=file)


if __name__ == "__main__":
    main()
