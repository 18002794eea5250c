from __future__ import annotations

import secrets
from enum import StrEnum

from django.conf import settings
from django.db import models

from agentcore.breakdown import Breakdown
from agentcore.directives import InstructionKind
from agentcore.events import EventKind, RunEnd
from agentcore.options import Automatic
from agentcore.pressure import TokenSource, Unit, WindowSource
from agentcore.tools import Mode
from hermesweb.models.columns import COUNTER_CHARS, NAME_CHARS, one_of, person, usd
from hermesweb.models.profiles import Profile, ProfileVersion


class SessionKind(StrEnum):
    RUN = "run"
    IMPORTED = "imported"
    FOLLOWED = "followed"
    FED = "fed"
    GATEWAY = "gateway"


class Status(StrEnum):
    IDLE = "idle"
    QUEUED = "queued"
    RUNNING = "running"
    COMPACTING = "compacting"
    WAITING = "waiting"
    STOPPING = "stopping"
    BLOCKED = "blocked"
    FAILED = "failed"
    FOLLOWING = "following"
    ARCHIVED = "archived"


class InstructionState(StrEnum):
    QUEUED = "queued"
    TAKEN = "taken"
    WITHDRAWN = "withdrawn"


def new_id() -> str:
    return secrets.token_hex(6)


class Gauge(models.Model):
    """What a list weighs and what that is measured against, at one moment. `bytes`, `chars` and
    `estimate` are of the messages; `breakdown` has the tool schemas too; `tokens` are those of the
    whole request, of which `unseen` were counted by the provider of a recording and are not in it:
    its system prompt and tools, and what the estimate is off by; `counter` names the tokenizer
    where they are exact; `window_model` is the model whose provider contradicted the window."""

    bytes = models.PositiveBigIntegerField(default=0)
    chars = models.PositiveBigIntegerField(default=0)
    estimate = models.PositiveBigIntegerField(default=0)
    tokens = models.PositiveBigIntegerField(default=0)
    unseen = models.PositiveBigIntegerField(default=0)
    tokens_are = one_of(TokenSource, default=TokenSource.ESTIMATE)
    counter = models.CharField(max_length=COUNTER_CHARS, blank=True)
    breakdown = models.JSONField(default=dict)
    used = models.PositiveBigIntegerField(default=0)
    limit = models.PositiveBigIntegerField(default=0)
    unit = one_of(Unit, default=Unit.TOKENS)
    window_tokens = models.PositiveBigIntegerField(default=0)
    window_from = one_of(WindowSource, default=WindowSource.ASSUMED)
    window_model = models.CharField(max_length=NAME_CHARS, blank=True)
    reserve = models.PositiveIntegerField(default=0)
    ratio = models.FloatField(default=1.0)

    class Meta:
        abstract = True

    @property
    def pressure(self) -> float:
        return self.used / self.limit if self.limit else 0.0

    @property
    def categories(self) -> Breakdown:
        return Breakdown(self.breakdown)


class AgentSession(Gauge):
    """One conversation. `profile` is the followed name; without it the session is detached and
    `profile_version` stays. `automatic` is empty where the profile decides. `compactions` counts
    the applied ones, `compaction_number` those that were given a number. A `hold` of automatic
    compaction ends by itself where as much as `hold_until` is used, in `unit`; the breaker is that
    of `summary_model`, the name of the model that summaries are asked of."""

    id = models.CharField(primary_key=True, max_length=60, default=new_id)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="sessions")
    kind = one_of(SessionKind, default=SessionKind.RUN)
    status = one_of(Status, default=Status.IDLE, db_index=True)
    title = models.CharField(max_length=NAME_CHARS, blank=True)
    workspace = models.TextField(blank=True)
    mode = one_of(Mode, default=Mode.GOAL)
    model = models.CharField(max_length=60)
    recording = models.ForeignKey("self", models.SET_NULL, null=True, related_name="+")
    predecessor = models.ForeignKey("self", models.SET_NULL, null=True, related_name="successors")
    parent = models.ForeignKey("self", models.SET_NULL, null=True, related_name="subagents")
    profile = models.ForeignKey(Profile, models.PROTECT, null=True)
    profile_version = models.ForeignKey(ProfileVersion, models.PROTECT)
    automatic = one_of(Automatic, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    changed_at = models.DateTimeField(auto_now_add=True, db_index=True)

    over_budget = models.BooleanField(default=False)
    hold = models.BooleanField(default=False)
    hold_until = models.PositiveBigIntegerField(default=0)
    thrash = models.BooleanField(default=False)
    # The first threshold is near, and that was told.
    near = models.BooleanField(default=False)
    summary_model = models.CharField(max_length=60, blank=True)
    breaker_failures = models.PositiveIntegerField(default=0)
    breaker_until = models.DateTimeField(null=True)
    stop_requested = models.BooleanField(default=False)
    run_open = models.BooleanField(default=False)
    run_end = one_of(RunEnd, blank=True, default="")
    run_reason = models.TextField(blank=True)
    # How that was said, where agentcore made it: agentcore.said.as_json.
    run_said = models.JSONField(default=dict, blank=True)

    seq = models.PositiveBigIntegerField(default=0)
    revision = models.PositiveIntegerField(default=0)
    last_number = models.PositiveIntegerField(default=0)
    messages_alive = models.PositiveIntegerField(default=0)
    turns = models.PositiveIntegerField(default=0)
    runs = models.PositiveIntegerField(default=0)
    compactions = models.PositiveIntegerField(default=0)
    compaction_number = models.PositiveIntegerField(default=0)
    pinned_bytes = models.PositiveBigIntegerField(default=0)
    spent = models.JSONField(default=dict)
    cost = usd(default=0)
    unpriced = models.PositiveIntegerField(default=0)
    # The last message whose facts were looked at for memory.
    distilled_to = models.PositiveIntegerField(default=0)
    # The last message that was counted exactly, or found to have no counter.
    counted_to = models.PositiveIntegerField(default=0)

    holder = models.CharField(max_length=60, blank=True)
    lease_ends = models.DateTimeField(null=True, db_index=True)
    fence = models.PositiveBigIntegerField(default=0)
    asked_at = models.DateTimeField(null=True)

    # False while an import is being stored: nobody sees it, and the sweep clears what was left.
    ready = models.BooleanField(default=True)
    source_format = models.CharField(max_length=40, blank=True)
    problems = models.JSONField(default=list)
    incomplete = models.BooleanField(default=False)

    class Meta:
        permissions = [("raw", "Can read and export what is said without masking")]

    def __str__(self) -> str:
        return self.title or self.id

    @property
    def state(self) -> str:
        return f"{self.revision}.{self.last_number}"

    @property
    def version_in_force(self) -> ProfileVersion:
        """What the next turn uses: the newest version of a followed profile. A recording keeps the
        one that its limit is from."""
        if self.profile and self.kind == SessionKind.RUN:
            return self.profile.current
        return self.profile_version


class Instruction(models.Model):
    """What a person wants of the list; the lease holder takes it at a border, in order of `id`.
    `options` are those of a compaction, or the messages and the revision that an act is on;
    `number` the message that it became; `ends_at`: until when an answer is waited for; `refusal`
    why it was not done."""

    session = models.ForeignKey(AgentSession, models.CASCADE, related_name="instructions")
    kind = one_of(InstructionKind)
    state = one_of(InstructionState, default=InstructionState.QUEUED)
    text = models.TextField(blank=True)
    options = models.JSONField(default=dict)
    by = person()
    at = models.DateTimeField(auto_now_add=True)
    taken_at = models.DateTimeField(null=True)
    ends_at = models.DateTimeField(null=True)
    number = models.PositiveIntegerField(null=True)
    refusal = models.TextField(blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["session", "state", "id"], name="instruction_queue"),
            models.Index(
                fields=["session"],
                condition=models.Q(kind=InstructionKind.ERASE, state=InstructionState.QUEUED),
                name="instruction_erasures",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}: {self.state}"


class SessionEvent(models.Model):
    """`seq` is gapless per session, in order of commit."""

    session = models.ForeignKey(AgentSession, models.CASCADE, related_name="events")
    seq = models.PositiveBigIntegerField()
    kind = one_of(EventKind)
    data = models.JSONField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "seq"], name="event_seq")]
        indexes = [
            models.Index(
                fields=["-at"],
                condition=models.Q(kind=EventKind.MEMORY_INJECTED),
                name="event_memory",
            )
        ]

    def __str__(self) -> str:
        return f"{self.seq} {self.kind}"
