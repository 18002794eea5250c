"""The tables. Wire text and bodies hold what came, byte for byte; JSON columns small facts of
our own."""

from __future__ import annotations

from hermesweb.models.messages import INLINE_BYTES, Body, Life, Revision, StoredMessage
from hermesweb.models.names import name
from hermesweb.models.people import AuditEntry, MemoryEntry, SignInLink, UserToken
from hermesweb.models.profiles import EndpointKind, ModelEndpoint, Profile, ProfileVersion
from hermesweb.models.sessions import (
    AgentSession,
    Instruction,
    InstructionState,
    SessionEvent,
    SessionKind,
    Status,
)
from hermesweb.models.turns import Compaction, Preview, StoredTurn
from hermesweb.models.webhooks import Delivery, DeliveryState, Webhook

__all__ = [
    "AgentSession",
    "AuditEntry",
    "Body",
    "Compaction",
    "Delivery",
    "DeliveryState",
    "EndpointKind",
    "INLINE_BYTES",
    "Instruction",
    "InstructionState",
    "Life",
    "MemoryEntry",
    "ModelEndpoint",
    "Preview",
    "Profile",
    "ProfileVersion",
    "Revision",
    "SessionEvent",
    "SessionKind",
    "SignInLink",
    "Status",
    "StoredMessage",
    "StoredTurn",
    "UserToken",
    "Webhook",
]

for _model in (AgentSession, AuditEntry, Delivery, ModelEndpoint, Profile, ProfileVersion, Webhook):
    name(_model)
