from __future__ import annotations

import zlib

from django.db import models
from django.db.models import Q
from django.utils import timezone

from agentcore.breakdown import Mark
from agentcore.compaction.plan import Fate, Origin
from agentcore.events import EventKind
from agentcore.messages import Role, ToolStatus
from agentcore.pressure import TokenSource
from hermesweb.models.columns import COUNTER_CHARS, NAME_CHARS, one_of, person
from hermesweb.models.sessions import AgentSession

# A body longer than this is stored once, compressed, whoever refers to it.
INLINE_BYTES = 4_000


class Body(models.Model):
    """Text of over 4 kB, shared by all that refer to it; the last reference takes it along."""

    sha256 = models.CharField(primary_key=True, max_length=64)
    bytes = models.PositiveIntegerField()
    data = models.BinaryField()
    references = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return self.sha256[:12]

    @property
    def text(self) -> str:
        return zlib.decompress(self.data).decode("utf-8", "surrogatepass")


class StoredMessage(models.Model):
    """Never changed but for its flags, never deleted. `wire` is empty where `body` holds it;
    `captured` is a tool's whole output where the message keeps less; `categories` are bytes;
    `facts` is JSON text, None where they were not looked for. Of a tool result: `path` or
    `command` that its call named, `arguments` alike for calls with the same ones. `pin_head`: the
    commit that was checked out when a pin until a commit was set."""

    session = models.ForeignKey(AgentSession, models.CASCADE, related_name="messages")
    number = models.PositiveIntegerField()
    role = one_of(Role)
    wire = models.TextField(blank=True)
    body = models.ForeignKey(Body, models.PROTECT, null=True, related_name="+")
    preview = models.CharField(max_length=NAME_CHARS, blank=True)
    bytes = models.PositiveIntegerField()
    chars = models.PositiveIntegerField()
    tokens = models.PositiveIntegerField()
    exact = models.PositiveIntegerField(null=True)
    counter = models.CharField(max_length=COUNTER_CHARS, blank=True)
    categories = models.JSONField()
    mark = one_of(Mark, blank=True, default="")
    turn = models.PositiveIntegerField(default=0)
    tool = models.CharField(max_length=NAME_CHARS, blank=True)
    path = models.CharField(max_length=NAME_CHARS, blank=True)
    command = models.CharField(max_length=NAME_CHARS, blank=True)
    arguments = models.CharField(max_length=16, blank=True)
    status = one_of(ToolStatus, blank=True, default="")
    captured = models.ForeignKey(Body, models.PROTECT, null=True, related_name="+")
    original_bytes = models.PositiveBigIntegerField(null=True)
    kept_bytes = models.PositiveBigIntegerField(null=True)
    replaces = models.PositiveIntegerField(null=True)
    stands_for = models.JSONField(default=list)
    facts = models.TextField(null=True)
    at = models.DateTimeField(default=timezone.now)

    pinned = models.BooleanField(default=False)
    pin_reason = models.CharField(max_length=NAME_CHARS, blank=True)
    pin_until = models.CharField(max_length=NAME_CHARS, blank=True, default="session")
    pin_head = models.CharField(max_length=64, blank=True, default="")
    pinned_by = person()
    checkpoint = models.BooleanField(default=False)
    erased = models.BooleanField(default=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "number"], name="message_number")]
        indexes = [
            models.Index(
                fields=["session", "number"], condition=Q(pinned=True), name="message_pins"
            ),
            models.Index(
                fields=["session", "number"], condition=Q(checkpoint=True), name="message_marks"
            ),
            models.Index(
                fields=["session", "arguments", "number"],
                condition=~Q(arguments=""),
                name="message_calls",
            ),
            models.Index(fields=["session", "bytes", "number"], name="message_sizes"),
        ]

    def __str__(self) -> str:
        return f"message {self.number} of {self.session_id}"

    @property
    def counted(self) -> int:
        """Its tokens, exact where they were counted."""
        return self.tokens if self.exact is None else self.exact

    @property
    def tokens_are(self) -> TokenSource:
        return TokenSource.ESTIMATE if self.exact is None else TokenSource.EXACT

    @property
    def text(self) -> str:
        """The wire text, from where it lies."""
        return self.body.text if self.body else self.wire


class Life(models.Model):
    """A message was in the list from one revision to another, or still is. How it came (`origin`)
    is empty for what was appended or replaces a row; how it went is `fate`, by `ended_stage`."""

    session = models.ForeignKey(AgentSession, models.CASCADE, related_name="lives")
    message = models.ForeignKey(StoredMessage, models.CASCADE, related_name="lives")
    number = models.PositiveIntegerField()
    place = models.PositiveBigIntegerField()
    from_revision = models.PositiveIntegerField()
    to_revision = models.PositiveIntegerField(null=True)
    origin = one_of(Origin, blank=True, default="")
    begun_stage = models.CharField(max_length=40, blank=True)
    fate = one_of(Fate, blank=True, default="")
    ended_stage = models.CharField(max_length=40, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["session", "to_revision", "place", "number"], name="life_list"),
            models.Index(fields=["session", "from_revision"], name="life_begun"),
        ]

    def __str__(self) -> str:
        return f"{self.number} from {self.from_revision} to {self.to_revision}"


class Revision(models.Model):
    """One change of the list other than appending. `ended` and `begun` count lives."""

    session = models.ForeignKey(AgentSession, models.CASCADE, related_name="revisions")
    number = models.PositiveIntegerField()
    cause = one_of(EventKind)
    last_number = models.PositiveIntegerField()
    ended = models.PositiveIntegerField()
    begun = models.PositiveIntegerField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["session", "number"], name="revision_number")
        ]

    def __str__(self) -> str:
        return f"revision {self.number} of {self.session_id}: {self.cause}"
