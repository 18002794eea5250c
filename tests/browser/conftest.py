"""A page that is watched: what it logs, what its policy refuses, whom it asks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from house import House
from playwright.sync_api import Browser, ConsoleMessage, Page

GRAVE = ("serious", "critical")


@dataclass
class Watched:
    """`told`: console errors and what was thrown; `foreign`: requests to other hosts."""

    page: Page
    house: House
    told: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def theme(self, name: str) -> None:
        cookie = {"name": "theme", "value": name, "url": self.house.url}
        self.page.context.add_cookies([cookie])  # type: ignore[list-item]
        self.page.reload()

    def speak(self, language: str) -> None:
        """From the next page on."""
        cookie = {"name": "django_language", "value": language, "url": self.house.url}
        self.page.context.add_cookies([cookie])  # type: ignore[list-item]

    def in_chinese(self) -> list[str]:
        """What axe finds grave on the same page in Chinese, which must not scroll sideways; the
        next page is in English again."""
        self.speak("zh-hans")
        self.page.reload()
        assert self.page.locator("html").get_attribute("lang") == "zh-hans"
        assert self.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        self.speak("en")
        return self.findings()

    def findings(self) -> list[str]:
        """What axe finds grave on the page, as rule and first element."""
        violations: list[dict[str, Any]] = Axe().run(self.page).response["violations"]
        return [
            f"{self.page.url}: {one['id']}: {one['nodes'][0]['html'][:200]}"
            for one in violations
            if one["impact"] in GRAVE
        ]


@pytest.fixture(scope="session")
def signed_in(browser: Browser, house: House) -> dict[str, Any]:
    """The cookies of who followed the sign-in link, which works once."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(house.sign_in_url)
    assert page.url == f"{house.url}/"
    cookies: dict[str, Any] = context.storage_state()  # type: ignore[assignment]
    context.close()
    return cookies


@pytest.fixture(scope="session")
def browser_context_args(
    browser_context_args: dict[str, Any], signed_in: dict[str, Any]
) -> dict[str, Any]:
    return {**browser_context_args, "storage_state": signed_in}


@pytest.fixture
def watched(page: Page, house: House) -> Iterator[Watched]:
    """Fails its test at the end when anything was logged, refused or asked of others."""
    seen = Watched(page, house)
    page.on("console", lambda one: _log(seen, one))
    page.on("pageerror", lambda error: seen.told.append(str(error)))
    page.on("request", lambda one: _note(seen, one.url))
    yield seen
    assert seen.told == []
    assert seen.foreign == []


def _log(seen: Watched, line: ConsoleMessage) -> None:
    if line.type == "error":
        seen.told.append(f"{line.location.get('url', '')}: {line.text}")


def _note(seen: Watched, url: str) -> None:
    if not url.startswith((seen.house.url, "data:", "blob:")):
        seen.foreign.append(url)
