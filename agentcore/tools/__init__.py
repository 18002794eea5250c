"""The tools of an agent, and which of them its mode offers."""

from __future__ import annotations

from enum import StrEnum

from agentcore.tools.base import Outcome, Tool, Toolbox, ToolResult, Workspace
from agentcore.tools.files import READ_FILE
from agentcore.tools.search import GLOB, GREP
from agentcore.tools.shell import RUN_COMMAND
from agentcore.tools.writing import EDIT_FILE, WRITE_FILE

__all__ = ["Mode", "Outcome", "Tool", "ToolResult", "Toolbox", "Workspace", "toolbox"]


class Mode(StrEnum):
    """Each may do what the one before may, and more: read and search, run commands, change
    files."""

    PLAN = "plan"
    DEBUG = "debug"
    GOAL = "goal"


# The tools that come with each mode; it also has those of the modes before.
TOOLS: dict[Mode, tuple[Tool, ...]] = {
    Mode.PLAN: (READ_FILE, GREP, GLOB),
    Mode.DEBUG: (RUN_COMMAND,),
    Mode.GOAL: (WRITE_FILE, EDIT_FILE),
}


def toolbox(workspace: Workspace, mode: Mode = Mode.GOAL) -> Toolbox:
    """The tools of a mode. Those of another are not offered, and refused when called."""
    modes = list(Mode)
    offered, withheld = modes[: modes.index(mode) + 1], modes[modes.index(mode) + 1 :]
    return Toolbox(
        [tool for one in offered for tool in TOOLS[one]],
        workspace,
        refusals={
            tool.name: f"not allowed in {mode} mode, it needs {one} mode"
            for one in withheld
            for tool in TOOLS[one]
        },
    )
