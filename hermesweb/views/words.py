"""The words of the scripts in the reader's language; English ones stand in the scripts."""

from __future__ import annotations

from django.utils import timezone
from django.views.decorators.cache import cache_control
from django.views.decorators.http import last_modified
from django.views.i18n import JavaScriptCatalog

# The catalogue changes with the program, which is then started anew.
STARTED = timezone.now()

catalog = cache_control(no_cache=True)(
    last_modified(lambda request: STARTED)(JavaScriptCatalog.as_view())
)
