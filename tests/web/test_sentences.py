from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from html import escape
from typing import Any

import pytest
from builders import a_lease, a_user, said, turn_ended
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import translation
from scenes import HTMX, a_talk, compacted_by, html_of, words_of

from agentcore.compaction.result import Failure, SummaryFailed, Trigger
from agentcore.compaction.summarizer import SummaryRequest, accept
from agentcore.events import (
    CompactionFailed,
    Event,
    RequestRetried,
    RunEnd,
    RunEnded,
    RunStarted,
)
from agentcore.llm.failures import refused, unreachable
from agentcore.llm.router import Purpose, Tier, route
from agentcore.options import SummaryOptions
from agentcore.said import Said, as_json
from agentcore.usage import Prices, Usage
from agentcore.verify import Check
from hermesweb import acts, lease
from hermesweb.lives import snapshot_of
from hermesweb.models import (
    AgentSession,
    Compaction,
    Delivery,
    Profile,
    ProfileVersion,
    Webhook,
)
from hermesweb.outcome import WHY_NOT, unwritten
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
    sentence = Said(
        "{text}; {way_out}", text="oh no", way_out=Said("wait, or use another endpoint")
    )
    assert told(sentence) == retold(as_json(sentence)) == sentence
    with translation.override("zh-hans"):
        assert told(sentence) == retold(as_json(sentence)) == "oh no；请稍候，或改用其他端点"
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


@pytest.mark.parametrize(
    "kept",
    [
        {"form": "the {disk} is full", "figures": {}},
        {"form": "{0} is full", "figures": {"disk": 1}},
        {"form": "{disk.gone} {", "figures": {"disk": "d"}},
        {"form": "{size:,}", "figures": {"size": "many"}},
        {"form": None, "figures": []},
        *({"form": "the disk"}, {"figures": {}}, ["the disk"], "the disk", 3),
    ],
)
def test_what_cannot_be_made_anew_is_told_as_it_was_said(
    client: Client, ada: User, kept: object
) -> None:
    session = a_talk(ada)
    recorded(session, RunStarted(1), RunEnded(1, RunEnd.FAILED, "the disk is full"))
    AgentSession.objects.filter(pk=session.pk).update(run_said=kept)
    assert '<span lang="en">the disk is full</span>' in html_of(client, f"/sessions/{session.pk}/")


@pytest.mark.parametrize("text", ["{0.__class__}", "{x}", "{", "}{", "%(x)s", "{text}", "{{}}"])
def test_braces_in_what_a_provider_says_are_no_form(client: Client, ada: User, text: str) -> None:
    session = a_talk(ada)
    reason = str(refused(text, 401, text, headers={}, key=""))
    recorded(session, RunStarted(1), RunEnded(1, RunEnd.FAILED, reason))
    words = words_of(html_of(client, f"/sessions/{session.pk}/"))
    assert f"{text} 拒绝了请求（401）：{text}；请检查此端点的密钥" in words
    assert told(reason) == retold(as_json(reason)) == session.run_reason


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


def failed(session: AgentSession, failure: Failure, detail: str) -> str:
    """Records it; the address of its page."""
    pressure = turn_ended(1, [said(1, "Go.")]).pressure
    recorded(session, CompactionFailed(Trigger.MANUAL, failure, detail, 1, pressure))
    return f"/sessions/{session.pk}/compactions/{session.compaction_number}/"


def request() -> SummaryRequest:
    return SummaryRequest(("user: hi",), 0, SummaryOptions(words=2), tokens=10)


@pytest.mark.parametrize(
    ("text", "structured", "told"),
    [
        ("I'm sorry, I cannot.", False, "模型的回答：I'm sorry, I cannot."),
        ("", False, "模型没有返回文本"),
        ("one two three", False, "3 个词，13 chars；最多分别为 2 和"),
        ("## Goal", True, "缺少标题 Done and results, Active files"),
    ],
)
def test_a_compaction_says_why_it_has_no_summary_in_the_language_of_its_page(
    client: Client, ada: User, text: str, structured: bool, told: str
) -> None:
    session = a_talk(ada)
    answer = accept(text, False, replace(request(), structured=structured))
    assert isinstance(answer, SummaryFailed)
    page = failed(session, answer.reason, answer.detail)
    assert told in words_of(html_of(client, page))
    row = session.stored_compactions.get()
    assert row.detail == answer.detail and re.search("[a-z]{3}", row.detail)
    Compaction.objects.update(said={})
    assert f'<span lang="en">{escape(row.detail)}</span>' in html_of(client, page)


def test_words_of_a_hook_are_its_own(client: Client, ada: User) -> None:
    page = failed(a_talk(ada), Failure.ABORTED, "现在不行")
    assert '<span class="quiet">现在不行</span>' in html_of(client, page)


def test_each_failure_of_a_compaction_has_its_words() -> None:
    assert set(WHY_NOT) == set(Failure)
    with translation.override("zh-hans"):
        texts = [told(one) for one in WHY_NOT.values()]
        assert [text for text in texts if re.search("[a-z]{3}", text)] == []
        said = unwritten(
            SummaryFailed(
                Failure.HEADINGS, Said("without the headings {headings}", headings="Goal")
            )
        )
        assert told(said) == "摘要缺少规定的标题：缺少标题 Goal"


def test_the_checks_of_a_compaction_are_told_by_the_figures_of_its_row(
    client: Client, ada: User
) -> None:
    session = a_talk(ada, 12)
    page = f"/sessions/{session.pk}/compactions/{compacted_by(session, keep_last=2)}/"
    words = words_of(html_of(client, page))
    row = session.stored_compactions.get()
    assert f"{row.used_after:,} / {row.limit:,} bytes" in words
    for text in ("每个调用之后都紧跟着它的结果", "离开的内容（若有）都有说明"):
        assert text in words
    checks = [{"check": one, "ok": False, "detail": "call c1 has no result"} for one in Check]
    Compaction.objects.update(checks=checks)
    html = html_of(client, page)
    assert '工具调用与结果不能对应：<span lang="en">call c1 has no result</span>' in html
    assert html.count("call c1 has no result") == 1
    for text in ("列表以工具结果开头", "没有内容代替已离开的消息", "最新的消息被改动了"):
        assert text in html


def test_a_refused_edit_says_why_in_the_language_of_the_page(client: Client, ada: User) -> None:
    session = a_talk(ada)
    answer = client.post(f"/sessions/{session.pk}/messages/1/exclude", {}, headers=HTMX)
    assert "消息 1 是系统消息" in answer.content.decode()
    bulk = words_of(html_of(client, f"/sessions/{session.pk}/bulk/?category=system_prompt"))
    assert "每条都是系统消息" in bulk


def test_a_turn_says_why_another_model_answered_in_the_language_of_the_page(
    client: Client, ada: User
) -> None:
    session = a_talk(ada)
    cheap, dear = Tier("cheap", 2, "f"), Tier("dear", 1, "f", prices=Prices(Decimal(9), Decimal(9)))
    chosen = route(
        dear,
        [cheap],
        Purpose.ANSWER,
        expected=lambda tier: Usage(input=1_000_000),
        left=Decimal(1),
    )
    turn = session.turns + 1
    ended = turn_ended(turn, snapshot_of(session).messages, session.revision)
    ended = replace(ended, routed=chosen.reason, requested_model="cheap")
    recorded(session, ended)
    words = words_of(html_of(client, f"/sessions/{session.pk}/"))
    assert "向 dear 请求一次约需 9.0000 USD，预算还剩 1.0000" in words
    row = session.stored_turns.get(number=turn)
    recorded(session, replace(ended, routed=row.routed, waited=True))
    row.refresh_from_db()
    assert row.routed_said["figures"]["name"] == "dear"


WRONG = (
    ({"target": 7}, "target 是大于 0、不超过 1 的小数，而不是 7"),
    ({"limits": {"result_bytes": "x"}}, "limits.result_bytes 是不小于 0 的整数，而不是 'x'"),
    ({"hooks": ["gone"]}, "未知的钩子 'gone'"),
    ({"summary": {"odd": 1}}, "未知的值 summary.odd"),
)


@pytest.mark.parametrize(("values", "text"), WRONG)
def test_a_profile_is_refused_in_the_language_of_the_page(
    values: dict[str, Any], text: str
) -> None:
    whole = {**Profile.objects.get(name="balanced").current.values, **values}
    with translation.override("zh-hans"), pytest.raises(acts.Invalid, match=re.escape(text)):
        acts.save_profile(None, "odd", whole)


def test_what_works_badly_is_told_with_its_arithmetic(client: Client, ada: User) -> None:
    values = Profile.objects.get(name="nanohermes").current.values
    text = "保留 10 个结果（每个 20,000 bytes）+ 摘要 2,500 +"
    with translation.override("zh-hans"), pytest.raises(acts.Refused, match=re.escape(text)):
        acts.save_profile(None, "thrashes", values)
    with pytest.raises(acts.Refused, match="10 kept results of 20,000 bytes"):
        acts.save_profile(None, "thrashes", values)


def test_why_a_stored_profile_is_refused_stands_on_the_page_in_its_language(
    client: Client, ada: User
) -> None:
    session = a_talk(ada)
    version = session.profile_version
    ProfileVersion.objects.filter(pk=version.pk).update(values={**version.values, "target": 7})
    text = "target 是大于 0、不超过 1 的小数，而不是 7"
    assert text in words_of(html_of(client, f"/sessions/{session.pk}/"))
    assert text in html_of(client, "/")


def test_the_administration_tells_the_reasons_too(client: Client, ada: User) -> None:
    session = a_talk(ada)
    User.objects.filter(pk=ada.pk).update(is_staff=True, is_superuser=True)
    reason = Said("the model returned an empty reply")
    recorded(session, RunStarted(1), RunEnded(1, RunEnd.FAILED, reason))
    page = reverse("admin:hermesweb_agentsession_change", args=[session.pk])
    assert "模型返回了空回复" in words_of(html_of(client, page))
    hook = Webhook.objects.create(owner=ada, url="https://hook.example/", occasions=["blocked"])
    lost = Said("the webhook was switched off")
    Delivery.objects.create(
        webhook=hook,
        session=session,
        occasion="blocked",
        seq=1,
        facts={},
        detail=lost,
        said=as_json(lost),
    )
    page = reverse("admin:hermesweb_webhook_change", args=[hook.pk])
    assert "此 Webhook 已停用" in words_of(html_of(client, page))
