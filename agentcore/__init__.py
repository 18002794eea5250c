"""Measure, bound and compact what an LLM agent sends with every request."""

from __future__ import annotations

from agentcore.compaction.compact import compact
from agentcore.ledger import Ledger
from agentcore.limits import clamp
from agentcore.messages import Message
from agentcore.presets import PRESETS
from agentcore.profile import Profile
from agentcore.simulate import simulate
from agentcore.snapshot import Snapshot, measure
from agentcore.transcripts import load_transcript
from agentcore.verify import verify

__all__ = [
    "PRESETS",
    "Ledger",
    "Message",
    "Profile",
    "Snapshot",
    "clamp",
    "compact",
    "load_transcript",
    "measure",
    "simulate",
    "verify",
]
