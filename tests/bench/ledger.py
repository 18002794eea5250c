"""What finding facts costs: `python tests/bench/ledger.py [FOLDER OF RECORDINGS]` prints tables.

Method: process CPU time, the best of 15 rounds in one process without garbage collection, divided
by the kB (1,000 bytes) of the wire form, parsing it included. Of `dense` texts every sentence or
line holds a fact: each costs some 10 us, and no more is read than gives 60 of them. Whether prose
goes on behind a line end costs some 2 us for each that may be such a one. The limit is for what
people and agents write, which the recordings show (without a folder of them their rows are left
out). The ledger and survival are measured on 10,000 messages that have their facts; `list copy`
beside them is the least that a walk over them could cost.
"""

from __future__ import annotations

import gc
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parents[1])]

from histories import Value, answer, calls, result, system, user  # noqa: E402

from agentcore import Snapshot  # noqa: E402
from agentcore.errors import AgentcoreError  # noqa: E402
from agentcore.ledger import Ledger, extract, survival  # noqa: E402
from agentcore.messages import Message, as_message  # noqa: E402
from agentcore.transcripts import load_all  # noqa: E402

ROUNDS = 15
LIMIT_US_A_KB = 50
TALK = (
    "Please look at the importer and tell me why the second pass reads each row again. It worked "
    "in spring, and nobody changed the reader since then as far as I know. The log of last night "
    "shows the same rows twice, first from the reader and then from the retry loop behind it. My "
    "guess is that the cursor starts over after a batch. Have a look at the tests as well, some of "
    "them look odd to me and may hide the fault. "
)
CHINESE_TALK = (
    "请看一下导入模块为什么会重复读取同一批数据。春天的时候一切正常，之后据我所知没有人改过读取部分的代码。"
    "昨晚的日志里同样的记录出现了两遍，先是读取器写的，然后是后面的重试循环写的。我猜是游标在每一批之后又回到了开头。"
    "测试也请一起看看，有几个看起来很奇怪，说不定把问题盖住了。"
)
TEXTS = {
    "talk with a rule": user(TALK * 6 + "Never write to the live table. The port is 8080."),
    "the same on lines of 72": user(
        textwrap.fill(TALK * 6 + "Never write to the live table. The port is 8080.", 72)
    ),
    "Chinese talk with a rule": user(CHINESE_TALK * 6 + "不要写入线上数据表。端口是8080。"),
    "report with a decision": answer(
        TALK * 6 + "I decided to keep one cursor. Next step: test it."
    ),
    "log of 6 kB": result(
        "c", "2026-01-01 INFO worker finished the task in 0.3 s 已完成该任务并写入结果\n" * 70
    ),
    "dense: rules of a person": user("You must keep the log of job 7 under 500 MB. " * 150),
    "dense: Chinese rules": user("第7项任务的日志不要超过500兆，不要写入线上数据表。" * 90),
    "dense: decisions": answer("I decided to keep one cursor. Next step: write the test.\n" * 100),
    "dense: warnings": result("c", "src/a.c:12: warning: unused variable 'x' [-Wunused]\n" * 80),
}


def best(work: Callable[[], Any], times: int = 1) -> float:
    """Microseconds of one call."""
    fastest = float("inf")
    gc.disable()
    for _ in range(ROUNDS):
        started = time.process_time()
        for _ in range(times):
            work()
        fastest = min(fastest, (time.process_time() - started) / times)
    gc.enable()
    return fastest * 1e6


def recorded(folder: Path) -> dict[str, list[Message]]:
    """Their messages by the name of the file."""
    found: dict[str, list[Message]] = {}
    for path in sorted(folder.rglob("*.json*")):
        try:
            found[path.name] = [one for told in load_all(str(path)) for one in told.messages]
        except AgentcoreError:
            continue
    return found


def row(name: str, messages: Sequence[Message], times: int = 1) -> tuple[float, str]:
    """Microseconds a kB, and the line that tells it."""
    took = best(lambda: [extract(message) for message in messages], times)
    size = sum(message.sizes.bytes for message in messages)
    found = sum(len(extract(message)) for message in messages)
    a_kb = took / size * 1e3
    return a_kb, f"{name:44} {size:9,} {took:9,.0f} {a_kb:7.1f} {found:6,}"


def history() -> list[Value]:
    values = [system("be careful"), user("find the slow query. Never touch the live table.")]
    for turn in range(1_666):
        call = calls(f"c{turn}", text=f"I decided to use index {turn}. Next step: measure it.")
        call["tool_calls"][0]["function"]["arguments"] = f'{{"path": "src/m{turn % 200}.py"}}'
        more = calls(f"d{turn}", name="edit_file")
        more["tool_calls"][0]["function"]["arguments"] = f'{{"path": "src/m{turn % 50}.py"}}'
        log = f"run {turn}: 12 passed, warning: slow\nelapsed: {turn} ms\n" + "row done\n" * 300
        values += [call, result(f"c{turn}", log), more, result(f"d{turn}", "edited")]
        values += [user(f"go on with part {turn}"), answer("It works now.")]
    return values


def main() -> None:
    print(f"{'extract, one message of':44} {'bytes':>9} {'us':>9} {'us/kB':>7} {'facts':>6}")
    for name, value in TEXTS.items():
        print(row(name, [as_message(value)], 20)[1])
    if sys.argv[1:]:
        files = recorded(Path(sys.argv[1]))
        every = [message for messages in files.values() for message in messages]
        print(row(f"all {len(every):,} recorded messages", every)[1])
        print(max(row(f"the worst file, {name}", one) for name, one in files.items() if one)[1])
    print(f"\nat most {LIMIT_US_A_KB} us a kB is wanted\n")
    values = history()
    for name, facts in (("measured", False), ("measured, facts found", True)):
        took = best(lambda facts=facts: Snapshot.of(values, facts=facts))  # type: ignore[misc]
        print(f"{len(values):,} dicts, {name:36} {took / 1e3:12,.1f} ms")
    whole = Snapshot.of(values, facts=True).messages
    ledger = Ledger.of(whole)
    tail = whole[-200:]
    count = sum(len(message.facts or ()) for message in whole)
    print(f"{len(whole):,} messages with {count:,} facts" + f"{'us':>30}")
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
