from __future__ import annotations

import re

import pytest
from builders import a_user, answered, called, said
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries
from scenes import a_talk, a_talk_of, compacted, compacted_by, html_of, words_of

from hermesweb import acts, bands, diffs
from hermesweb.bands import BANDS, Cell, Fold
from hermesweb.models import AgentSession, Compaction, StoredMessage

pytestmark = pytest.mark.django_db


def url(session: AgentSession, rest: str = "1/") -> str:
    return f"/sessions/{session.pk}/compactions/{rest}"


def shape(session: AgentSession, number: int = 1, **how: object) -> list[tuple[object, ...]]:
    """Each band as its name, the numbers before, the numbers after; a fold as its length."""
    rows = diffs.rows_of(session, session.stored_compactions.get(number=number))

    def side(cells: list[Cell | Fold]) -> list[object]:
        return [
            cell.message.number if isinstance(cell, Cell) else f"+{cell.rows}" for cell in cells
        ]

    page = bands.shown(session, rows, **how)  # type: ignore[arg-type]
    return [(band.name, side(band.before), side(band.after)) for band in page.bands]


def test_the_verdict_says_what_was_freed_measured(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    row = Compaction.objects.get()
    words = words_of(html_of(client, url(session)))
    assert f"Freed {(row.before - row.after) / 1000:.1f} kB" in words
    assert f"{row.before / 1000:.1f} kB → {row.after / 1000:.1f} kB measured" in words


def test_the_verdict_says_what_is_gone_beside_what_was_freed(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    assert "gone" not in words_of(html_of(client, url(session)))
    lost = [{"text": "never push", "number": 4}]
    Compaction.objects.update(survival={"constraint": {"kept": 1, "lost": lost, "more": 2}})
    words = words_of(html_of(client, url(session)))
    assert re.search(r"Freed [\d.]+ k?B, \d+%\. 3 facts are gone\.", words)


def test_of_what_was_lost_values_come_last_and_bare_amounts_behind_them(
    client: Client, ada: User
) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    told = {"number": ["0.1 s", "port: 8080", "12 files"], "warning": ["warning: disk is slow"]}
    survival = {
        kind: {"kept": 1, "lost": [{"text": text, "number": 4} for text in texts], "more": 0}
        for kind, texts in told.items()
    }
    Compaction.objects.update(survival=survival)
    lost = words_of(html_of(client, url(session)).partition('id="lost"')[2])
    places = [lost.index(text) for text in ("disk is slow", "port: 8080", "0.1 s", "12 files")]
    assert places == sorted(places)


def test_the_trigger_is_told_as_an_inequality(client: Client, ada: User) -> None:
    session = a_talk(ada, 12, profile="nanohermes")
    compacted(session)
    Compaction.objects.update(used_before=24_500)
    words = words_of(html_of(client, url(session)))
    assert "24,500 > 24,000 bytes, 100% of 24,000" in words


def test_a_threshold_is_not_told_where_the_profile_was_changed(client: Client, ada: User) -> None:
    session = a_talk(ada, 12, profile="nanohermes")
    compacted(session)
    acts.change_profile(ada, session, "balanced")
    Compaction.objects.update(used_before=24_500)
    words = words_of(html_of(client, url(session)))
    assert "24,500 of 24,000 bytes, 102.1%" in words and ">" not in words


def test_stages_and_categories_stand_in_tables(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    words = words_of(html_of(client, url(session)))
    assert "1 keep recent" in words and "4 summarized, 1 note" in words
    row = Compaction.objects.get()
    for parts in (row.breakdown_before, row.breakdown_after):
        assert sum(parts.values()) in (row.before, row.after)
    assert "Tool results" in words


def test_a_stage_whose_rows_went_on_says_so(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    first = {"stage": "micro", "freed": 100}
    row = Compaction.objects.get()
    Compaction.objects.update(stages=[first, *row.stages])
    assert "1 micro" in (words := words_of(html_of(client, url(session))))
    assert "changed again by a later stage" in words


def test_a_compaction_that_changed_nothing_says_so(client: Client, ada: User) -> None:
    session = a_talk(ada, 4)
    Compaction.objects.create(
        session=session, number=1, state="noop", trigger="manual", failure="nothing_to_compact"
    )
    words = words_of(html_of(client, url(session)))
    assert "Compaction 1 changed nothing." in words
    assert "Nothing in the list could leave or shrink." in words
    assert "Freed" not in words and "Diff" not in words


def test_a_failure_says_why_and_that_the_list_is_as_it_was(client: Client, ada: User) -> None:
    session = a_talk(ada, 4)
    Compaction.objects.create(
        session=session, number=1, state="failed", trigger="threshold", failure="timeout",
        detail="<b>after 60 s",
    )  # fmt: skip
    html = html_of(client, url(session))
    words = words_of(html)
    assert "failed; the list is as it was" in words
    assert "took too long" in words
    assert "<b>after" not in html


def test_a_list_that_grew_is_told_as_growth(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session, start=2, stop=3, note="n" * 3_000)
    words = words_of(html_of(client, url(session)))
    assert "The list grew by" in words and "Freed -" not in words


def test_each_row_before_has_one_fate_and_the_note_stands_beside_what_it_replaces(
    ada: User,
) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    assert shape(session) == [
        ("kept", [1, 2], [1, 2]),
        ("summarized", [3, 4, 5, 6], [13]),
        ("kept", [7, 8, 9, "+2", 12], [7, 8, 9, "+2", 12]),
    ]


def test_what_a_pin_spared_is_told_as_pinned_and_the_rest_names_its_note(
    client: Client, ada: User
) -> None:
    session = a_talk(ada, 12)
    acts.pin(ada, session, [4])
    compacted(session, pinned=(3, 4))
    assert shape(session) == [
        ("kept", [1, 2], [1, 2]),
        ("note", [], [13]),
        ("kept", [3], [3]),
        ("pinned", [4], [4]),
        ("summarized", [5, 6], []),
        ("kept", [7, 8, 9, "+2", 12], [7, 8, 9, "+2", 12]),
    ]
    assert "in message 13" in html_of(client, url(session))
    only = html_of(client, url(session, "1/?note=13"), htmx=True)
    assert set(re.findall(r'data-number="(\d+)"', only)) == {"13", "5", "6"}


def test_a_note_says_how_many_it_stands_for_and_opens_them(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    assert "for 4" in words_of(html_of(client, url(session)))
    only = words_of(html_of(client, url(session, "1/?note=13"), htmx=True))
    assert "All rows" in only and "kept 8" in only


def test_a_pin_set_later_does_not_change_what_was(ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    acts.pin(ada, session, [8])
    assert "pinned" not in [band[0] for band in shape(session)]
    acts.unpin(ada, session, [8])
    assert "pinned" not in [band[0] for band in shape(session)]


def test_a_pin_set_anew_or_taken_away_later_was_one_at_the_change(ada: User) -> None:
    session = a_talk(ada, 12)
    acts.pin(ada, session, [4])
    compacted(session, pinned=(3, 4))
    acts.pin(ada, session, [4], reason="another one")
    assert ("pinned", [4], [4]) in shape(session)
    acts.unpin(ada, session, [4])
    assert ("pinned", [4], [4]) in shape(session)


def test_a_run_split_by_a_pin_says_in_which_note_it_is(client: Client, ada: User) -> None:
    session = a_talk(ada, 14)
    compacted(session, start=2, stop=10, pinned=(5, 6))
    names = [(band[0], band[1], band[2]) for band in shape(session)]
    assert ("summarized", [3, 4], [15]) in names
    assert ("summarized", [7, 8, 9, 10], []) in names
    assert "in message 15" in html_of(client, url(session))


def test_what_was_appended_later_is_not_part_of_the_diff(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session, stop=4)
    compacted(session, start=3, stop=5)
    first = client.get(url(session, "1/diff.json")).json()
    assert [row["number"] for row in first["rows"]] == [1, 2, 13, *range(3, 13)]


def test_a_message_replaced_shares_the_row_of_its_heir(ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session, start=3, stop=4)
    heir = StoredMessage.objects.get(number=13)
    StoredMessage.objects.filter(pk=heir.pk).update(replaces=4, stands_for=[])
    session.lives.filter(number=13).update(origin="", place=16)
    session.lives.filter(number=4).update(fate="snipped")
    assert ("snipped", [4], [13]) in shape(session)


def test_the_json_has_the_rows_of_the_command_line(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    data = client.get(url(session, "1/diff.json")).json()
    row = Compaction.objects.get()
    assert data["before"] == {"messages": 12, "bytes": row.before}
    assert data["after"] == {"messages": 9, "bytes": row.after}
    by_number = {entry["number"]: entry for entry in data["rows"]}
    assert by_number[3]["fate"] == "summarized" and by_number[3]["stage"] == "keep_recent"
    assert by_number[13]["origin"] == "note" and "fate" not in by_number[13]
    assert [row["index_before"] for row in data["rows"] if row["index_before"] is not None] == list(
        range(12)
    )


def test_rows_can_be_filtered_by_fate(client: Client, ada: User) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    html = html_of(client, url(session, "1/?fate=summarized"), htmx=True)
    assert set(re.findall(r'data-fate="(\w+)"', html)) == {"summarized"}
    assert "summarized 4" in words_of(html) and "kept 8" in words_of(html)
    assert "<html" not in html
    assert client.get(url(session, "1/?fate=nothing")).status_code == 400


def test_a_fold_can_be_opened_in_pages(client: Client, ada: User) -> None:
    session = a_talk(ada, 300)
    compacted(session, start=2, stop=250)
    folded = shape(session)
    assert folded[1] == ("summarized", [3, 4, 5, "+244", 250], [301])
    rows = diffs.rows_of(session, session.stored_compactions.get())
    first = bands.shown(session, rows, start=6, unfolded=True)
    assert [len(band.before) for band in first.bands] == [100]
    assert first.next_start == 106
    assert "More rows" in html_of(client, url(session, "1/?start=6&open=1"), htmx=True)


def test_pages_of_bands_hold_each_row_once(ada: User) -> None:
    """Every second message is spared, so that each row is a band of its own."""
    session = a_talk(ada, 300)
    compacted(session, start=2, stop=300, pinned=tuple(range(3, 301, 2)))
    rows = diffs.rows_of(session, session.stored_compactions.get())
    seen: list[int] = []
    start: int | None = 0
    while start is not None:
        page = bands.shown(session, rows, start=start)
        assert len(page.bands) <= BANDS
        for band in page.bands:
            seen += [cell.message.number for cell in band.before if isinstance(cell, Cell)]
        start = page.next_start
    assert seen == list(range(1, 301))


def test_hostile_content_is_text_in_the_diff(client: Client, ada: User) -> None:
    bad = "<script>alert(1)</script>\x1b[2J\u202e"
    session = a_talk_of(
        ada,
        said(1, bad, "system"),
        said(2, bad),
        called(3, "read_file"),
        answered(4, "call_3_0", bad, tool="read_file"),
    )
    compacted(session, start=2, stop=4, note=bad)
    html = html_of(client, url(session))
    assert "<script>alert" not in html
    assert not re.search("[\x1b\u202e]", html)


@pytest.mark.parametrize("rest", ["1/", "1/diff.json"])
def test_it_only_answers_get(client: Client, ada: User, rest: str) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    assert client.post(url(session, rest)).status_code == 405


@pytest.mark.parametrize("rest", ["1/", "1/diff.json"])
def test_a_stranger_finds_nothing(client: Client, rest: str) -> None:
    session = a_talk(a_user("bob"), 12)
    compacted(session)
    client.force_login(a_user("ada"))
    assert client.get(url(session, rest)).status_code == 404


def test_a_compaction_that_is_not_there_is_not_found(client: Client, ada: User) -> None:
    assert client.get(url(a_talk(ada), "7/")).status_code == 404


def test_the_neighbours_are_a_key_away(client: Client, ada: User) -> None:
    session = a_talk(ada, 14)
    compacted(session, stop=4)
    compacted(session, start=3, stop=5)
    first, second = html_of(client, url(session, "1/")), html_of(client, url(session, "2/"))
    assert 'data-key="c"' in first and 'data-key="C"' not in first
    assert 'data-key="C"' in second and 'data-key="c"' not in second


def test_queries_and_size_do_not_grow_with_the_list(
    client: Client, ada: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    sizes, counts = [], []
    for count in (60, 1_000):
        session = a_talk(ada, count)
        compacted(session, start=2, stop=count - 10)
        with django_assert_max_num_queries(21) as found:
            sizes.append(len(html_of(client, url(session))))
        counts.append(len(found))
        asked = " ".join(query["sql"] for query in found.captured_queries)
        assert '"hermesweb_storedmessage"."wire"' not in asked
    assert counts[0] == counts[1]
    assert sizes[1] < sizes[0] * 1.05


def test_it_leads_to_other_settings_to_the_list_of_then_and_tells_the_cache(
    client: Client, ada: User
) -> None:
    session = a_talk(ada, 12)
    compacted(session)
    Compaction.objects.update(options={"stage": "snip", "up_to": 6})
    html = html_of(client, url(session))
    assert f'href="/sessions/{session.pk}/compact/?stage=snip"' in html
    assert f'href="/sessions/{session.pk}/at/1/"' in html
    assert "Paid back after unknown: no price" in words_of(html)


def test_the_summary_leads_to_its_text_and_to_what_it_stands_for(client: Client, ada: User) -> None:
    session = a_talk(ada, 24, text="x" * 2_000)
    compacted_by(session, stage="keep_recent", keep_last=4)
    html = html_of(client, f"/sessions/{session.pk}/compactions/1/")
    made = html.partition('id="made-by"')[2].partition("</section>")[0]
    assert f"/sessions/{session.pk}/messages/25/" in made and "note=25" in made
    verdict = html.partition('class="verdict__acts"')[2].partition("</section>")[0]
    assert 'id="undo"' in verdict and 'id="fork"' in verdict
