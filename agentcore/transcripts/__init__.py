"""Recorded agent sessions: detect the format, load the recording, look at what it holds."""

from __future__ import annotations

from agentcore.transcripts.base import (
    ChangeKind,
    Format,
    Problem,
    ProblemKind,
    RecordedCompaction,
    RecordedRevision,
    RecordedTurn,
    Recording,
    TurnStatus,
)
from agentcore.transcripts.load import Source, detect, load_all, load_transcript

__all__ = [
    "ChangeKind",
    "Format",
    "Problem",
    "ProblemKind",
    "RecordedCompaction",
    "RecordedRevision",
    "RecordedTurn",
    "Recording",
    "Source",
    "TurnStatus",
    "detect",
    "load_all",
    "load_transcript",
]
