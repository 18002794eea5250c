from __future__ import annotations

import re

import pytest
from builders import a_session, a_user, answered, called, said
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from scenes import HTMX, a_talk, a_talk_of, compacted, cut_result, html_of, words_of

from agentcore.messages import born
from hermesweb import acts
from hermesweb.listing import PAGE_ROWS, Choice, Order, View, page
from hermesweb.models import AgentSession, AuditEntry, SessionEvent, StoredMessage

pytestmark = pytest.mark.django_db
HOSTILE = "<img src=x onerror=alert(1)> \x1b[31mred \u202egnirts \x00nul"


def url(session: AgentSession, rest: str = "") -> str:
    return f"/sessions/{session.pk}/messages/{rest}"


def numbers(html: str) -> list[int]:
    return [int(found) for found in re.findall(r'id="message-(\d+)"', html)]


def pages(session: AgentSession, choice: Choice) -> list[list[int]]:
    """All pages from the one that opens, each way once."""
    shown = page(session, choice)
    found = [[line.message.number for line in shown.lines]]
    at = shown
    while at.earlier:
        at = page(session, at.earlier)
        found.insert(0, [line.message.number for line in at.lines])
    at = shown
    while at.later:
        at = page(session, at.later)
        found.append([line.message.number for line in at.lines])
    return found


def test_the_list_opens_at_its_newest_page(client: Client, ada: User) -> None:
    html = html_of(client, url(a_talk(ada, 120)), htmx=True)
    assert numbers(html) == list(range(121 - PAGE_ROWS, 121))
    assert "earlier messages" in html and "later messages" not in html


@pytest.mark.parametrize("view", View)
def test_pages_in_order_hold_each_message_once(ada: User, view: View) -> None:
    found = pages(a_talk(ada, 120), Choice(view=view))
    assert [number for part in found for number in part] == list(range(1, 121))
    assert max(map(len, found)) == PAGE_ROWS


def test_pages_by_size_hold_each_message_once_the_largest_first(ada: User) -> None:
    session = a_talk(ada, 120)
    found = [number for part in pages(session, Choice(order=Order.LARGEST)) for number in part]
    sizes = dict(session.messages.values_list("number", "bytes"))
    assert sorted(found) == list(range(1, 121))
    assert [sizes[number] for number in found] == sorted(sizes.values(), reverse=True)


def test_a_page_before_one_is_the_page_it_came_from(ada: User) -> None:
    session = a_talk(ada, 160)
    newest = page(session, Choice())
    assert newest.earlier is not None
    older = page(session, newest.earlier)
    assert older.later is not None
    again = page(session, older.later)
    assert [line.key for line in again.lines] == [line.key for line in newest.lines]


def test_the_model_view_holds_what_is_alive_in_its_order(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    assert numbers(html_of(client, url(session), htmx=True)) == [1, 2, 13, 7, 8, 9, 10, 11, 12]


def test_the_transcript_holds_all_and_says_what_became_of_each(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    number = compacted(session)
    html = html_of(client, url(session, "?view=all"), htmx=True)
    assert numbers(html) == list(range(1, 14))
    assert html.count(">summarized</span>") == 4
    assert f"Compaction {number} ·" in words_of(html)


def test_rows_can_be_filtered_by_category_and_text(client: Client, ada: User) -> None:
    session = a_talk(ada, 8)
    results = html_of(client, url(session, "?category=tool_results"), htmx=True)
    assert numbers(results) == [4, 6, 8]
    assert numbers(html_of(client, url(session, "?q=PARSER"), htmx=True)) == [2]
    assert "No message matches" in html_of(client, url(session, "?q=%25"), htmx=True)


def test_a_row_says_size_share_age_and_cut_without_opening(client: Client, ada: User) -> None:
    session = a_talk_of(
        ada,
        said(1, "Be careful.", "system"),
        said(2, "Go."),
        called(3, "run_command"),
        cut_result(4, "call_3_0", "y" * 2_000, 84_200),
    )
    words = words_of(html_of(client, url(session), htmx=True))
    assert "cut: 2.0 kB of 84.2 kB" in words
    share = session.messages.get(number=4).bytes / session.bytes
    assert f"{share:.1%}" in words
    assert "turn 1" in words


def test_the_newest_page_is_fetched_again_when_something_is_born(client: Client, ada: User) -> None:
    session = a_talk(ada, 120)
    newest = html_of(client, url(session), htmx=True)
    assert f'hx-get="{url(session)}?seen=120"' in newest
    assert "messages:said" in newest
    older = html_of(client, url(session, "?before=284.71"), htmx=True)
    assert numbers(older) == list(range(71 - PAGE_ROWS, 71))
    assert "messages:said" not in older
    assert "session:compaction_ended" in older


def test_rows_born_since_the_last_look_are_fresh(client: Client, ada: User) -> None:
    html = html_of(client, url(a_talk(ada, 8), "?seen=6"), htmx=True)
    assert html.count("row--fresh") == 2


def test_without_htmx_the_list_is_part_of_the_session_page(client: Client, ada: User) -> None:
    session = a_talk(ada, 8)
    home = f"/sessions/{session.pk}/"
    assert client.get(url(session, "?view=all")).url == f"{home}?view=all#messages"
    assert numbers(html_of(client, f"{home}?order=largest&category=user")) == [2]


def test_a_body_is_shown_on_demand_as_text_and_as_sent(client: Client, ada: User) -> None:
    session = a_talk(ada, 8)
    text = html_of(client, url(session, "3/"), htmx=True)
    assert "read_file" in text and "<html" not in text
    wire = html_of(client, url(session, "3/?form=wire"), htmx=True)
    assert "&quot;tool_calls&quot;" in wire
    assert "<title>" in html_of(client, url(session, "3/"))


def test_the_page_of_a_message_says_how_much_escaping_added(client: Client, ada: User) -> None:
    quoted = answered(4, "call_3_0", '"a": 1, ' * 100)
    session = a_talk_of(
        ada, said(1, "Be careful.", "system"), said(2, "Go."), called(3, "x"), quoted
    )
    assert "escaped +25%" in words_of(html_of(client, url(session, "4/")))
    assert "escaped +0%" in words_of(html_of(client, url(session, "2/")))


def test_what_a_cut_left_out_is_shown_as_captured(client: Client, ada: User) -> None:
    session = a_talk(ada, 4)
    message = session.messages.get(number=4)
    from hermesweb import bodies

    (key,) = bodies.keep(["the whole output"])
    StoredMessage.objects.filter(pk=message.pk).update(
        captured_id=key, original_bytes=16, kept_bytes=4
    )
    assert "Whole output" in html_of(client, url(session, "4/"), htmx=True)
    assert "the whole output" in html_of(client, url(session, "4/?form=captured"), htmx=True)


def test_a_picture_is_named_and_never_loaded(client: Client, ada: User) -> None:
    url_of_it = "data:image/png;base64," + "QUJD" * 1_000
    parts = [
        {"type": "text", "text": "read_file a.png: PNG picture"},
        {"type": "image_url", "image_url": {"url": url_of_it}},
        {"type": "image_url", "image_url": {"url": "https://elsewhere.example/a.png"}},
    ]
    seen = answered(4, "call_3_0", parts, tool="read_file")
    session = a_talk_of(
        ada, said(1, "Be careful.", "system"), said(2, "Go."), called(3, "read_file"), seen
    )
    html = html_of(client, url(session, "4/"))
    words = words_of(html)
    assert "read_file a.png: PNG picture" in words
    assert "image/png, 3.0 kB · given to the model, named here only" in words
    assert "image_url · given to the model" in words
    assert "QUJD" not in html and "elsewhere" not in html and "<img" not in html
    assert "QUJD" in html_of(client, url(session, "4/?form=wire"), htmx=True)


def test_a_long_body_comes_in_parts(client: Client, ada: User) -> None:
    session = a_talk(ada, 4, text="a" * 60_000 + "b" * 60_000)
    first = html_of(client, url(session, "4/"), htmx=True)
    assert "aaa" in first and "bbb" not in first
    assert "offset=60000" in first
    second = html_of(client, url(session, "4/?offset=60000"), htmx=True)
    assert "bbb" in second and "Next characters" not in second
    assert len(first) < 100_000


def test_hostile_content_is_shown_never_run(client: Client, ada: User) -> None:
    hostile_call = born(
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c",
                    "type": "function",
                    "function": {"name": HOSTILE, "arguments": HOSTILE},
                }
            ],
        }
    ).numbered(3)
    session = a_talk_of(
        ada,
        said(1, HOSTILE, "system"),
        said(2, HOSTILE),
        hostile_call,
        answered(4, "c", HOSTILE, tool=HOSTILE),
    )
    shown = [html_of(client, f"/sessions/{session.pk}/"), html_of(client, url(session), htmx=True)]
    for number in (1, 2, 3, 4):
        shown += [html_of(client, url(session, f"{number}/{form}")) for form in ("", "?form=wire")]
    for html in shown:
        assert "<img" not in html
        assert not re.search("[\x00\x1b\u202e]", html)
    opened = html_of(client, url(session, "2/"))
    assert "␀" in opened and ">ESC<" in opened and ">U+202E<" in opened


def test_pinning_flags_audits_tells_and_answers_with_the_row(client: Client, ada: User) -> None:
    session = a_talk(ada, 8)
    response = client.post(url(session, "4/pin"), headers=HTMX)
    html = response.content.decode()
    assert '<hx-partial id="pin-4"' in html and "Unpin message 4" in html
    assert '<hx-partial id="pressure"' in html
    message = session.messages.get(number=4)
    assert (message.pinned, message.pinned_by) == (True, ada)
    assert AuditEntry.objects.get().action == "pinned"
    assert SessionEvent.objects.order_by("seq").last().kind == "pinned"


def test_unpinning_by_a_plain_form_leads_back_to_the_page(client: Client, ada: User) -> None:
    session = a_talk(ada, 8)
    acts.pin(ada, session, [4])
    response = client.post(url(session, "4/unpin"), follow=True)
    assert "no longer pinned" in response.content.decode()
    assert not session.messages.get(number=4).pinned


def test_pins_are_hatched_in_the_gauge(client: Client, ada: User) -> None:
    session = a_talk(ada, 8)
    acts.pin(ada, session, [4])
    assert 'class="gauge__pin"' in html_of(client, f"/sessions/{session.pk}/")


def test_a_pin_that_leaves_no_room_is_refused_with_the_arithmetic(
    client: Client, ada: User
) -> None:
    session = a_talk(ada, 4, text="x" * 30_000)
    response = client.post(url(session, "4/pin"), headers=HTMX)
    assert response.status_code == 409
    assert re.search(r"[\d,]+ pinned = [\d,]+, over the limit of 24,000", response.content.decode())
    assert not session.messages.get(number=4).pinned


@pytest.mark.parametrize("rest", ["4/pin", "4/unpin"])
def test_pins_only_answer_post(client: Client, ada: User, rest: str) -> None:
    assert client.get(url(a_talk(ada), rest)).status_code == 405


@pytest.mark.parametrize("rest", ["", "4/"])
def test_lists_and_bodies_only_answer_get(client: Client, ada: User, rest: str) -> None:
    assert client.post(url(a_talk(ada), rest)).status_code == 405


@pytest.mark.parametrize("rest", ["", "4/", "4/?form=wire"])
def test_a_stranger_reads_nothing(client: Client, rest: str) -> None:
    session = a_talk(a_user("bob"))
    client.force_login(a_user("ada"))
    assert client.get(url(session, rest)).status_code == 404


def test_a_stranger_pins_nothing(client: Client) -> None:
    session = a_talk(a_user("bob"))
    client.force_login(a_user("ada"))
    assert client.post(url(session, "4/pin")).status_code == 404
    assert not session.messages.filter(pinned=True).exists()


@pytest.mark.parametrize("rest", ["99/", "0/"])
def test_a_message_that_is_not_there_is_not_found(client: Client, ada: User, rest: str) -> None:
    session = a_talk(ada)
    assert client.get(url(session, rest)).status_code == 404
    assert client.post(url(session, f"{rest}pin")).status_code == 404


def test_what_was_said_between_turns_is_as_old_as_the_turn_before_it(ada: User) -> None:
    session = a_talk(ada, 8)
    session.messages.filter(number=7).update(turn=0)
    ages = {line.message.number: line.age for line in page(session, Choice()).lines}
    assert (ages[2], ages[3], ages[7], ages[8]) == (3, 2, 1, 0)


def test_an_empty_list_follows_from_the_beginning(client: Client, ada: User) -> None:
    html = html_of(client, url(a_session(ada)), htmx=True)
    assert "No message yet" in html and "messages:said" in html


@pytest.mark.parametrize("query", ["", "?view=all", "?order=largest", "?view=all&order=largest"])
def test_queries_and_size_of_a_page_do_not_grow(
    client: Client, ada: User, query: str, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    sizes, counts = [], []
    for count in (PAGE_ROWS + 10, 1_000):
        session = a_talk(ada, count)
        with django_assert_max_num_queries(12) as found:
            sizes.append(len(html_of(client, url(session, query), htmx=True)))
        counts.append(len(found))
    assert counts[0] == counts[1]
    assert sizes[1] < sizes[0] * 1.1
    assert sizes[1] < 160_000


def test_no_list_loads_a_body(
    client: Client, ada: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    session = a_talk(ada, 8, text="x" * 20_000)
    with django_assert_max_num_queries(30) as found:
        html_of(client, f"/sessions/{session.pk}/")
    asked = " ".join(query["sql"] for query in found.captured_queries)
    assert '"hermesweb_body"' not in asked
    assert '"hermesweb_storedmessage"."wire"' not in asked
