from __future__ import annotations

from typing import Any

import pytest
from histories import answer, broken_lists, calls, result, system, user
from hypothesis import given

from agentcore.errors import MessageError
from agentcore.messages import Cut, Role, ToolStatus, as_message, born, read
from agentcore.wire import dumps


@given(broken_lists())
def test_a_message_reads_back_from_its_wire_text(values: list[dict[str, Any]]) -> None:
    for value in values:
        message = born(value)
        assert message.value() == value
        assert message.wire == dumps(value)
        assert read(message.wire) == message
        assert read(message.wire, message.sizes) == message


def test_calls_and_their_ids_are_known_without_parsing_again() -> None:
    message = born(calls("c1", "c2"))
    assert [(call.id, call.name, call.arguments) for call in message.calls] == [
        ("c1", "read_file", '{"path": "a"}'),
        ("c2", "read_file", '{"path": "a"}'),
    ]
    assert born(result("c1")).tool_call_id == "c1"
    assert born(user()).tool_call_id is None


def test_arguments_that_are_no_text_become_their_json() -> None:
    value = calls("c1")
    value["tool_calls"][0]["function"]["arguments"] = {"path": "中"}
    assert born(value).calls[0].arguments == '{"path":"中"}'


def test_what_is_known_beside_the_wire_form_is_kept() -> None:
    message = born(result("c"), tool="grep", status=ToolStatus.FAILED, original=9)
    numbered = message.numbered(7)
    assert (numbered.number, numbered.tool, numbered.status) == (7, "grep", "failed")
    assert (numbered.cut, numbered.wire) == (Cut(9, len(message.text)), message.wire)


def test_text_is_that_of_the_parts() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b"}]
    assert born({"role": "user", "content": parts}).text == "a\nb"
    assert born({"role": "assistant", "content": None}).text == ""


def test_roles_tell_leading_instruction_and_final_answer_apart() -> None:
    assert born(system()).is_leading
    assert born({"role": "developer", "content": "x"}).is_leading
    assert not born(system("[Earlier summary; reference only]\nx")).is_leading
    assert born(user()).is_instruction
    assert born(answer()).is_final_answer
    assert not born(calls("c")).is_final_answer


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ({"content": "x"}, "unknown role None"),
        ({"role": "robot"}, "unknown role 'robot'"),
        ({"role": "assistant", "tool_calls": {"id": "c"}}, "list of calls"),
        ({"role": "assistant", "tool_calls": [{"id": "c"}]}, "function"),
        ({"role": "assistant", "tool_calls": ["c"]}, "function"),
    ],
)
def test_what_is_no_chat_message_is_refused_by_name(value: dict[str, Any], says: str) -> None:
    with pytest.raises(MessageError, match=says):
        born(value)


def test_a_list_is_no_message() -> None:
    with pytest.raises(MessageError, match="list"):
        read("[]")


def test_a_message_passes_where_a_dict_is_taken() -> None:
    message = born(user())
    assert as_message(message) is message
    assert as_message(user()) == message
    assert message.role is Role.USER
