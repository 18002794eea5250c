from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from histories import answer, user

from agentcore.breakdown import measure_schemas
from agentcore.limits import Limits
from agentcore.memory import Entry, EntryKind, Hit, block
from agentcore.messages import Message, born
from agentcore.prefix import Prefix
from agentcore.prompt import SystemPrompt, build
from agentcore.snapshot import Snapshot, State

SCHEMAS = [{"type": "function", "function": {"name": "a"}}]
SIZES = measure_schemas(SCHEMAS)


def remembering(text: str = "", **known: Any) -> Message:
    memory = block([Hit(Entry(EntryKind.FACT, text), 1.0)], Limits())[0] if text else ""
    return build(SystemPrompt("goal", "/w", memory=memory, **known))


def request(revision: int, *messages: Message) -> Snapshot:
    return replace(Snapshot.of(messages), state=State(revision, len(messages)))


def second(first: Snapshot, then: Snapshot) -> tuple[int, str | None]:
    prefix = Prefix()
    assert prefix.advance(first, SCHEMAS, SIZES) == (0, None)
    return prefix.advance(then, SCHEMAS, SIZES)


def test_a_list_that_grew_keeps_all_of_the_request_before() -> None:
    one = request(0, remembering(), born(user()))
    two = request(0, *one.messages, born(answer()))
    assert second(one, two) == (SIZES.bytes + one.sizes.bytes, None)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (remembering("uses npm"), remembering("uses pnpm"), "memory"),
        (remembering("uses npm"), remembering(), "memory"),
        (remembering("端口", persona="a"), remembering("端口", persona="b"), "prompt"),
        (remembering(), born({"role": "system", "content": "[Collapsed: 3]"}), "compaction"),
    ],
)
def test_the_message_that_broke_the_prefix_says_why_and_keeps_its_front(
    old: Message, new: Message, reason: str
) -> None:
    stable, why = second(
        request(0, old.numbered(1), born(user()).numbered(2)),
        request(1, new.numbered(3), born(user()).numbered(2)),
    )
    assert why == reason
    front = new.wire.encode()[: stable - SIZES.bytes]
    assert old.wire.encode().startswith(front)
    assert not old.wire.encode().startswith(new.wire.encode()[: len(front) + 1])


def test_other_schemas_break_the_prefix_from_its_first_byte() -> None:
    prefix = Prefix()
    one = request(0, remembering())
    prefix.advance(one, SCHEMAS, SIZES)
    assert prefix.advance(one, [], measure_schemas([])) == (0, "schemas")
