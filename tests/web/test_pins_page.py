"""What is pinned, what that weighs, and what is worth a pin."""

from __future__ import annotations

import json

import pytest
from builders import a_user, said
from django.contrib.auth.models import User
from django.test import Client
from scenes import HTMX, a_talk, a_talk_of, compacted, html_of, words_of

from hermesweb import acts
from hermesweb.diffs import rows_of
from hermesweb.models import AgentSession, AuditEntry
from hermesweb.pinned import drawer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("woken")]
RULE = "Never touch the port 8080."


def url(session: AgentSession, rest: str = "") -> str:
    return f"/sessions/{session.pk}/pins/{rest}"


def test_pins_are_listed_with_weight_reason_and_who(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    acts.pin(ada, session, [4], reason="the numbers", until="turn:2")
    words = words_of(html_of(client, url(session)))
    assert "1 pin hold" in words and "#4" in words
    assert "the numbers · until turn:2, which is over · by ada" in words
    assert "cannot be freed" in words


def test_pins_that_hold_much_of_the_list_are_warned_of(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    assert "leaves compaction little to do" not in html_of(client, url(session))
    acts.pin(ada, session, range(3, 11))
    assert "leaves compaction little to do" in html_of(client, url(session))


def test_a_rule_is_suggested_and_pinned_with_one_click(client: Client, ada: User) -> None:
    talk = [said(1, "Be careful.", "system"), said(2, f"Fix the parser. {RULE}")]
    session = a_talk_of(ada, *talk, said(3, "Done.", "assistant"))
    html = html_of(client, url(session))
    assert "8080" in words_of(html).partition("Worth a pin")[2]
    client.post(url(session, "change"), {"number": 2, "do": "pin", "reason": "a rule"})
    pinned = session.messages.get(number=2)
    assert (pinned.pinned, pinned.pin_reason, pinned.pinned_by) == (True, "a rule", ada)
    assert "8080" not in words_of(html_of(client, url(session))).partition("Worth a pin")[2]


def test_a_suggestion_is_told_in_the_language_of_the_page(client: Client, ada: User) -> None:
    session = a_talk_of(ada, said(1, "Be careful.", "system"), said(2, f"Fix it. {RULE}"))
    assert "constraint: " in html_of(client, url(session))
    client.cookies["django_language"] = "zh-hans"
    html = html_of(client, url(session))
    assert "约束：" in html and "constraint: " not in html


def test_a_pin_is_taken_away_and_one_that_left_is_brought_back(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    acts.pin(ada, session, [4])
    assert "Bring back" in html_of(client, url(session))
    client.post(url(session, "change"), {"number": 4, "do": "restore"})
    assert session.instructions.get().kind == "restore"
    client.post(url(session, "change"), {"number": 4, "do": "unpin"})
    assert not session.messages.get(number=4).pinned


def test_a_refusal_is_told_with_its_arithmetic(client: Client, ada: User) -> None:
    session = a_talk(ada, 24, text="x" * 4_000)
    AgentSession.objects.update(limit=1_000)
    response = client.post(url(session, "change"), {"number": 4, "do": "pin"}, follow=True)
    assert "over the limit of" in words_of(response.content.decode())
    assert not session.messages.get(number=4).pinned


@pytest.mark.parametrize("form", [{"number": "x", "do": "pin"}, {"number": 4, "do": "eat"}])
def test_what_is_no_change_is_bad_input(client: Client, ada: User, form: dict[str, str]) -> None:
    assert client.post(url(a_talk(ada, 12), "change"), form).status_code == 400


def test_strangers_see_and_change_nothing(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    client.force_login(a_user("bob"))
    assert client.get(url(session)).status_code == 404
    assert client.post(url(session, "change"), {"number": 4, "do": "pin"}).status_code == 404


def test_many_pins_at_once_are_all_told_in_events_that_stay_small(
    client: Client, ada: User
) -> None:
    session = a_talk(ada, 230, text="x")
    compacted(session, start=222, stop=226)
    first = session.seq + 1
    acts.pin(ada, session, range(3, 213))
    told = list(session.events.filter(seq__gte=first).order_by("seq"))
    assert [event.kind for event in told] == ["pinned"] * 3
    assert [event.seq for event in told] == [first, first + 1, first + 2]
    assert session.seq == first + 2
    assert [number for event in told for number in event.data["numbers"]] == list(range(3, 213))
    assert all(len(json.dumps(event.data)) < 2_000 for event in told)
    assert AuditEntry.objects.get().new["numbers"] == list(range(3, 213))
    assert all(pin.at for pin in drawer(session).pins)
    rows = rows_of(session, session.stored_compactions.get())
    assert not [row.number for row in rows if row.fate == "pinned"]


def test_a_pinned_result_names_the_call_that_it_keeps(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    acts.pin(ada, session, [2, 4])
    words = words_of(html_of(client, url(session)))
    assert "keeps its group too: #3 " in words
    assert words.count("keeps its group too") == 1


def test_a_pin_is_given_a_reason_and_an_end_on_the_message_page(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    page = f"/sessions/{session.pk}/messages/4/"
    assert 'name="turn"' in html_of(client, page)
    client.post(f"{page}pin", {"reason": "the port", "turn": "9"})
    pinned = session.messages.get(number=4)
    assert (pinned.pinned, pinned.pin_reason, pinned.pin_until) == (True, "the port", "turn:9")
    client.post(f"{page}pin", {"reason": "", "turn": ""})
    pinned.refresh_from_db()
    assert pinned.pin_until == "session"
    wrong = client.post(f"{page}pin", {"turn": "soon"}, headers=HTMX)
    assert wrong.status_code == 400 and "a number from 1" in wrong.content.decode()
