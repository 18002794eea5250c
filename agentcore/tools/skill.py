"""`skill`: the body of a skill that the system message lists."""

from __future__ import annotations

import asyncio
from typing import Protocol

from agentcore.tools.arguments import FunctionTool, schema, text
from agentcore.tools.base import Tool, ToolResult, Workspace


class Bodies(Protocol):
    """The skills of a workspace. `listing` is empty when there are none; `body` raises ToolError
    for a name that is not listed."""

    @property
    def listing(self) -> str: ...
    def body(self, name: str) -> str: ...


def skill_tool(skills: Bodies) -> Tool:
    async def skill(workspace: Workspace, name: str) -> ToolResult:
        return ToolResult(f"skill {name}\n{await asyncio.to_thread(skills.body, name)}")

    return FunctionTool(
        "skill",
        "Read the instructions of a skill that the system message lists.",
        schema({"name": text("The skill's name")}),
        skill,
    )
