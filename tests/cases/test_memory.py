"""What stands in the system message: areas cache, memory and security."""

from __future__ import annotations

from dataclasses import replace
from os.path import commonprefix
from typing import Any

import pytest
from builders import a_session, a_user
from django.test import Client
from django.utils.html import escape

from agentcore.limits import Limits
from agentcore.memory import REFERENCE, Entry, EntryKind, Hit, block
from agentcore.prefix import Prefix
from agentcore.prompt import SystemPrompt, build
from agentcore.sections import HEADINGS, MEMORY_END, Part, without_memory
from agentcore.snapshot import Snapshot, State
from hermesweb import memory


def hits(texts: list[str]) -> list[Hit]:
    return [Hit(Entry(EntryKind.FACT, text, id=at), 1.0) for at, text in enumerate(texts, 1)]


def prompt(persona: str, memory: list[str]) -> Any:
    told, _ = block(hits(memory), Limits())
    return build(SystemPrompt("goal", "/srv/ws", persona, skills="skill list", memory=told))


def test_clock_at_the_head_of_the_prompt(case: dict[str, Any]) -> None:
    messages = [prompt(case["system_base"], turn["memory"]) for turn in case["turns"]]
    texts = [message.text for message in messages]
    shared = commonprefix(texts)
    assert case["system_base"] in shared
    assert "skill list" in shared
    assert without_memory(texts[0]) == without_memory(texts[1]) == texts[2]
    assert all(turn["now"] not in text for turn, text in zip(case["turns"], texts, strict=True))
    prefix = Prefix()
    nothing = Snapshot.of([]).sizes
    requests = [
        replace(Snapshot.of([message.numbered(place)]), state=State(place, place))
        for place, message in enumerate([messages[0], *messages], 1)
    ]
    requests[1] = requests[0]
    stable = [prefix.advance(request, (), nothing) for request in requests]
    assert stable[:2] == [(0, None), (messages[0].sizes.bytes, None)]
    base = len(case["system_base"])
    for (bytes_kept, reason), message in zip(stable[2:], messages[1:], strict=True):
        assert reason == "memory" and base < bytes_kept < message.sizes.bytes


def test_memory_cap_without_its_header(case: dict[str, Any]) -> None:
    limits = Limits(memory_chars=case["cap_chars"], memory_entries=case["max_items"])
    text, taken = block(hits(case["items"]), limits)
    assert 0 < len(text) <= case["cap_chars"]
    assert 0 < len(taken) <= case["max_items"]
    longest = next(item for item in case["items"] if len(item) > limits.memory_entry_chars)
    alone, _ = block(hits([longest]), limits)
    assert longest not in alone
    assert [hit.entry.text for hit in taken] == case["items"][: len(taken)]
    tight, few = block(hits([*case["items"][:2], "g"]), Limits(memory_chars=700))
    assert [hit.entry.text for hit in few] == case["items"][:1]
    assert "g" not in tight.splitlines()[-2]


@pytest.mark.django_db
def test_memory_text_breaks_out(case: dict[str, Any], client: Client) -> None:
    items = [item.replace("END-OF-MEMORY-MARKER", MEMORY_END) for item in case["items"]]
    text, taken = block(hits(items), Limits())
    system = prompt("Be careful.", items).text
    lines = text.splitlines()
    assert text.count(MEMORY_END) == 1
    assert lines[-1] == MEMORY_END
    assert len(lines) == len(taken) + 3
    assert all(line.startswith("- [") for line in lines[2:-1])
    assert "reference" in REFERENCE and "present instruction wins" in REFERENCE
    assert system.endswith(text)
    assert system.removesuffix(text).rstrip() == prompt("Be careful.", []).text
    assert system.count(HEADINGS[Part.MEMORY]) == 1
    owner = a_user()
    client.force_login(owner)
    sources = [a_session(owner, title=f"session {at}", last_number=9) for at in range(len(items))]
    for session, item in zip(sources, items, strict=True):
        memory.store(session, [Entry(EntryKind.FACT, item, (1,))])
    page = client.get("/memory/").content.decode()
    for session, item in zip(sources, items, strict=True):
        row = next(one for one in page.split("<li") if escape(item.split("\n")[0]) in one)
        assert f'<a href="/sessions/{session.pk}/">{session.title}</a>' in row
