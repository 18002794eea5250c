from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from histories import exchange
from stage import DONE, Stage

from agentcore import PRESETS
from agentcore.breakdown import RECALL_HEADER, Category
from agentcore.context import Context
from agentcore.events import MemoryInjected, MessageAdded
from agentcore.recalling import recall_block
from agentcore.snapshot import Snapshot
from agentcore.tools.recall import Found

NONE: frozenset[int] = frozenset()


@dataclass
class Shelf:
    """An archive that always finds the same."""

    found: Sequence[Found]
    asked: list[str] = field(default_factory=list)

    async def search(self, query: str, limit: int) -> Sequence[Found]:
        self.asked.append(query)
        return self.found[:limit]


HITS = [Found(9, 4, "assistant", "we chose\nplan B"), Found(3, 1, "user", "plan A first")]


def test_pieces_stand_in_time_order_with_their_turns() -> None:
    block = recall_block(HITS, NONE)
    assert block is not None
    assert block.text.split("\n") == [
        RECALL_HEADER,
        "- turn 1, message 3 (user): plan A first",
        "- turn 4, message 9 (assistant): we chose plan B",
    ]
    assert list(block.sizes.breakdown) == [Category.MEMORY]


def test_what_is_still_in_the_list_is_not_repeated() -> None:
    block = recall_block(HITS, frozenset({9}))
    assert block is not None and "plan B" not in block.text
    assert recall_block(HITS, frozenset({3, 9})) is None


def test_a_block_is_bounded_and_keeps_the_best_hits() -> None:
    hits = [Found(number, 1, "tool", "x" * 900) for number in range(1, 30)]
    block = recall_block(hits, NONE)
    assert block is not None and len(block.text) <= 4_000
    assert "message 1 " in block.text and "message 20 " not in block.text


async def test_each_instruction_gets_a_block_of_its_own_in_front_of_it() -> None:
    shelf = Shelf([Found(70, 1, "user", "the port is 8080")])
    context = Context(Snapshot.of(exchange(2)))
    stage = Stage([DONE, DONE], PRESETS["recall"], context).say("which port?")
    agent = stage.agent(archive=shelf)
    await agent.run()
    block, asked = (added.message for added in stage.events(MessageAdded)[:2])
    assert block.text.startswith(RECALL_HEADER) and "8080" in block.text
    assert (asked.text, asked.number) == ("which port?", block.number + 1)
    stage.say("and the host?")
    await agent.run()
    assert shelf.asked == ["which port?", "and the host?"]
    blocks = [one for one in context.messages if one.text.startswith(RECALL_HEADER)]
    assert len(blocks) == 1
    (taken_out,) = stage.events(MemoryInjected)
    assert taken_out.revision is not None and taken_out.revision.ended == (block.number,)


async def test_other_presets_do_not_look_into_the_archive() -> None:
    shelf = Shelf(HITS)
    stage = Stage([DONE], PRESETS["balanced"]).say()
    await stage.run(archive=shelf)
    assert shelf.asked == []
