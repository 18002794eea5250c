"""Facts planted in the first turn of a history, and whether a list still knows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from histories import Value, answer, calls, result, system, user

from agentcore.messages import Message

GOAL = "Build the nightly importer for the parcel register."
RULES = (
    "Never write to the live table",
    "The response must stay under 800 ms",
    "All amounts are in EUR, budget 1847.20",
    "Do not delete a backup",
    "From now on use only tabs in SQL files",
    "The import must be done by 2026-12-01",
    "I prefer small functions",
)
REPLACED, CHINESE_REPLACED = RULES[1], "预算上限800元"
CHINESE_RULES = (
    "不要修改公共接口",
    CHINESE_REPLACED,
    "必须兼容 Python 3.9",
    "禁止删除备份",
    "截止日期是2026-12-01",
)
PATHS = ("src/importer/reader.py", "src/importer/writer.py")
VALUES = ("eu-north-7", "INC-4471", "1847.20")


@dataclass(frozen=True, slots=True)
class Planted:
    """`first` opens a history with the facts; `revision` is what a person says later, after which
    `holds` must be known and `gone` must not."""

    first: tuple[Value, ...]
    revision: Value
    must_know: tuple[str, ...]
    holds: str
    gone: str


def english() -> Planted:
    told = f"{GOAL} {'. '.join(RULES)}. Region is eu-north-7, ticket INC-4471."
    return Planted(
        (system(), user(told), *_writes(PATHS), answer("The reader and the writer are there.")),
        user("Keep the response under 500 ms instead."),
        (GOAL, *(rule for rule in RULES if rule is not REPLACED), *VALUES, *PATHS),
        "under 500 ms",
        "under 800 ms",
    )


def chinese() -> Planted:
    told = f"请编写每晚运行的导入程序。{'。'.join(CHINESE_RULES)}。"
    return Planted(
        (system(), user(told), *_writes(PATHS), answer("读取和写入模块已经写好。")),
        user("把预算上限改成500元。"),
        (
            "请编写每晚运行的导入程序",
            *(rule for rule in CHINESE_RULES if rule is not CHINESE_REPLACED),
            *PATHS,
        ),
        "500元",
        "上限800",
    )


def work(start: int, turns: int, size: int = 2_000) -> list[Value]:
    """Turns that tell nothing of lasting worth: reads with results of `size` characters."""
    values: list[Value] = []
    for turn in range(start, start + turns):
        values += [calls(f"w{turn}"), result(f"w{turn}", "row of the table\n" * (size // 17))]
    return values


def unknown(needles: Iterable[str], messages: Sequence[Message]) -> list[str]:
    """Those that no message of the list tells any more, in text or in a call."""
    told = "\n".join(message.text for message in messages)
    told += "\n".join(call.arguments for message in messages for call in message.calls)
    return [needle for needle in needles if needle not in told]


def _writes(paths: Sequence[str]) -> list[Value]:
    values: list[Value] = []
    for place, path in enumerate(paths):
        call = calls(f"p{place}", name="write_file")
        call["tool_calls"][0]["function"]["arguments"] = f'{{"path": "{path}", "content": "x"}}'
        values += [call, result(f"p{place}", "written")]
    return values
