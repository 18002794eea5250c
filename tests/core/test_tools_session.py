"""The tools that work on the session itself, and what leaves the one exit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from histories import calls
from processes import alive
from stage import DONE, Stage

from agentcore.agent import Agent
from agentcore.context import Context
from agentcore.directives import Directives
from agentcore.errors import ToolError
from agentcore.events import CheckpointSet, Event, MessageAdded
from agentcore.limits import Limits
from agentcore.llm.scripted import ScriptedModel
from agentcore.messages import ToolCall, ToolStatus
from agentcore.pressure import TokenCounter
from agentcore.redact import WITHHELD
from agentcore.tools import Lent, Mode, toolbox
from agentcore.tools.base import Outcome, Workspace
from agentcore.tools.recall import Found
from agentcore.wire import dumps

KEY = "key-of-the-program-0001"


@dataclass
class Shelf:
    """An archive in memory."""

    messages: list[Found] = field(default_factory=list)

    async def search(self, query: str, limit: int) -> Sequence[Found]:
        words = query.lower().split()
        return [one for one in self.messages if any(w in one.text.lower() for w in words)][:limit]


@dataclass(frozen=True)
class Lessons:
    listing: str = "- deploy: how to deploy"

    def body(self, name: str) -> str:
        if name != "deploy":
            raise ToolError(f"there is no skill {name!r}; the skills are deploy")
        return "First test, then ship."


async def call(lent: Lent, tool: str, limits: Limits | None = None, **arguments: Any) -> Outcome:
    box = toolbox(Workspace(Path("/tmp"), limits or Limits()), Mode.DEBUG, lent)
    return await box.call(ToolCall("c", tool, dumps(arguments)))


def offered(lent: Lent) -> set[str]:
    schemas = toolbox(Workspace(Path("/")), Mode.PLAN, lent).schemas
    return {str(schema["function"]["name"]) for schema in schemas}


def test_what_the_set_up_does_not_lend_is_not_offered() -> None:
    assert offered(Lent()) & {"recall", "skill", "web_fetch"} == set()
    assert offered(Lent(skills=Lessons(listing=""))) & {"skill"} == set()
    assert offered(Lent(archive=Shelf(), skills=Lessons())) >= {"recall", "skill"}


async def test_a_skill_is_read_by_its_name() -> None:
    lent = Lent(skills=Lessons())
    assert (await call(lent, "skill", name="deploy")).text == (
        "skill deploy\nFirst test, then ship."
    )
    outcome = await call(lent, "skill", name="x")
    assert outcome.text == "skill: there is no skill 'x'; the skills are deploy"
    assert outcome.status is ToolStatus.FAILED


async def test_what_left_the_list_is_recalled_with_its_number_and_turn() -> None:
    shelf = Shelf(
        [
            Found(1, 0, "user", "Find the slow\nquery"),
            Found(7, 3, "grep", "x " * 400 + "the slow query stands here" + " y" * 400),
        ]
    )
    lines = (await call(Lent(archive=shelf), "recall", query="slow")).text.split("\n")
    assert lines[:2] == ["recall 'slow': 2 messages", "#1 (user): Find the slow query"]
    assert lines[2].startswith("#7 (grep, turn 3): …")
    assert "the slow query stands here" in lines[2]
    assert len(lines[2]) == len("#7 (grep, turn 3): ") + 302


async def test_recall_is_bounded_and_says_when_there_is_nothing() -> None:
    shelf = Shelf([Found(n, n, "user", "word") for n in range(1, 30)])
    text = (await call(Lent(archive=shelf), "recall", query="word")).text
    assert text.startswith("recall 'word': 8 messages\n") and text.count("\n#") == 8
    assert text.endswith("\n… stopped after 8 messages; use rarer words")
    few = Limits(recall_hits=29)
    assert (await call(Lent(archive=shelf), "recall", few, query="word")).text.count("\n") == 29
    nothing = await call(Lent(archive=shelf), "recall", query="absent")
    assert nothing.text == "recall 'absent': nothing found"
    assert "query is empty" in (await call(Lent(archive=shelf), "recall", query=" ")).text


async def test_the_programs_keys_leave_in_no_form(tmp_path: Path) -> None:
    (tmp_path / "env").write_text(f"VENDOR={KEY}\n" * 2_000)
    box = toolbox(Workspace(tmp_path), lent=Lent(keys=[KEY, ""]))
    for tool, arguments in (
        ("read_file", {"path": "env"}),
        ("grep", {"pattern": "VENDOR"}),
        ("run_command", {"command": f"cat env; echo {KEY} >&2"}),
        ("read_file", {"path": KEY}),
    ):
        outcome = await box.call(ToolCall("c", tool, dumps(arguments)))
        assert KEY not in outcome.text + outcome.captured
        assert WITHHELD in outcome.text


async def worked(root: Path, *lines: Any) -> list[Event]:
    """What an agent tells that is told to do so much."""
    context = Context()
    context.append({"role": "user", "content": "go"})
    told: list[Event] = []

    async def emit(events: Sequence[Event]) -> None:
        told.extend(events)

    async def poll() -> Directives:
        return Directives(Stage(()).profile)

    agent = Agent(
        context,
        ScriptedModel([*lines, DONE]),
        toolbox(Workspace(root)),
        emit=emit,
        poll=poll,
        counter=TokenCounter(),
    )
    await agent.run()
    return told


def use(tool: str, **arguments: str) -> Any:
    value = calls("c1", text=None)
    value["tool_calls"][0]["function"] = {"name": tool, "arguments": dumps(arguments)}
    return value


async def test_a_checkpoint_is_set_on_the_message_of_its_own_call(tmp_path: Path) -> None:
    told = await worked(tmp_path, use("checkpoint", note="tests pass"))
    (added,) = [one for one in told if isinstance(one, MessageAdded) and one.message.tool]
    (event,) = [one for one in told if isinstance(one, CheckpointSet)]
    assert added.message.text == "checkpoint set: tests pass"
    assert event.facts == {"number": added.message.number, "set": True, "turn": 1}
    assert told.index(event) == told.index(added) + 1


async def test_background_tasks_end_with_the_run(tmp_path: Path) -> None:
    told = await worked(tmp_path, use("start_task", command="echo $$ > pid; sleep 600"))
    started = [one for one in told if isinstance(one, MessageAdded) and one.message.tool]
    assert started[0].message.text.startswith("start_task task-1 (runs")
    assert not alive(int((tmp_path / "pid").read_text()))
    assert len(asyncio.all_tasks()) == 1
