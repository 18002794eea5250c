"""Each test here is the case whose id its name spells; what it proves is the case's `then`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cases.given import expand


@pytest.fixture
def case(request: pytest.FixtureRequest, shared: Path) -> dict[str, Any]:
    """What the case gives, expanded, with its `expect` beside it."""
    name = request.function.__name__.removeprefix("test_").replace("_", "-")
    read = json.loads((shared / "cases" / f"{name}.json").read_text())
    return {**expand(read["given"]), "expect": read.get("expect")}
