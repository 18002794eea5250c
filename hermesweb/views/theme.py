from __future__ import annotations

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseRedirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

THEMES = ("auto", "light", "dark")
ONE_YEAR = 365 * 24 * 3600


@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    choice = request.POST.get("theme", "")
    if choice not in THEMES:
        return HttpResponseBadRequest(f"Unknown theme {choice!r}: use {', '.join(THEMES)}.")
    response = HttpResponse(status=204) if "HX-Request" in request.headers else _back(request)
    response.set_cookie(
        "theme",
        choice,
        max_age=ONE_YEAR,
        secure=request.is_secure(),
        httponly=True,
        samesite="Lax",
    )
    return response


def _back(request: HttpRequest) -> HttpResponseRedirect:
    page = request.headers.get("Referer", "")
    ours = url_has_allowed_host_and_scheme(
        page, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return HttpResponseRedirect(page if ours else "/")
