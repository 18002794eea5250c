from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from hermesweb.checkup import broker, database, worker


@never_cache
@require_GET
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers; nothing else is asked."""
    return HttpResponse("ok", content_type="text/plain")


@never_cache
@require_GET
def readyz(request: HttpRequest) -> JsonResponse:
    """200 when database, broker and worker are there, else 503; `doctor` tells more."""
    ready = {"database": database().ok, "broker": broker().ok}
    ready["worker"] = ready["broker"] and worker().ok
    return JsonResponse(ready, status=200 if all(ready.values()) else 503)
