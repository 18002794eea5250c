from __future__ import annotations

import json
import os
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest

from hermesweb.lock import FILE, AlreadyRunning, Running, held, running

HERE = Running(pid=os.getpid(), port=8123, url="http://127.0.0.1:8123", broker="unix:///b.sock")


def test_the_second_holder_learns_where_the_first_runs(tmp_path: Path) -> None:
    with held(tmp_path) as hold:
        with pytest.raises(AlreadyRunning, match="already starting"), held(tmp_path):
            pass
        hold.tell(HERE)
        with pytest.raises(AlreadyRunning, match="already running on port 8123"), held(tmp_path):
            pass
        assert running(tmp_path) == HERE

    assert running(tmp_path) is None


def test_what_a_killed_start_left_is_known_to_the_next(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    (tmp_path / FILE).write_text(json.dumps(asdict(HERE) | {"pid": ended.pid}))

    assert running(tmp_path) is None
    with held(tmp_path) as hold:
        assert hold.left is not None and hold.left.broker == HERE.broker


def test_a_torn_file_holds_nobody_up(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text('{"pid": 12')

    assert running(tmp_path) is None
    with held(tmp_path) as hold:
        assert hold.left is None
