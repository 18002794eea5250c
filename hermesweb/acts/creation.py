"""How a session that runs here begins."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from agentcore.events import EventKind
from agentcore.options import Automatic
from agentcore.tools import Mode
from hermesweb import endpoints
from hermesweb.acts.errors import Invalid, not_one_of
from hermesweb.acts.flags import TITLE_CHARS
from hermesweb.acts.measuring import measure
from hermesweb.acts.naming import version_named
from hermesweb.acts.queue import send
from hermesweb.acts.telling import act
from hermesweb.models import AgentSession
from hermesweb.sentences import told
from hermesweb.shown import shown, storable


def create(
    owner: User,
    *,
    workspace: str,
    model: str,
    profile: str,
    title: str = "",
    mode: str = Mode.GOAL,
    automatic: str = "",
    recording: AgentSession | None = None,
    predecessor: AgentSession | None = None,
    instruction: str = "",
) -> AgentSession:
    """A session, with its first instruction queued where there is one. Raises Invalid."""
    version = version_named(profile)
    session = AgentSession(
        owner=owner,
        title=str(shown(title or instruction)).strip().split("\n")[0][:TITLE_CHARS],
        workspace=str(allowed_folder(workspace)),
        mode=_one_of(mode, Mode, "mode"),
        automatic=_one_of(automatic, ["", *Automatic], "automatic"),
        model=model_named(model, recording),
        profile=version.profile,
        profile_version=version,
        recording=recording,
        predecessor=predecessor,
    )
    measure(session)
    with transaction.atomic():
        session.save()
        quotes = [] if title else ["title"]
        act(owner, session, EventKind.SESSION_CREATED, session_facts, quotes=quotes)
        if instruction.strip():
            send(owner, session, instruction)
    return session


def allowed_folder(text: str) -> Path:
    """The folder as a resolved path, inside an allowed root. Raises Invalid."""
    if not text.strip() or "\0" in text:
        raise Invalid(_("name the folder that the agent works in"), "workspace")
    folder = _resolved(text)
    roots = [Path(root).resolve() for root in settings.ALLOWED_ROOTS]
    if not any(folder.is_relative_to(root) for root in roots):
        inside = ", ".join(str(root) for root in roots)
        raise Invalid(
            _(
                "%(folder)s is not inside an allowed folder (%(inside)s): choose one there, or "
                "start with HERMESWEB_ALLOWED_ROOTS set"
            )
            % {"folder": folder, "inside": inside},
            "workspace",
        )
    if not folder.is_dir():
        text = _("there is no folder %(folder)s: make it, or choose another")
        raise Invalid(text % {"folder": folder}, "workspace")
    return folder


def model_named(name: str, recording: AgentSession | None) -> str:
    try:
        endpoints.check(name)
    except endpoints.ModelUnavailable as error:
        raise Invalid(told(str(error)), "model") from error
    if name == endpoints.REPLAY and recording is None:
        raise Invalid(_("replay needs a recorded session: import one first"), "model")
    return name


def session_facts(row: AgentSession) -> dict[str, object]:
    return {
        "title": row.title,
        "model": row.model,
        "mode": row.mode,
        "workspace": row.workspace,
        "profile": {"name": str(row.profile), "version": row.profile_version.number},
        "used": row.used,
        "limit": row.limit,
        "unit": row.unit,
    }


def _resolved(text: str) -> Path:
    """Raises Invalid where it is no path of this machine: too long, a loop, an unknown home."""
    try:
        folder = Path(text).expanduser().resolve()
        folder.is_dir()
    except (OSError, RuntimeError, ValueError) as error:
        refusal = _("%(folder)s cannot be looked up: choose another folder")
        told = f"{storable(text)!r:.200}"
        raise Invalid(refusal % {"folder": told}, "workspace") from error
    return folder


def _one_of(value: str, members: Iterable[str], field: str) -> str:
    known = list(members)
    if value not in known:
        raise Invalid(not_one_of(field, filter(None, known), value), field)
    return value
