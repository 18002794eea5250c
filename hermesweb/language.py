"""Pages speak the reader's language; what scripts read, and what is stored, is English."""

from __future__ import annotations

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

API = "/api/"


class PageLanguage(LocaleMiddleware):
    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith(API):
            translation.activate("en")
        else:
            super().process_request(request)

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """What the thread does next is for nobody in particular."""
        answer = super().process_response(request, response)
        translation.deactivate()
        return answer
