from __future__ import annotations

from pathlib import Path
from typing import Any

from cases.given import Desk, assistant, profile, speaker, unpaired

from agentcore import Snapshot, clamp
from agentcore.events import EventKind
from agentcore.limits import NOTICE_BYTES, Limits
from agentcore.llm.scripted import ScriptedModel
from agentcore.messages import Message, ToolCall
from agentcore.options import Effect
from agentcore.tools.base import Picture, Toolbox, ToolResult, Workspace


class Printer:
    """A tool whose output is a given text."""

    description = "prints"
    parameters: dict[str, Any] = {"type": "object", "properties": {}}
    effect = Effect.READ

    def __init__(self, name: str, text: str, *pictures: Picture) -> None:
        self.name = name
        self._result = ToolResult(text, pictures=pictures)

    def check(self, arguments: Any) -> None:
        """Takes anything."""

    async def run(self, arguments: Any, workspace: Workspace) -> ToolResult:
        return self._result


async def printed(case: dict[str, Any], text: str, limit: int, *pictures: Picture) -> Desk:
    """A session in which the tool was called once."""
    call = {"id": "t", "type": "function", "function": {"name": case["tool"], "arguments": "{}"}}
    asking = {"role": "assistant", "content": None, "tool_calls": [call]}
    workspace = Workspace(Path(), Limits(result_bytes=limit))
    desk = Desk(
        [],
        profile({}),
        ScriptedModel([asking, assistant("Read.")]),
        toolbox=Toolbox((Printer(case["tool"], text, *pictures),), workspace),
    )
    await desk.turn("print it")
    return desk


async def test_capped_output_original_lost(case: dict[str, Any]) -> None:
    whole = case["result"]["parts"][0]["text"]
    picture = Picture("image/png", b"p" * case["result"]["parts"][1]["bytes"])
    capped, uncapped = [await printed(case, whole, limit, picture) for limit in case["limits"]]
    for desk in (capped, uncapped):
        _, shown = desk.context.messages[2].value()["content"]
        assert shown == {"type": "image_url", "image_url": {"url": picture.url}}
    added = next(one for one in capped.told(EventKind.MESSAGE_ADDED) if one.captured)
    assert len(added.message.text.encode()) <= case["limits"][0] + NOTICE_BYTES
    assert "the session keeps the whole output" in added.message.text
    assert added.captured == whole
    assert uncapped.context.messages[2].text == whole
    assert uncapped.context.messages[2].cut is None


def test_cut_inside_a_character(case: dict[str, Any]) -> None:
    limit = case["limit_bytes"]
    kept = []
    for text in (one["text"] for one in case["results"]):
        cut = clamp(text, limit)
        assert "\ufffd" not in cut
        assert clamp(cut, limit) == cut
        kept.append(len(cut.encode().partition("\n… output truncated".encode())[0]))
    assert kept[:2] == case["expect"]["kept_bytes"]
    assert "10002 bytes omitted" in clamp(case["results"][0]["text"], limit)


async def test_many_results_together_overflow(case: dict[str, Any]) -> None:
    outcomes = await _capped(case)
    messages = [*case["messages"][:3], *outcomes]
    desk = Desk(messages, profile(case), speaker("All read."))
    await desk.agent.run()
    sent = desk.sent[0]
    notice = desk.told(EventKind.OVER_BUDGET)
    assert Snapshot.of(sent).sizes.chars <= case["budget_chars"] or notice
    assert unpaired(sent) == []
    assert all("bytes omitted" in one["content"] for one in outcomes)


async def test_truncation_mark_hidden_in_the_middle(case: dict[str, Any]) -> None:
    desk = await printed(case, case["output"], case["limit_bytes"])
    added = next(one for one in desk.told(EventKind.MESSAGE_ADDED) if one.captured)
    message: Message = added.message
    assert message.cut is not None
    assert message.cut.original == len(case["output"].encode())
    assert message.cut.kept == len(message.text.encode())
    assert "truncated" in message.text[:200] + message.text[-200:]
    assert added.facts["cut"] == {"original": message.cut.original, "kept": message.cut.kept}


async def _capped(case: dict[str, Any]) -> list[dict[str, Any]]:
    """The results as the toolbox lets them out under the case's cap."""
    limits = Limits(result_bytes=case["tool_cap_bytes"])
    results = []
    for result in case["messages"][3:]:
        box = Toolbox((Printer("read_file", result["content"]),), Workspace(Path(), limits))
        outcome = await box.call(ToolCall(result["tool_call_id"], "read_file", "{}"))
        assert outcome.captured == result["content"]
        results.append({**result, "content": outcome.text})
    return results
