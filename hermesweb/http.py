from __future__ import annotations

from django.contrib.auth.models import User
from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails


class Request(HttpRequest):
    """What a view behind `login_required` is given, for the type checker."""

    user: User
    htmx: HtmxDetails
