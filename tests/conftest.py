from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import chromium
import pytest
from django.db import connection
from house import House, up
from hypothesis import HealthCheck, settings
from playwright.sync_api import expect
from recorded import SHARED

# The same examples in every run, on however busy a machine; `--hypothesis-profile=default` looks
# for others.
settings.register_profile(
    "steady", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("steady")
expect.set_options(timeout=30_000)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded sessions and cases that may lie beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip(f"no recordings and cases at {SHARED}")
    return SHARED


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """A file, since a database in memory is another one for each thread."""
    if connection.vendor == "sqlite":
        name = tmp_path_factory.mktemp("database") / "test.sqlite3"
        connection.settings_dict["TEST"]["NAME"] = name


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The distribution's Chromium instead of one that Playwright downloads."""
    found = chromium.program()
    if found is None:
        missing = "no Chromium on the PATH: apt-get install chromium"
        pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)
    return {**browser_type_launch_args, "executable_path": found, "args": chromium.FLAGS}


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A running installation with a data folder of its own, shared by the tests of one process."""
    with up(tmp_path_factory.mktemp("house")) as started:
        yield started
