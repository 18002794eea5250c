"""Every failure has one shape: `{"error": {"code", "message", "field"?}}`."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import DataError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from hermesweb.acts import Invalid, Refused

logger = logging.getLogger(__name__)


def failure(status: int, message: str, *, code: str = "", field: str | None = None) -> JsonResponse:
    """`code` is the name of the status where none is given."""
    error: dict[str, Any] = {"code": code or HTTPStatus(status).name.lower(), "message": message}
    if field:
        error["field"] = field
    return JsonResponse({"error": error}, status=status)


def add_handlers(api: NinjaAPI) -> None:
    api.add_exception_handler(Invalid, _invalid)
    api.add_exception_handler(Refused, _refused)
    api.add_exception_handler(ValidationError, _wrong_shape)
    api.add_exception_handler(HttpError, _http_error)
    api.add_exception_handler(Http404, _absent)
    api.add_exception_handler(PermissionDenied, _denied)
    api.add_exception_handler(RequestDataTooBig, _too_big)
    api.add_exception_handler(DataError, _unstorable)
    api.add_exception_handler(UnicodeEncodeError, _unstorable)
    api.add_exception_handler(OperationalError, _out_of_order)


def _invalid(request: HttpRequest, error: Any) -> HttpResponse:
    return failure(422, str(error), code="invalid", field=error.field)


def _refused(request: HttpRequest, error: Any) -> HttpResponse:
    return failure(409, str(error), code=error.code)


def _wrong_shape(request: HttpRequest, error: Any) -> HttpResponse:
    """The first thing that is wrong: of where it stands, all but `body` and the argument's name."""
    first = error.errors[0]
    source, *place = [str(part) for part in first["loc"]]
    field = ".".join(place[1:] if source in ("body", "query") and len(place) > 1 else place)
    return failure(422, f"{field}: {first['msg']}", code="invalid", field=field)


def _http_error(request: HttpRequest, error: Any) -> HttpResponse:
    if error.status_code == HTTPStatus.BAD_REQUEST:
        return failure(400, "The body is not JSON: send one JSON object.", code="not_json")
    message = {
        401: "Sign in, or send `Authorization: Bearer TOKEN`.",
        403: "A browser's request needs its X-CSRFToken header.",
    }
    return failure(error.status_code, message.get(error.status_code, error.message))


def _absent(request: HttpRequest, error: Any) -> HttpResponse:
    return failure(404, str(error) or "There is nothing here.")


def _denied(request: HttpRequest, error: Any) -> HttpResponse:
    return failure(403, str(error))


def _too_big(request: HttpRequest, error: Any) -> HttpResponse:
    return failure(413, "The body is too large.", code="too_large")


def _unstorable(request: HttpRequest, error: Any) -> HttpResponse:
    """PostgreSQL holds no NUL in text, and looks for none; half a surrogate pair has no bytes."""
    return failure(422, "A text holds a character that cannot be stored.", code="invalid")


def _out_of_order(request: HttpRequest, error: Any) -> HttpResponse:
    """Full, read-only, locked for too long or not to be reached."""
    logger.error("%s %s failed", request.method, request.path, exc_info=error)
    return failure(
        503,
        "The database did not take this, nothing was stored: look whether its disk is full or "
        "read-only, and try again.",
        code="database",
    )
