"""The tools of an agent, and which of them its mode offers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from agentcore.options import Mode
from agentcore.tools.base import Outcome, Tool, Toolbox, ToolResult, Workspace
from agentcore.tools.checkpoint import CHECKPOINT
from agentcore.tools.files import READ_FILE
from agentcore.tools.listing import LIST_DIR
from agentcore.tools.recall import Archive, recall_tool
from agentcore.tools.search import GLOB, GREP
from agentcore.tools.shell import RUN_COMMAND
from agentcore.tools.skill import Bodies, skill_tool
from agentcore.tools.tasks import Tasks
from agentcore.tools.web import Web
from agentcore.tools.writing import EDIT_FILE, WRITE_FILE

__all__ = [
    "Lent",
    "Mode",
    "Outcome",
    "Tool",
    "ToolResult",
    "Toolbox",
    "Web",
    "Workspace",
    "toolbox",
]


@dataclass(frozen=True, slots=True)
class Lent:
    """What a set-up lends to the tools of a session; a tool whose part is missing is not offered.
    `keys` are the set-up's own, which no result may hold."""

    archive: Archive | None = None
    skills: Bodies | None = None
    web: Web | None = None
    keys: Collection[str] = ()


NOTHING_LENT = Lent()


def toolbox(workspace: Workspace, mode: Mode = Mode.GOAL, lent: Lent = NOTHING_LENT) -> Toolbox:
    """The tools of a mode. Those of another are not offered, and refused when called."""
    tasks = Tasks()
    tools = _by_mode(lent, tasks)
    modes = list(Mode)
    offered, withheld = modes[: modes.index(mode) + 1], modes[modes.index(mode) + 1 :]
    return Toolbox(
        [tool for one in offered for tool in tools[one]],
        workspace,
        refusals={
            tool.name: f"not allowed in {mode} mode, it needs {one} mode"
            for one in withheld
            for tool in tools[one]
        },
        mode=mode,
        keys=lent.keys,
        close=tasks.close,
    )


def _by_mode(lent: Lent, tasks: Tasks) -> dict[Mode, list[Tool]]:
    """The tools that come with each mode; it also has those of the modes before."""
    plan: list[Tool] = [READ_FILE, LIST_DIR, GREP, GLOB, CHECKPOINT]
    if lent.archive:
        plan.append(recall_tool(lent.archive))
    if lent.skills and lent.skills.listing:
        plan.append(skill_tool(lent.skills))
    debug: list[Tool] = [RUN_COMMAND, *tasks.tools]
    if lent.web:
        debug += lent.web.tools
    return {Mode.PLAN: plan, Mode.DEBUG: debug, Mode.GOAL: [WRITE_FILE, EDIT_FILE]}
