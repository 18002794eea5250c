"""The summary of a compaction that is looked at: one model call, whose text a person goes over."""

from __future__ import annotations

from agentcore.compaction.breaker import Breaker
from agentcore.compaction.result import SummaryFailed, WrittenSummary
from agentcore.compaction.summarizer import SummaryRequest
from agentcore.halt import Halt
from agentcore.llm.base import ChatModel
from agentcore.writer import SummaryWriter
from hermesweb import endpoints, planning, summaries
from hermesweb.acts import Invalid, Refused
from hermesweb.acts.previews import found_preview, options_of, preview
from hermesweb.db_thread import DatabaseThread
from hermesweb.endpoints import ModelUnavailable
from hermesweb.models import AgentSession, Preview


async def write(preview_id: str) -> None:
    """Ask for the summary, and keep what came of it beside the preview: the one that has it, or why
    there is none. Does nothing for a preview that is gone or was written already."""
    database = DatabaseThread()
    try:
        asked = await database.run(_asked, preview_id)
        if asked is None:
            return
        row, request, model = asked
        answer = await SummaryWriter(model, Halt(), Breaker()).write(request, override=True)
        await database.run(_keep, row, answer)
    finally:
        await database.close()


def can_write(session: AgentSession) -> bool:
    """Whether the session has a model that can be asked for a summary."""
    return session.model not in endpoints.OWN and session.model in endpoints.names()


def _asked(preview_id: str) -> tuple[Preview, SummaryRequest, ChatModel] | None:
    row = Preview.objects.select_related("session").filter(pk=preview_id).first()
    if row is None or row.options.get("writing") != "asked":
        return None
    session = row.session
    try:
        plan = planning.planned(session, options_of(row))
        chosen = summaries.choose(session, planning.in_force(session))
        model = chosen.model or endpoints.chat_model(session)
    except ModelUnavailable as error:
        _told(row, failure=str(error))
        return None
    if plan.request is None:
        _told(row, failure="no stage of this plan makes a summary")
        return None
    return row, plan.request, model


def _keep(row: Preview, answer: WrittenSummary | SummaryFailed | None) -> None:
    if not isinstance(answer, WrittenSummary):
        failure = f"{answer.reason}: {answer.detail}" if answer else "there is no model to ask"
        _told(row, failure=failure)
        return
    try:
        found_preview(row.session, row.pk)
        made, _ = preview(row.by, row.session, options_of(row), written=answer)
    except (Invalid, Refused) as error:
        _told(row, failure=str(error))
        return
    _told(row, following=made.pk)


def _told(row: Preview, *, failure: str = "", following: str = "") -> None:
    told = {"writing": "failed" if failure else "done", "failure": failure, "next": following}
    Preview.objects.filter(pk=row.pk).update(options={**row.options, **told})
