"""Every error agentcore raises on purpose; each names the offending value and the way out."""

from __future__ import annotations

from agentcore.usage import Usage


class AgentcoreError(Exception):
    """Base of all errors below."""


class WireError(AgentcoreError):
    """A value that has no faithful wire form."""


class MessageError(AgentcoreError):
    """A message that is not one of the OpenAI chat format."""


class ProfileError(AgentcoreError):
    """A profile that contradicts itself; `field` names the first wrong one."""

    def __init__(self, text: str, field: str) -> None:
        super().__init__(text)
        self.field = field


class PlanError(AgentcoreError):
    """A plan that does not fit the list it is applied to."""


class StalePlan(PlanError):
    """The list was revised since the plan was computed."""


class InstructionChanged(AgentcoreError):
    """A queued instruction was edited or withdrawn before it became a message: poll again."""


class ModelError(AgentcoreError):
    """A model could not reply. `retryable` tells a passing fault from a final one; `usage` is what
    the provider billed for it, where it said so before it broke off; `over_pictures`: the refusal
    may be about the pictures of the request."""

    def __init__(
        self,
        text: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        usage: Usage | None = None,
        over_pictures: bool = False,
    ) -> None:
        super().__init__(text)
        self.retryable = retryable
        self.retry_after = retry_after
        self.usage = usage
        self.over_pictures = over_pictures


class ContextTooLong(ModelError):
    """The provider refused the request for its length; `window` in tokens where it said so."""

    def __init__(self, text: str, *, window: int | None = None) -> None:
        super().__init__(text)
        self.window = window


class CounterMissing(AgentcoreError):
    """The package that counts tokens exactly is not installed."""


class TranscriptError(AgentcoreError):
    """A file that no reader understands, or that its reader cannot use at all."""


class InputError(AgentcoreError):
    """An argument or option of a command that cannot be used."""


class ToolError(AgentcoreError):
    """A tool refused or failed; the text becomes the result that the model reads."""
