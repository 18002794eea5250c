from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import admin, messages
from django.db.models import JSONField, Max, Window
from django.db.models.functions import Lag
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import mark_safe
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from hermesweb import acts, versions
from hermesweb.admin.profile_form import (
    GROUPS,
    STAGE_ROWS,
    TOP,
    ProfileForm,
    flat,
    group_fields,
    stage_fields,
)
from hermesweb.admin.staff import ReadOnly, StaffAdmin
from hermesweb.labels import words
from hermesweb.models import Profile, ProfileVersion
from hermesweb.sentences import told


class VersionInline(ReadOnly, admin.TabularInline):
    model = ProfileVersion
    fields = readonly_fields = ("number", "by", "at", "changed")
    ordering = ("-number",)
    extra = 0
    verbose_name_plural = _("versions")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True

    def get_queryset(self, request: HttpRequest) -> Any:
        """Each with the values before it."""
        lag = Lag("values", output_field=JSONField())
        before = Window(lag, partition_by="profile", order_by="number")
        return super().get_queryset(request).annotate(before=before)

    @admin.display(description=_("changed"))
    def changed(self, version: Any) -> str:
        if version.before is None:
            return gettext("the first")
        old, new = flat(version.before), flat(version.values)
        names = [name for name in (new | old) if new.get(name) != old.get(name)]
        rows = ((name, old.get(name, "none"), new.get(name, "none")) for name in names)
        return format_html_join(mark_safe("<br>"), "{}: {} → {}", rows)


class ProfileAdmin(StaffAdmin):
    """Saving makes a version; sessions that follow the name take it up at their next border."""

    form = ProfileForm
    inlines = (VersionInline,)
    list_display = ("name", "version", "last_changed")
    ordering = ("name",)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        _tell_faults(request, versions.current())
        return super().changelist_view(request, extra_context)

    def render_change_form(self, request: Any, context: Any, *args: Any, **kwargs: Any) -> Any:
        if request.method == "GET" and context["original"]:
            _tell_faults(request, [context["original"].current])
        return super().render_change_form(request, context, *args, **kwargs)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> Any:
        rows = super().get_queryset(request)
        return rows.annotate(newest=Max("versions__number"), newest_at=Max("versions__at"))

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("name",) if obj else ()

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        first = ["name", *TOP, "accept_warnings"]
        stages = [
            (_stage(row), {"fields": stage_fields(row), "classes": ["collapse"] * (row > 0)})
            for row in range(STAGE_ROWS)
        ]
        groups = [
            (capfirst(words(group)), {"fields": group_fields(group), "classes": ["collapse"]})
            for group in GROUPS
        ]
        return [(None, {"fields": first}), *stages, *groups]

    def get_inlines(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.inlines if obj else ()

    def save_model(self, request: Any, obj: Profile, form: Any, change: bool) -> None:
        name = obj.name if change else form.cleaned_data["name"]
        version = acts.save_profile(request.user, name, form.values, accept_warnings=True)
        obj.pk = version.profile_id

    @admin.display(description=_("version"), ordering="newest")
    def version(self, profile: Any) -> int:
        return int(profile.newest)

    @admin.display(description=_("changed"), ordering="newest_at")
    def last_changed(self, profile: Any) -> Any:
        return profile.newest_at


def _tell_faults(request: HttpRequest, newest: Iterable[ProfileVersion]) -> None:
    for version in newest:
        if version.fault:
            text = gettext("%(version)s is refused, and no run uses it: %(fault)s. Save it anew.")
            messages.warning(request, text % {"version": version, "fault": told(version.fault)})


def _stage(row: int) -> str:
    return gettext("Stage %(number)s") % {"number": row + 1}
