"""What people do to a session. Whether they may is asked before (`access`).

Each act is audited and told as an event; what changes the list waits in the queue for a border.
"""

from __future__ import annotations

from hermesweb.acts.approving import answer, refuse_overdue
from hermesweb.acts.changing import change
from hermesweb.acts.creation import create
from hermesweb.acts.deletion import delete
from hermesweb.acts.edits import exclude, new_topic, restore, undo
from hermesweb.acts.erasure import erase
from hermesweb.acts.errors import Invalid, Refused
from hermesweb.acts.flags import (
    archive,
    change_automatic,
    change_mode,
    change_profile,
    rename,
)
from hermesweb.acts.forks import fork
from hermesweb.acts.memory import correct, forget, remember
from hermesweb.acts.pinning import checkpoint, end_pins, floor, pin, unpin
from hermesweb.acts.previews import (
    apply_preview,
    ask_summary,
    found_preview,
    options_of,
    plan_of,
    preview,
    preview_in_force,
    written_of,
)
from hermesweb.acts.profiles import save_profile
from hermesweb.acts.queue import compact_now, edit, resume, send, stop, withdraw
from hermesweb.acts.raw import read_raw
from hermesweb.acts.webhooks import (
    add_webhook,
    change_webhook,
    check_room,
    check_webhook,
    delete_webhook,
    test_webhook,
)

__all__ = [
    "Invalid",
    "Refused",
    "add_webhook",
    "answer",
    "apply_preview",
    "archive",
    "ask_summary",
    "change",
    "change_automatic",
    "change_mode",
    "change_profile",
    "change_webhook",
    "check_room",
    "check_webhook",
    "checkpoint",
    "compact_now",
    "correct",
    "create",
    "delete",
    "delete_webhook",
    "edit",
    "end_pins",
    "erase",
    "exclude",
    "floor",
    "forget",
    "fork",
    "found_preview",
    "new_topic",
    "options_of",
    "pin",
    "read_raw",
    "plan_of",
    "preview",
    "preview_in_force",
    "refuse_overdue",
    "remember",
    "rename",
    "restore",
    "resume",
    "save_profile",
    "send",
    "stop",
    "test_webhook",
    "undo",
    "unpin",
    "withdraw",
    "written_of",
]
