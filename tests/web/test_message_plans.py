"""How the database finds a page of messages: at an index, without sorting a session's rows."""

from __future__ import annotations

import re

import pytest
from builders import a_user
from django.db import connection
from django.test.utils import CaptureQueriesContext
from scenes import a_talk

from hermesweb.listing import Choice, Order, View, page

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(connection.vendor != "sqlite", reason="plans are told in SQLite's words"),
]


def plans(choice: Choice) -> str:
    session = a_talk(a_user(), 200)
    with CaptureQueriesContext(connection) as asked:
        page(session, choice)
    keys = next(one["sql"] for one in asked if re.search(r"AS .?place\b.* ORDER BY", one["sql"]))
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {keys.replace('%', '%%')}")
        return "\n".join(row[3] for row in cursor.fetchall())


@pytest.mark.parametrize("view", View)
def test_the_largest_are_read_from_their_index(view: View) -> None:
    plan = plans(Choice(view=view, order=Order.LARGEST))
    assert "message_sizes" in plan and "FOR ORDER BY" not in plan


@pytest.mark.parametrize("beside", [{"before": (400, 100)}, {"after": (400, 100)}])
def test_a_page_begins_at_its_place(beside: dict[str, tuple[int, int]]) -> None:
    plan = plans(Choice(**beside))  # type: ignore[arg-type]
    assert re.search(r"life_list \(session_id=\? AND to_revision=\? AND place[<>]\?", plan)
