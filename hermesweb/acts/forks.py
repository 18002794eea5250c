"""A session that begins with the list of another one, as it was at some state."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from agentcore.compaction.repair import INTERRUPTED, repair
from agentcore.context import Context
from agentcore.events import EventKind, Repaired, RunEnd
from agentcore.messages import Role
from agentcore.snapshot import State
from hermesweb import audit, copies, pins
from hermesweb.acts.creation import allowed_folder, model_named, session_facts
from hermesweb.acts.errors import Invalid
from hermesweb.acts.flags import TITLE_CHARS
from hermesweb.acts.measuring import measure
from hermesweb.acts.naming import usable, version_named
from hermesweb.acts.queue import send
from hermesweb.acts.telling import act
from hermesweb.erasing import FORKED
from hermesweb.lives import lives_at, snapshot_of
from hermesweb.models import AgentSession, SessionKind
from hermesweb.recorder import record


def fork(
    who: User,
    source: AgentSession,
    state: State,
    *,
    text: str = "",
    workspace: str = "",
    model: str = "",
    profile: str = "",
) -> AgentSession:
    """A session of its own that runs here. With `text` the last instruction of the state is
    replaced by it and run. What is not given is as in the source. Raises Invalid."""
    if text.strip():
        state = _before_instruction(source, state)
    follows = profile or (source.profile.name if source.profile else "")
    version = version_named(follows) if follows else usable(source.profile_version)
    session = AgentSession(
        owner=who,
        title=f"{source.title[: TITLE_CHARS - 40]}{FORKED}{state})".strip(),
        workspace=str(allowed_folder(workspace or source.workspace)),
        mode=source.mode,
        automatic=source.automatic,
        model=model_named(model or source.model, source.recording),
        profile=version.profile if follows else None,
        profile_version=version,
        recording=source.recording,
        ratio=source.ratio,
        turns=_turns(source, state),
        # A reply that is owed waits for a person to resume it.
        run_end=RunEnd.STOPPED,
    )
    with transaction.atomic():
        session.save()
        copies.copy_list(source, state, session)
        if session.workspace != source.workspace:
            # What is committed there says nothing of this folder.
            elsewhere = session.messages.filter(pin_until__startswith=pins.UNTIL_COMMIT)
            elsewhere.update(pin_until="session", pin_head="")
        measure(session)
        session.pinned_bytes = pins.bytes_held(session)
        session.save()
        told = {"from": source.pk, "at": str(state)}
        facts = session_facts(session)
        act(who, session, EventKind.FORKED, lambda row: {**told, **facts}, quotes=["title"])
        audit.write(who, EventKind.FORKED, chain=source.pk, new={**told, "to": session.pk})
        if source.kind != SessionKind.RUN or _ends_in_calls(session):
            _repair(session)
        session.run_end = RunEnd.ANSWERED if _is_answered(session) else RunEnd.STOPPED
        session.save(update_fields=["run_end"])
        if text.strip():
            send(who, session, text)
    return session


def _ends_in_calls(session: AgentSession) -> bool:
    newest = lives_at(session).order_by("-place", "-number").first()
    return newest is not None and newest.message.role in (Role.ASSISTANT, Role.TOOL)


def _repair(session: AgentSession) -> None:
    """What the source had yet to run, or waited with, is interrupted here, as after a crash; what
    else is illegal in a list from outside is repaired before anyone looks at it."""
    context = Context(snapshot_of(session))
    plan, reasons = repair(context.snapshot(), INTERRUPTED)
    if not plan.is_empty:
        repaired = Repaired(context.apply(plan, EventKind.REPAIRED), reasons)
        record(session.pk, session.fence, [repaired])
        session.refresh_from_db()


def _before_instruction(source: AgentSession, state: State) -> State:
    """The state in which the last instruction of this one was given."""
    said = lives_at(source, state).filter(message__role=Role.USER, message__mark="")
    last = said.order_by("-number").values_list("number", flat=True).first()
    if last is None:
        text = _("there is no instruction in the list at %(state)s: choose a later one")
        raise Invalid(text % {"state": state}, "at")
    first_life = source.lives.filter(number=last).order_by("from_revision").first()
    assert first_life is not None
    return State(first_life.from_revision, last - 1)


def _turns(source: AgentSession, state: State) -> int:
    ended = source.stored_turns.filter(ended_number__lte=state.last_number)
    last = ended.order_by("-number").values_list("number", flat=True).first()
    return last or 0


def _is_answered(session: AgentSession) -> bool:
    last = lives_at(session).order_by("-place", "-number").first()
    return last is None or last.message.role not in (Role.USER, Role.TOOL)
