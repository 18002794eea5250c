"""The distribution's Chromium, as tests and measurements start it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable

from playwright.sync_api import Page
from processes import PATIENCE

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Needed as root and without a network; harmless elsewhere.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def program() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def until(page: Page, holds: Callable[[], bool]) -> None:
    """Waits for what the test hears of the page; the page goes on meanwhile."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it did not come true in time"
        page.wait_for_timeout(50)
