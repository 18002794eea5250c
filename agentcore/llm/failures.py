"""What a provider's refusal means for the loop: try again, shorten, or stop."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime

from agentcore.errors import ContextTooLong, ModelError
from agentcore.said import Said

# Seconds. Who is told to come back later than that is told so, instead of a run that waits.
LONGEST_WAIT = 600.0
# Servers without keys are given a word that no error text should lose.
MIN_KEY_CHARS = 8
_MAX_TEXT = 500
_RETRYABLE = frozenset({408, 409, 425, 429})
_EMPTY_PURSE = re.compile(r"insufficient_quota|billing|credit balance", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context_length_exceeded|context (?:length|window|size|limit)|prompt is too long"
    r"|too many (?:input )?tokens|input is too long|reduce the length|maximum .{0,20}tokens",
    re.IGNORECASE,
)
# What servers say whose model reads text only, or that cannot read one of the pictures.
_PICTURES = re.compile(
    r"image|picture|vision|multi-?modal|media|content (?:must|should) be a string", re.IGNORECASE
)
_FIGURE = r"(\d[\d,]{2,14})(?![\d,])"
_WINDOW = re.compile(rf">\s*{_FIGURE}|(?:context|maximum)\D{{0,40}}?{_FIGURE}", re.IGNORECASE)
_WAY_OUT = {
    401: Said("check the key of this endpoint"),
    403: Said("check what the key of this endpoint may use"),
    404: Said("check the model's name and the endpoint's base URL"),
    429: Said("wait, or use another endpoint"),
}


def refused(
    name: str, status: int, text: str, *, headers: Mapping[str, str], key: str
) -> ModelError:
    """The error for an answer of 4xx or 5xx. `text` is the provider's own, code included; `key`
    is taken out of it."""
    if len(key) >= MIN_KEY_CHARS:
        text = text.replace(key, "[key]")
    if status in (400, 413, 422) and _TOO_LONG.search(text):
        said = Said("{name} refused the length of the request: {text}", name=name, text=_clip(text))
        return ContextTooLong(said, window=window_of(text))
    wait = retry_after(headers) or 0.0
    broke = _EMPTY_PURSE.search(text) is not None
    way_out = Said("add credit, or use another endpoint") if broke else _WAY_OUT.get(status)
    return ModelError(
        _advised(
            Said(
                "{name} refused the request ({status}): {text}",
                name=name,
                status=status,
                text=_clip(text),
            ),
            way_out,
        ),
        retryable=(status in _RETRYABLE or status >= 500) and not broke and wait <= LONGEST_WAIT,
        retry_after=wait or None,
        over_pictures=status == 413
        or (status in (400, 404, 415, 422) and _PICTURES.search(text) is not None),
    )


def unreachable(name: str, base_url: str, reason: str) -> ModelError:
    said = Said(
        "{name} at {address} broke off or cannot be reached ({reason}); "
        "check the base URL and the network",
        name=name,
        address=base_url,
        reason=_clip(reason),
    )
    return ModelError(said, retryable=True)


@contextmanager
def no_chat(name: str) -> Iterator[None]:
    """Around the reading of what an SDK passes on unchecked."""
    try:
        yield
    except (AttributeError, TypeError) as error:
        said = Said(
            "{name} sent a piece that is no part of a chat completion ({reason}); "
            "check the base URL",
            name=name,
            reason=_clip(str(error)),
        )
        raise ModelError(said, retryable=True) from error


def unfinished(name: str) -> ModelError:
    said = Said("{name} ended its stream before the answer was complete", name=name)
    return ModelError(said, retryable=True)


def said_nothing(name: str, finish: str | None) -> ModelError:
    """Neither text nor a call. Final where the provider names a reason that would hold again."""
    final = finish in ("length", "max_tokens", "content_filter", "refusal")
    way_out = Said("raise max_tokens") if finish in ("length", "max_tokens") else None
    said = Said("{name} gave an empty answer (finish: {finish})", name=name, finish=str(finish))
    return ModelError(_advised(said, way_out), retryable=not final)


def window_of(text: str) -> int | None:
    """The window in tokens that a length error names, if it does."""
    found = _WINDOW.search(text)
    return int((found[1] or found[2]).replace(",", "")) or None if found else None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait. A date counts from the answer's own Date, so that no clock is needed."""
    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        until, since = parsedate_to_datetime(value), parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (until - since).total_seconds())
    except (ValueError, TypeError):
        return None


def _advised(said: Said, way_out: Said | None) -> Said:
    return Said("{text}; {way_out}", text=said, way_out=way_out) if way_out else said


def _clip(text: str) -> str:
    return text if len(text) <= _MAX_TEXT else text[:_MAX_TEXT] + "…"
