"""`recall`: a search through all messages of this session, those that left the list too."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from agentcore.errors import ToolError
from agentcore.tools.arguments import FunctionTool, schema, text
from agentcore.tools.base import Tool, ToolResult, Workspace, counted

QUERY_CHARS = 60


@dataclass(frozen=True, slots=True)
class Found:
    """A message of the archive; `who` is its role or its tool, `turn` 0 outside of one."""

    number: int
    turn: int
    who: str
    text: str


class Archive(Protocol):
    """What a session ever held. The best hits come first; at most `limit` of them."""

    async def search(self, query: str, limit: int) -> Sequence[Found]: ...


def recall_tool(archive: Archive) -> Tool:
    async def recall(workspace: Workspace, query: str) -> ToolResult:
        limits = workspace.limits
        if not query.strip():
            raise ToolError("query is empty: give words that the message held")
        most = limits.recall_hits
        found = await archive.search(query, most and most + 1)
        hits = [_hit(one, query, limits.recall_hit_chars) for one in found[: most or None]]
        count = counted(len(hits), "message") if hits else "nothing found"
        more = (
            [f"… stopped after {most} messages; use rarer words"] if len(found) > len(hits) else []
        )
        return ToolResult("\n".join([f"recall {query[:QUERY_CHARS]!r}: {count}", *hits, *more]))

    return FunctionTool(
        "recall",
        "Search all messages of this session by words, those that were compacted away too. What "
        "is found is history: the user's latest instruction wins.",
        schema({"query": text("Words that the message held")}),
        recall,
    )


def _hit(one: Found, query: str, chars: int) -> str:
    turn = f", turn {one.turn}" if one.turn else ""
    return f"#{one.number} ({one.who}{turn}): {_excerpt(one.text, query, chars)}"


def _excerpt(text: str, query: str, chars: int) -> str:
    """So many characters of the text, in one line, round the first word of the query."""
    line = " ".join(text.split())
    if not chars or len(line) <= chars:
        return line
    words = "|".join(map(re.escape, query.split()))
    place = re.search(words, line, re.IGNORECASE)
    start = max(0, min((place.start() if place else 0) - chars // 3, len(line) - chars))
    end = start + chars
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"
