from __future__ import annotations

import csv
import io
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from builders import a_session, a_user, said
from channels.db import database_sync_to_async
from django.contrib.auth.models import User
from django.test import Client
from scenes import html_of, words_of
from working import asked, calls, says

from agentcore.compaction.result import CompactionState, Trigger
from agentcore.llm.base import Reply
from agentcore.llm.scripted import ScriptedModel
from agentcore.usage import Usage
from hermesweb import lives, runner
from hermesweb.models import AgentSession, Compaction, StoredTurn
from hermesweb.templatetags.units import usd
from hermesweb.turn_ledger import turn_ledger

pytestmark = pytest.mark.django_db

# spec-compaction 3: N's ledger of 12 turns, bytes in thousands.
MESSAGES = [3, 6, 10, 14, 20, 24, 30, 36, 42, 48, 54, 60]
SIZES = [4, 12, 26, 38, 52, 64, 78, 96, 118, 132, 46, 60]


def twelve_turns(owner: User, state: CompactionState = CompactionState.APPLIED) -> AgentSession:
    session = a_session(owner)
    births = [said(number, "x") for number in range(1, 61)]
    system = said(61, "be careful", "system")
    lives.store(session, [lives.appended(one, 0, 1) for one in [*births, system]])
    for number, (messages, size) in enumerate(zip(MESSAGES, SIZES, strict=True), 1):
        cut = {"action": "keep_recent", "after": 32_000} if number == 10 else {}
        StoredTurn.objects.create(
            session=session,
            number=number,
            bytes=size * 1_000,
            requested_revision=0,
            requested_number=messages,
            ended_revision=0,
            ended_number=messages,
            **cut,
        )
    Compaction.objects.create(
        session=session,
        number=1,
        state=state,
        trigger=Trigger.THRESHOLD,
        turn=10,
        before=132_000,
        after=32_000,
    )
    return session


def test_the_ledger_of_twelve_turns_is_that_of_the_source(ada: User) -> None:
    ledger = turn_ledger(twelve_turns(ada))
    assert [line.messages for line in ledger.lines] == MESSAGES
    assert [line.bytes // 1_000 for line in ledger.lines] == SIZES
    assert [line.after for line in ledger.lines] == [None] * 9 + [32_000, None, None]
    assert [line.action for line in ledger.lines][8:11] == [None, "keep_recent", None]
    total = ledger.total
    assert (total.cumulative, total.peak, total.peak_request) == (726_000, 132_000, 118_000)
    assert [line.saved for line in ledger.lines] == [0] * 10 + [100_000] * 2
    assert ledger.lines[-1].cumulative == total.cumulative
    assert total.saved == 200_000
    assert [(one.first, one.last, one.peak, one.saved) for one in ledger.epochs] == [
        (1, 10, 132_000, 0),
        (11, 12, 60_000, 200_000),
    ]


def test_the_newest_lines_are_the_same_as_among_all(ada: User) -> None:
    session = twelve_turns(ada)
    assert turn_ledger(session, 3).lines == turn_ledger(session).lines[-3:]
    assert turn_ledger(session, 3).total == turn_ledger(session).total


def test_a_compaction_that_was_taken_back_saved_nothing(ada: User) -> None:
    ledger = turn_ledger(twelve_turns(ada, CompactionState.UNDONE))
    assert (ledger.total.saved, len(ledger.epochs)) == (0, 1)


def test_a_session_without_turns_has_an_empty_ledger(client: Client, ada: User) -> None:
    session = a_session(ada)
    told = client.get(f"/sessions/{session.pk}/ledger.json").json()
    assert (told["lines"], told["epochs"], told["total"]["peak"]) == ([], [], 0)
    assert client.get(f"/sessions/{session.pk}/ledger.csv").content == b""


def test_page_json_csv_and_api_tell_the_same_ledger(client: Client, ada: User) -> None:
    session = twelve_turns(ada)
    told = client.get(f"/sessions/{session.pk}/ledger.json").json()
    lines = list(
        csv.DictReader(
            io.StringIO(client.get(f"/sessions/{session.pk}/ledger.csv").content.decode())
        )
    )
    assert [int(line["cumulative"]) for line in lines] == [
        line["cumulative"] for line in told["lines"]
    ]
    assert client.get(f"/api/v1/sessions/{session.pk}/ledger").json() == told
    words = words_of(html_of(client, f"/sessions/{session.pk}/ledger/"))
    assert "726.0 kB in 12 turns, at most 132.0 kB, 200.0 kB saved" in words
    assert "10 48 132.0 kB keep recent 32.0 kB 620.0 kB" in words
    assert "11–12 60.0 kB" in words
    assert "Sum so far Saved in it" in words


def test_a_stranger_sees_no_ledger_and_it_is_only_read(client: Client, ada: User) -> None:
    url = f"/sessions/{twelve_turns(ada).pk}/ledger"
    forms = ("/", ".json", ".csv")
    assert {client.post(url + form).status_code for form in forms} == {405}
    client.force_login(a_user("eve"))
    assert {client.get(url + form).status_code for form in forms} == {404}


def test_the_session_page_fetches_its_ledger_as_a_part(client: Client, ada: User) -> None:
    session = twelve_turns(ada)
    address = f"/sessions/{session.pk}/ledger/"
    assert f'hx-get="{address}"' in html_of(client, f"/sessions/{session.pk}/")
    assert html_of(client, address, htmx=True).lstrip().startswith('<details id="ledger">')


def test_cost_and_cache_are_told_where_they_are_known_and_never_as_0(
    client: Client, ada: User
) -> None:
    session = twelve_turns(ada)
    usage = {"input": 1_000, "output": 50, "cache_read": 3_000, "cache_write": 0, "reasoning": 0}
    known = {"turns": 12, "spent": usage, "cost": Decimal("0.0297")}
    AgentSession.objects.filter(pk=session.pk).update(**known)
    words = words_of(html_of(client, f"/sessions/{session.pk}/"))
    assert "Cost so far $0.030" in words
    assert "3,000 tok (provider), 75.0%" in words
    AgentSession.objects.filter(pk=session.pk).update(unpriced=2)
    words = words_of(html_of(client, f"/sessions/{session.pk}/"))
    assert "Cost so far unknown" in words
    assert "Requests without a known cost 2 Of those that have one $0.030" in words


@pytest.mark.parametrize(
    ("cost", "said"),
    [(None, "unknown"), (Decimal("0.0297"), "$0.030"), ("12.5", "$12.50"), (Decimal(0), "$0.00")],
)
def test_an_amount_of_money_is_short_and_unknown_is_a_word(
    cost: Decimal | str | None, said: str
) -> None:
    assert usd(cost) == said


@pytest.mark.django_db(transaction=True)
async def test_gauge_list_chart_event_page_and_api_read_one_measurement(
    tmp_path: Path, script: Callable[..., ScriptedModel], woken: list[str]
) -> None:
    """spec-context 3, One counter, and spec-web 1."""
    usage = Usage(input=7_000, output=10)
    script(Reply(calls("glob", '{"pattern": "*"}', "c1"), usage=usage), says("done"))
    owner, session = await asked(tmp_path, "go", profile="balanced")
    await runner.run(session.pk)
    await database_sync_to_async(_read_everywhere)(owner, session)


def _read_everywhere(owner: User, session: AgentSession) -> None:
    client = Client()
    client.force_login(owner)
    session.refresh_from_db()
    turn = session.stored_turns.latest("number")
    event = session.events.filter(kind="turn_ended").latest("seq").data
    page = html_of(client, f"/sessions/{session.pk}/")
    wall = html_of(client, "/")
    chart = client.get(f"/sessions/{session.pk}/chart.json").json()["turns"][-1]
    line = client.get(f"/sessions/{session.pk}/turns.json").json()["items"][-1]
    figures = ("used", "limit", "unit", "tokens", "bytes")
    stored = {name: getattr(session, name) for name in figures}
    assert {name: getattr(turn, name) for name in figures} == stored
    assert {name: event[name] for name in figures} == stored
    assert {name: line[name] for name in figures} == stored
    assert (chart["used"], chart["limit"]) == (session.used, session.limit)
    assert f"{session.used:,} tok" in words_of(page)
    assert f"{session.used:,} tok of {session.limit:,} tok used" in wall
    assert "≈" in page and event["tokens_are"] == session.tokens_are == "estimate"
    assert line["prompt_are"] == "estimate" and turn.ratio != 1
    told = client.get(f"/api/v1/sessions/{session.pk}").json()
    assert (told["used"], told["limit"], told["unit"]) == (stored["used"], *_limit(session))
    assert told["size"]["tokens"] == sum(told["tokens_by_category"].values()) == session.tokens
    assert told["tokens_by_category"].keys() == told["breakdown"].keys()
    assert told["cost"] is None and told["unpriced"] == 2
    assert told["spent"]["input"] == 7_000


def _limit(session: AgentSession) -> tuple[int, str]:
    return session.limit, session.unit
