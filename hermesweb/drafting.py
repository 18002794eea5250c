"""The summary of a compaction that is looked at: one model call, whose text a person goes over."""

from __future__ import annotations

from dataclasses import replace

from agentcore.compaction.asked import CompactionOptions
from agentcore.compaction.breaker import Breaker
from agentcore.compaction.result import SummaryFailed, WrittenSummary
from agentcore.compaction.summarizer import SummaryRequest
from agentcore.errors import ProfileError
from agentcore.halt import Halt
from agentcore.llm.base import ChatModel
from agentcore.said import Said, as_json
from agentcore.writer import SummaryWriter
from hermesweb import endpoints, planning, summaries
from hermesweb.acts import Invalid, Refused
from hermesweb.acts.previews import found_preview, options_of, preview
from hermesweb.db_thread import DatabaseThread
from hermesweb.endpoints import ModelUnavailable
from hermesweb.models import AgentSession, Preview
from hermesweb.outcome import unwritten
from hermesweb.planning import Planned
from hermesweb.summaries import Ask, Summarizer


async def write(preview_id: str) -> None:
    """Ask for the summary, and keep what came of it beside the preview: the one that has it, or why
    there is none. Does nothing for a preview that is gone or was written already."""
    database = DatabaseThread()
    try:
        asked = await database.run(_asked, preview_id)
        if asked is None:
            return
        row, request, chosen, model = asked
        answer = await SummaryWriter(model, Halt(), Breaker()).write(request, override=True)
        if isinstance(answer, WrittenSummary):
            answer = replace(answer, endpoint=chosen.name)
        await database.run(_keep, row, answer)
    finally:
        await database.close()


def ask(session: AgentSession, plan: Planned, options: CompactionOptions) -> Ask | None:
    """Whom the summary of a plan would be asked of; None where no stage wants one, or the session
    has no model for it and none was chosen."""
    if plan.request is None or not _has_model(session, options):
        return None
    try:
        return summaries.ask(session, planning.in_force(session), plan.request, options.model)
    except ModelUnavailable:
        return None


def _has_model(session: AgentSession, options: CompactionOptions) -> bool:
    own = session.model not in endpoints.OWN and session.model in endpoints.names()
    return bool(options.model) or own


def _asked(preview_id: str) -> tuple[Preview, SummaryRequest, Summarizer, ChatModel] | None:
    row = Preview.objects.select_related("session").filter(pk=preview_id).first()
    if row is None or row.options.get("writing") != "asked":
        return None
    session = row.session
    try:
        options = options_of(row)
        plan = planning.planned(session, options, to_ask=True)
        chosen = summaries.wanted(session, planning.in_force(session), options.model)
        model = chosen.model or endpoints.chat_model(session)
    except (ModelUnavailable, ProfileError) as error:
        _told(row, failure=str(error))
        return None
    if plan.request is None:
        _told(row, failure=Said("no stage of this plan makes a summary"))
        return None
    if not _has_model(session, options):
        _told(row, failure=Said("this session has no model that writes: choose one"))
        return None
    return row, plan.request, chosen, model


def _keep(row: Preview, answer: WrittenSummary | SummaryFailed | None) -> None:
    if answer is None:
        _told(row, failure=Said("there is no model to ask"))
        return
    if isinstance(answer, SummaryFailed):
        _told(row, failure=f"{answer.reason}: {answer.detail}", said=unwritten(answer))
        return
    try:
        found_preview(row.session, row.pk)
        made, _ = preview(row.by, row.session, options_of(row), written=answer)
    except (Invalid, Refused) as error:
        _told(row, failure=str(error))
        return
    _told(row, following=made.pk)


def _told(row: Preview, *, failure: str = "", said: str = "", following: str = "") -> None:
    """`said`: how the failure is told on a page, where it is not told as it is kept."""
    told = {
        "writing": "failed" if failure else "done",
        "failure": failure,
        "said": as_json(said or failure),
        "next": following,
    }
    Preview.objects.filter(pk=row.pk).update(options={**row.options, **told})
