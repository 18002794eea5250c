"""The message list as CSV and JSON: its filters, every row, no body and no secret."""

from __future__ import annotations

import csv
import io

import pytest
from builders import a_user
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from scenes import a_talk, a_talk_of, compacted, html_of

from agentcore.messages import born
from hermesweb.listing import PAGE_ROWS
from hermesweb.models import AgentSession

pytestmark = pytest.mark.django_db


def rows_of(client: Client, session: AgentSession, query: str = "") -> list[dict[str, object]]:
    items: list[dict[str, object]]
    items = client.get(f"/sessions/{session.pk}/messages.json?{query}").json()["items"]
    return items


def test_both_files_hold_every_row_of_the_list(client: Client, ada: User) -> None:
    session = a_talk(ada, PAGE_ROWS * 2)
    rows = rows_of(client, session)
    assert [row["number"] for row in rows] == list(range(1, PAGE_ROWS * 2 + 1))
    assert sum(int(str(row["bytes"])) for row in rows) == sum(
        session.messages.values_list("bytes", flat=True)
    )
    text = client.get(f"/sessions/{session.pk}/messages.csv").content.decode()
    lines = list(csv.DictReader(io.StringIO(text)))
    assert [line["carried"] for line in lines] == [str(row["carried"]) for row in rows]


def test_they_follow_the_filters_and_the_order_of_the_page(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    rows = rows_of(client, session, "view=all&order=largest&fate=summarized")
    sizes = [int(str(row["bytes"])) for row in rows]
    assert len(rows) == 4 and sizes == sorted(sizes, reverse=True)
    assert {row["fate"] for row in rows} == {"summarized"}
    page = html_of(client, f"/sessions/{session.pk}/?view=all&order=largest&fate=summarized")
    assert "messages.csv?view=all&amp;order=largest&amp;fate=summarized" in page


def test_secrets_are_masked_and_a_wrong_filter_is_named(client: Client, ada: User) -> None:
    key = "sk-ant-api03-" + "a1B2c3D4" * 6
    session = a_talk_of(ada, born({"role": "user", "content": f"use {key}"}))
    assert key not in str(rows_of(client, session))
    answer = client.get(f"/sessions/{session.pk}/messages.csv?size=big")
    assert answer.status_code == 400 and "size" in answer.content.decode()


@pytest.mark.parametrize("space", ["", " ", "\t", "\r\n"])
def test_no_name_of_a_tool_is_a_formula(client: Client, ada: User, space: str) -> None:
    session = a_talk(ada, 1)
    session.messages.update(tool=f"{space}=cmd()")
    text = client.get(f"/sessions/{session.pk}/messages.csv").content.decode()
    assert f"'{space}=cmd()" in text


@pytest.mark.parametrize("name", ["messages.csv", "messages.json"])
def test_only_get_is_answered_and_no_stranger(client: Client, ada: User, name: str) -> None:
    address = f"/sessions/{a_talk(a_user('bob')).pk}/{name}"
    assert client.get(address).status_code == 404
    assert client.post(address).status_code == 405


def test_its_queries_do_not_grow(
    client: Client, ada: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for count in (8, 200):
        session = a_talk(ada, count)
        with django_assert_max_num_queries(8):
            rows_of(client, session)
