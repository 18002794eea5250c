"""What strict providers demand of a request, for any legal list."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.breakdown import SUMMARY_HEADER
from agentcore.llm.anthropic import AnthropicModel
from agentcore.llm.openai import OpenAIModel, chat_messages
from agentcore.llm.pictures import FROM_RESULTS, without_pictures
from agentcore.messages import Message, born

TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)
BLANKS = st.sampled_from(["", " ", "\n"])
# Others write what a provider refuses: dots, colons, lone surrogates, the same id in each answer.
IDS = st.one_of(st.sampled_from(["", "call_0", "functions.glob:0"]), st.text(max_size=5))
ARGUMENTS = st.sampled_from(["", "{}", '{"path": "a"}', "[1]", "{broken", '"\\ud800"'])
THINKING = st.sampled_from([{"type": "thinking", "thinking": "hm", "signature": "s"}])
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBO"}}

RESULT_SHOWN = {str(FROM_RESULTS), str(PICTURE)}

Value = dict[str, Any]


def text_part(text: str) -> Value:
    return {"type": "text", "text": text}


contents = st.one_of(
    TEXTS,
    BLANKS,
    st.none(),
    st.lists(st.one_of(TEXTS.map(text_part), st.just(PICTURE), THINKING), max_size=3),
)
systems = st.builds(
    lambda role, text: {"role": role, "content": text},
    st.sampled_from(["system", "developer"]),
    TEXTS,
)
notes = TEXTS.map(lambda text: {"role": "system", "content": f"{SUMMARY_HEADER}\n{text}"})
users = contents.map(lambda content: {"role": "user", "content": content})
answers = st.builds(
    lambda content, thought: {
        "role": "assistant",
        "content": content,
        "reasoning_content": thought,
    },
    contents,
    TEXTS,
)


@st.composite
def groups(draw: st.DrawFn) -> list[Value]:
    """An assistant message with calls, each answered."""
    ids = draw(st.lists(IDS, min_size=1, max_size=3, unique=True))
    calls = [
        {
            "id": one,
            "type": "function",
            "function": {
                "name": draw(st.sampled_from(["glob", "a.b", ""])),
                "arguments": draw(ARGUMENTS),
            },
        }
        for one in ids
    ]
    results = [{"role": "tool", "tool_call_id": one, "content": draw(contents)} for one in ids]
    return [{"role": "assistant", "content": draw(contents), "tool_calls": calls}, *results]


def one(values: st.SearchStrategy[Value]) -> st.SearchStrategy[list[Value]]:
    return values.map(lambda value: [value])


@st.composite
def legal_lists(draw: st.DrawFn) -> list[Message]:
    """Leading messages, anything in any order, an instruction, perhaps with work on it."""
    leading = draw(st.lists(systems, max_size=2))
    rest = draw(st.lists(st.one_of(one(notes), one(users), one(answers), groups()), max_size=8))
    instruction = {"role": "user", "content": "the instruction " + draw(TEXTS)}
    work = draw(st.lists(st.one_of(groups(), one(notes)), max_size=3))
    values = [*leading, *(value for group in rest for value in group), instruction]
    return [born(value) for value in [*values, *(value for group in work for value in group)]]


openai = OpenAIModel("m", api_key="k")
anthropic = AnthropicModel("m", api_key="k")


def instruction_of(messages: list[Message]) -> str:
    return [message for message in messages if message.is_instruction][-1].text


@given(legal_lists())
def test_chat_has_at_most_one_system_message_and_takes_turns(messages: list[Message]) -> None:
    roles = [message["role"] for message in openai.render(messages, [])["messages"]]
    assert roles.count("system") <= 1
    assert "system" not in roles[1:]
    turns = [role for role in roles if role != "system"]
    assert turns[0] == "user"
    for earlier, later in pairwise(turns):
        assert later != earlier or later == "tool"
        assert later != "tool" or earlier in ("assistant", "tool")


@given(legal_lists())
def test_chat_answers_every_call_once_before_the_next_message(messages: list[Message]) -> None:
    waiting: list[str] = []
    for message in openai.render(messages, [])["messages"]:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
        else:
            assert not waiting
            waiting = [call["id"] for call in message.get("tool_calls", [])]
    assert not waiting


@given(legal_lists())
def test_chat_keeps_every_call_and_only_arguments_that_parse(messages: list[Message]) -> None:
    rendered = openai.render(messages, [])["messages"]
    calls = [call for message in rendered for call in message.get("tool_calls", [])]
    assert len(calls) == sum(len(message.calls) for message in messages)
    assert all(isinstance(json.loads(call["function"]["arguments"]), dict) for call in calls)


@given(legal_lists())
def test_chat_ends_the_last_user_message_with_the_instruction(messages: list[Message]) -> None:
    users = [one for one in openai.render(messages, [])["messages"] if one["role"] == "user"]
    spoken = [one for one in users if set(map(str, one["content"])) != RESULT_SHOWN]
    content = spoken[-1]["content"]
    last = content if isinstance(content, str) else content[-1]["text"]
    assert last.endswith(instruction_of(messages))


@given(legal_lists())
def test_chat_holds_the_text_of_every_system_message(messages: list[Message]) -> None:
    rendered = openai.render(messages, [])["messages"]
    told = rendered[0]["content"] if rendered[0]["role"] == "system" else ""
    for message in messages:
        if message.role in ("system", "developer") and message.text.strip():
            assert message.text in told


@given(legal_lists())
def test_chat_sends_nothing_blank(messages: list[Message]) -> None:
    for message in openai.render(messages, [])["messages"]:
        content = message["content"]
        texts = (
            [content]
            if isinstance(content, str)
            else [one.get("text", "x") for one in content or []]
        )
        assert all(text.strip() for text in texts)
        assert texts or message.get("tool_calls")


@given(legal_lists())
def test_messages_api_takes_turns_and_opens_with_the_user(messages: list[Message]) -> None:
    roles = [message["role"] for message in anthropic.render(messages, [])["messages"]]
    assert roles == ["user", "assistant"] * (len(roles) // 2) + ["user"] * (len(roles) % 2)


@given(legal_lists())
def test_messages_api_answers_all_calls_first_thing_in_the_next_message(
    messages: list[Message],
) -> None:
    waiting: list[str] = []
    for message in anthropic.render(messages, [])["messages"]:
        kinds = [block["type"] for block in message["content"]]
        results = [block for block in message["content"] if block["type"] == "tool_result"]
        assert [block["tool_use_id"] for block in results] == waiting
        assert kinds[: len(results)] == ["tool_result"] * len(results)
        waiting = [block["id"] for block in message["content"] if block["type"] == "tool_use"]
    assert not waiting


@given(legal_lists())
def test_messages_api_gets_ids_and_names_in_its_letters_each_id_once(
    messages: list[Message],
) -> None:
    letters = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
    rendered = anthropic.render(messages, [])["messages"]
    calls = [block for one in rendered for block in one["content"] if block["type"] == "tool_use"]
    assert len({call["id"] for call in calls}) == len(calls)
    for call in calls:
        assert call["id"] and set(call["id"]) <= letters
        assert call["name"] and set(call["name"]) <= letters
        assert isinstance(call["input"], dict)


@given(legal_lists())
def test_messages_api_ends_the_last_spoken_message_with_the_instruction(
    messages: list[Message],
) -> None:
    texts = [
        block["text"]
        for message in anthropic.render(messages, [])["messages"]
        if message["role"] == "user"
        for block in message["content"]
        if block["type"] == "text"
    ]
    assert texts[-1] == instruction_of(messages)


@given(legal_lists())
def test_messages_api_marks_at_most_two_places_to_cache(messages: list[Message]) -> None:
    body = anthropic.render(messages, [])
    assert json.dumps(body).count("cache_control") in (1, 2)
    assert "cache_control" in body["messages"][-1]["content"][-1]


@pytest.mark.parametrize("render", [openai.render, anthropic.render], ids=["chat", "messages"])
@given(messages=legal_lists())
def test_body_is_pure_and_has_a_utf8_form(
    render: Callable[..., Value], messages: list[Message]
) -> None:
    before = [message.wire for message in messages]
    body = render(messages, [])
    assert json.dumps(body, ensure_ascii=False).encode()
    assert render(messages, []) == body
    assert [message.wire for message in messages] == before


def test_result_without_text_says_so_and_an_answer_without_text_is_left_out() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "glob", "arguments": "{}"}}
    values = [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": ""},
        {"role": "assistant", "content": " "},
        {"role": "user", "content": "again"},
    ]
    rendered = chat_messages([born(value) for value in values])
    assert [message["role"] for message in rendered] == ["user", "assistant", "tool", "user"]
    assert rendered[1]["content"] is None
    assert rendered[2] == {"role": "tool", "tool_call_id": "a", "content": "(no output)"}


def test_pictures_take_the_form_of_the_api_they_go_to() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "iVBO"}
    picture = {"type": "image", "source": source}
    for part in (PICTURE, picture):
        asked = [born({"role": "user", "content": [part]})]
        assert openai.render(asked, [])["messages"][0]["content"] == [PICTURE]
        block = anthropic.render(asked, [])["messages"][0]["content"][0]
        assert {"type": block["type"], "source": block["source"]} == picture


def test_picture_in_a_result_is_named_where_it_cannot_be_sent() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "shot", "arguments": "{}"}}
    messages = [
        born({"role": "user", "content": "look"}),
        born({"role": "assistant", "content": None, "tool_calls": [call]}),
        born({"role": "tool", "tool_call_id": "a", "content": [PICTURE]}),
    ]
    assert openai.render(messages, [])["messages"][2]["content"] == "[image]"
    block = anthropic.render(messages, [])["messages"][2]["content"][0]
    assert block["content"][0]["type"] == "image"


def test_reasoning_goes_back_only_within_its_run() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "glob", "arguments": "{}"}}
    thought = {
        "role": "assistant",
        "content": None,
        "reasoning_content": "hm",
        "tool_calls": [call],
    }
    within = [
        born({"role": "user", "content": "look"}),
        born(thought),
        born({"role": "tool", "tool_call_id": "a", "content": "x"}),
    ]
    assert chat_messages(within)[1]["reasoning_content"] == "hm"
    later = [*within, born({"role": "user", "content": "and now?"})]
    assert "reasoning_content" not in chat_messages(later)[1]


def test_list_that_begins_with_the_assistant_gets_an_opening_of_the_user() -> None:
    rendered = chat_messages([born({"role": "assistant", "content": "ok"})])
    assert [message["role"] for message in rendered] == ["user", "assistant"]


@given(legal_lists())
def test_chat_shows_every_picture_once_to_the_user_role_alone(messages: list[Message]) -> None:
    there = sum(
        part == PICTURE
        for message in messages
        if message.role in ("user", "tool")
        for part in message.value()["content"] or []
    )
    shown = 0
    for message in openai.render(messages, [])["messages"]:
        parts = [part for part in message["content"] or [] if part == PICTURE]
        assert not parts or message["role"] == "user"
        shown += len(parts)
    assert shown == there


@given(legal_lists())
def test_a_list_without_pictures_says_where_they_were(messages: list[Message]) -> None:
    sent = without_pictures(messages)
    assert [message.role for message in sent] == [message.role for message in messages]
    assert "data:image" not in json.dumps(openai.render(sent, []))
    assert "data:image" not in json.dumps(anthropic.render(sent, []))
    assert "".join(one.wire for one in sent).count("model's server takes none") == sum(
        one.wire.count("data:image") for one in messages
    )
