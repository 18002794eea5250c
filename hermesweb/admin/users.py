from __future__ import annotations

from typing import Any

from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.http import HttpRequest

from hermesweb import audit
from hermesweb.admin.staff import Audited


class UserAdmin(Audited, DjangoUserAdmin):
    """With Django's own permissions: a member of staff needs them to change users."""

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:
        response = super().user_change_password(request, id, form_url)
        if request.method == "POST" and response.status_code == 302:
            user = self.get_object(request, id)
            audit.write(request.user, "user_password_changed", new={"name": str(user)})
        return response
