"""What a rewritten row of a diff says differently, word by word: on pages, in JSON, on paper."""

from __future__ import annotations

import json
import re

import pytest
from builders import a_user
from calls import Caller
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st
from scenes import HTMX, a_talk, compacted, compacted_by, html_of, words_of

from hermesweb import diffs, paper, rewording
from hermesweb.models import AgentSession
from hermesweb.rewording import Sign

KEY = "sk-proj-abcdefghijklmnopqrstuvwx"
HOSTILE = "<script>alert(1)</script> the key is " + KEY + "\n"


def wire(text: str) -> str:
    return json.dumps({"role": "tool", "tool_call_id": "c", "content": text})


def side(found: rewording.Rewording, *signs: Sign) -> str:
    return "".join(part.text for part in found.parts if part.sign in signs)


@given(st.text("ab \n.中文", max_size=40), st.text("ab \n.中文", max_size=40))
def test_without_what_is_new_it_is_the_old_text_and_the_other_way_round(old: str, new: str) -> None:
    found = rewording.rewording(wire(old), wire(new))
    assert side(found, Sign.SAME, Sign.GONE) == old
    assert side(found, Sign.SAME, Sign.NEW) == new
    assert not found.is_whole


def test_words_are_compared_and_not_lines_or_letters() -> None:
    found = rewording.rewording(wire("read 12 files of 中文名"), wire("read 120 files of 中国名"))
    assert [(part.sign, part.text) for part in found.parts] == [
        ("same", "read "),
        ("gone", "12"),
        ("new", "120"),
        ("same", " files of 中"),
        ("gone", "文"),
        ("new", "国"),
        ("same", "名"),
    ]


def test_a_pair_that_is_too_long_falls_back_to_the_whole_row_and_says_so() -> None:
    old = " ".join(f"a{n}" for n in range(1_000))
    new = " ".join(f"b{n}" for n in range(1_000))
    found = rewording.rewording(wire("head " + old), wire("head " + new))
    assert found.is_whole
    assert [part.sign for part in found.parts] == ["same", "gone", "new"]
    huge = rewording.rewording(wire("word " * rewording.MOST_CHARS), wire("short"))
    assert huge.is_whole and [part.sign for part in huge.parts] == ["gone", "new"]


def test_the_middle_of_a_long_part_is_counted_instead_of_shown() -> None:
    text = "same " * 2_000
    (same, new) = rewording.rewording(wire(text), wire(text + "end")).parts
    shown = len(same.text) + len(same.rest)
    assert (shown + same.left_out, new.text) == (len(text), "end")
    assert shown == rewording.SHOWN_CHARS


@pytest.fixture
def masked(ada: User) -> AgentSession:
    """A session whose old results were masked by a compaction."""
    session = a_talk(ada, 24, text=HOSTILE * 20)
    compacted_by(session, stage="mask", keep_last=1)
    return session


pytestmark = pytest.mark.django_db


def pair(session: AgentSession) -> tuple[int, int]:
    row = next(one for one in diffs.rows_of(session, made(session)) if one.replaced_by)
    return row.number, row.replaced_by or 0


def made(session: AgentSession):  # type: ignore[no-untyped-def]
    return session.stored_compactions.get()


def test_a_rewritten_row_opens_its_words_where_it_stands(
    client: Client, masked: AgentSession
) -> None:
    old, new = pair(masked)
    path = f"/sessions/{masked.pk}/messages/{old}/words/{new}/"
    page = html_of(client, f"/sessions/{masked.pk}/compactions/1/?fate=masked")
    assert f'hx-get="{path}"' in page and f'id="words-{old}"' in page
    part = client.get(path, headers=HTMX).content.decode()
    assert f'id="words-{old}"' in part and "<html" not in part
    assert "<del>" in part and "<ins>" in part
    assert "<script>" not in part and "&lt;script&gt;" in part
    assert KEY not in part
    assert "word by word" in words_of(html_of(client, path))


def test_rows_that_were_not_rewritten_offer_no_words(client: Client, ada: User) -> None:
    session = a_talk(ada, 24)
    compacted(session)
    assert "/words/" not in html_of(client, f"/sessions/{session.pk}/compactions/1/")


def test_a_preview_shows_the_words_before_anything_is_changed(client: Client, ada: User) -> None:
    session = a_talk(ada, 24, text=HOSTILE * 20)
    page = html_of(client, f"/sessions/{session.pk}/compact/?stage=mask&keep_last=1")
    found = re.search(r'hx-get="(/sessions/\w+/previews/\w+/words/4/)"', page)
    assert found
    part = html_of(client, found[1], htmx=True)
    assert "<del>" in part and "<ins>" in part and KEY not in part
    assert client.get(found[1].replace("words/4", "words/2")).status_code == 404


def test_the_api_gives_the_words_of_two_messages(ada: User, masked: AgentSession) -> None:
    old, new = pair(masked)
    caller = Caller(ada)
    found = caller.get(f"sessions/{masked.pk}/messages/{old}/words/{new}").json()
    assert (found["before"], found["after"], found["whole"]) == (old, new, False)
    assert {part["sign"] for part in found["parts"]} == {"gone", "new"}
    assert KEY not in json.dumps(found)
    assert caller.get(f"sessions/{masked.pk}/messages/{old}/words/999").status_code == 404


@pytest.mark.parametrize("path", ["compactions/1/paper/", "diff/paper/?from=0&to=1"])
def test_the_printable_page_holds_every_row_with_its_words(
    client: Client, masked: AgentSession, path: str
) -> None:
    html = html_of(client, f"/sessions/{masked.pk}/{path}")
    rows = diffs.rows_of(masked, made(masked))
    assert html.count('<th scope="row">') == len(rows) == 24
    assert html.count("<ins>") >= sum(1 for row in rows if row.replaced_by)
    assert "hx-get" not in html.partition("<main")[2].partition("</main")[0]
    assert KEY not in html


def test_what_has_no_room_on_paper_is_named(
    client: Client, masked: AgentSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paper, "MOST_BYTES", 3_000)
    html = html_of(client, f"/sessions/{masked.pk}/compactions/1/paper/")
    assert "<ins>" in html and "rewritten; its words are on the page" in html


def test_strangers_see_no_words(client: Client, masked: AgentSession) -> None:
    old, new = pair(masked)
    client.force_login(a_user("bob"))
    for path in (f"messages/{old}/words/{new}/", "compactions/1/paper/", "diff/paper/"):
        assert client.get(f"/sessions/{masked.pk}/{path}").status_code == 404
