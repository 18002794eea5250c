"""All facts of one message, found once, when it is born."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentcore.breakdown import Mark
from agentcore.facts import Fact
from agentcore.ledger.calls import facts_of_call
from agentcore.ledger.prose import facts_of_assistant, facts_of_person
from agentcore.ledger.results import facts_of_result
from agentcore.ledger.wording import facts_of_note
from agentcore.messages import Message, Role


def extract(message: Message) -> tuple[Fact, ...]:
    """Its facts, in the order they stand there; those of a summary or note are what it tells.

    Depends on the message alone. System messages, placeholders and thinking hold none.
    """
    number = message.number
    if message.is_summary:
        return tuple(facts_of_note(message.text, number))
    if message.replaces is not None:
        return ()
    if message.role is Role.TOOL or message.mark is Mark.OBSERVATION:
        call = message.tool_call_id or ""
        return tuple(facts_of_result(message.text, number, status=message.status, call=call))
    if message.role is Role.USER:
        return tuple(facts_of_person(message.text, number))
    if message.role is not Role.ASSISTANT:
        return ()
    said = facts_of_assistant(message.text, number)
    return (*said, *(fact for call in message.calls for fact in facts_of_call(call, number)))


def with_facts(message: Message) -> Message:
    """The message with its facts; itself where it has them."""
    return message if message.facts is not None else replace(message, facts=extract(message))


def facts_of(message: Message) -> Sequence[Fact]:
    """Those it was born with, else found now."""
    return extract(message) if message.facts is None else message.facts
