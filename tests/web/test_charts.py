"""What the chart of turns is drawn from."""

from __future__ import annotations

from typing import Any

import pytest
from builders import a_session
from django.contrib.auth.models import User
from django.test import Client
from scenes import a_talk

from agentcore.breakdown import Category
from hermesweb import charts
from hermesweb.charts import chart_rows
from hermesweb.models import Compaction, StoredTurn

pytestmark = pytest.mark.django_db


def test_the_chart_holds_each_turn_with_its_own_limit(client: Client, ada: User) -> None:
    session = a_talk(ada, 8, profile="nanohermes")
    StoredTurn.objects.filter(number=1).update(limit=12_000)
    data = client.get(f"/sessions/{session.pk}/chart.json").json()
    assert [row["turn"] for row in data["turns"]] == [1, 2, 3]
    assert [row["limit"] for row in data["turns"]] == [12_000, 24_000, 24_000]
    assert (data["unit"], data["name"], data["threshold"]) == ("bytes", "keep recent", 1.0)
    assert sum(data["turns"][2]["breakdown"].values()) == data["turns"][2]["bytes"]


def test_a_compaction_is_marked_before_the_turn_that_follows_it(ada: User) -> None:
    session = a_talk(ada, 8)
    Compaction.objects.create(
        session=session, number=1, state="applied", trigger="threshold", turn=2
    )
    assert [row["compacted_before"] for row in chart_rows(session, 100)] == [False, False, True]


def test_compactions_after_one_turn_are_told_as_one_mark_by_their_numbers(ada: User) -> None:
    session = a_talk(ada, 8)
    for number, state, before, after in (
        (1, "no_change", 9_000, 9_000),
        (2, "applied", 9_000, 7_000),
        (3, "applied", 7_000, 6_500),
    ):
        Compaction.objects.create(
            session=session,
            number=number,
            state=state,
            trigger="threshold",
            turn=2,
            before=before,
            after=after,
        )
    told = [row["compactions"] for row in chart_rows(session, 100)]
    assert told == [None, None, {"first": 2, "last": 3, "freed": 2_500}]


def test_a_turn_that_ends_while_the_chart_is_read_waits_for_the_next(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = a_talk(ada, 8)
    last = session.stored_turns.get(number=3)

    def peaks(light: list[tuple[int, int]], *rest: Any) -> list[tuple[int, list[Any]]]:
        StoredTurn.objects.filter(pk=last.pk).update(number=4)
        last.pk = None
        last.save()
        return [(number, []) for number, _ in light]

    monkeypatch.setattr(charts, "_peaks", peaks)
    assert [row["turn"] for row in chart_rows(session, 100)] == [1, 2, 3]


def test_many_turns_are_binned_and_no_peak_or_cut_is_lost(ada: User) -> None:
    session = a_session(ada)
    StoredTurn.objects.bulk_create(
        StoredTurn(
            session=session,
            number=number,
            used=9_000 if number == 1_234 else 10,
            requested_revision=0,
            requested_number=0,
            ended_revision=0,
            ended_number=0,
        )
        for number in range(1, 2_502)
    )
    Compaction.objects.create(
        session=session, number=1, state="applied", trigger="threshold", turn=700
    )
    rows = chart_rows(session, 1_000)
    assert len(rows) <= 1_000
    assert [row["turn"] for row in rows if row["used"] == 9_000] == [1_234]
    assert sum(row["compacted_before"] for row in rows) == 1


def test_the_downloads_hold_what_the_chart_stacks(client: Client, ada: User) -> None:
    session = a_talk(ada, 8)
    for row in client.get(f"/sessions/{session.pk}/turns.json").json()["items"]:
        parts = {name: row[f"{name}_bytes"] for name in Category}
        turn = session.stored_turns.get(number=row["turn"])
        assert {name: size for name, size in parts.items() if size} == turn.breakdown
        assert sum(parts.values()) == row["bytes"]
