"""The JSON API under /api/v1/: thin calls of what the pages use too."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any, TypeAlias

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI
from ninja.security import HttpBearer, SessionAuth

from hermesweb.api import (
    approvals,
    bulk,
    compactions,
    exports,
    forks,
    history,
    imports,
    instructions,
    messages,
    previews,
    profiles,
    sessions,
    webhooks,
)
from hermesweb.api.errors import add_handlers, failure
from hermesweb.sign_in import user_of_token

View: TypeAlias = Callable[..., HttpResponse]


class Token(HttpBearer):
    """`Authorization: Bearer TOKEN`."""

    def authenticate(self, request: HttpRequest, token: str) -> User | None:
        user = user_of_token(token)
        if user:
            request.user = user
        return user


class Browser(SessionAuth):
    """Who is signed in to the pages; what changes something needs the CSRF header."""

    def _get_key(self, request: HttpRequest) -> str | None:
        return super()._get_key(request) if request.user.is_authenticated else None


SIGN_INS = (Token(), Browser())


def for_the_signed_in(view: View) -> View:
    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        if not any(sign_in(request) for sign_in in SIGN_INS):
            return failure(401, "Sign in, or send `Authorization: Bearer TOKEN`.")
        return view(request, *args, **options)

    return checked


def verbs_told(view: View) -> View:
    """The refusal of a verb in the shape of all failures."""

    @wraps(view)
    def told(request: HttpRequest, *args: Any, **options: Any) -> HttpResponse:
        response = view(request, *args, **options)
        if response.status_code != HTTPStatus.METHOD_NOT_ALLOWED:
            return response
        allowed = response.headers["Allow"]
        refusal = failure(405, f"{request.method} is not for this path: use {allowed}.")
        refusal.headers["Allow"] = allowed
        return refusal

    return told


@csrf_exempt
def nothing(request: HttpRequest, rest: str = "") -> HttpResponse:
    return failure(404, "There is no such call; openapi.json names them all.")


api = NinjaAPI(
    title="Hermesweb",
    version="1",
    auth=SIGN_INS,
    docs_url=None,
    docs_decorator=for_the_signed_in,
)
add_handlers(api)
for noun in (
    *(sessions, instructions, approvals, messages, bulk, compactions, previews, forks, history),
    *(exports, imports, profiles, webhooks),
):
    api.add_router("", noun.router)

_patterns, _app, _namespace = api.urls
for _pattern in _patterns:
    assert _pattern.callback is not None
    _pattern.callback = verbs_told(_pattern.callback)
urls = ([*_patterns, path("<path:rest>", nothing)], _app, _namespace)
