"""The rule machine over the real recorder, on both databases; tests/bench/machine.py runs more."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from postgres import binaries
from rows import run_steps

STEPS = 90
SCRIPT = Path(__file__).parents[1] / "bench" / "machine.py"


@pytest.mark.django_db
def test_no_rule_is_broken_whatever_happens_to_a_stored_session() -> None:
    assert run_steps(STEPS) >= STEPS


def test_no_rule_is_broken_on_postgresql() -> None:
    if binaries() is None:
        missing = "no PostgreSQL on this machine: apt-get install postgresql"
        pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)
    command = [sys.executable, str(SCRIPT), str(STEPS), "--postgresql"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr[-2_000:]
    assert "steps on postgresql" in done.stdout and "no rule broken" in done.stdout
