from __future__ import annotations

import pytest
from builders import a_lease, a_session, a_user, added, answered, called, said
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from scenes import HTMX, a_talk

from agentcore.context import Context
from agentcore.facts import Fact, FactKind
from agentcore.ledger import with_facts
from agentcore.messages import Message
from hermesweb import facts, lives
from hermesweb.imports import import_recording
from hermesweb.models import AgentSession
from hermesweb.recorder import record

ODD = "a \0 b \ud800 中文 \u2028"


def stored(session: AgentSession, *values: Message) -> tuple[Message, ...]:
    context = Context()
    messages = [context.append(value) for value in values]
    record(session.pk, a_lease(session).fence, added(*messages))
    return tuple(messages)


@pytest.mark.parametrize(
    "fact",
    [
        Fact(FactKind.CONSTRAINT, "keep it under 500 kB", 7, "500 kB", "size", "<=kb"),
        Fact(FactKind.COMMAND, ODD, 7, ODD, call="c1"),
        Fact(FactKind.GOAL, "fix it", 3, "fix it", revises=True),
    ],
)
def test_a_fact_comes_back_as_it_was(fact: Fact) -> None:
    assert facts.unpacked(facts.packed([fact], 7), 7) == (fact,)


def test_facts_that_were_not_looked_for_are_told_from_none() -> None:
    assert facts.unpacked(facts.packed(None, 1), 1) is None
    assert facts.unpacked(facts.packed((), 1), 1) == ()


@pytest.mark.django_db
def test_a_message_comes_back_with_the_facts_it_was_born_with() -> None:
    session = a_session()
    born = stored(
        session,
        said(1, "Be careful.", "system"),
        said(2, "Fix the parser; never touch lib/old.py, keep it under 500 kB."),
        called(3, "read_file"),
        answered(4, "call_3_0", "error: no such file", tool="read_file"),
    )
    session.refresh_from_db()
    found = [message.facts for message in lives.snapshot_of(session).messages]
    assert found == [message.facts for message in born]
    assert any(fact.kind is FactKind.CONSTRAINT for fact in found[1] or ())


@pytest.mark.django_db
def test_an_import_finds_the_facts_as_it_stores() -> None:
    data = b'[{"role": "user", "content": "Never delete the file data/gold.csv."}]'
    session = import_recording(a_user(), data, "talk.json")
    (message,) = lives.snapshot_of(session).messages
    assert message.facts == with_facts(lives.read(message.wire, number=1)).facts != ()


@pytest.mark.django_db
def test_pages_of_the_list_read_no_facts(client: Client) -> None:
    ada = a_user()
    session = a_talk(ada, 12)
    client.force_login(ada)
    with CaptureQueriesContext(connection) as seen:
        for page in ("", "messages/"):
            assert client.get(f"/sessions/{session.pk}/{page}", headers=HTMX).status_code == 200
    read = [query["sql"] for query in seen.captured_queries if '"facts"' in query["sql"]]
    assert read == []
