from __future__ import annotations

import pytest
from builders import a_lease, a_user
from django.contrib.auth.models import User
from django.test import Client
from django.utils import translation
from scenes import a_talk, html_of, words_of

from agentcore.events import Event, RequestRetried, RunEnd, RunEnded, RunStarted
from agentcore.llm.failures import refused, unreachable
from agentcore.said import Said, as_json
from hermesweb import lease
from hermesweb.models import AgentSession
from hermesweb.recorder import record
from hermesweb.sentences import retold, told

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(client: Client) -> User:
    ada = a_user("ada")
    client.force_login(ada)
    client.cookies["django_language"] = "zh-hans"
    return ada


def recorded(session: AgentSession, *events: Event) -> None:
    held = a_lease(session)
    record(session.pk, held.fence, events)
    lease.release(held)
    session.refresh_from_db()


def test_what_the_core_says_is_told_in_the_language_of_the_page() -> None:
    said = Said("{text}; {way_out}", text="oh no", way_out=Said("wait, or use another endpoint"))
    assert (told(said), retold(as_json(said))) == (said, said)
    with translation.override("zh-hans"):
        assert told(said) == retold(as_json(said)) == "oh no；请稍候，或改用其他端点"
        assert told("a hook's own words") == "a hook's own words"


def test_a_page_says_why_a_run_failed_in_its_own_language(client: Client, ada: User) -> None:
    session = a_talk(ada)
    error = refused("m-1", 401, "no such key", headers={}, key="")
    recorded(session, RunStarted(1), RunEnded(1, RunEnd.FAILED, str(error)))
    english = "m-1 refused the request (401): no such key; check the key of this endpoint"
    assert session.run_reason == english
    words = words_of(html_of(client, f"/sessions/{session.pk}/"))
    assert "m-1 拒绝了请求（401）：no such key；请检查此端点的密钥" in words


def test_a_page_says_why_a_request_was_sent_again_in_its_own_language(
    client: Client, ada: User
) -> None:
    session = a_talk(ada)
    reason = str(unreachable("m-1", "http://here", "Connection refused"))
    recorded(session, RunStarted(1), RequestRetried(1, 2.0, reason))
    words = words_of(html_of(client, f"/sessions/{session.pk}/"))
    assert "m-1（http://here）中断或无法连接（Connection refused）" in words
    assert session.events.get(kind="request_retried").data["reason"] == reason


def test_what_was_kept_as_english_text_alone_is_marked_as_english(
    client: Client, ada: User
) -> None:
    session = a_talk(ada)
    recorded(session, RunStarted(1), RunEnded(1, RunEnd.FAILED, "the disk <is> full"))
    shown = '<span lang="en">the disk &lt;is&gt; full</span>'
    assert shown in html_of(client, f"/sessions/{session.pk}/")
    client.cookies["django_language"] = "en"
    html = html_of(client, f"/sessions/{session.pk}/")
    assert "the disk &lt;is&gt; full" in html and shown not in html
