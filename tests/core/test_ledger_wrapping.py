"""A rule that stands on several lines is one; rules on lines of their own stay apart."""

from __future__ import annotations

import textwrap
import time

import pytest
from histories import Value, answer, result, user

from agentcore.compaction.notes import summary_note
from agentcore.facts import FactKind
from agentcore.ledger import Ledger, chinese, english, extract, survival, with_facts
from agentcore.ledger.wrapping import unwrapped
from agentcore.messages import as_message, born

PROSE = (
    "Please look at the importer and tell me why it reads each row again. It worked in spring. "
    "Never touch the live table of orders, and do not delete a backup of the customers. The log "
    "of a night must stay under 500 MB in every region. Please use the staging database of the "
    "second region. We decided on a queue because it recovers faster than threads do. The port "
    "of the web server is 8080, and 12 workers read from it."
)
CHINESE_PROSE = (
    "导入模块会重复读取同一批数据，春天的时候一切正常，之后没有人改过读取部分的代码。"
    "任何时候都不要修改线上数据库里的订单表和客户表。日志文件的大小在每个地区都不超过500兆。"
    "我们决定采用消息队列，因为它比线程更容易恢复，而且测试起来也更加方便。"
)


def told(value: Value) -> list[str]:
    """All but the goal."""
    facts = extract(as_message(value))
    return [fact.text for fact in facts if fact.kind is not FactKind.GOAL]


def columns(text: str) -> int:
    return sum(1 if character.isascii() else 2 for character in text)


def chinese_lines(text: str, width: int) -> str:
    """Cut at the width, not inside a number and not before a mark."""
    lines = [""]
    for at, character in enumerate(text):
        is_inside = at and character.isascii() and text[at - 1].isascii()
        if columns(lines[-1]) + 2 > width and not is_inside and character not in "，。":
            lines.append("")
        lines[-1] += character
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "Please do not touch the live\ntable of orders. Use\nPostgreSQL 15.",
            ["Please do not touch the live table of orders", "Use PostgreSQL 15"],
        ),
        ("Never write to the\nOrders table", ["Never write to the Orders table"]),
        ("Never write to the\n`orders` table", ["Never write to the `orders` table"]),
        ("the log stays below 500\nMB", ["the log stays below 500 MB"]),
        ("it makes at most 5\nretries each", ["it makes at most 5 retries each"]),
        ("Go on. Please\nuse tabs.", ["Please use tabs"]),
        (
            "Do not write to any of the live\ntables of ours:\n- orders",
            ["Do not write to any of the live tables of ours:"],
        ),
        (
            "- never touch the live\n  table of our\n  orders\n- use tabs",
            ["never touch the live table of our orders", "use tabs"],
        ),
        ("2. Never touch the live\n   table of orders", ["Never touch the live table of orders"]),
        (
            "`a` is so. Don’t write, never touch a live\ntable.",
            ["Don’t write, never touch a live table"],
        ),
        (
            "Never touch the live\ntable of orders with\n500 rows.",
            ["Never touch the live table of orders with 500 rows"],
        ),
        (
            "任何时候都不要修改线上数据库里的订单表和客户表以及\nPostgreSQL 15 的设置。",
            ["任何时候都不要修改线上数据库里的订单表和客户表以及 PostgreSQL 15 的设置"],
        ),
        (
            "任何时候都不要修改线上数据库里的订单表和 PostgreSQL\n的设置。",
            ["任何时候都不要修改线上数据库里的订单表和 PostgreSQL 的设置"],
        ),
        (
            "任何时候都不要修改线上数据库里的订单表和客户\n表以及用到它们的所有备份文件还有服务端口为\n8080。",
            [
                "任何时候都不要修改线上数据库里的订单表和客户"
                "表以及用到它们的所有备份文件还有服务端口为 8080"
            ],
        ),
        (
            "it runs to the\nlive table and must never stop in any\nregion.",
            ["it runs to the live table and must never stop in any region"],
        ),
        ("使用\nPostgreSQL 15。", ["使用 PostgreSQL 15"]),
        ("日志不要超过\n500兆", ["日志不要超过 500兆"]),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n", " \n"])
def test_a_rule_on_several_lines_is_one(text: str, facts: list[str], end: str) -> None:
    assert told(user(text.replace("\n", end))) == facts


@pytest.mark.parametrize("width", range(24, 100))
def test_prose_of_any_width_tells_what_it_tells_on_one_line(width: int) -> None:
    lines = textwrap.fill(PROSE, width, break_on_hyphens=False)
    assert "\n" in lines
    for value in (user, answer):
        assert extract(as_message(value(lines))) == extract(as_message(value(PROSE)))


@pytest.mark.parametrize("width", range(42, 90))
def test_chinese_prose_tells_what_it_tells_on_one_line(width: int) -> None:
    lines = chinese_lines(CHINESE_PROSE, width)
    found, whole = told(user(lines)), told(user(CHINESE_PROSE))
    assert "\n" in lines and len(whole) >= 3
    assert [text.replace(" ", "") for text in found] == whole


@pytest.mark.parametrize(
    "text",
    [
        "never push to main\nuse tabs\nkeep the log under 500 MB.",
        "never push to main\nrun the tests.",
        "Never push to main\nrun the tests",
        "Never push\ntables of the live system are read by all.",
        "Never push to the main branch\nit is ours\nnever guess.",
        "Never push to the main branch\nit is ours\n\nAll of it.",
        "Never push to the main branch\nit is ours\n- All of it.",
        "Never push to the main branch\nTables are ours.",
        "Never push to the main branch\n12 tables are ours.",
        "Never push to the main branch.\ntables are ours.",
        "Never push to the main branch:\ntables are ours.",
        "Never push to the main branch;\ntables are ours.",
        "Never push to the main branch\nport: 8080.",
        "Never push to the main branch\nport = 8080.",
        "Never push to the main branch\nport -- 8080.",
        "Never push to the\nport: 8080.",
        "Never push to the\nport = 8080.",
        "Never push to the\nport -- 8080.",
        "- never push\n  tables are our own",
        "Never push to the\n1. branch of ours.",
        "Never push to the\n- branch of ours.",
        "Never push to the\n  branch of ours.",
        "Never push to the\n\nbranch of ours.",
        "- never push to the\nbranch of ours.",
        "- never push to the\n    branch of ours.",
        "- never push to the main\n  use tabs",
        "- never push\n  this branch is ours",
        "# Never push to the\nbranch of ours.",
        "> Never push to the\nbranch of ours.",
        "| Never push to the\nbranch of ours.",
        "// Never push to the\nbranch of ours.",
        "Never push this one we use\nPostgreSQL is ours.",
        "Never fix it, please\nTables are ours.",
        "Keep at most 5\nmin 3",
        "Keep at most 5\nretries: 3",
        f"Never push {'a live table, ' * 9}of the\nbranch of ours.",
        "不要修改接口和任何表\n日志由我们处理。",
        "任何时候都不要修改线上数据库里的订单表和客户表\n请用英文写每一次提交的说明。",
        "任何时候都不要修改线上数据库里的订单表和客户表\n日志文件由我们自己处理",
        "任何时候都不要修改线上数据库里的订单表和客户表。\n日志文件由我们自己处理。",
        "任何时候都不要修改线上数据库里的订单表和客户表\n2、日志文件由我们自己处理。",
        "任何时候都不要修改线上数据库里的订单表和客户表\n"
        "日志文件由我们自己处理，不过在那之前大家都可以看一看里面写了什么。",
        "任何时候都不要修改线上数据库里的订单表和客户表\n日志文件由我们处理\n不要猜测。",
        "这一个库在任何地方都不要使用\nPostgreSQL 15 是我们的。",
    ],
)
def test_lines_of_their_own_stay_apart(text: str) -> None:
    assert told(user(text)) == told(user(text.replace("\n", "\n\n")))
    assert told(user(text.replace("\n", "\r\n"))) == told(user(text))


def test_each_sentence_must_come_to_its_own_end() -> None:
    text = "Look at all of the live\ntable. Never push to main\nrun the tests"
    assert unwrapped(text) == "Look at all of the live table. Never push to main\nrun the tests"


@pytest.mark.parametrize("word", english.RULE_BEGINS)
def test_a_line_that_begins_as_a_rule_is_one(word: str) -> None:
    begun = f"Never push to the main branch\n{word} tables of the live one."
    assert unwrapped(begun) == begun
    after_comma = f"Never push to the main branch, as\n{word} tables of it."
    assert "\n" not in unwrapped(after_comma)


@pytest.mark.parametrize("word", chinese.RULE_BEGINS)
def test_a_chinese_line_that_begins_as_a_rule_is_one(word: str) -> None:
    begun = f"任何时候都不要修改线上数据库里的订单表和客户表\n{word}写入日志文件。"
    assert unwrapped(begun) == begun


@pytest.mark.parametrize("word", sorted(english.GOES_ON))
def test_no_line_ends_a_sentence_with_such_a_word(word: str) -> None:
    assert unwrapped(f"it runs {word}\nOrders") == f"it runs {word} Orders"
    assert unwrapped(f"it runs x{word}\nOrders") == f"it runs x{word}\nOrders"


@pytest.mark.parametrize("word", sorted(english.GO_ON_IN_FRONT))
def test_no_sentence_is_such_a_word_alone(word: str) -> None:
    for before in ("", "It runs. ", "now: "):
        assert unwrapped(f"{before}{word}\nOrders") == f"{before}{word} Orders"
    assert unwrapped(f"it runs {word}\nOrders") == f"it runs {word}\nOrders"


@pytest.mark.parametrize("word", chinese.GOES_ON)
def test_no_chinese_line_ends_a_sentence_with_such_a_word(word: str) -> None:
    assert unwrapped(f"我们看{word}\n订单") == f"我们看{word}订单"


@pytest.mark.parametrize("word", chinese.GO_ON_IN_FRONT)
def test_no_chinese_sentence_is_such_a_word_alone(word: str) -> None:
    for before in ("", "看完了。", "看完了，请"):
        assert unwrapped(f"{before}{word}\n订单") == f"{before}{word}订单"
    assert unwrapped(f"我们看{word}\n订单") == f"我们看{word}\n订单"


def test_lines_of_results_stay_as_they_are() -> None:
    text = "warning: the reader must not be used by the\nimporter of orders. It is old."
    assert told(result("c", text)) == ["warning: the reader must not be used by the"]


def test_decisions_and_to_dos_of_the_assistant_go_on() -> None:
    text = "We decided to keep one\ncursor for all.\n- [ ] migrate the live\n  table of orders\n"
    assert told(answer(text)) == [
        "We decided to keep one cursor for all",
        "migrate the live table of orders",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        "Please do not touch the live\ntable of orders. Go on.",
        "导入模块每天夜里运行一次，任何时候都请不要修改线上数据库里的\n订单表和客户表。继续。",
    ],
)
def test_a_rule_is_known_where_its_lines_stand_as_they_came(lines: str) -> None:
    message = with_facts(as_message(user(lines)).numbered(2))
    ledger = Ledger.of([message])
    (rule,) = ledger.facts(FactKind.CONSTRAINT)
    on_one_line = unwrapped(lines)
    assert rule.text in on_one_line and rule.text not in lines
    for text in (lines, on_one_line):
        others = (
            user(text),
            summary_note(f"What was said:\n\n{text}"),
            born(user(f"[Shortened] 1\n\n{text}"), replaces=2),
        )
        for other in others:
            kept = survival(ledger, [as_message(other).numbered(9)])
            assert kept[FactKind.CONSTRAINT].lost == ()
    gone = survival(ledger, [born(user("[Shortened]"), replaces=2).numbered(9)])
    assert gone[FactKind.CONSTRAINT].lost == (rule,)


@pytest.mark.parametrize(
    "text",
    [
        "The\n",
        "Ab cd\nef gh",
        "a,\n" * 3 + "b c ",
        "Ab,\nc d ",
        "1\nMB ",
        "的\n",
        "- a\n  b ",
        "a\n",
    ],
)
def test_lines_without_end_are_read_in_linear_time(text: str) -> None:
    started = time.process_time()
    unwrapped(text * (300_000 // len(text)))
    assert time.process_time() - started < 1.5
