"""What tool calls were about, as the rows of their results keep it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from agentcore.errors import WireError
from agentcore.facts import FactKind
from agentcore.ledger.calls import facts_of_call
from agentcore.messages import Message, Role, ToolCall, read
from agentcore.wire import loads
from hermesweb.models import AgentSession
from hermesweb.models.columns import NAME_CHARS
from hermesweb.shown import shown

DIGEST_CHARS = 16
PATHS = (FactKind.READ_PATH, FactKind.CHANGED_PATH)


@dataclass(frozen=True, slots=True)
class Subject:
    """`path` or `command`: what the call named first; `arguments` is alike for calls of one tool
    with the same arguments, in whatever order they stand."""

    path: str = ""
    command: str = ""
    arguments: str = ""


NONE = Subject()


def subjects(
    session: AgentSession, messages: Sequence[Message], ran: Mapping[str, ToolCall]
) -> dict[int, Subject]:
    """By number of each tool result among new messages, as it was run; two queries at most."""
    calls: dict[str, ToolCall] = {}
    found: dict[int, Subject] = {}
    later: list[Message] = []
    for message in messages:
        calls |= {call.id: call for call in message.calls}
        if message.tool_call_id is None or message.replaces is not None:
            continue
        if call := ran.get(message.tool_call_id) or calls.get(message.tool_call_id):
            found[message.number] = subject_of(call)
        else:
            later.append(message)
    if later:
        calls = _calls_before(session, later[0].number)
        found |= {
            one.number: subject_of(calls[one.tool_call_id])
            for one in later
            if one.tool_call_id in calls
        }
    return found | _of_replaced(session, messages)


def subject_of(call: ToolCall) -> Subject:
    facts = list(facts_of_call(call, 0))
    command = next((fact.text for fact in facts if fact.kind is FactKind.COMMAND), "")
    path = next((fact.text for fact in facts if fact.kind in PATHS), "")
    return Subject(
        path="" if command else shown(path)[:NAME_CHARS],
        command=shown(command)[:NAME_CHARS],
        arguments=_digest(call),
    )


def _digest(call: ToolCall) -> str:
    try:
        arguments = json.dumps(loads(call.arguments), sort_keys=True)
    except WireError:
        arguments = call.arguments
    text = f"{call.name}\0{arguments}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:DIGEST_CHARS]


def _calls_before(session: AgentSession, number: int) -> dict[str, ToolCall]:
    """Of the last assistant message that was stored before."""
    said = session.messages.filter(role=Role.ASSISTANT, number__lt=number)
    row = said.select_related("body").order_by("-number").first()
    return {call.id: call for call in read(row.text).calls} if row else {}


def _of_replaced(session: AgentSession, messages: Iterable[Message]) -> dict[int, Subject]:
    """A placeholder is about what the result was about that it stands for."""
    pairs = {
        one.replaces: one.number
        for one in messages
        if one.tool_call_id is not None and one.replaces is not None
    }
    if not pairs:
        return {}
    old = session.messages.filter(number__in=pairs)
    return {
        pairs[number]: Subject(path, command, arguments)
        for number, path, command, arguments in old.values_list(
            "number", "path", "command", "arguments"
        )
    }
