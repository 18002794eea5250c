"""Measure, bound and compact what an LLM agent sends with every request."""

from __future__ import annotations

from agentcore.compaction.compact import compact
from agentcore.limits import clamp
from agentcore.messages import Message
from agentcore.presets import PRESETS
from agentcore.profile import Profile
from agentcore.snapshot import Snapshot, measure
from agentcore.transcripts import load_transcript

__all__ = [
    "PRESETS",
    "Message",
    "Profile",
    "Snapshot",
    "clamp",
    "compact",
    "load_transcript",
    "measure",
]
