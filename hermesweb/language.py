"""Pages speak the reader's language; what scripts read is English."""

from __future__ import annotations

from django.http import HttpRequest
from django.middleware.locale import LocaleMiddleware
from django.utils import translation

API = "/api/"


class PageLanguage(LocaleMiddleware):
    def process_request(self, request: HttpRequest) -> None:
        if request.path_info.startswith(API):
            translation.activate("en")
        else:
            super().process_request(request)
