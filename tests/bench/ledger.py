"""What finding facts costs: `python tests/bench/ledger.py [FOLDER OF RECORDINGS]` prints tables.

Method: process CPU time, the best of 15 rounds in one process, divided by the kB (1,000 bytes)
of the wire form. `slowest` is the slowest of the four kinds of dense text, where every sentence
holds a fact. The ledger and survival are measured on 10,000 messages that have their facts; `list
copy` beside them is the least that a walk over them could cost.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from histories import answer, calls, result, system, user  # noqa: E402

from agentcore import Snapshot  # noqa: E402
from agentcore.errors import AgentcoreError  # noqa: E402
from agentcore.ledger import Ledger, extract, survival  # noqa: E402
from agentcore.messages import Message, as_message  # noqa: E402
from agentcore.transcripts import load_all  # noqa: E402

ROUNDS = 15
LIMIT_US_A_KB = 50
TEXTS = {
    "prose of a person": user(
        "Please look at the importer and tell me why the second pass reads every row again. "
        "It was fine before the summer. Never write to the live table. " * 40
    ),
    "Chinese of a person": user(
        "请看一下导入模块，为什么第二遍会重新读取每一行。夏天之前一切正常。不要写入线上数据表。"
        * 60
    ),
    "rules, one a sentence": user("You must keep the log of job 7 under 500 MB. " * 150),
    "assistant's report": answer(
        "I looked at the importer. The cursor is reset after each batch, so rows are read again. "
        "I decided to keep one cursor for the whole run. Next step: write the test.\n" * 40
    ),
    "log of 6 kB": result(
        "c", "2026-01-01 INFO worker finished the task in 0.3 s 已完成该任务并写入结果\n" * 70
    ),
    "build with warnings": result(
        "c", "src/a.c:12: warning: unused variable 'x' [-Wunused]\n" * 80
    ),
}


def best(work: Callable[[], Any], times: int = 1) -> float:
    """Microseconds of one call."""
    fastest = float("inf")
    for _ in range(ROUNDS):
        started = time.process_time()
        for _ in range(times):
            work()
        fastest = min(fastest, (time.process_time() - started) / times)
    return fastest * 1e6


def recorded(folder: Path) -> list[Message]:
    messages: list[Message] = []
    for path in sorted(folder.rglob("*.json*")):
        try:
            messages += [one for told in load_all(str(path)) for one in told.messages]
        except AgentcoreError:
            continue
    return messages


def history() -> Snapshot:
    values = [system("be careful"), user("find the slow query. Never touch the live table.")]
    for turn in range(1_666):
        call = calls(f"c{turn}", text=f"I decided to use index {turn}. Next step: measure it.")
        call["tool_calls"][0]["function"]["arguments"] = f'{{"path": "src/m{turn % 200}.py"}}'
        more = calls(f"d{turn}", name="edit_file")
        more["tool_calls"][0]["function"]["arguments"] = f'{{"path": "src/m{turn % 50}.py"}}'
        log = f"run {turn}: 12 passed, warning: slow\nelapsed: {turn} ms\n" + "row done\n" * 300
        values += [call, result(f"c{turn}", log), more, result(f"d{turn}", "edited")]
        values += [user(f"go on with part {turn}"), answer("It works now.")]
    return Snapshot.of(values, facts=True)


def main() -> None:
    print(f"{'extract, one message of':34} {'bytes':>9} {'us':>9} {'us/kB':>7} {'facts':>6}")
    for name, value in TEXTS.items():
        message = as_message(value)
        took = best(lambda message=message: extract(message), 20)  # type: ignore[misc]
        size = message.sizes.bytes
        found = len(extract(message))
        print(f"{name:34} {size:9,} {took:9,.0f} {took / size * 1e3:7.1f} {found:6}")
    if sys.argv[1:]:
        messages = recorded(Path(sys.argv[1]))
        size = sum(message.sizes.bytes for message in messages)
        took = best(lambda: [extract(message) for message in messages])
        found = sum(len(extract(message)) for message in messages)
        name = f"all {len(messages):,} recorded messages"
        print(f"{name:34} {size:9,} {took:9,.0f} {took / size * 1e3:7.1f} {found:6,}")
    print(f"\nat most {LIMIT_US_A_KB} us a kB is wanted\n")
    whole = history().messages
    ledger = Ledger.of(whole)
    tail = whole[-200:]
    facts = sum(len(message.facts or ()) for message in whole)
    print(f"{len(whole):,} messages with {facts:,} facts" + f"{'us':>30}")
    for name, work in (
        ("list copy", lambda: list(whole)),
        ("Ledger.of", lambda: Ledger.of(whole)),
        ("survival when the newest 200 stay", lambda: survival(ledger, tail)),
        ("survival when all stay", lambda: survival(ledger, whole)),
        ("Ledger.text(2,500)", lambda: ledger.text(2_500)),
    ):
        print(f"{name:50} {best(work):12,.0f}")


if __name__ == "__main__":
    main()
