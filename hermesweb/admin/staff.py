from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.forms import ModelForm
from django.http import HttpRequest

from hermesweb import audit


class StaffAdmin(admin.ModelAdmin):
    """Staff may do here whatever the page offers at all; no further permission is needed."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.is_active and request.user.is_staff

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_view_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_view_permission(request)


class ReadOnly:
    """Rows are looked at, and nothing else; stands in front of an admin."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class Audited:
    """Writes what was changed to the admin chain; stands in front of an admin."""

    def save_related(self, request: Any, form: Any, formsets: Any, change: bool) -> None:
        super().save_related(request, form, formsets, change)  # type: ignore[misc]
        row = form.instance
        old = _values(form, form.initial) if change else None
        new = {"name": str(row), **_values(form, form.cleaned_data)}
        audit.write(request.user, _action(row, "changed" if change else "added"), old=old, new=new)

    def delete_model(self, request: Any, obj: Model) -> None:
        audit.write(request.user, _action(obj, "deleted"), old={"name": str(obj)})
        super().delete_model(request, obj)  # type: ignore[misc]

    def delete_queryset(self, request: Any, queryset: Any) -> None:
        for row in queryset:
            self.delete_model(request, row)


def _action(row: Model, what: str) -> str:
    return f"{row._meta.model_name}_{what}"


def _values(form: ModelForm, source: Any) -> dict[str, Any]:
    """Of the fields that were changed; secrets are named, not told."""
    return {
        name: "***" if "password" in name else _plain(source.get(name))
        for name in form.changed_data
    }


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, Iterable) and not isinstance(value, Decimal):
        return [str(one) for one in value]
    return str(value)
