"""Many messages at once, by a filter: excluded, brought back, pinned."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from asgiref.sync import async_to_sync
from builders import a_user, answered, called
from calls import Caller, problem
from django.contrib.auth.models import User
from django.test import Client
from scenes import a_talk, html_of, later, words_of
from working import says

from agentcore.invariants import legal
from agentcore.llm.scripted import ScriptedModel
from hermesweb import acts, lives, runner
from hermesweb.models import AgentSession, AuditEntry

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]


@pytest.fixture
def session(ada: User, script: Callable[..., ScriptedModel]) -> AgentSession:
    """Calls 3, 5, 7, 9 with results 4, 6, 8, 10 by read_file; 12 by grep, not seen yet."""
    script(says("x"))
    made = a_talk(ada, 10, text="x" * 1_500)
    later(made, called(11, "grep"), answered(12, "call_11_0", "y" * 1_500, tool="grep"))
    return made


def url(session: AgentSession, rest: str = "") -> str:
    return f"/sessions/{session.pk}/bulk/{rest}"


def taken(session: AgentSession) -> None:
    async_to_sync(runner.run)(session.pk)
    session.refresh_from_db()


def numbers(session: AgentSession) -> list[int]:
    found = lives.snapshot_of(session).messages
    assert not legal(found)
    return [message.number for message in found]


def form(html: str) -> dict[str, str]:
    """What the acts' form would post."""
    part = html[html.index("/bulk/change") :].partition("</form>")[0]
    fields = re.findall(r"<input[^>]*>", part)
    named = (
        (re.search(r'name="(\w+)"', one), re.search(r'value="([^"]*)"', one)) for one in fields
    )
    return {name[1]: value[1] if value else "" for name, value in named if name}


def test_a_filter_tells_what_it_finds_what_would_leave_and_what_stays(
    client: Client, session: AgentSession
) -> None:
    acts.pin(None, session, [6])
    words = words_of(html_of(client, url(session, "?category=tool_results&size=1000")))
    assert "5 messages found, 7." in words
    assert "6 messages would leave with their groups" in words
    assert "#5 , #6" in words and "each is pinned, or its group is: unpin it first" in words
    assert "#11 , #12" in words and "each was not seen by the model yet" in words
    words = words_of(html_of(client, url(session, "?category=system_prompt")))
    assert "it is a system message" in words and "each" not in words


def test_nothing_is_chosen_before_a_filter_is_set_or_all_are_meant(
    client: Client, session: AgentSession
) -> None:
    html = html_of(client, url(session))
    assert "No messages are chosen yet." in words_of(html) and "/bulk/change" not in html
    shown = {"revision": "0", "last": "12"}
    for do in ("exclude", "pin"):
        answer = client.post(url(session, "change"), {**shown, "do": do}, follow=True)
        assert "Choose first which messages" in words_of(answer.content.decode())
    assert not session.instructions.exists()
    assert not session.messages.filter(pinned=True).exists()
    html = html_of(client, url(session, "?all=on"))
    assert "12 messages found" in words_of(html)
    client.post(url(session, "change"), {**form(html), "do": "exclude"})
    assert session.instructions.get().options["numbers"] == [3, 4, 5, 6, 7, 8, 9, 10]


def test_it_says_how_many_leave_that_were_not_found(client: Client, session: AgentSession) -> None:
    words = words_of(html_of(client, url(session, "?tool=read_file")))
    assert "4 messages found" in words and "8 messages would leave with their groups" in words
    assert "4 of them are not among the found, but belong to the same groups." in words


def test_by_tool_and_by_search(client: Client, session: AgentSession) -> None:
    assert "4 messages found" in words_of(html_of(client, url(session, "?tool=read_file")))
    assert "1 message found" in words_of(html_of(client, url(session, "?q=fix+the+parser")))
    words = words_of(html_of(client, url(session, "?q=nothing-like-it")))
    assert "0 messages found" in words and "Nothing would leave" in words
    assert client.get(url(session, "?tool=huge")).status_code == 400


def test_they_leave_in_one_revision_that_is_undone_at_once(
    client: Client, session: AgentSession
) -> None:
    before = numbers(session)
    html = html_of(client, url(session, "?tool=read_file"))
    response = client.post(url(session, "change"), {**form(html), "do": "exclude"}, follow=True)
    assert "8 messages leave now" in words_of(response.content.decode())
    taken(session)
    assert session.revision == 1
    assert [one for one in numbers(session) if one in before] == [1, 2, 11, 12]
    words = words_of(html_of(client, url(session)))
    assert "Revision 1, excluded: 8 out, 1 in." in words
    client.post(f"/sessions/{session.pk}/undo")
    taken(session)
    assert numbers(session) == before


def test_it_is_audited_with_who_and_which(client: Client, session: AgentSession) -> None:
    html = html_of(client, url(session, "?tool=read_file"))
    client.post(url(session, "change"), {**form(html), "do": "exclude"})
    entry = AuditEntry.objects.filter(chain=session.pk).latest("pk")
    assert (entry.who, entry.action) == ("ada", "instruction_queued")
    assert entry.new["numbers"] == [3, 4, 5, 6, 7, 8, 9, 10]


def test_what_was_born_since_is_not_taken_along(client: Client, session: AgentSession) -> None:
    shown = form(html_of(client, url(session, "?category=tool_results")))
    later(session, called(13, "grep"), answered(14, "call_13_0", "z" * 1_500, tool="grep"))
    later(session, called(15, "grep"), answered(16, "call_15_0", "z" * 1_500, tool="grep"))
    client.post(url(session, "change"), {**shown, "do": "exclude"})
    taken(session)
    assert {13, 14, 15, 16} <= set(numbers(session))
    assert 12 not in numbers(session)


def test_a_list_that_was_revised_is_looked_at_again_first(
    client: Client, session: AgentSession
) -> None:
    shown = form(html_of(client, url(session, "?category=tool_results")))
    acts.exclude(None, session, [4])
    taken(session)
    response = client.post(url(session, "change"), {**shown, "do": "exclude"}, follow=True)
    assert "The list moved on meanwhile" in words_of(response.content.decode())
    assert session.instructions.filter(state="queued").count() == 0


def test_those_that_left_come_back_together(client: Client, session: AgentSession) -> None:
    before = numbers(session)
    acts.exclude(None, session, [4])
    acts.exclude(None, session, [8])
    taken(session)
    html = html_of(client, url(session, "?fate=excluded"))
    assert "4 messages found" in words_of(html) and 'value="restore"' in html
    client.post(url(session, "change"), {**form(html), "do": "restore"})
    taken(session)
    assert numbers(session) == before


def test_pins_are_set_and_taken_away_by_filter(client: Client, session: AgentSession) -> None:
    html = html_of(client, url(session, "?tool=read_file"))
    client.post(url(session, "change"), {**form(html), "do": "pin", "reason": "evidence"})
    pinned = session.messages.filter(pinned=True)
    assert set(pinned.values_list("number", "pin_reason")) == {
        (number, "evidence") for number in (4, 6, 8, 10)
    }
    html = html_of(client, url(session, "?tool=read_file"))
    client.post(url(session, "change"), {**form(html), "do": "unpin"})
    assert not pinned.exists()


def test_pins_that_leave_no_room_are_refused_with_the_arithmetic(
    client: Client, session: AgentSession
) -> None:
    AgentSession.objects.update(limit=3_000)
    html = html_of(client, url(session, "?tool=read_file"))
    response = client.post(url(session, "change"), {**form(html), "do": "pin"}, follow=True)
    assert "over the limit of 3,000" in words_of(response.content.decode())
    assert not session.messages.filter(pinned=True).exists()


def test_a_recording_is_only_looked_at(client: Client, ada: User) -> None:
    session = a_talk(ada, 10, kind="imported")
    html = html_of(client, url(session, "?tool=read_file"))
    assert "4 messages found" in words_of(html) and "/bulk/change" not in html


@pytest.mark.parametrize(
    "data", [{"do": "burn", "tool": "grep"}, {"do": "exclude", "tool": "huge"}]
)
def test_what_cannot_be_done_is_told(
    client: Client, session: AgentSession, data: dict[str, str]
) -> None:
    shown = {"revision": "0", "last": "12"}
    assert client.post(url(session, "change"), {**shown, **data}).status_code == 400
    assert client.get(url(session, "change")).status_code == 405


def test_the_list_and_the_pins_lead_here_with_their_filter(
    client: Client, session: AgentSession
) -> None:
    html = html_of(client, f"/sessions/{session.pk}/?category=tool_results&size=4000")
    assert f"{url(session)}?category=tool_results&amp;size=4000" in html
    assert url(session) in html_of(client, f"/sessions/{session.pk}/pins/")


def test_the_api_previews_and_excludes_by_filter(ada: User, session: AgentSession) -> None:
    acts.pin(None, session, [6])
    caller, path = Caller(ada), f"sessions/{session.pk}/messages"
    where = {"category": "tool_results", "size": 1_000}
    shown = caller.put(f"{path}/excluded", {"where": where, "preview": True}).json()
    assert (shown["found"], shown["leaving"]) == ([4, 6, 8, 10, 12], [3, 4, 7, 8, 9, 10])
    assert [one["numbers"] for one in shown["refused"]] == [[5, 6], [11, 12]]
    assert not session.instructions.exists()
    queued = caller.put(f"{path}/excluded", {"where": where})
    assert (queued.status_code, queued.json()["leaving"]) == (202, shown["leaving"])
    before = session.bytes
    taken(session)
    assert before - session.bytes == shown["freed"]
    back = caller.post(f"{path}/restore", {"where": {"fate": "excluded"}})
    assert back.status_code == 202
    taken(session)
    assert numbers(session) == list(range(1, 13))


def test_the_api_pins_by_filter_and_refuses_what_is_neither_or_both(
    ada: User, session: AgentSession
) -> None:
    caller, path = Caller(ada), f"sessions/{session.pk}/messages"
    made = caller.put(f"{path}/pin", {"where": {"tool": "grep"}, "reason": "proof"}).json()
    assert made["numbers"] == [12]
    assert caller.delete(f"{path}/pin", {"where": {}}).json()["numbers"] == [12]
    for body in ({}, {"numbers": [1], "where": {}}):
        assert problem(caller.put(f"{path}/pin", body)) == (422, "invalid", "numbers")
    wrong = caller.put(f"{path}/excluded", {"where": {"fate": "huge"}})
    assert problem(wrong) == (422, "invalid", "fate")


def test_strangers_find_nothing(client: Client, session: AgentSession) -> None:
    client.force_login(a_user("bob"))
    assert client.get(url(session)).status_code == 404
    assert client.post(url(session, "change"), {"do": "exclude"}).status_code == 404
    assert client.post(f"/sessions/{session.pk}/undo").status_code == 404


def test_a_filter_that_no_text_can_hold_finds_nothing(ada: User, session: AgentSession) -> None:
    path = f"sessions/{session.pk}/messages/excluded"
    for where in ({"q": "\0"}, {"q": "\0x"}, {"tool": "\0"}):
        assert Caller(ada).put(path, {"where": where, "preview": True}).json()["found"] == []
        assert problem(Caller(ada).put(path, {"where": where}))[:2] == (422, "invalid")


def test_the_audit_names_all_that_were_excluded_and_brought_back_the_event_says_how_many(
    ada: User, script: Callable[..., ScriptedModel]
) -> None:
    script(says("x"))
    session = a_talk(ada, 260)
    wanted = list(range(3, 203))
    acts.exclude(ada, session, wanted)
    taken(session)
    acts.restore(ada, session, wanted)
    entries = AuditEntry.objects.filter(chain=session.pk, action="instruction_queued")
    assert [entry.new["numbers"] for entry in entries.order_by("place")] == [wanted, wanted]
    events = session.events.filter(kind="instruction_queued").order_by("seq")
    told = [(event.data["numbers"], event.data["count"]) for event in events]
    assert told == [(wanted[:100], 200)] * 2
    assert all(len(json.dumps(event.data)) < 2_000 for event in events)


def test_an_event_that_names_all_says_no_count(ada: User, session: AgentSession) -> None:
    acts.exclude(ada, session, [4])
    data = session.events.get(kind="instruction_queued").data
    assert (data["numbers"], "count" in data) == ([4], False)
