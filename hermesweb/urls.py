from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.views import LogoutView
from django.urls import path

from hermesweb import api
from hermesweb.views import (
    compactions,
    edits,
    health,
    imports,
    ledger,
    lifetimes,
    memory,
    messages,
    rollup,
    session,
    sessions,
    sign_in,
)
from hermesweb.views.theme import theme

urlpatterns = [
    path("", sessions.overview, name="overview"),
    path("sessions/new/", sessions.new, name="new_session"),
    path("sessions/<str:id>/row/", sessions.row, name="session_row"),
    path("sessions/<str:id>/", session.page, name="session"),
    path("sessions/<str:id>/live/", session.live, name="session_live"),
    path("sessions/<str:id>/chart.json", session.chart_json, name="chart"),
    path("sessions/<str:id>/turns.json", session.turns_json, name="turns_json"),
    path("sessions/<str:id>/turns.csv", session.turns_csv, name="turns_csv"),
    path("sessions/<str:id>/ledger.json", ledger.ledger_json, name="ledger_json"),
    path("sessions/<str:id>/ledger.csv", ledger.ledger_csv, name="ledger_csv"),
    path("sessions/<str:id>/rollup/", rollup.page, name="rollup"),
    path("sessions/<str:id>/rollup.json", rollup.as_json, name="rollup_json"),
    path("sessions/<str:id>/rollup.csv", rollup.as_csv, name="rollup_csv"),
    path("sessions/<str:id>/lifetimes/", lifetimes.page, name="lifetimes"),
    path("sessions/<str:id>/lifetimes.json", lifetimes.as_json, name="lifetimes_json"),
    path("sessions/<str:id>/lifetimes.csv", lifetimes.as_csv, name="lifetimes_csv"),
    path("sessions/<str:id>/stop", session.stop, name="session_stop"),
    path("sessions/<str:id>/resume", session.resume, name="session_resume"),
    path("sessions/<str:id>/instructions", session.send, name="instructions"),
    path(
        "sessions/<str:id>/instructions/<int:instruction>/withdraw",
        session.withdraw,
        name="instruction_withdraw",
    ),
    path("sessions/<str:id>/messages/", messages.listing, name="messages"),
    path("sessions/<str:id>/messages/search/", messages.search, name="messages_search"),
    path("sessions/<str:id>/messages/<int:number>/", messages.message, name="message"),
    path("sessions/<str:id>/messages/<int:number>/pin", messages.pin, name="message_pin"),
    path("sessions/<str:id>/messages/<int:number>/unpin", messages.unpin, name="message_unpin"),
    path("sessions/<str:id>/compactions", session.compact, name="session_compact"),
    path("sessions/<str:id>/compactions/<int:number>/", compactions.page, name="compaction"),
    path("sessions/<str:id>/compactions/<int:number>/undo", edits.undo, name="compaction_undo"),
    path("sessions/<str:id>/messages/<int:number>/restore", edits.restore, name="message_restore"),
    path("sessions/<str:id>/messages/<int:number>/exclude", edits.exclude, name="message_exclude"),
    path("sessions/<str:id>/forks", edits.fork, name="session_fork"),
    path("sessions/<str:id>/new_topic", edits.new_topic, name="session_new_topic"),
    path(
        "sessions/<str:id>/compactions/<int:number>/diff.json",
        compactions.diff_json,
        name="compaction_diff",
    ),
    path("memory/", memory.page, name="memory"),
    path("memory/<int:id>/", memory.entry, name="memory_entry"),
    path("memory/<int:id>/delete", memory.forget, name="memory_delete"),
    path("imports/new/", imports.new, name="import"),
    path("imports/<str:id>/", imports.imported, name="imported"),
    path("accounts/login/", sign_in.password, name="login"),
    path("accounts/logout/", LogoutView.as_view(), name="logout"),
    path("sign-in/<str:token>/", sign_in.link, name="sign_in_link"),
    path("theme/", theme, name="theme"),
    path("api/v1/", api.urls),
    path("admin/", admin.site.urls),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]
