from __future__ import annotations

import os
from pathlib import Path

import pytest
from pytest_django import Settings

from hermesweb.management.commands.up import demo_made


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("print('made')", "made"),
        # More than a pipe holds while nobody reads it.
        ("import sys; sys.exit('x' * 200_000)", f"no demo: {'x' * 200_000}"),
    ],
)
def test_what_it_said_is_told_however_long(
    tmp_path: Path, settings: Settings, code: str, told: str
) -> None:
    (tmp_path / "manage.py").write_text(code)
    settings.BASE_DIR = tmp_path
    assert demo_made(os.environ, lambda: False) == told


def test_it_is_left_at_once_when_all_is_to_stop(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "manage.py").write_text(
        "from pathlib import Path; import time\n"
        "Path(__file__).with_name('begun').touch(); time.sleep(600)"
    )
    settings.BASE_DIR = tmp_path
    assert demo_made(os.environ, (tmp_path / "begun").exists) == ""
