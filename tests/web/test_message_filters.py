"""What an address of the message list can ask for: fate, size, whole texts, one message open."""

from __future__ import annotations

import re

import pytest
from builders import a_user, answered, called, said
from django.contrib.auth.models import User
from django.test import Client
from scenes import HTMX, a_talk, a_talk_of, compacted, html_of, words_of

from hermesweb import search as searching
from hermesweb.listing import PAGE_ROWS, Choice, Order, View, page
from hermesweb.models import AgentSession
from hermesweb.search import search

pytestmark = pytest.mark.django_db
SECRET = "sk-ant-api03-" + "a1B2" * 12


def url(session: AgentSession, rest: str = "messages/") -> str:
    return f"/sessions/{session.pk}/{rest}"


def numbers(html: str) -> list[int]:
    return [int(found) for found in re.findall(r'id="message-(\d+)"', html)]


def test_rows_can_be_filtered_by_what_became_of_them(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    gone = html_of(client, url(session, "messages/?fate=summarized"), htmx=True)
    assert numbers(gone) == [3, 4, 5, 6]
    alive = html_of(client, url(session, "messages/?view=all&fate=alive"), htmx=True)
    assert numbers(alive) == [1, 2, 7, 8, 9, 10, 11, 12, 13]
    assert client.get(url(session, "messages/?fate=eaten"), headers=HTMX).status_code == 400


def test_rows_can_be_filtered_by_size(ada: User) -> None:
    session = a_talk(ada, 8, text="x" * 5_000)
    found = page(session, Choice(size=4_000))
    assert [line.message.number for line in found.lines] == [4, 6, 8]


def test_a_row_tells_what_it_carried(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    sizes = dict(session.messages.values_list("number", "bytes"))
    carried = {line.message.number: line.carried for line in page(session, Choice()).lines}
    assert carried[1] == 5 * sizes[1]
    assert (carried[4], carried[12]) == (4 * sizes[4], 0)
    compacted(session)
    gone = page(session, Choice(view=View.ALL, fate="summarized")).lines
    assert [line.carried for line in gone][1] == 4 * sizes[4]


def test_a_repeated_call_is_marked_in_its_row(client: Client, ada: User) -> None:
    session = a_talk(ada, 8)
    html = html_of(client, url(session), htmx=True)
    assert html.count("The same call as for message") == 2


@pytest.mark.parametrize("order", Order)
def test_a_named_message_is_on_the_page_and_opened(client: Client, ada: User, order: Order) -> None:
    session = a_talk(ada, 3 * PAGE_ROWS)
    html = html_of(client, f"/sessions/{session.pk}/?message=20&order={order}")
    assert 20 in numbers(html)
    assert html.count('<details class="body" open>') == 1
    assert "earlier messages" in html or "larger ones" in html
    newest = html_of(client, f"/sessions/{session.pk}/?message={3 * PAGE_ROWS - 1}")
    assert numbers(newest) == list(range(2 * PAGE_ROWS + 1, 3 * PAGE_ROWS + 1))


def test_the_address_follows_the_list_and_keeps_the_turn(client: Client, ada: User) -> None:
    session = a_talk(ada, 8)
    home = f"/sessions/{session.pk}/"
    here = {**HTMX, "HX-Current-URL": f"http://testserver{home}?turn=2"}
    answer = client.get(url(session, "messages/?order=largest"), headers=here)
    assert answer["HX-Push-Url"] == f"{home}?order=largest&turn=2"
    typed = client.get(url(session, "messages/?q=par"), headers=here)
    assert typed["HX-Replace-Url"] == f"{home}?q=par&turn=2"
    refreshed = client.get(url(session, "messages/?q=par&seen=8"), headers=here)
    assert not {"HX-Push-Url", "HX-Replace-Url"} & refreshed.headers.keys()


def test_whole_texts_are_searched_from_the_newest(
    ada: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "CHUNK", 5)
    deep = "y" * 3_000
    session = a_talk_of(
        ada,
        said(1, "Be careful.", "system"),
        said(2, "Go."),
        called(3, "grep"),
        answered(4, "call_3_0", f"{deep} Needle {deep}", tool="grep"),
        *(said(number, "later") for number in range(5, 9)),
        said(9, f"{deep} NEEDLE"),
    )
    first = search(session, Choice(q="needle", whole=True))
    assert [hit.line.message.number for hit in first.hits] == [9]
    assert (first.looked, first.hits[0].words) == (5, "NEEDLE")
    assert first.next is not None
    second = search(session, first.next)
    [hit] = second.hits
    assert (hit.line.message.number, hit.words, second.next) == (4, "Needle", None)
    assert hit.before.endswith("y ") and hit.after.startswith(" y")


def test_whole_texts_are_searched_with_what_a_plain_search_looks_at(ada: User) -> None:
    session = a_talk_of(
        ada,
        said(1, "Be careful.", "system"),
        said(2, "Go."),
        called(3, "bash"),
        answered(4, "call_3_0", "ok", tool="bash"),
    )
    session.messages.filter(number=4).update(command="ls altered", path="src/parser.py")
    for words in ("ALTERED", "src/parser"):
        plain = [line.message.number for line in page(session, Choice(q=words)).lines]
        whole = search(session, Choice(q=words, whole=True)).hits
        assert [hit.line.message.number for hit in whole] == plain == [4]
        assert whole[0].words.lower() == words.lower()


def test_a_search_finds_no_masked_secret(ada: User) -> None:
    session = a_talk_of(ada, said(1, "s", "system"), said(2, f"the key is {SECRET}, use it"))
    assert search(session, Choice(q=SECRET[8:30], whole=True)).hits == []
    [hit] = search(session, Choice(q="the key is", whole=True)).hits
    assert SECRET not in hit.after


def test_hits_are_shown_as_text_on_the_page_and_as_a_part(client: Client, ada: User) -> None:
    session = a_talk_of(ada, said(1, "s", "system"), said(2, "x" * 900 + "<b>bold</b>"))
    for path in ("?q=%3Cb%3E&whole=1", "messages/search/?q=%3Cb%3E&whole=1"):
        html = html_of(client, f"/sessions/{session.pk}/{path}", htmx="search" in path)
        assert "<mark>&lt;b&gt;</mark>" in html
        assert "These are all." in words_of(html)


def test_a_search_part_is_for_htmx_and_its_owner(client: Client, ada: User) -> None:
    session = a_talk(ada)
    path = url(session, "messages/search/?q=x&whole=1")
    assert client.get(path)["Location"] == f"/sessions/{session.pk}/?q=x&whole=1#messages"
    assert client.post(path).status_code == 405
    assert client.get(url(session, "messages/search/"), headers=HTMX).status_code == 400
    assert client.get(url(a_talk(a_user("bob")), "messages/search/?q=x&whole=1")).status_code == 404
