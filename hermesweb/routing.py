from __future__ import annotations

from typing import Any

from django.urls import path, re_path

from hermesweb.consumers import NowhereConsumer, OverviewConsumer, SessionConsumer

websocket_urlpatterns: list[Any] = [
    path("ws/sessions/<str:session_id>/", SessionConsumer.as_asgi()),
    path("ws/overview/", OverviewConsumer.as_asgi()),
    re_path("", NowhereConsumer.as_asgi()),
]
