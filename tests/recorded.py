"""Small recordings in the form of Claude Code, and what must hold of every recording."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agentcore import transcripts
from agentcore.breakdown import total
from agentcore.transcripts import ProblemKind, Recording

# The folder of recorded sessions and cases that may lie beside the checkout.
SHARED = Path(__file__).resolve().parents[2] / "shared"


def record(kind: str, uuid: str, parent: str | None, **more: Any) -> dict[str, Any]:
    return {"type": kind, "uuid": uuid, "parentUuid": parent, **more}


def said(uuid: str, parent: str | None, text: str, **more: Any) -> dict[str, Any]:
    return record("user", uuid, parent, message={"role": "user", "content": text}, **more)


def replied(uuid: str, parent: str | None, response: str, *blocks: Any, **more: Any) -> Any:
    usage = {"input_tokens": 10, "output_tokens": 1, **more.pop("usage", {})}
    message = {"id": response, "model": "claude-opus-4", "content": list(blocks), "usage": usage}
    return record("assistant", uuid, parent, message=message, **more)


def answered(uuid: str, parent: str | None, *results: tuple[str, Any], **more: Any) -> Any:
    blocks = [
        {"type": "tool_result", "tool_use_id": call_id, "content": content}
        for call_id, content in results
    ]
    return record("user", uuid, parent, message={"role": "user", "content": blocks}, **more)


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(call_id: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": "Read", "input": arguments}


def boundary(uuid: str, **metadata: Any) -> dict[str, Any]:
    told = {"trigger": "auto", "preTokens": 900, **metadata}
    return record("system", uuid, None, subtype="compact_boundary", compactMetadata=told)


def load(*records: dict[str, Any] | str | bytes) -> Recording:
    return transcripts.load_transcript(b"".join(map(as_line, records)))


def as_line(value: dict[str, Any] | str | bytes) -> bytes:
    if isinstance(value, bytes):
        return value
    return ((value if isinstance(value, str) else json.dumps(value)) + "\n").encode()


def texts(recording: Recording) -> list[str]:
    return [message.text for message in recording.context()]


def kinds(recording: Recording) -> list[tuple[int | None, ProblemKind]]:
    return [(problem.line, problem.kind) for problem in recording.problems]


def check_sums(recording: Recording) -> None:
    """Every breakdown sums to its size, and the list at each turn's end is what was measured."""
    for message in recording.messages:
        size = len(message.wire.encode())
        assert message.sizes.bytes == size == message.sizes.breakdown.total
    snapshot = recording.snapshot()
    assert snapshot.sizes.bytes == snapshot.sizes.breakdown.total
    assert snapshot.sizes == total(message.sizes for message in recording.context())
    for turn in recording.turns:
        listed = list_at(recording, turn.ended.revision, turn.ended.last_number)
        assert turn.sizes.bytes == turn.sizes.breakdown.total
        assert turn.sizes.bytes == sum(recording.messages[n - 1].sizes.bytes for n in listed)


def list_at(recording: Recording, revision: int, last: int) -> set[int]:
    listed: set[int] = set()
    born = 0
    for recorded in recording.revisions[:revision]:
        change = recorded.revision
        begun = {message.number for message, _ in change.begun}
        listed |= set(range(born + 1, change.last_number + 1)) - begun
        listed = (listed - set(change.ended)) | begun
        born = change.last_number
    return listed | set(range(born + 1, last + 1))
