"""What a run begins with: the system message, what was recalled, what a predecessor left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from django.conf import settings
from django.db.models import Q

from agentcore.breakdown import total
from agentcore.compaction.plan import Birth, CompactionPlan, Fate, Origin, Removal, Revision
from agentcore.context import Context
from agentcore.directives import InstructionKind
from agentcore.documents import guidance, joined, project_context
from agentcore.events import (
    Event,
    EventKind,
    MemoryInjected,
    MessageAdded,
    SystemRebuilt,
)
from agentcore.memory import Hit, hand_over
from agentcore.messages import Message, Role
from agentcore.prefix import Prefix, Sent
from agentcore.profile import Profile
from agentcore.prompt import SystemPrompt, build, mode_of, sections_of
from agentcore.sections import Part, without_memory
from agentcore.skills import skills_in
from agentcore.snapshot import Snapshot, State
from agentcore.tools import Workspace
from hermesweb import access, border, erasing, lives, memory
from hermesweb.models import AgentSession, InstructionState


@dataclass(frozen=True, slots=True)
class Opening:
    """`recalled` are the entries in the memory block, `left` what the predecessor handed over."""

    system: Message
    run: int
    recalled: Sequence[Hit] = ()
    left: Message | None = None


def gather(session: AgentSession, messages: Sequence[Message]) -> Opening | None:
    """Read files and rows for the run that is about to begin; None where the system message stays
    as it is: in the middle of a run (unless the mode was changed), and without work to do."""
    profile = session.version_in_force.value
    if session.run_open and messages:
        return _mode_changed(session, messages[0], profile)
    query = _query(session, messages)
    if query is None and messages:
        return None
    block: str = ""
    hits: Sequence[Hit] = ()
    if profile.documents.memory and query:
        block, hits = memory.recalled(session, query, profile.limits)
    return Opening(
        _system(session, profile, block),
        session.runs + 1,
        hits,
        None if messages else _left(session, profile),
    )


def begin(opening: Opening, context: Context) -> list[Event]:
    """Bring the list to what was gathered; what has to be told of it."""
    run, system = opening.run, opening.system
    entries = tuple((hit.entry.id, hit.score) for hit in opening.recalled)
    injected: list[Event] = [MemoryInjected(run, entries)] if entries else []
    first = context.messages[0] if context.messages else None
    if first is None:
        born = [system, *([opening.left] if opening.left else [])]
        return [*(MessageAdded(context.append(one), 0) for one in born), *injected]
    if first.is_leading and first.wire == system.wire:
        return injected
    same = first.is_leading and without_memory(first.text) == without_memory(system.text)
    revision = _put_first(system, context)
    if same:
        return [MemoryInjected(run, entries, revision)]
    return [SystemRebuilt(revision), *injected]


def request_before(session: AgentSession, now: Snapshot) -> Prefix:
    """The session's last request, whichever worker sent it, and what changed the list since; `now`
    is the list before this run."""
    turn = session.stored_turns.order_by("-number").first()
    if turn is None:
        return Prefix()
    state = State(turn.requested_revision, turn.requested_number)
    if state.revision == now.state.revision:
        last = _up_to(now, state)
    else:
        last = lives.snapshot_of(session, state)
    causes = _causes_since(session, state.revision)
    return Prefix(Sent(last, turn.schemas, turn.requested_model, causes))


def _causes_since(session: AgentSession, revision: int) -> dict[int, EventKind]:
    """The kind of the change that each message came or went by."""
    kinds = dict(session.revisions.filter(number__gt=revision).values_list("number", "cause"))
    if not kinds:
        return {}
    moved = session.lives.filter(Q(from_revision__gt=revision) | Q(to_revision__gt=revision))
    rows = moved.values_list("number", "from_revision", "to_revision").order_by("pk")
    causes = {number: EventKind(kinds[max(begun, ended or 0)]) for number, begun, ended in rows}
    if EventKind.ERASED in kinds.values():
        causes |= dict.fromkeys(erasing.since(session, revision), EventKind.ERASED)
    return causes


def _up_to(now: Snapshot, state: State) -> Snapshot:
    rows = [row for row, one in enumerate(now.messages) if one.number <= state.last_number]
    messages = tuple(now.messages[row] for row in rows)
    places = tuple(now.places[row] for row in rows)
    return Snapshot(messages, places, total(one.sizes for one in messages), state)


def _mode_changed(session: AgentSession, first: Message, profile: Profile) -> Opening | None:
    """A run that goes on keeps its memory block."""
    text = first.text
    if not first.is_leading or mode_of(text) == session.mode:
        return None
    block = "".join(one.text for one in sections_of(text) if one.part is Part.MEMORY)
    return Opening(_system(session, profile, block.strip()), session.runs)


def _query(session: AgentSession, messages: Sequence[Message]) -> str | None:
    """What the run is about: the instruction that waits, else the last one; nothing yet when only
    a new topic begins. None where no reply is owed."""
    waiting = session.instructions.filter(state=InstructionState.QUEUED).order_by("id")
    if asked := waiting.filter(kind=InstructionKind.MESSAGE).first():
        return asked.text
    if waiting.filter(kind=InstructionKind.NEW_TOPIC).exists():
        return ""
    if border.rests(session) or not messages or messages[-1].role not in (Role.USER, Role.TOOL):
        return None
    return next((one.text for one in reversed(messages) if one.is_instruction), "")


def _system(session: AgentSession, profile: Profile, block: str) -> Message:
    workspace, options, limits = Path(session.workspace), profile.documents, profile.limits
    closed = settings.DATA_DIR
    # The user-wide file is that of whoever runs a local installation; a server has none.
    chain = guidance(
        workspace,
        [Path(root) for root in settings.ALLOWED_ROOTS],
        options.doc_names,
        limits=limits,
        user_wide=settings.USER_WIDE_DOCS,
        closed=closed,
    )
    return build(
        SystemPrompt(
            session.mode,
            session.workspace,
            persona=options.persona,
            project_docs=joined(chain, limits, options.project_docs_keep),
            project_context=project_context(workspace, limits, closed=closed),
            skills=skills_in(Workspace(workspace, limits, closed)).listing,
            memory=block,
        )
    )


def _left(session: AgentSession, profile: Profile) -> Message | None:
    predecessor = session.predecessor
    if predecessor is None or not access.may(session.owner, predecessor):
        return None
    return hand_over(memory.ledger_of(predecessor), profile.summary.chars)


def _put_first(system: Message, context: Context) -> Revision:
    """In place of the system message, or in front of a list that has none."""
    first = context.messages[0]
    if not first.is_leading:
        birth = Birth(0, system, Origin.INJECTED, "")
        return context.apply(CompactionPlan(context.state, (), (birth,)), EventKind.SYSTEM_REBUILT)
    birth = Birth(0, replace(system, replaces=first.number), None, "")
    removal = Removal(0, 1, Fate.REBUILT, "")
    return context.apply(CompactionPlan(context.state, (removal,), (birth,)))
