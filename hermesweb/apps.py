from __future__ import annotations

from django.apps import AppConfig


class HermeswebConfig(AppConfig):
    name = "hermesweb"
    default_auto_field = "django.db.models.BigAutoField"
