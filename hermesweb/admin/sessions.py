from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from hermesweb import acts
from hermesweb.admin.staff import ReadOnly, StaffAdmin
from hermesweb.models import AgentSession
from hermesweb.templatetags.units import retold


class SessionAdmin(ReadOnly, StaffAdmin):
    """Looked at and deleted; all else is done on the session's own page."""

    list_display = ("title_or_id", "owner", "kind", "status", "turns", "compactions", "changed_at")
    list_filter = ("status", "kind")
    search_fields = ("id", "title", "workspace", "owner__username")
    list_select_related = ("owner",)
    ordering = ("-changed_at",)
    fields = (
        *("page", "owner", "kind", "status", "title", "workspace", "mode", "model"),
        *("profile_version", "turns", "compactions", "messages_alive", "bytes", "used", "limit"),
        *("unit", "run_end", "reason", "holder", "created_at", "changed_at"),
    )
    readonly_fields = fields

    @admin.display(description=_("session"), ordering="title")
    def title_or_id(self, session: AgentSession) -> str:
        return str(session)

    @admin.display(description=_("page"))
    def page(self, session: AgentSession) -> str:
        address = reverse("session", args=[session.pk])
        return format_html('<a href="{}">{}</a>', address, session)

    @admin.display(description=_("run reason"))
    def reason(self, session: AgentSession) -> str:
        return retold(session.run_reason, session.run_said)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_view_permission(request)

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """By count: a session may have any number of rows."""
        counts = {"messages": sum(session.last_number for session in objs)}
        return [str(session) for session in objs], counts, set(), []

    def delete_model(self, request: Any, obj: AgentSession) -> None:
        acts.delete(request.user, obj)

    def delete_queryset(self, request: Any, queryset: Any) -> None:
        with transaction.atomic():
            for session in queryset:
                acts.delete(request.user, session)

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> Any:
        try:
            return super().delete_view(request, object_id, extra_context)
        except acts.Refused as refusal:
            return self._refused(request, refusal)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        try:
            return super().changelist_view(request, extra_context)
        except acts.Refused as refusal:
            return self._refused(request, refusal)

    def _refused(self, request: HttpRequest, refusal: acts.Refused) -> HttpResponse:
        messages.error(request, gettext("Nothing was deleted: %(reason)s.") % {"reason": refusal})
        return redirect("admin:hermesweb_agentsession_changelist")
