"""Who may import whom, and how long things may grow; CONTRIBUTING.md draws the same picture."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FILE_LINES = {"agentcore": 300, "hermesweb": 300, "tests": 400}
FUNCTION_LINES = 60
FORBIDDEN_NAMES = {"utils", "helpers", "services", "managers", "common", "misc"}
OUTSIDE_OF_CORE = {"django", "celery", "channels", "hermesweb", "kombu", "redis", "uvicorn"}

# Of the domain: one thing each, wherever it is read.
TERMS = {
    *("Agent", "Answer", "Breakdown", "Budget", "ChatModel", "CompactionPlan"),
    *("CompactionResult", "CompactionStrategy", "Context", "Directives", "Fact", "Fate", "Ledger"),
    *("Message", "Origin", "Pressure", "Reply", "Snapshot", "StageReport", "Survival"),
    *("Thresholds", "Tool", "Toolbox", "Turn", "Usage"),
}

# A module imports from lines above its own, and within the line where no circle arises.
LAYERS = {
    "agentcore": [
        {
            *("errors", "deferred", "facts", "frozen", "kinds", "redact", "said", "sections"),
            *("usage", "wire"),
        },
        {"breakdown", "limits", "media", "options"},
        {"messages"},
        {"snapshot", "counting", "erasing", "pressure", "ledger", "memory"},
        {
            *(
                "profile",
                "presets",
                "changes",
                "directives",
                "events",
                "invariants",
                "prefix",
                "requests",
            ),
            *("verify", "lint", "diff"),
            *("compaction.asked", "compaction.breaker", "compaction.events", "compaction.plan"),
            *("compaction.places", "compaction.result", "compaction.rows"),
        },
        {"compaction"},
        {"context", "compaction.pipeline", "compaction.compact"},
        {"documents", "llm", "tools", "prompt", "skills", "transcripts", "halt"},
        {
            *(
                "agent",
                "answering",
                "asking",
                "calling",
                "editing",
                "headroom",
                "hooking",
                "outcome",
                "recalling",
                "rest",
                "simulate",
                "turn",
            ),
            "standing",
            "writer",
        },
        {"", "commands", "__main__"},
    ],
    "hermesweb": [
        {
            "",
            "categories",
            "celery",
            "commits",
            "db_thread",
            "environment",
            "forecast",
            "http",
            "sentences",
            "labels",
            "language",
            "lock",
            "logs",
            "occasions",
            "shown",
            "spark",
        },
        {"models", "presets"},
        {
            *(
                "access",
                "attempts",
                "audit",
                "bands",
                "batch",
                "bulk",
                "bodies",
                "changes",
                "charts",
            ),
            *("approvals", "choices", "pinned", "rebilling", "travel"),
            *("copies", "paper", "proof", "rewording"),
            *(
                "content",
                "erasing",
                "export",
                "facts",
                "pins",
                "looks",
                "planning",
                "prepared",
                "prices",
                "queued",
                "steering",
                "wishes",
            ),
            *("diffs", "endpoints", "gauge", "lease", "listed", "listing", "live"),
            *("lives", "memory", "outlines"),
            *(
                "outcome",
                "pieces",
                "reader",
                "sign_in",
                "tape",
                "templatetags",
                "tiers",
                "tools",
                "totals",
            ),
            *("lifetimes", "lines", "rollup", "search", "spans", "spending", "subjects"),
            *("turn_ledger", "posting", "versions", "wake", "webhooks"),
        },
        {"recorder"},
        {"acts", "border", "counts", "imports", "follow"},
        {
            *("compact_form", "consumers", "drafting", "forms", "opening", "reading", "runner"),
            "questions",
            *("settings_form", "states", "summaries", "verdict", "wall", "webhook_form"),
        },
        {"tasks"},
        {"admin", "api", "checkup", "context_processors", "views"},
        {"apps", "routing", "settings", "urls"},
        {"asgi", "broker", "child", "inprocess", "management", "static_files", "supervisor"},
    ],
}
# Stricter than the layers: of ours, these import nothing but what stands here.
ONLY = {
    "hermesweb.consumers": {"access", "live", "reader"},
    "hermesweb.live": {"models"},
    "hermesweb.tasks": {
        "acts",
        "celery",
        "counts",
        "drafting",
        "imports",
        "lease",
        "models",
        "planning",
        "posting",
        "runner",
        "wake",
        "webhooks",
    },
}
STRATEGIES = {
    f"agentcore.compaction.{name}"
    for name in (
        *("keep_recent", "snip", "micro", "collapse", "auto", "partial", "last_resort", "mask"),
        *("elastic", "share", "fair_share"),
    )
}


def sources(*packages: str) -> list[Path]:
    found = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    return sorted(path for path in found if "migrations" not in path.parts)


def name_of(path: Path) -> str:
    """`agentcore/llm/base.py` is `agentcore.llm.base`, a package is its folder's name."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sources("agentcore", "hermesweb")}


def imports(module: str) -> set[str]:
    """Full names of all that a module imports anywhere in it, our own down to the module."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0 and node.module, f"{module}: no relative imports"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                found.add(inner if inner in MODULES else node.module)
    return found - {module}


def layer_of(module: str) -> int:
    """The longest entry that names the module or a package it is in."""
    package, _, name = module.partition(".")
    while True:
        for number, layer in enumerate(LAYERS[package]):
            if name in layer:
                return number
        name = name.rpartition(".")[0]
        assert name, f"{module} stands in no layer of this test: give it its place"


def in_package(name: str) -> list[str]:
    return [module for module in MODULES if module.partition(".")[0] == name]


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_only_from_layers_to_its_left(module: str) -> None:
    package = module.partition(".")[0]
    layer = layer_of(module)
    own = imports(module) & set(in_package(package)) - {package}
    assert {name for name in own if layer_of(name) > layer} == set()


@pytest.mark.parametrize(("module", "allowed"), ONLY.items())
def test_couriers_and_tasks_stay_narrow(module: str, allowed: set[str]) -> None:
    own = {name.split(".")[1] for name in imports(module) if name.startswith("hermesweb.")}
    assert own <= allowed


@pytest.mark.parametrize("package", LAYERS)
def test_no_imports_go_in_a_circle(package: str) -> None:
    needs = {name: imports(name) & set(in_package(package)) - {package} for name in MODULES}
    while leaves := {name for name, others in needs.items() if not others & needs.keys()}:
        for leaf in leaves:
            del needs[leaf]
    assert needs.keys() == set()


@pytest.mark.parametrize("module", in_package("agentcore"))
def test_the_core_knows_no_framework_and_no_environment(module: str) -> None:
    assert {name.partition(".")[0] for name in imports(module)} & OUTSIDE_OF_CORE == set()
    text = MODULES[module].read_text()
    assert "os.environ" not in text and "os.getenv" not in text


@pytest.mark.parametrize("module", sorted(STRATEGIES & MODULES.keys()))
def test_no_strategy_imports_another(module: str) -> None:
    assert imports(module) & STRATEGIES == set()


def test_no_file_is_named_for_nothing() -> None:
    assert [name for name in MODULES if set(name.split(".")) & FORBIDDEN_NAMES] == []


@pytest.mark.parametrize("path", sources(*FILE_LINES), ids=name_of)
def test_files_and_functions_stay_short(path: Path) -> None:
    text = path.read_text()
    length = text.count("\n")
    assert length <= FILE_LINES[path.relative_to(ROOT).parts[0]]
    assert [name for name, lines in functions(text) if lines > FUNCTION_LINES] == []


def functions(text: str) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno
            yield node.name, node.end_lineno - node.lineno + 1


def test_only_the_runner_catches_everything() -> None:
    broad = {
        name
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or ast.unparse(node.type) in ("Exception", "BaseException"))
    }
    # A hook is a stranger's code: whatever it raises is reported, and the run goes on.
    assert broad <= {"hermesweb.runner", "agentcore.compaction.hooks"}


def test_only_live_sends_to_the_channel_layer() -> None:
    sending = {name for name, path in MODULES.items() if "group_send" in path.read_text()}
    assert sending <= {"hermesweb.live", "hermesweb.inprocess"}


def test_only_the_runner_builds_an_agent() -> None:
    building = {name for name in in_package("hermesweb") if "agentcore.agent" in imports(name)}
    assert building <= {"hermesweb.runner"}


def test_a_term_of_the_domain_names_one_class() -> None:
    given = [(name, module) for module in MODULES for name in names_given(module)]
    places = {term: {module for name, module in given if name == term} for term in TERMS}
    assert {term: found for term, found in places.items() if len(found) > 1} == {}


def names_given(module: str) -> Iterator[str]:
    """To classes and types, and to what is imported by another name."""
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.alias) and node.asname:
            yield node.asname
