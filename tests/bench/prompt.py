"""What the system message and the search of memory cost: `python tests/bench/prompt.py`.

Method: process CPU time of one process, the best of 15 rounds; each row beside the least that its
work could cost, measured in the same run: making the JSON, opening and reading the same files,
looking through one text. The message has a chain of 20 kB, a project context of
20 kB and 40 skills; the store has 500 entries of 400 characters, half of them Chinese.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

import orjson  # noqa: E402

from agentcore.documents import guidance, joined, project_context  # noqa: E402
from agentcore.limits import Limits  # noqa: E402
from agentcore.memory import Entry, EntryKind, MemoryIndex, block  # noqa: E402
from agentcore.options import KeepDocs  # noqa: E402
from agentcore.prompt import SystemPrompt, build  # noqa: E402
from agentcore.skills import FOLDERS, skills_in  # noqa: E402
from agentcore.tools.base import Workspace  # noqa: E402
from agentcore.tools.paths import opened  # noqa: E402

ROUNDS = 15
LIMITS = Limits()
WORDS = ["parser", "budget", "window", "deploy", "数据库", "查询", "修复", "解析", "上下文", "记忆"]


def best(work: Callable[[], Any]) -> float:
    """Milliseconds of one call."""
    fastest = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time_ns()
        for _ in range(20):
            work()
        fastest = min(fastest, (time.process_time_ns() - started) / 20)
    return fastest / 1e6


def workspace(root: Path) -> Path:
    folder = root / "team" / "project"
    folder.mkdir(parents=True)
    for place in (root, root / "team", folder):
        (place / "AGENTS.md").write_text("- keep functions short 保持简短\n" * 200)
    (folder / "NANOHERMES.md").write_text("context 上下文\n" * 1_000)
    for number in range(40):
        skill = folder / FOLDERS[0] / f"skill-{number}"
        skill.mkdir(parents=True)
        (skill / "SKILL.md").write_text(
            f"---\nname: skill-{number}\ndescription: what to do in case {number}\n---\nbody\n"
        )
    return folder


def entries() -> list[Entry]:
    chosen = random.Random(1)
    words = [*WORDS, *(f"w{number}" for number in range(3_000))]
    texts = ["".join(f"{chosen.choice(words)} " for _ in range(70))[:400] for _ in range(500)]
    return [Entry(EntryKind.FACT, text, id=place) for place, text in enumerate(texts)]


def main() -> None:
    with TemporaryDirectory() as name:
        root = Path(name).resolve()
        folder = workspace(root)
        closed = root / "data"
        closed.mkdir()
        index = MemoryIndex(entries())
        query = " ".join(f"w{number}" for number in range(0, 3_000, 60)) + "修复数据库的查询"
        memory = block(index.search(query, 4), LIMITS)[0]

        def docs() -> str:
            texts = guidance(folder, [root], ["AGENTS.md"], limits=LIMITS, closed=closed)
            return joined(texts, LIMITS, KeepDocs.SPECIFIC)

        def prompt() -> SystemPrompt:
            context = project_context(folder, LIMITS, closed=closed)
            skills = skills_in(Workspace(folder, closed=closed)).listing
            return SystemPrompt("goal", str(folder), "", docs(), context, skills, memory)

        made = prompt()
        message = build(made)
        files = [str(path.relative_to(root)) for path in root.rglob("*.md")]

        def read() -> None:
            for path in files:
                with opened(Workspace(root), path) as descriptor:
                    os.read(descriptor, 100_000)

        least = best(lambda: orjson.dumps(message.value()))
        rows = [
            (
                f"build {message.sizes.bytes:,} bytes from its texts",
                best(lambda: build(made)),
                least,
            ),
            (
                f"read and build, {len(files)} files",
                best(lambda: build(prompt())),
                best(read),
            ),
            (
                "search 500 entries",
                best(lambda: index.search(query, 4)),
                best(lambda: query in memory),
            ),
        ]
    print(f"{'work':44} {'ms':>8} {'least ms':>9}")
    for row, took, floor in rows:
        print(f"{row:44} {took:8.3f} {floor:9.3f}")


if __name__ == "__main__":
    main()
