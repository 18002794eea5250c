"""A tool made of one function: its schema, and the check of what a model passes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agentcore.errors import ToolError
from agentcore.options import Effect
from agentcore.said import Said
from agentcore.tools.base import ToolResult, Workspace

PATH = {"type": "string", "description": "Path relative to the workspace, such as src/app.py"}


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """Calls `function(workspace, **arguments)` with arguments that fit `parameters`."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Callable[..., Awaitable[ToolResult]]
    effect: Effect = Effect.READ

    def check(self, arguments: Mapping[str, Any]) -> None:
        checked(arguments, self.parameters)

    async def run(self, arguments: Mapping[str, Any], workspace: Workspace) -> ToolResult:
        return await self.function(workspace, **checked(arguments, self.parameters))


def text(description: str) -> dict[str, Any]:
    return {"type": "string", "description": description}


def count(description: str) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "description": description}


def schema(
    required: Mapping[str, Any], optional: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def checked(arguments: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments without those that are null. Raises ToolError, naming what does not fit."""
    given = {name: value for name, value in arguments.items() if value is not None}
    known = parameters["properties"]
    for name, value in given.items():
        if name not in known:
            said = Said(
                "no argument {name}; the arguments are {known}",
                name=f"{name!r:.80}",
                known=", ".join(known),
            )
            raise ToolError(said)
        _check(name, value, known[name])
    missing = [name for name in parameters["required"] if name not in given]
    if missing:
        raise ToolError(Said("the argument {name} is missing", name=missing[0]))
    return given


def _check(name: str, value: Any, wanted: Mapping[str, Any]) -> None:
    if wanted["type"] == "string":
        if not isinstance(value, str):
            said = Said("{name} is a string, not {value}", name=name, value=f"{value!r:.80}")
            raise ToolError(said)
    elif not isinstance(value, int) or isinstance(value, bool) or value < wanted["minimum"]:
        said = Said(
            "{name} is a whole number from {least} up, not {value}",
            name=name,
            least=wanted["minimum"],
            value=f"{value!r:.80}",
        )
        raise ToolError(said)
