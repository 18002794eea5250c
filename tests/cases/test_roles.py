from __future__ import annotations

from typing import Any

from cases.given import Summarizer, profile, summaries

from agentcore import Snapshot, compact
from agentcore.breakdown import SUMMARY_HEADER
from agentcore.compaction.repair import NO_OUTPUT
from agentcore.llm.strict import strict
from agentcore.messages import Role


def test_empty_assistant_poisons_session(case: dict[str, Any]) -> None:
    raw = Snapshot.of(case["messages"])
    result = compact(case["messages"], profile(case))
    built = strict(result.new.messages)
    texts = [str(part["text"]) for entry in built.entries for part in entry.parts]
    assert all(text.strip() for text in texts)
    assert result.messages[2]["tool_calls"] == case["messages"][2]["tool_calls"]
    assert result.messages[3] == {"role": "tool", "tool_call_id": "d", "content": NO_OUTPUT}
    assert case["messages"][4] not in result.messages
    assert raw.messages[4].value() == case["messages"][4]
    assert raw.sizes.bytes == sum(message.sizes.bytes for message in raw.messages)
    assert raw.messages[4].sizes.bytes > 0


def test_two_user_messages_in_a_row(case: dict[str, Any]) -> None:
    result = compact(case["messages"], profile(case), force=True, summarize=Summarizer("SUM"))
    built = strict(result.new.messages)
    roles = [entry.role for entry in built.entries]
    assert roles == [(Role.USER, Role.ASSISTANT)[place % 2] for place in range(len(roles))]
    assert built.leading == (case["messages"][0]["content"],)
    assert built.notes == (f"{SUMMARY_HEADER}\nSUM",)
    assert [part["text"] for part in built.entries[-1].parts][-1] == "New question?"
    assert len(summaries(result)) == 1
    assert result.messages[-1] == case["messages"][-1]
