"""A compaction that is looked at before it is made."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agentcore.compaction.asked import CompactionOptions, PreparedPlan
from agentcore.compaction.result import WrittenSummary
from agentcore.errors import ProfileError, StalePlan
from agentcore.usage import Usage
from hermesweb import audit, endpoints, prepared
from hermesweb.acts.errors import Invalid, Refused
from hermesweb.acts.naming import usable
from hermesweb.acts.queue import compact_now
from hermesweb.endpoints import ModelUnavailable
from hermesweb.models import AgentSession, Compaction, Preview
from hermesweb.outcome import unwritten
from hermesweb.planning import Planned, planned
from hermesweb.recorder import locked
from hermesweb.sentences import told
from hermesweb.shown import storable
from hermesweb.wake import draft

LASTS = timedelta(hours=24)
# After so long without a summary a person may ask for it once more.
ANEW = timedelta(minutes=2)


def preview(
    who: User | None,
    session: AgentSession,
    options: CompactionOptions,
    *,
    written: WrittenSummary | None = None,
    instead_of: str = "",
) -> tuple[Preview, Planned]:
    """Work a compaction out, and keep its plan for 24 hours; `instead_of`: the preview that the
    person looked at until now. Raises Invalid."""
    plan = plan_of(session, options, written)
    base = plan.result.plan.base
    kept = Preview(
        session=session,
        by=who,
        revision=base.revision,
        last_number=base.last_number,
        options=_stored(options, written),
        plan=prepared.packed(PreparedPlan.of(plan.result)),
        ends_at=timezone.now() + LASTS,
    )
    with transaction.atomic():
        locked(session.pk)
        kept.save()
        session.previews.filter(pk=storable(instead_of), by=who).delete()
    return kept, plan


def plan_of(
    session: AgentSession, options: CompactionOptions, written: WrittenSummary | None = None
) -> Planned:
    """Raises Invalid for options that cannot be, and for a summary that is not taken."""
    try:
        if options.model:
            endpoints.check_writer(options.model)
    except ModelUnavailable as error:
        raise Invalid(told(str(error)), "model") from error
    usable(session.version_in_force)
    try:
        plan = planned(session, options, written)
    except ProfileError as error:
        field = "keep_last" if error.field == "stages" else error.field
        raise Invalid(told(str(error)), field) from error
    except StalePlan as error:
        raise Invalid(told(str(error)), "up_to") from error
    if options.summary is not None:
        if plan.request is None:
            raise Invalid(_("no stage of this plan makes a summary: leave the text out"), "summary")
        for failure in plan.result.failures:
            raise Invalid(told(unwritten(failure)), "summary")
    return plan


def apply_preview(who: User | None, session: AgentSession, preview_id: str) -> Compaction:
    """Queue exactly the plan that was shown. Refused where the list was revised since."""
    found = preview_in_force(session, preview_id)
    if not prepared.unpacked(found.plan).stages:
        raise Refused(_("this preview changes nothing: there is nothing to apply"), "nothing")
    # A run that is busy may take a while to reach the border.
    Preview.objects.filter(pk=found.pk).update(ends_at=timezone.now() + LASTS)
    return compact_now(who, session, options_of(found), preview=found.pk)


def ask_summary(who: User | None, session: AgentSession, preview_id: str) -> Preview:
    """Have a worker write the summary of a preview; it is kept as one of its own. Refused for a
    preview that ended. The list stays as it is, but a model is paid: audited, not told; and once,
    however often one asks, unless the worker that was asked must be taken for lost."""
    with transaction.atomic():
        locked(session.pk)
        found = found_preview(session, preview_id)
        if _is_being_written(found):
            return found
        asked = {**found.options["asked"], "summary": None}
        now = timezone.now().isoformat()
        found.options = {"asked": asked, "written": None, "writing": "asked", "asked_at": now}
        found.save(update_fields=["options"])
        audit.write(
            who,
            "summary_asked",
            chain=session.pk,
            new={"preview": found.pk, "model": asked["model"]},
        )
    draft(found.pk)
    return found


def _is_being_written(found: Preview) -> bool:
    since = found.options.get("asked_at")
    if found.options.get("writing") != "asked" or since is None:
        return False
    return timezone.now() - datetime.fromisoformat(since) < ANEW


def found_preview(session: AgentSession, preview_id: str) -> Preview:
    """Refused for one that ended or never was: both are as stale."""
    now = timezone.now()
    found = session.previews.filter(pk=storable(preview_id), ends_at__gt=now).first()
    if found is None:
        raise Refused(
            _("there is no preview %(id)s any more: each is kept for 24 hours, look at a new one")
            % {"id": f"{preview_id!r:.80}"},
            "stale",
        )
    return found


def preview_in_force(session: AgentSession, preview_id: str) -> Preview:
    """Refused where the list was revised since, too."""
    found = found_preview(session, preview_id)
    if not prepared.fits(session, found.revision):
        text = _(
            "the list is at revision %(now)s, the preview was made at %(then)s: look at a new one"
        )
        raise Refused(text % {"now": session.revision, "then": found.revision}, "stale")
    return found


def options_of(found: Preview) -> CompactionOptions:
    return CompactionOptions(**found.options["asked"])


def written_of(found: Preview) -> WrittenSummary | None:
    """What a model wrote for this preview, or for the one before it."""
    value = found.options.get("written")
    if value is None:
        return None
    usage = Usage(**value["usage"]) if value["usage"] else None
    return WrittenSummary(**{**value, "usage": usage})


def _stored(options: CompactionOptions, written: WrittenSummary | None) -> dict[str, Any]:
    kept = replace(options, focus=storable(options.focus))
    return {
        "asked": storable(asdict(kept)),
        "written": storable(asdict(written)) if written else None,
    }
