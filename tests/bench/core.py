"""What measuring and compacting cost: `python tests/bench/core.py` prints a table.

Method: process CPU time, the best of 15 rounds in one process; each row beside the least that
its work could cost, measured in the same run. The history has 10,000 messages and 27 MB: tool
turns whose results are a third Chinese by bytes. Exact counts are made of code with Chinese, beside
encoding it; a kB may take 50 us.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from histories import Value, calls, result, system, user  # noqa: E402

from agentcore import PRESETS, Snapshot, compact  # noqa: E402
from agentcore.compaction.compact import pressure_of  # noqa: E402
from agentcore.compaction.keep_recent import KeepRecent  # noqa: E402
from agentcore.compaction.plan import apply_plan  # noqa: E402
from agentcore.compaction.strategy import Situation  # noqa: E402
from agentcore.context import Context  # noqa: E402
from agentcore.counting import counter_for  # noqa: E402
from agentcore.messages import born  # noqa: E402

ROUNDS = 15
LINE = "2026-01-01 INFO worker finished the task in 0.3 s 已完成该任务并写入结果\n"
CODE = "    return self._table[name].lookup(key)  # kept\n"
NANO = PRESETS["nanohermes"]


def history(messages: int) -> list[Value]:
    values = [system("s" * 4_000), user("find the slow query and fix it")]
    for turn in range((messages - 2) // 2):
        values += [calls(f"c{turn}"), result(f"c{turn}", LINE * 66)]
    return values


def best(work: Callable[[], Any], times: int = 1) -> float:
    """Microseconds of one call."""
    fastest = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        for _ in range(times):
            work()
        fastest = min(fastest, (time.process_time() - started) / times)
    return fastest * 1e6


def measuring(snapshot: Snapshot) -> list[tuple[str, float, str, float]]:
    rows = []
    context = Context(snapshot)
    for name, value in (
        ("prose", user("hello world " * 680)),
        ("Chinese", result("c", LINE * 95)),
        ("a call with a file", calls("c")),
    ):
        if "tool_calls" in value:
            value["tool_calls"][0]["function"]["arguments"] = CODE * 170
        size = len(orjson.dumps(value))
        took = best(lambda value=value: born(value), 200)  # type: ignore[misc]
        least = best(lambda value=value: orjson.dumps(value), 200)  # type: ignore[misc]
        rows.append((f"measure {size:,} bytes of {name}", took, "orjson", least))
        took = best(lambda value=value: context.append(value), 200)  # type: ignore[misc]
        rows.append(("the same: append at message 10,000, facts found", took, "orjson", least))
    return rows


def counting() -> list[tuple[str, float, str, float]]:
    counter = counter_for("gpt-4o")
    assert counter is not None
    text = "".join(f"def step_{n}(x): return x + {n}  # 中文 and prose\n" for n in range(2_000))
    kilobytes = len(text.encode()) / 1_000
    took = best(lambda: counter.text(text), 5) / kilobytes
    least = best(text.encode, 50) / kilobytes
    return [("count the tokens of a kB exactly (at most 50 us)", took, "encode", least)]


def compacting(snapshot: Snapshot) -> list[tuple[str, float, str, float]]:
    pressure = pressure_of(NANO)(snapshot)
    stage = NANO.stages[0]
    situation = Situation(snapshot, pressure, stage, threshold=NANO.threshold(stage), need=0)
    strategy = KeepRecent()

    def keep_recent() -> None:
        apply_plan(strategy.compact(situation), snapshot)

    count = f"{len(snapshot.messages):,} messages"
    copy = best(lambda: list(snapshot.messages))
    return [
        (f"keep-recent, {count}: plan and new list", best(keep_recent), "list copy", copy),
        (
            f"compact(), {count}: repair, plan, every rule checked",
            best(lambda: compact(snapshot, NANO)),
            "list copy",
            copy,
        ),
    ]


def main() -> None:
    whole = Snapshot.of(history(10_000))
    rows = measuring(whole) + counting()
    for messages in (100, 1_000, 10_000):
        rows += compacting(whole if messages == 10_000 else Snapshot.of(history(messages)))
    print(f"{'work':66} {'us':>10} {'beside':>10} {'us':>8} {'ratio':>7}")
    for name, took, beside, least in rows:
        print(f"{name:66} {took:10,.1f} {beside:>10} {least:8,.1f} {took / least:7.1f}")


if __name__ == "__main__":
    main()
