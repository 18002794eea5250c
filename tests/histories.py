"""Message lists for tests: small builders, and Hypothesis strategies of legal and broken lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from agentcore.breakdown import NOTHING
from agentcore.compaction.notes import omission_of
from agentcore.messages import Message
from agentcore.snapshot import Snapshot, State

Value = dict[str, Any]
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBO" * 200}}

TEXT = st.text(alphabet='ab \n"\\é中文😀\u0301\x00\x1b', max_size=40)
WORDS = st.text(alphabet="ab é中😀", min_size=1, max_size=40).filter(str.strip)


def system(text: str = "be careful") -> Value:
    return {"role": "system", "content": text}


def user(text: str = "go") -> Value:
    return {"role": "user", "content": text}


def answer(text: str = "done") -> Value:
    return {"role": "assistant", "content": text}


def calls(*ids: str, name: str = "read_file", text: str | None = None) -> Value:
    made = [
        {"id": one, "type": "function", "function": {"name": name, "arguments": '{"path": "a"}'}}
        for one in ids
    ]
    return {"role": "assistant", "content": text, "tool_calls": made}


def result(call_id: str, text: str = "ok") -> Value:
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def omission(gone: Sequence[Message] = ()) -> Message:
    """The note in place of these, each of which is looked at."""
    whole = Snapshot(tuple(gone), tuple(range(len(gone))), NOTHING, State(0, 0))
    return omission_of(whole, [range(len(gone))])


def with_picture(value: Value) -> Value:
    return {**value, "content": [{"type": "text", "text": value["content"]}, PICTURE]}


def group(start: int, texts: Sequence[str], said: str | None = None) -> list[Value]:
    """One assistant message with a call for each text, and the results."""
    ids = [f"c{start}_{place}" for place in range(len(texts))]
    made = calls(*ids, text=said)
    return [made, *(result(one, text) for one, text in zip(ids, texts, strict=True))]


def exchange(turns: int, size: int = 1_000, results: int = 1) -> list[Value]:
    """System, one instruction, then tool turns with results of `size` characters."""
    values = [system(), user("fix the parser")]
    for turn in range(turns):
        values += group(turn, ["x" * size] * results)
    return values


@st.composite
def legal_lists(draw: st.DrawFn, *, least: int = 0) -> list[Value]:
    """System messages, then user messages, answers and whole tool groups in any order."""
    values: list[Value] = [system(draw(TEXT)) for _ in range(draw(st.integers(0, 2)))]
    kinds = draw(st.lists(st.sampled_from("uagG"), min_size=least, max_size=14))
    for place, kind in enumerate(kinds):
        if kind == "u":
            values.append(user(draw(WORDS)))
        elif kind == "a":
            values.append(answer(draw(WORDS)))
        else:
            texts = draw(st.lists(WORDS, min_size=1, max_size=4 if kind == "G" else 1))
            sizes = draw(st.sampled_from([1, 1, 40, 400]))
            values += group(place, [text * sizes for text in texts], draw(st.none() | WORDS))
            if kind == "G" and draw(st.booleans()):
                values[-1] = with_picture(values[-1])
    return values


@st.composite
def broken_lists(draw: st.DrawFn) -> list[Value]:
    """A legal list with messages dropped, doubled, emptied or without their ids."""
    values = draw(legal_lists(least=2))
    for _ in range(draw(st.integers(1, 4))):
        if not values:
            break
        place = draw(st.integers(0, len(values) - 1))
        values = _break(
            values, place, draw(st.sampled_from(["drop", "double", "empty", "no id", "one id"]))
        )
    return values


def _break(values: list[Value], place: int, how: str) -> list[Value]:
    before, value, after = values[:place], values[place], values[place + 1 :]
    if how == "drop":
        return before + after
    if how == "double":
        return [*before, value, value, *after]
    if how == "empty":
        return [*before, {**value, "content": ""}, *after]
    shared = "c0_0" if how == "one id" else ""
    if "tool_call_id" in value:
        return [*before, {**value, "tool_call_id": shared}, *after]
    if "tool_calls" in value:
        nameless = [{**call, "id": shared} for call in value["tool_calls"]]
        return [*before, {**value, "tool_calls": nameless}, *after]
    return values
