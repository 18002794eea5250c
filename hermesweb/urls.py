from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.views import LogoutView
from django.urls import path

from hermesweb.views import health, sessions, sign_in
from hermesweb.views.theme import theme

urlpatterns = [
    path("", sessions.overview, name="overview"),
    path("sessions/new/", sessions.new, name="new_session"),
    path("accounts/login/", sign_in.password, name="login"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("sign-in/<str:token>/", sign_in.link, name="sign_in_link"),
    path("theme/", theme, name="theme"),
    path("admin/", admin.site.urls),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]
