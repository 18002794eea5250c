from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import post_migrate

from hermesweb import environment
from hermesweb.presets import seed


class HermeswebConfig(AppConfig):
    name = "hermesweb"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        environment.hide()
        post_migrate.connect(seed, sender=self)
