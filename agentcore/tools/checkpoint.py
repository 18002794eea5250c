"""`checkpoint`: a mark in the list, up to which a compaction may take away."""

from __future__ import annotations

from agentcore.tools.arguments import FunctionTool, schema, text
from agentcore.tools.base import ToolResult, Workspace

NOTE_CHARS = 500


async def checkpoint(workspace: Workspace, note: str) -> ToolResult:
    cut = f"{note[:NOTE_CHARS]}… {len(note) - NOTE_CHARS} more characters cut"
    shown = note if len(note) <= NOTE_CHARS else cut
    return ToolResult(f"checkpoint set: {shown}", checkpoint=True)


CHECKPOINT = FunctionTool(
    "checkpoint",
    "Mark that a part of the work is done. When the list must shrink, what stands before the mark "
    "goes first, so the note says what is done, decided and still open.",
    schema({"note": text("What is done, what was decided, what is still open")}),
    checkpoint,
)
