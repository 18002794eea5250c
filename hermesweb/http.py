from __future__ import annotations

from django.contrib.auth.models import User
from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails


class SignedIn(HttpRequest):
    """What the middlewares and `login_required` made of a request."""

    user: User
    htmx: HtmxDetails
