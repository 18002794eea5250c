from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from hermesweb.views.theme import theme

urlpatterns = [
    path("admin/", admin.site.urls),
    path("sign-in/", LoginView.as_view(), name="login"),
    path("sign-out/", LogoutView.as_view(), name="logout"),
    path("theme/", theme, name="theme"),
]
