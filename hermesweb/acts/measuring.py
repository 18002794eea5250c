from __future__ import annotations

from agentcore.breakdown import Breakdown, Category, Sizes
from agentcore.pressure import TokenCounter
from hermesweb import endpoints, totals
from hermesweb.models import AgentSession
from hermesweb.tools import toolbox_of


def measure(session: AgentSession) -> None:
    """What the next request of a session that runs here will carry: its list and the schemas of
    its mode, against the limit of its profile."""
    profile = session.profile_version.value
    schemas = toolbox_of(session, profile).sizes
    window = endpoints.window_for(session, profile)
    old = Breakdown({Category.TOOL_SCHEMAS: session.categories[Category.TOOL_SCHEMAS]})
    messages = Sizes(session.bytes, session.chars, session.estimate, session.categories - old)
    session.breakdown = totals.plain(messages.breakdown + schemas.breakdown)
    pressure = profile.pressure(TokenCounter(session.ratio), window, messages, schemas)
    totals.read(session, pressure)
    session.over_budget = session.over_budget and session.used > session.limit
