from __future__ import annotations

import ast
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
OWN = {"agentcore", "hermesweb"}


def pinned(file: str) -> dict[str, str]:
    lines = (ROOT / file).read_text().splitlines()
    pins = [Requirement(line) for line in lines if line[:1].isalnum()]
    return {canonicalize_name(pin.name): str(pin.specifier) for pin in pins}


def imported(folder: str) -> set[str]:
    """Top-level names of the packages of others that the code of a folder imports."""
    found = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    return found - OWN - sys.stdlib_module_names


@pytest.mark.parametrize("package", sorted(OWN))
def test_what_the_code_imports_is_pinned(package: str) -> None:
    owners = packages_distributions()
    pins = pinned("requirements.txt")
    loose = {
        name
        for name in imported(package)
        if not any(canonicalize_name(owner) in pins for owner in owners.get(name, ()))
    }
    assert loose == set()


@pytest.mark.parametrize("file", ["requirements.txt", "requirements-dev.txt"])
def test_every_pin_is_exact(file: str) -> None:
    assert [name for name, pin in pinned(file).items() if not pin.startswith("==")] == []


def test_both_files_pin_the_same_versions() -> None:
    run, dev = pinned("requirements.txt"), pinned("requirements-dev.txt")
    assert {name: dev[name] for name in run.keys() & dev.keys()} == {
        name: run[name] for name in run.keys() & dev.keys()
    }
