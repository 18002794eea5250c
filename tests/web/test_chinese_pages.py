"""Each page in Chinese: what is left of English on it is content, names and units."""

from __future__ import annotations

import re
from html import unescape

import pytest
from builders import a_lease, a_user, turn_ended
from django.test import Client
from scenes import HTMX, a_talk, compacted

from agentcore.compaction.asked import CompactionOptions
from agentcore.compaction.result import SummaryFailed, Trigger
from agentcore.compaction.summarizer import HEADINGS, SummaryRequest, accept
from agentcore.events import CompactionFailed, RunEnd, RunEnded, RunStarted
from agentcore.llm.failures import refused
from agentcore.options import SummaryOptions
from hermesweb import acts, lease
from hermesweb.lives import snapshot_of
from hermesweb.models import AgentSession, MemoryEntry
from hermesweb.recorder import record

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("woken")]

PAGES = (
    *("/", "/?q=nothing", "/sessions/new/", "/imports/new/", "/memory/", "/memory/{entry}/"),
    *("/webhooks/", "{home}", "{home}?view=all&order=largest", "{home}messages/3/"),
    *("{home}bulk/", "{home}ledger/", "{home}rollup/?by=path", "{home}lifetimes/", "{home}pins/"),
    *("{home}compact/", "{home}compactions/1/", "{home}compactions/2/", "{home}at/0.4/"),
    *("{home}diff/?from=0.4&to=0.6", "{home}bulk/?category=system_prompt"),
    *("{home}diff/paper/?from=0.4&to=0.6", "{home}compactions/1/paper/"),
    *("/no/such/page/", "/admin/", "/admin/hermesweb/profile/{profile}/change/"),
    *("/admin/hermesweb/modelendpoint/add/", "/admin/hermesweb/agentsession/"),
    *("/admin/hermesweb/auditentry/", "/admin/hermesweb/webhook/add/"),
)
# What people and models wrote, and what is spelled alike in every language.
CONTENT = (
    *("Be careful.", "Fix the parser.", "Messages omitted; reference only", "four messages"),
    *("Claude Code", "OpenAI", "Path to", "Hermesweb", ", ".join(HEADINGS)),
)
FOR_SCRIPTS = (
    *("{home}chart.json", "{home}turns.json", "{home}turns.csv", "{home}ledger.json"),
    *("{home}ledger.csv", "{home}rollup.json", "{home}rollup.csv", "{home}lifetimes.json"),
    *("{home}lifetimes.csv", "{home}compactions/1/diff.json", "/healthz"),
)
# Django's own administration has these in no Chinese.
OF_DJANGO = ("Model name", "Add link", "Change or view list link")
READ = re.compile(r'\b(?:aria-label|title|placeholder|data-key-label)="([^"]*)"')
SENTENCE = re.compile(r"[A-Za-z]{2,},? [a-z]{2,},? [a-z]{2,}")


@pytest.fixture
def session() -> AgentSession:
    ada = a_user("ada")
    ada.is_staff = True
    ada.save()
    session = a_talk(ada, 12, title="解析器")
    compacted(session)
    goes_wrong(session)
    return session


def goes_wrong(session: AgentSession) -> None:
    """A summary that is not taken, and a run that fails."""
    pressure = turn_ended(1, snapshot_of(session).messages).pressure
    answer = accept("Summary", calls=False, request=SummaryRequest((), 0, SummaryOptions(), True))
    assert isinstance(answer, SummaryFailed)
    held = a_lease(session)
    events = [
        CompactionFailed(Trigger.MANUAL, answer.reason, answer.detail, 5, pressure),
        RunStarted(2),
        RunEnded(2, RunEnd.FAILED, str(refused("m-1", 401, "no-key", headers={}, key=""))),
    ]
    record(session.pk, held.fence, events)
    lease.release(held)


def in_chinese(client: Client, session: AgentSession, path: str) -> str:
    client.force_login(session.owner)
    client.cookies["django_language"] = "zh-hans"
    entry = MemoryEntry.objects.create(
        owner=session.owner, kind="fact", text="端口", workspace="/w"
    )
    address = path.format(
        home=f"/sessions/{session.pk}/", entry=entry.pk, profile=session.profile_id
    )
    return client.get(address).content.decode()


def left(html: str) -> list[str]:
    """Three English words in a row, of what is read or read out."""
    html = re.sub(r"<(script|style|pre|code|kbd|textarea)\b.*?</\1>", " ", html, flags=re.DOTALL)
    said = [unescape(one) for one in (*READ.findall(html), *re.split(r"<[^>]*>", html))]
    for known in (*CONTENT, *OF_DJANGO):
        said = [one.replace(known, " ") for one in said]
    return [one.strip() for one in said if SENTENCE.search(one)]


@pytest.mark.parametrize("path", PAGES)
def test_no_english_sentence_is_left_on_a_page(
    client: Client, session: AgentSession, path: str
) -> None:
    html = in_chinese(client, session, path)
    assert re.search("[\u4e00-\u9fff]{2}", html)
    assert left(html) == []


def test_neither_is_one_on_a_preview_nor_in_a_refusal(
    client: Client, session: AgentSession
) -> None:
    preview, _ = acts.preview(session.owner, session, CompactionOptions())
    html = in_chinese(client, session, f"{{home}}previews/{preview.pk}/")
    assert left(html) == []
    answer = client.post(f"/sessions/{session.pk}/instructions", {"text": " "}, headers=HTMX)
    assert "指令不能为空" in answer.content.decode()


@pytest.mark.parametrize("path", FOR_SCRIPTS)
def test_what_scripts_read_is_the_same_in_every_language(
    client: Client, session: AgentSession, path: str
) -> None:
    chinese = in_chinese(client, session, path)
    client.cookies["django_language"] = "en"
    assert client.get(path.format(home=f"/sessions/{session.pk}/")).content.decode() == chinese


def test_stored_words_stay_english_whoever_asks(client: Client, session: AgentSession) -> None:
    in_chinese(client, session, "/")
    client.post(f"/sessions/{session.pk}/messages/2/pin", {})
    client.post(f"/sessions/{session.pk}/instructions", {"text": "go on"})
    told = [str(event.data) for event in session.events.all()]
    assert not re.search("[\u4e00-\u9fff]", "".join(told).replace("解析器", ""))
