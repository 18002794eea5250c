from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.views import LoginView
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from hermesweb.sign_in import redeem

# Failed tries from one address within WINDOW seconds before it has to wait.
TRIES = 10
WINDOW = 60

_login_page = LoginView.as_view(redirect_authenticated_user=True)


@never_cache
@require_http_methods(["GET", "POST"])
def password(request: HttpRequest) -> HttpResponseBase:
    if request.method == "POST" and _tries(request) >= TRIES:
        return _refused()
    response = _login_page(request)
    # The form answers 200 when it comes back with an error, a redirect when it lets in.
    if request.method == "POST" and response.status_code == 200:
        _count(request)
    return response


@never_cache
@require_GET
def link(request: HttpRequest, token: str) -> HttpResponse:
    if _tries(request) >= TRIES:
        return _refused()
    user = redeem(token)
    if user is None:
        _count(request)
        messages.error(
            request,
            _("This sign-in link was used or has ended. Run ./run again: it prints a new one."),
        )
        return redirect("login")
    login(request, user)
    return redirect("/")


def _refused() -> HttpResponse:
    return HttpResponse(
        _("Too many tries. Wait a minute, then try again."),
        status=429,
        content_type="text/plain; charset=utf-8",
        headers={"Retry-After": str(WINDOW)},
    )


def _tries(request: HttpRequest) -> int:
    return cache.get(_key(request), 0)


def _count(request: HttpRequest) -> None:
    cache.add(_key(request), 0, WINDOW)
    cache.incr(_key(request))


def _key(request: HttpRequest) -> str:
    return f"sign-in-tries:{request.META['REMOTE_ADDR']}"
