from __future__ import annotations

from django.contrib import admin
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from hermesweb.admin.staff import ReadOnly, StaffAdmin
from hermesweb.models import AuditEntry


class AuditAdmin(ReadOnly, StaffAdmin):
    list_display = ("at", "who", "action", "told_chain", "place")
    list_filter = ("action",)
    search_fields = ("chain", "who", "action")
    ordering = ("-at", "-place")
    date_hierarchy = "at"

    @admin.display(description=_("chain"), ordering="chain")
    def told_chain(self, entry: AuditEntry) -> str:
        return entry.chain or gettext("administration")
