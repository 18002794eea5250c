"""A made-up workspace, and an explorer on a tour of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from agentcore.breakdown import OMISSION_HEADER
from agentcore.errors import ToolError
from agentcore.llm.explorer import ExplorerModel
from agentcore.messages import Message, born
from agentcore.options import Effect
from agentcore.tools.base import Toolbox, ToolResult, Workspace
from agentcore.wire import loads

SYSTEM = {"role": "system", "content": "be careful"}


def project(files: int = 120) -> dict[str, str]:
    """A made-up workspace."""
    found = {
        "README.md": "# Shop\nA shop.\n",
        "pyproject.toml": "[project]\nname = 'shop'\n",
        "shop/main.py": "def start_shop():\n    pass\nif __name__ == '__main__':\n    exit()\n",
        "shop/logo.png": "x",
    }
    for n in range(files - len(found)):
        folder = ("shop/models", "shop/views", "tests")[n % 3]
        name = f"test_part_{n}.py" if folder == "tests" else f"part_{n}.py"
        body = f"class Part{n}Shelf:\n    pass\n" + f"# line of part {n}\n" * 40
        found[f"{folder}/{name}"] = body
    return found


class FakeTool:
    """A tool over files that are only pretended."""

    description = "for tests"
    parameters: Mapping[str, Any] = {"type": "object"}
    effect = Effect.READ

    def __init__(self, name: str, act: Callable[[Mapping[str, Any]], str]) -> None:
        self.name = name
        self._act = act

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Takes anything."""

    async def run(self, arguments: Mapping[str, Any], workspace: Workspace) -> ToolResult:
        return ToolResult(self._act(arguments))


def tools(files: Mapping[str, str], *names: str) -> Toolbox:
    def glob(arguments: Mapping[str, Any]) -> str:
        return "\n".join([f"glob {arguments['pattern']}: {len(files)} files", *sorted(files)])

    def grep(arguments: Mapping[str, Any]) -> str:
        hits = [
            f"{path}:{number}:{line}"
            for path, text in sorted(files.items())
            for number, line in enumerate(text.splitlines(), 1)
            if re.search(arguments["pattern"], line)
        ]
        return "\n".join([f"grep {arguments['pattern']!r}: {len(hits)} hits", *hits])

    def read_file(arguments: Mapping[str, Any]) -> str:
        text = files[arguments["path"]]
        lines = text.count("\n")
        return f"read_file {arguments['path']}: {lines} lines, {len(text)} bytes\n{text}"

    def run_command(arguments: Mapping[str, Any]) -> str:
        command = arguments["command"]
        if not command.startswith("find"):
            raise ToolError("exit code 128")
        weights = "\n".join(f"{len(text)} ./{path}" for path, text in files.items())
        return f"run_command (exit code 0, 0.1 s): {command}\n--- stdout\n{weights}"

    acts = {"glob": glob, "grep": grep, "read_file": read_file, "run_command": run_command}
    offered = [FakeTool(name, act) for name, act in acts.items() if not names or name in names]
    return Toolbox(offered, Workspace(Path("/")))


class Session:
    """The loop in small: a new model for each reply, as if every worker were killed after one."""

    def __init__(self, toolbox: Toolbox, instruction: str = "Explore this project") -> None:
        self.toolbox = toolbox
        self.messages: list[Message] = []
        self.said: list[Message] = []
        self._number = 0
        self.add(SYSTEM)
        self.ask(instruction)

    def add(self, value: Mapping[str, Any], **known: Any) -> Message:
        self._number += 1
        message = born(value, **known).numbered(self._number)
        self.messages.append(message)
        return message

    def ask(self, instruction: str) -> None:
        self.add({"role": "user", "content": instruction})

    async def turn(self) -> Message:
        reply = await ExplorerModel().reply(self.messages, self.toolbox.schemas)
        message = self.add(reply.message)
        self.said.append(message)
        for call in message.calls:
            outcome = await self.toolbox.call(call)
            value = {"role": "tool", "tool_call_id": call.id, "content": outcome.text}
            self.add(value, tool=call.name, status=outcome.status)
        return message

    async def run(self, *, most: int = 60, keep: int = 0) -> str:
        """To the final answer; with `keep`, all but so many newest groups are forgotten at once."""
        for _ in range(most):
            message = await self.turn()
            if not message.calls:
                return message.text
            if keep:
                self.forget(keep)
        raise AssertionError(f"no final answer in {most} turns")

    def forget(self, groups: int, note: str = OMISSION_HEADER) -> None:
        starts = [index for index, one in enumerate(self.messages) if one.role == "assistant"]
        cut = starts[-groups:][0] if groups else len(self.messages)
        asked = [one for one in self.messages[:cut] if one.is_instruction][-1:]
        told = born({"role": "system", "content": note})
        self.messages = [self.messages[0], told, *asked, *self.messages[cut:]]

    @property
    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        return [(one.name, loads(one.arguments)) for said in self.said for one in said.calls]

    @property
    def read(self) -> list[str]:
        return [arguments["path"] for name, arguments in self.calls if name == "read_file"]


def written(root: Path, files: Mapping[str, str]) -> Workspace:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return Workspace(root)
