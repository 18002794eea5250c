"""From the name of a model to what replies under that name."""

from __future__ import annotations

import os
from collections.abc import Sequence

from django.conf import settings

from agentcore.llm.base import ChatModel, Reply
from agentcore.llm.explorer import ExplorerModel
from agentcore.llm.replay import ReplayModel
from agentcore.messages import Role
from agentcore.pressure import Window, WindowSource, window_of
from agentcore.profile import Profile
from agentcore.said import Said
from agentcore.usage import Usage
from hermesweb import lives
from hermesweb.models import AgentSession, EndpointKind, ModelEndpoint, SessionKind

EXPLORER, REPLAY = "explorer", "replay"
# Models without a provider behind them: what they say is no summary.
OWN = (EXPLORER, REPLAY)
REPLAY_PACE = 0.4


class ModelUnavailable(Exception):
    """No model of that name, or its key is missing; says what to do."""


def names() -> list[str]:
    """What a new session may be given."""
    endpoints = ModelEndpoint.objects.order_by("tier", "name").values_list("name", flat=True)
    return [*OWN, *endpoints]


def at_hand() -> list[ModelEndpoint]:
    """Those with a provider behind them whose key is there."""
    return [row for row in ModelEndpoint.objects.order_by("tier", "name") if has_key(row)]


def check(name: str) -> None:
    """Raises ModelUnavailable."""
    if name not in OWN:
        _key(_endpoint(name))


def check_writer(name: str) -> None:
    """Raises ModelUnavailable for a model that writes no summaries."""
    if name in OWN:
        said = Said("{name} has no provider behind it: what it says is no summary", name=name)
        raise ModelUnavailable(said)
    check(name)


def given_window(name: str) -> int | None:
    """What an admin gave the endpoint, in tokens."""
    endpoint = ModelEndpoint.objects.filter(name=name).first()
    return endpoint.window if endpoint else None


def window_for(session: AgentSession, profile: Profile) -> Window:
    """The profile's window, else what an admin gave the endpoint, else the model table's; what a
    provider said of its model holds against them."""
    endpoint = ModelEndpoint.objects.filter(name=session.model).first()
    if endpoint is None:
        return profile.window_for(session.model).corrected(contradicted(session, session.model))
    window = window_of(endpoint.model, profile.window or endpoint.window, profile.assumed_window)
    return window.corrected(contradicted(session, endpoint.model))


def contradicted(session: AgentSession, model: str) -> Window | None:
    """The window that the provider of this very model named when it refused a request."""
    if session.window_from != WindowSource.CONTRADICTED or session.window_model != model:
        return None
    return Window(session.window_tokens, WindowSource.CONTRADICTED, model)


def model_name(session: AgentSession) -> str:
    """What the provider calls the session's model; of a recording, who answered last."""
    if session.kind != SessionKind.RUN:
        turn = session.stored_turns.order_by("-number").first()
        return turn.model if turn else ""
    endpoint = ModelEndpoint.objects.filter(name=session.model).first()
    return endpoint.model if endpoint else session.model


def chat_model(session: AgentSession) -> ChatModel:
    """Raises ModelUnavailable."""
    if session.model == EXPLORER:
        return ExplorerModel(settings.EXPLORER_PACE_MS / 1_000)
    if session.model == REPLAY:
        return ReplayModel(_recorded(session), pace=REPLAY_PACE)
    return model_of(_endpoint(session.model))


def named(name: str) -> ChatModel:
    """Raises ModelUnavailable."""
    return model_of(_endpoint(name))


def model_of(endpoint: ModelEndpoint) -> ChatModel:
    """Raises ModelUnavailable."""
    key = _key(endpoint)
    base_url = endpoint.base_url or None
    # The clients of the providers are slow to import, and most sessions need one of them at most.
    if endpoint.kind == EndpointKind.ANTHROPIC:
        from agentcore.llm.anthropic import AnthropicModel

        return AnthropicModel(endpoint.model, api_key=key, base_url=base_url)
    from agentcore.llm.openai import OpenAIModel

    return OpenAIModel(endpoint.model, api_key=key, base_url=base_url)


def has_key(endpoint: ModelEndpoint) -> bool:
    return not endpoint.key_variable or bool(os.environ.get(endpoint.key_variable))


def _endpoint(name: str) -> ModelEndpoint:
    endpoint = ModelEndpoint.objects.filter(name=name).first()
    if endpoint is None:
        known = ", ".join(names())
        said = Said("there is no model {name!r}: use one of {names}", name=name, names=known)
        raise ModelUnavailable(said)
    return endpoint


def _key(endpoint: ModelEndpoint) -> str:
    """A local endpoint needs none, but its client wants some text."""
    if not endpoint.key_variable:
        return "none"
    key = os.environ.get(endpoint.key_variable)
    if not key:
        said = Said(
            "the model {name} needs a key: set {variable} in the environment of web and worker, "
            "then start again",
            name=endpoint.name,
            variable=endpoint.key_variable,
        )
        raise ModelUnavailable(said)
    return key


def _recorded(session: AgentSession) -> Sequence[Reply]:
    if session.recording is None:
        said = Said("replay needs the recording that it gives: choose another model")
        raise ModelUnavailable(said)
    recording = session.recording
    usages = dict(recording.stored_turns.values_list("number", "usage"))
    replies = recording.messages.filter(role=Role.ASSISTANT).order_by("number")
    return [
        Reply(
            lives.message_of(row).value(),
            Usage(**usage) if (usage := usages.pop(row.turn, None)) else None,
        )
        for row in replies.select_related("body")
    ]
