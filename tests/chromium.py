"""The distribution's Chromium, as tests and measurements start it."""

from __future__ import annotations

import shutil

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
