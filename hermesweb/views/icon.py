from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.views.decorators.http import require_safe


@require_safe
def icon(request: HttpRequest) -> HttpResponse:
    """Browsers ask for it where an answer names no icon: a plain text, JSON, the admin."""
    return redirect(static("wing.svg"))
