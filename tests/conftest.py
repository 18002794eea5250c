from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded sessions and cases that may lie beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip(f"recordings and cases are not there: {SHARED}")
    return SHARED
