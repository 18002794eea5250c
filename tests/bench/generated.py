"""`python tests/bench/generated.py [LISTS] [PROCESSES]`: 100,000 generated legal lists, every
strategy and preset; prints counts and each violation, and fails when there is one.

Each list comes from its own seed. On each list every preset runs under a small budget, and every
strategy alone, all due at once, some by hand, with pins and keeps of the same seed. Checked: the
rules I1 to I8 and I10 on every plan, the list before byte for byte from what is kept and named, a
second run that changes nothing (I9), and undo.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from histories import Value, answer, group, system, user  # noqa: E402

from agentcore import PRESETS, Profile, Snapshot, compact  # noqa: E402
from agentcore.compaction.plan import apply_plan  # noqa: E402
from agentcore.compaction.result import CompactionResult  # noqa: E402
from agentcore.compaction.strategies import STRATEGIES  # noqa: E402
from agentcore.invariants import check  # noqa: E402
from agentcore.options import Stage  # noqa: E402

LISTS, PROCESSES, CHUNK = 100_000, 2, 500
TOLD_EVERY = 2_000
WORDS = ("parser", "never drop a table", "é中文", "😀", "x" * 300, 'a"b\\c', "\n", "src/a.py")


def legal_list(pick: random.Random) -> list[Value]:
    """System messages, then user messages, answers and whole tool groups in any order."""
    values: list[Value] = [system(_words(pick)) for _ in range(pick.choice((0, 1, 1, 2)))]
    for place in range(pick.randrange(16)):
        kind = pick.random()
        if kind < 0.25:
            values.append(user(_words(pick)))
        elif kind < 0.45:
            values.append(answer(_words(pick)))
        else:
            texts = [_words(pick) * pick.choice((1, 1, 10, 60)) for _ in range(pick.randint(1, 4))]
            values += group(place, texts, pick.choice((None, _words(pick))))
    return values


def profiles(pick: random.Random) -> Iterator[tuple[str, Profile]]:
    budget, keep = pick.randint(200, 6_000), pick.randint(0, 6)
    for name, preset in PRESETS.items():
        yield name, preset.replace(budget=budget, unit="bytes", min_gain=0.0)
    for name in STRATEGIES:
        stages = (Stage(name, at=0.5, keep=keep),)
        yield (
            name,
            PRESETS["balanced"].replace(
                stages=stages, budget=budget, unit="bytes", target=0.3, min_gain=0.0
            ),
        )


def look_at(seeds: range) -> tuple[Counter[str], list[str]]:
    """How many lists each profile changed, and what was broken."""
    counts: Counter[str] = Counter()
    broken: list[str] = []
    for seed in seeds:
        pick = random.Random(seed)
        before = Snapshot.of(legal_list(pick), facts=True)
        rows = range(len(before.messages))
        pinned = frozenset(pick.sample(rows, min(len(rows), pick.choice((0, 0, 1, 3)))))
        force = pick.random() < 0.3
        for name, profile in profiles(pick):
            done = compact(before, profile, pinned, force=force)
            counts["runs"] += 1
            counts[name] += done.changed
            if done.changed:
                wrong = violations(done, profile, pinned, force=force)
                broken += [f"seed {seed}, {name}: {one}" for one in wrong]
    return counts, broken


def violations(
    done: CompactionResult, profile: Profile, pinned: frozenset[int], *, force: bool
) -> list[str]:
    pins = frozenset(done.old.messages[row].number for row in pinned)
    wrong = [f"{one.rule}: {one.detail}" for one in check(done.plan, done.old, done.new, pins)]
    if apply_plan(done.plan, done.old)[0] != done.new:
        wrong.append("I5: the plan leads to another list")
    if done.undo() != [message.value() for message in done.old.messages]:
        wrong.append("I5: undo gives another list")
    rows = frozenset(done.new.indexes_of(pins))
    again = compact(done.new, profile, rows, force=force)
    if again.changed and not force:
        wrong.append(f"I9: again {done.new.sizes.bytes} to {again.new.sizes.bytes} bytes")
    return wrong


def _words(pick: random.Random) -> str:
    return " ".join(pick.choices(WORDS, k=pick.randint(1, 4))).strip() or "go"


def main() -> int:
    lists, processes = (*map(int, sys.argv[1:3]), *(LISTS, PROCESSES)[len(sys.argv) - 1 :])
    started = time.monotonic()
    counts: Counter[str] = Counter()
    broken: list[str] = []
    chunks = [range(at, min(at + CHUNK, lists)) for at in range(0, lists, CHUNK)]
    with ProcessPoolExecutor(processes) as pool:
        for chunk, (some, wrong) in zip(chunks, pool.map(look_at, chunks), strict=True):
            counts += some
            broken += wrong
            if chunk.stop % TOLD_EVERY == 0:
                print(f"{chunk.stop:,} lists, {len(broken)} violations", flush=True)
    seconds = time.monotonic() - started
    print(f"{lists:,} lists, {counts.pop('runs'):,} runs, {seconds:.0f} s in {processes} processes")
    for name, count in counts.items():
        print(f"  {name:22} changed {count:9,}")
    print(*broken[:40], sep="\n")
    print(f"{len(broken)} violations")
    return min(1, len(broken))


if __name__ == "__main__":
    sys.exit(main())
