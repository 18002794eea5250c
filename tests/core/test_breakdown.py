from __future__ import annotations

from typing import Any

import pytest
from histories import TEXT, answer, broken_lists, calls, result, system, user
from hypothesis import given
from hypothesis import strategies as st

from agentcore import clamp, measure
from agentcore.breakdown import (
    COLLAPSED_HEADER,
    HEADERS,
    Breakdown,
    Category,
    Mark,
    byte_length,
    escaped_share,
    measure_schemas,
    total,
)
from agentcore.limits import Limits
from agentcore.messages import born
from agentcore.wire import dumps

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
SAID = {"type": "text", "text": "see"}
ODD = [{"type": ["a"]}, {"type": {}}, {}, "text", None, 7, [IMAGE]]
PARTS = st.sampled_from([IMAGE, SAID, {"type": "thinking", "thinking": "hm"}, *ODD])
# A line each of what fills a window, as it comes.
RESULT = "src/parser/table.py:41: rows, total\n"
LOG = '2026-01-01T10:00:00Z INFO worker[3] GET /api/items "ok" 200 in 12 ms\n'
CODE = "    for row in rows:\n        yield row\n"
QUOTED = dumps({"id": 17, "title": "parser drops rows", "state": "open", "labels": ["bug"]})
EXTRA = st.dictionaries(
    st.sampled_from(["name", "reasoning_content", "reasoning", "thinking", "x"]), TEXT, max_size=3
)


def only(value: dict[str, Any], **known: Any) -> dict[str, int]:
    return {str(key): size for key, size in born(value, **known).sizes.breakdown.items()}


@given(broken_lists())
def test_categories_sum_to_the_size_of_the_wire_form(values: list[dict[str, Any]]) -> None:
    breakdown = measure(values)
    assert breakdown.total == sum(len(dumps(value).encode()) for value in values)


@given(st.sampled_from(["user", "assistant", "tool", "system"]), st.lists(PARTS), EXTRA)
def test_parts_and_members_are_charged_once(role: str, parts: list[Any], extra: Any) -> None:
    message = born({"role": role, "content": parts, **extra})
    assert message.sizes.breakdown.total == message.sizes.bytes == len(message.wire.encode())
    assert message.sizes.chars == len(message.wire)
    assert all(size > 0 for size in message.sizes.breakdown.values())


def test_tool_calls_are_charged_their_member_and_one_comma() -> None:
    value = calls("c1", text="I look")
    member = ',"tool_calls":' + dumps(value["tool_calls"])
    size = len(dumps(value))
    assert only(value) == {"assistant": size - len(member), "tool_calls": len(member)}


def test_thinking_is_told_apart_from_the_answer() -> None:
    value = {**answer("ok"), "reasoning_content": "中"}
    member = len(',"reasoning_content":"中"'.encode())
    assert only(value)["thinking"] == member


def test_a_picture_is_charged_apart_and_not_as_text() -> None:
    picture = {**IMAGE, "image_url": {"url": "data:image/png;base64," + "iVBORw0K" * 130_000}}
    message = born({"role": "user", "content": [SAID, picture]})
    assert message.sizes.breakdown[Category.IMAGES] == len(dumps(picture)) + 1
    assert message.sizes.breakdown[Category.USER] == len(dumps({"role": "user", "content": [SAID]}))
    assert 1 <= message.sizes.tokens <= 10_000


@pytest.mark.parametrize("header", HEADERS)
def test_a_system_message_with_our_header_is_a_summary(header: str) -> None:
    assert list(only(system(f"{header}\nx"))) == ["summary"]
    assert list(only(user(f"{header}\nx"))) == ["user"]
    assert header == COLLAPSED_HEADER or len(header) <= 40


def test_marks_decide_what_the_wire_form_does_not_say() -> None:
    assert list(only(user("seen"), mark=Mark.OBSERVATION)) == ["tool_results"]
    assert list(only(user("so far"), mark=Mark.SUMMARY)) == ["summary"]
    assert list(only({**system(), "role": "developer"})) == ["system_prompt"]


def test_sections_of_a_system_message_are_charged_their_escaped_text() -> None:
    sections = [(Category.PROJECT_DOCS, 'a "b"\n'), (Category.MEMORY, "中")]
    value = system("base " + "".join(text for _, text in sections))
    parts = only(value, sections=sections)
    assert parts["project_docs"] == len('a \\"b\\"\\n')
    assert parts["memory"] == 3
    assert sum(parts.values()) == len(dumps(value).encode())


def test_schemas_are_part_of_the_request_and_not_of_the_list() -> None:
    schemas = [{"type": "function", "function": {"name": "f"}}]
    both = total([measure_schemas(schemas), born(user()).sizes]).breakdown
    assert both.total == len(dumps(user()))
    assert both.request == both.total + len(dumps(schemas))


def test_breakdowns_add_and_subtract() -> None:
    one = Breakdown({Category.USER: 3, Category.SUMMARY: 2})
    two = Breakdown({Category.USER: 1})
    assert dict(one + two) == {Category.SUMMARY: 2, Category.USER: 4}
    assert dict(one - two) == {Category.SUMMARY: 2, Category.USER: 2}
    assert dict(one - one) == {}
    assert list(one) == [Category.SUMMARY, Category.USER]


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("the quick brown fox jumps " * 400, 10_400 / 4.4, 10_400 / 3.6),
        ("中文字符" * 1_000, 4_000 / 1.5, 4_000 / 1.0),
        ("mixed 中文 text 混合 " * 500, 8_000 / 3, 8_000 / 1.9),
    ],
)
def test_tokens_are_estimated_by_script(text: str, least: float, most: float) -> None:
    assert least <= born(user(text)).sizes.tokens <= most


def test_code_in_results_takes_more_tokens_than_prose() -> None:
    code = "def f(x):\n    return x + 1\n" * 100
    assert born(result("c", code)).sizes.tokens > born(user(code)).sizes.tokens
    sizes = born(result("c", code)).sizes
    assert 3 <= sizes.chars / sizes.tokens <= 3.5


@pytest.mark.parametrize(
    ("line", "size", "escaped"),
    [
        (RESULT, 20_000, 20_600),
        (LOG, 50_000, 52_000),
        (CODE, 80_000, 84_000),
        (QUOTED, 20_000, 24_000),
    ],
    ids=["a result +3%", "logs +4%", "code +5%", "quoted JSON +20%"],
)
def test_escaping_lengthens_a_text_as_the_source_has_it(line: str, size: int, escaped: int) -> None:
    text = (line * size)[:size]
    content = born(result("c", text)).sizes.bytes - born(result("c", "")).sizes.bytes
    assert byte_length(text) == size
    assert content == round(size * (1 + escaped_share([text])))
    assert content == pytest.approx(escaped, rel=0.01)


def test_only_what_json_escapes_counts_as_escaping() -> None:
    assert escaped_share([]) == escaped_share([""]) == escaped_share(["中文 é 😀"]) == 0
    assert escaped_share(['"', "ab"]) == pytest.approx(1 / 3)
    assert escaped_share(["\x00"]) == 5


def test_a_clamped_result_is_17_percent_of_the_budget_and_five_are_85() -> None:
    """The yardsticks of the source, whose budget is 120,000 bytes."""
    clamped = clamp(RESULT * 1_000, Limits().result_bytes)
    share = born(result("c", clamped)).sizes.bytes / 120_000
    assert share == pytest.approx(0.17, abs=0.005)
    assert 5 * share == pytest.approx(0.85, abs=0.02)
