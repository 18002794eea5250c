from __future__ import annotations

from django.http import HttpRequest


def csp_nonce(request: HttpRequest) -> dict[str, object]:
    """The name under which `{% htmx_script %}` and Django 6 look for the nonce."""
    return {"csp_nonce": getattr(request, "csp_nonce", "")}
