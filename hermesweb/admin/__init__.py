"""What staff tunes and looks after; every change stands in the audit."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _

from hermesweb.admin.audit import AuditAdmin
from hermesweb.admin.endpoints import EndpointAdmin
from hermesweb.admin.profiles import ProfileAdmin
from hermesweb.admin.sessions import SessionAdmin
from hermesweb.admin.users import UserAdmin
from hermesweb.admin.webhooks import WebhookAdmin
from hermesweb.models import AgentSession, AuditEntry, ModelEndpoint, Profile, Webhook

admin.site.site_header = admin.site.site_title = "Hermesweb"
admin.site.index_title = _("Administration")
admin.site.register(Profile, ProfileAdmin)
admin.site.register(ModelEndpoint, EndpointAdmin)
admin.site.register(AgentSession, SessionAdmin)
admin.site.register(AuditEntry, AuditAdmin)
admin.site.register(Webhook, WebhookAdmin)
admin.site.unregister(User)
admin.site.register(User, UserAdmin)
