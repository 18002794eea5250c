from __future__ import annotations

from django.db import models
from django.utils import timezone

from agentcore.compaction.result import CompactionState, Failure, Trigger
from agentcore.events import BreakReason
from agentcore.pressure import Unit
from hermesweb.models.columns import NAME_CHARS, ROUTED_CHARS, one_of, person, usd
from hermesweb.models.profiles import ProfileVersion
from hermesweb.models.sessions import AgentSession, Gauge, Instruction, new_id


class StoredTurn(Gauge):
    """`usage` is what the provider reported of this turn's request, or None; `request_estimate` the
    tokens that were expected of it, `requested_model` whom it was sent to, `routed` why that is not
    the session's own, `routed_said` how that was made: agentcore.said.as_json. `cost` is USD by the
    `prices` then in force, None where one is missing. `schemas` tells tool schemas apart,
    `break_number` is the message that broke the prefix. `action` is the last stage that ran after
    the turn, `after` the bytes then."""

    session = models.ForeignKey(AgentSession, models.CASCADE, related_name="stored_turns")
    number = models.PositiveIntegerField()
    run = models.PositiveIntegerField(default=0)
    status = models.CharField(max_length=24, blank=True)
    requested_revision = models.PositiveIntegerField()
    requested_number = models.PositiveIntegerField()
    ended_revision = models.PositiveIntegerField()
    ended_number = models.PositiveIntegerField()
    usage = models.JSONField(null=True)
    requested_model = models.CharField(max_length=NAME_CHARS, blank=True)
    routed = models.CharField(max_length=ROUTED_CHARS, blank=True, default="")
    routed_said = models.JSONField(default=dict)
    request_estimate = models.PositiveBigIntegerField(default=0)
    request_bytes = models.PositiveBigIntegerField(default=0)
    schemas = models.CharField(max_length=16, blank=True)
    stable_prefix = models.PositiveBigIntegerField(default=0)
    break_reason = one_of(BreakReason, blank=True, default="")
    break_number = models.PositiveIntegerField(null=True)
    prices = models.JSONField(default=dict)
    cost = usd(null=True)
    action = models.CharField(max_length=40, blank=True)
    after = models.PositiveBigIntegerField(null=True)
    seconds = models.FloatField(default=0)
    model = models.CharField(max_length=NAME_CHARS, blank=True)
    profile_version = models.ForeignKey(ProfileVersion, models.PROTECT, null=True)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "number"], name="turn_number")]
        indexes = [
            models.Index(fields=["session", "requested_revision", "number"], name="turn_requested")
        ]

    def __str__(self) -> str:
        return f"turn {self.number} of {self.session_id}"


class Compaction(models.Model):
    """`before`, `after` are bytes of the list, `used_before`, `used_after` are in `unit`. What
    became of each message is in the lives that `revision` ended and begun. `left_out` counts older
    messages that had no room in what a summary was made from; `usage` are its tokens, `cost` is in
    USD and None where it is not known. `hooks` tells what each did that did something, `said` how
    `detail` was made: agentcore.said.as_json."""

    session = models.ForeignKey(AgentSession, models.CASCADE, related_name="stored_compactions")
    number = models.PositiveIntegerField()
    state = one_of(CompactionState)
    trigger = one_of(Trigger)
    by = person()
    instruction = models.OneToOneField(Instruction, models.SET_NULL, null=True)
    options = models.JSONField(default=dict)
    turn = models.PositiveIntegerField(default=0)
    revision = models.PositiveIntegerField(null=True)
    before = models.PositiveBigIntegerField(null=True)
    after = models.PositiveBigIntegerField(null=True)
    breakdown_before = models.JSONField(default=dict)
    breakdown_after = models.JSONField(default=dict)
    used_before = models.PositiveBigIntegerField(null=True)
    used_after = models.PositiveBigIntegerField(null=True)
    limit = models.PositiveBigIntegerField(null=True)
    unit = one_of(Unit, blank=True, default="")
    stages = models.JSONField(default=list)
    checks = models.JSONField(default=list)
    survival = models.JSONField(default=dict)
    left_out = models.PositiveIntegerField(default=0)
    failure = one_of(Failure, blank=True, default="")
    detail = models.TextField(blank=True)
    said = models.JSONField(default=dict)
    model = models.CharField(max_length=NAME_CHARS, blank=True)
    usage = models.JSONField(null=True)
    cost = usd(null=True)
    seconds = models.FloatField(null=True)
    hooks = models.JSONField(default=list)
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "number"], name="compaction_number")
        ]

    def __str__(self) -> str:
        return f"compaction {self.number} of {self.session_id}: {self.state}"


class Preview(models.Model):
    """A plan that was computed and shown, to be applied exactly as it is."""

    id = models.CharField(primary_key=True, max_length=60, default=new_id)
    session = models.ForeignKey(AgentSession, models.CASCADE, related_name="previews")
    by = person()
    revision = models.PositiveIntegerField()
    last_number = models.PositiveIntegerField()
    options = models.JSONField(default=dict)
    plan = models.TextField()
    ends_at = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"preview {self.id} of {self.session_id}"
