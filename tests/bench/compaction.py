"""What compacting costs: `python tests/bench/compaction.py` prints a table.

Method: process CPU time, the best of 25 rounds in one process, garbage collected before each. The
Snapshot is measured and has its facts beforehand, since they are found when messages are born;
what that costs from plain dicts is told apart. `with proof` is the whole of compact(): repair, the
plan, the new list, every rule after each stage. What a plan names and nobody asks for there (which
numbers left, which facts a bare note carries) is put together by whoever records it. Memory is the
most that tracemalloc saw during it, less what the new messages alone take afterwards; where stages
follow each other also less what those of the stage take that bears the most when it runs alone: a
later one folds them, so they get no numbers here and take a little less. Where
langchain-core is installed, its trim_messages takes the same history in the same run, which was
converted to its messages beforehand: to the last 10 messages beside keep-recent, and to 60% of its
approximate tokens, which is the target of balanced, beside the six stages. It drops; what balanced
does besides (facts, placeholders, notes, proof) is not counted off.
"""

from __future__ import annotations

import gc
import sys
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from histories import Value, answer, calls, result, system, user  # noqa: E402

from agentcore import PRESETS, Profile, Snapshot, compact, verify  # noqa: E402
from agentcore.compaction.compact import pressure_of  # noqa: E402
from agentcore.compaction.keep_recent import KeepRecent  # noqa: E402
from agentcore.compaction.plan import apply_plan  # noqa: E402
from agentcore.compaction.strategy import Situation  # noqa: E402
from agentcore.options import Stage  # noqa: E402

ROUNDS = 25
LINE = "2026-01-01 INFO worker finished the task in 0.3 s 已完成该任务并写入结果\n"
NANO, BALANCED = PRESETS["nanohermes"], PRESETS["balanced"]
KEEP_RECENT_MS, STAGES_MS, MEMORY_MB = 1.0, 25.0, 1.0


def history(messages: int) -> list[Value]:
    """Tool turns whose results are a third Chinese by bytes; 10,000 messages are 27 MB."""
    values = [system("s" * 4_000), user("Find the slow query and fix it. Never drop a table.")]
    for turn in range((messages - 2) // 2):
        if turn % 50 == 49:
            values += [answer(f"Part {turn} works."), user(f"Go on with part {turn}.")]
            continue
        call = calls(f"c{turn}")
        call["tool_calls"][0]["function"]["arguments"] = f'{{"path": "src/m{turn % 200}.py"}}'
        values += [call, result(f"c{turn}", LINE * 66)]
    return values


def at_its_limit(snapshot: Snapshot) -> Profile:
    return BALANCED.replace(budget=snapshot.sizes.bytes, unit="bytes")


def six_stages(snapshot: Snapshot) -> Profile:
    """All due at once, and each with something left to do for the next."""
    stages = (
        Stage("snip", at=0.1, keep=5),
        Stage("micro", at=0.1, keep=0),
        Stage("collapse", at=0.1, keep=0),
        Stage("auto", at=0.1, keep=3),
        Stage("partial", at=0.1, keep=5),
        Stage("last_resort", at=0.1, keep=0),
    )
    return BALANCED.replace(stages=stages, budget=1_000, unit="bytes", target=0.05, min_gain=0.0)


def best(work: Callable[[], Any]) -> float:
    """Milliseconds of one call."""
    fastest = float("inf")
    for _ in range(ROUNDS):
        gc.collect()
        started = time.process_time()
        work()
        fastest = min(fastest, time.process_time() - started)
    return fastest * 1e3


def keeping_recent(snapshot: Snapshot) -> tuple[float, float]:
    """Plan and new list; and the whole of compact()."""
    pressure = pressure_of(NANO)(snapshot)
    situation = Situation(snapshot, pressure, NANO.stages[0], 1.0, snapshot.sizes.bytes)
    strategy = KeepRecent()
    plan_alone = best(lambda: apply_plan(strategy.compact(situation), snapshot))
    return plan_alone, best(lambda: compact(snapshot, NANO, force=True))


def memory_of(snapshot: Snapshot, profile: Profile) -> tuple[float, float]:
    """MB at the peak, and of the new messages, of which the objects count as well as the texts."""
    gc.collect()
    tracemalloc.start()
    done = compact(snapshot, profile)
    _, peak = tracemalloc.get_traced_memory()
    there = {message.number for message in done.old.messages}
    born = [message for message in done.new.messages if message.number not in there]
    del done, there
    gc.collect()
    new, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert born
    return peak / 1e6, new / 1e6


def trimming(values: list[Value]) -> tuple[float, float] | None:
    """The same history trimmed by the other library, to the last 10 and to 60% of its tokens; None
    where it is not installed."""
    try:
        from langchain_core.messages import convert_to_messages, trim_messages
        from langchain_core.messages.utils import count_tokens_approximately
    except ImportError:
        return None
    messages = convert_to_messages(values)
    target = int(count_tokens_approximately(messages) * BALANCED.target)
    last = partial(trim_messages, messages, strategy="last", include_system=True)
    return (
        best(lambda: last(max_tokens=10, token_counter=len)),
        best(lambda: last(max_tokens=target, token_counter="approximate")),
    )


def row(work: str, took: float, limit: float | None = None, unit: str = "ms") -> None:
    wanted = "" if limit is None else f"{limit:8,.1f}  {'ok' if took <= limit else 'OVER'}"
    print(f"{work:70} {took:10,.3f} {unit} {wanted}")


def beside(work: str, took: float, **ours: float) -> None:
    times = ", ".join(f"{took / own:,.2f} times {name}" for name, own in ours.items())
    row(f"  {work}: {times}", took)


def main() -> None:
    if find_spec("langchain_core") is None:
        print("langchain-core is not installed: nothing is compared with its trim_messages")
    # First, before larger lists have come and gone and left the memory scattered.
    staging()
    for count in (100, 1_000, 10_000, 100_000):
        values = history(count)
        snapshot = Snapshot.of(values, facts=True)
        trimmed = trimming(values)
        plan_alone, proven = keeping_recent(snapshot)
        row(f"keep-recent, {count:,} messages: plan and new list", plan_alone, KEEP_RECENT_MS)
        row(f"keep-recent, {count:,} messages: with proof", proven)
        if trimmed:
            beside("trim_messages to the last 10", trimmed[0], plan=plan_alone, proof=proven)
        staged = best(lambda snapshot=snapshot: compact(snapshot, at_its_limit(snapshot)))
        row(f"balanced at its limit, {count:,} messages: with proof", staged)
        worst = best(lambda snapshot=snapshot: compact(snapshot, six_stages(snapshot)))
        row(f"six stages, all due, {count:,} messages: with proof", worst)
        if trimmed:
            beside("trim_messages to 60%", trimmed[1], balanced=staged, six=worst)


def staging() -> None:
    """10,000 messages, as the preset runs at its limit; then at the worst, every stage due and all
    of it replaced again and again."""
    started = time.process_time()
    measured = Snapshot.of(history(10_000))
    row("10,000 dicts, 27 MB: making and measuring", (time.process_time() - started) * 1e3)
    started = time.process_time()
    snapshot = Snapshot.of(measured.messages, facts=True)
    row("10,000 messages, 27 MB: finding their facts", (time.process_time() - started) * 1e3)
    del measured
    balanced = at_its_limit(snapshot)
    told("balanced at its limit", snapshot, balanced, STAGES_MS)
    peak, new = memory_of(snapshot, balanced)
    row("  memory beyond the new messages", peak - new, MEMORY_MB, "MB")
    worst = six_stages(snapshot)
    told("six stages, all due", snapshot, worst, STAGES_MS)
    peak, new = memory_of(snapshot, worst)
    row("  memory beyond the new messages that stay", peak - new, unit="MB")
    stages = [worst.replace(stages=(stage,)) for stage in worst.stages]
    largest = max(memory_of(snapshot, alone)[1] for alone in stages)
    row("  memory beyond the new messages of its largest stage", peak - largest, MEMORY_MB, "MB")
    for alone in stages:
        told("  alone", snapshot, alone)
    done = compact(snapshot, worst)
    pressure = pressure_of(worst)(done.new)
    checked = best(lambda: verify(done.old, done.new, done.plan, pressure))
    row("seven checks and survival after six stages", checked)


def told(name: str, snapshot: Snapshot, profile: Profile, limit: float | None = None) -> None:
    done = compact(snapshot, profile)
    ran = " ".join(stage.stage for stage in done.stages)
    took = best(lambda: compact(snapshot, profile))
    row(f"{name} ({ran}), {len(done.plan.births):,} births", took, limit)


if __name__ == "__main__":
    main()
