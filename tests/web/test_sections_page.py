from __future__ import annotations

import re

import pytest
from builders import a_lease, a_session, added, said, turn_ended
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from scenes import html_of, words_of

from agentcore.breakdown import Category
from agentcore.context import Context
from agentcore.events import MessageAdded
from agentcore.limits import Limits
from agentcore.memory import Entry, EntryKind, Hit, block
from agentcore.messages import Message
from agentcore.prompt import SystemPrompt, build
from hermesweb import opening
from hermesweb.lease import Lease
from hermesweb.models import AgentSession
from hermesweb.opening import Opening
from hermesweb.pieces import MOST_LINES
from hermesweb.recorder import record

pytestmark = pytest.mark.django_db

MEMORY = block([Hit(Entry(EntryKind.FACT, "端口 5433"), 1.0)], Limits())[0]


def prompt(**known: str) -> Message:
    values = {"project_docs": "use tabs", "project_context": "a parser", "skills": "- a: b"}
    return build(SystemPrompt("goal", "/w", **{**values, **known}))


def begun(ada: User, *systems: Message) -> tuple[AgentSession, Lease]:
    """A session that began with the first of them; each of the others took its place."""
    session = a_session(ada)
    held = a_lease(session)
    context = Context()
    for run, system in enumerate(systems, 1):
        record(session.pk, held.fence, opening.begin(Opening(system, run), context))
        if run == 1:
            record(session.pk, held.fence, [MessageAdded(context.append(said(2, "go")), 0)])
    session.refresh_from_db()
    return session, held


def page(client: Client, session: AgentSession, number: int) -> str:
    return html_of(client, f"/sessions/{session.pk}/messages/{number}/")


def test_a_system_message_shows_its_sections_which_sum_to_its_bytes(
    client: Client, ada: User
) -> None:
    session, _ = begun(ada, prompt(persona="Be kind.", memory=MEMORY))
    html = page(client, session, 1)
    table = html.split('<h2 id="sections-title">')[1].split("</table>")[0]
    shown = re.findall(r"<tr><td>([a-z ]+)", table)
    assert shown == [
        *("built in", "mode", "persona", "project docs", "project context", "skills", "memory"),
        "envelope",
    ]
    sizes = [int(size.replace(",", "")) for size in re.findall(r"([\d,]+) bytes", table)]
    assert sum(sizes) == session.messages.get(number=1).bytes


def test_a_large_project_context_is_warned_of(client: Client, ada: User) -> None:
    session, _ = begun(ada, prompt(project_context="字" * 7_000))
    assert "over 20,000 bytes" in words_of(page(client, session, 1))
    other, _ = begun(ada, prompt(project_context="字" * 6_000))
    assert "over 20,000 bytes" not in words_of(page(client, other, 1))


def test_other_messages_have_no_sections(client: Client, ada: User) -> None:
    session = a_session(ada)
    held = a_lease(session)
    text = prompt(memory=MEMORY).text
    record(session.pk, held.fence, added(said(1, "You are careful.", "system"), said(2, text)))
    assert "Sections" not in page(client, session, 1)
    assert "Sections" not in page(client, session, 2)


def test_a_rebuilt_system_message_stands_beside_the_one_before(client: Client, ada: User) -> None:
    old, new = (
        prompt(project_docs="use tabs\nbe quick"),
        prompt(project_docs="use tabs\n<b>safe</b>"),
    )
    session, _ = begun(ada, old, new)
    html = page(client, session, 3)
    assert "<ins>+ &lt;b&gt;safe&lt;/b&gt;</ins>" in html and "<del>- be quick</del>" in html
    assert "project docs:" in words_of(html)
    assert "skills:" not in words_of(html).split("which it replaced")[1]
    earlier = page(client, session, 1)
    assert f"/sessions/{session.pk}/messages/3/" in earlier and "Rebuilt since" in earlier
    life = session.lives.get(number=1)
    assert (life.fate, life.to_revision) == ("rebuilt", 1)


def test_a_section_that_came_or_went_is_a_change(client: Client, ada: User) -> None:
    session, _ = begun(ada, prompt(memory=MEMORY), prompt())
    html = page(client, session, 3)
    assert "<del>- - [fact] 端口 5433</del>" in html
    assert [row.cause for row in session.revisions.all()] == ["memory_injected"]


def test_sections_too_long_to_compare_are_told_by_size(client: Client, ada: User) -> None:
    long = "x\n" * (MOST_LINES + 1)
    session, _ = begun(ada, prompt(), prompt(project_context=long))
    html = page(client, session, 3)
    assert "Too long to compare" in html and "<ins>" not in html


def test_the_session_page_counts_each_part_as_a_category_of_its_own(
    client: Client, ada: User
) -> None:
    system = prompt(memory=MEMORY)
    session, held = begun(ada, system)
    record(session.pk, held.fence, [turn_ended(1, [system.numbered(1), said(2, "go")])])
    AgentSession.objects.filter(pk=session.pk).update(
        breakdown={**system.sizes.breakdown, Category.TOOL_SCHEMAS: 900, "user": 32}
    )
    html = html_of(client, f"/sessions/{session.pk}/")
    for category in ("project_docs", "project_context", "skills", "memory", "tool_schemas"):
        assert f'<g class="cat-{category}">' in html
    AgentSession.objects.filter(pk=session.pk).update(breakdown={"system_prompt": 900, "user": 32})
    assert '<g class="cat-memory">' not in html_of(client, f"/sessions/{session.pk}/")


def test_sections_cost_two_queries_more(
    client: Client, ada: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    session, _ = begun(ada, prompt(), prompt(skills="- c: d"))
    with django_assert_max_num_queries(9):
        page(client, session, 3)
