from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from builders import a_session

from agentcore.events import EventKind
from agentcore.options import Ceilings
from agentcore.presets import PRESETS
from hermesweb import summaries
from hermesweb.models import ModelEndpoint

pytestmark = pytest.mark.django_db

PROFILE = PRESETS["balanced"]


def endpoint(name: str, tier: int, price: int | None = None, **known: Any) -> ModelEndpoint:
    known.setdefault("model", f"acme-{name}")
    return ModelEndpoint.objects.create(
        name=name, tier=tier, input_price=price, output_price=price, **known
    )


def test_summaries_go_to_the_next_cheaper_model_of_the_provider() -> None:
    endpoint("large", 1, 10)
    endpoint("small", 2, 1)
    endpoint("elsewhere", 2, 1, base_url="http://localhost:9/v1")
    chosen = summaries.choose(a_session(model="large"), PROFILE)
    assert (chosen.name, chosen.reason) == ("small", "summaries go to the next cheaper tier")
    assert chosen.model is not None and chosen.model.name == "acme-small"


def test_without_a_cheaper_one_whose_key_is_there_the_session_asks_its_own() -> None:
    endpoint("large", 1, 10)
    endpoint("small", 2, 1, key_variable="NO_SUCH_KEY_HERE")
    chosen = summaries.choose(a_session(model="large"), PROFILE)
    assert (chosen.name, chosen.model) == ("large", None)


def test_where_the_budget_would_be_passed_it_steps_down_once_more() -> None:
    for tier, (name, price) in enumerate([("large", 10), ("middle", 5), ("small", 1)], 1):
        endpoint(name, tier, price)
    session = a_session(model="large")
    dear = PROFILE.replace(ceilings=Ceilings(cost="0.10"))
    chosen = summaries.choose(session, dear)
    assert chosen.name == "small"
    assert chosen.reason.startswith("a request to middle costs about 0.3")


def test_another_summary_model_is_told_and_begins_with_a_closed_breaker() -> None:
    endpoint("large", 1)
    endpoint("small", 2)
    session = a_session(model="large", breaker_failures=3)
    summaries.tell(session, summaries.choose(session, PROFILE))
    session.refresh_from_db()
    assert (session.summary_model, session.breaker_failures) == ("small", 0)
    told = session.events.get().data
    assert told == {
        "summary_model": "small",
        "reason": "summaries go to the next cheaper tier",
    }


def test_what_the_run_has_used_of_its_ceiling_is_not_left() -> None:
    endpoint("large", 1, 1)
    endpoint("small", 2, 1)
    session = a_session(model="large", runs=1, run_open=True, seq=1)
    session.events.create(seq=1, kind=EventKind.RUN_STARTED, data={})
    session.stored_turns.create(
        number=1,
        run=1,
        cost=Decimal("0.5"),
        requested_revision=0,
        requested_number=1,
        ended_revision=0,
        ended_number=1,
    )
    tight = PROFILE.replace(ceilings=Ceilings(cost="0.51"))
    endpoint("tiny", 3, 0)
    assert summaries.choose(session, tight).name == "tiny"
