"""Pictures in a request: put where an API takes them, and left out where a server refuses them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentcore.breakdown import Category, part_category
from agentcore.llm.strict import Entry, Part, StrictList
from agentcore.messages import Message, Role, born

FROM_RESULTS: Part = {"type": "text", "text": "[The pictures of the results above, in their order]"}
NOT_SENT: Part = {"type": "text", "text": "[a picture is here; the model's server takes none]"}


def after_results(listed: StrictList) -> StrictList:
    """Chat completions take pictures in a user's message only: those of results follow in one."""
    entries: list[Entry] = []
    newest, held = 0, list[Part]()
    for index, entry in enumerate(listed.entries):
        if held and entry.role is not Role.TOOL:
            shown = (FROM_RESULTS, *held)
            if entry.role is Role.USER:
                entry = replace(entry, parts=shown + entry.parts)
            else:
                entries.append(Entry(Role.USER, shown))
            held = []
        if entry.role is Role.TOOL:
            held += [part for part in entry.parts if part_category(part) is Category.IMAGES]
        newest = len(entries) if index == listed.newest else newest
        entries.append(entry)
    if listed.newest == len(listed.entries):
        newest = len(entries)
    if held:
        entries.append(Entry(Role.USER, (FROM_RESULTS, *held)))
    return replace(listed, entries=tuple(entries), newest=newest)


def without_pictures(messages: Sequence[Message]) -> list[Message]:
    """The list to send with a note in the place of each; what is stored stays as it is."""
    return [
        _without_pictures(message) if Category.IMAGES in message.sizes.breakdown else message
        for message in messages
    ]


def _without_pictures(message: Message) -> Message:
    value = message.value()
    value["content"] = [
        NOT_SENT if part_category(part) is Category.IMAGES else part for part in value["content"]
    ]
    return born(value, mark=message.mark)
