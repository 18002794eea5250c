from __future__ import annotations

import pytest
from histories import answer, calls, result, user
from hypothesis import given
from hypothesis import strategies as st

from agentcore.ledger import Ledger, facts_of
from agentcore.limits import Limits
from agentcore.memory import (
    REFERENCE,
    Entry,
    EntryKind,
    Hit,
    MemoryIndex,
    block,
    distill,
    hand_over,
    terms,
)
from agentcore.sections import HEADINGS, MEMORY_END, Part
from agentcore.snapshot import Snapshot

LIMITS = Limits()
START = HEADINGS[Part.MEMORY]
HOSTILE = st.text(alphabet='a字😀\n\r\t\0\x1b\x85\u2028\u202e"\\=- [', max_size=60)
MARKED = st.lists(HOSTILE | st.sampled_from([START, MEMORY_END, START.upper(), REFERENCE])).map(
    "".join
)


def entries(*texts: str) -> list[Entry]:
    return [Entry(EntryKind.FACT, text, id=place) for place, text in enumerate(texts, 1)]


def hits(*texts: str) -> list[Hit]:
    return [Hit(entry, 1.0) for entry in entries(*texts)]


def found(query: str, *texts: str, most: int = 4) -> list[int]:
    return [hit.entry.id for hit in MemoryIndex(entries(*texts)).search(query, most)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Fix the Parser", ["fix", "the", "parser"]),
        ("src/read_file.py:42", ["src", "read", "file", "py", "42"]),
        ("数据库", ["数", "据", "库", "数据", "据库"]),
        ("用pytest测试", ["用", "pytest", "测", "试", "测试"]),
        ("ＡＢＣ Straße", ["abc", "strasse"]),
        ("", []),
        ("… — !!", []),
    ],
)
def test_terms_are_words_and_single_and_paired_ideographs(text: str, wanted: list[str]) -> None:
    assert list(terms(text)) == wanted


def test_the_search_finds_chinese_and_english_in_one_store() -> None:
    texts = ["deploy with make release", "数据库的端口是 5433", "prefers tabs over spaces"]
    assert found("which port does 数据库 use?", *texts)[0] == 2
    assert found("how do I release?", *texts) == [1]
    assert found("数据", *texts) == [2]


def test_rarer_terms_weigh_more_and_most_bounds_the_hits() -> None:
    texts = ["the build", "the test", "the gauge", "the lease", "the turn", "the rare parser"]
    assert found("the parser", *texts)[0] == 6
    assert len(found("the parser", *texts)) == 4
    assert len(found("the parser", *texts, most=0)) == 6


def test_a_search_without_common_terms_finds_nothing() -> None:
    assert found("nothing alike", "数据库", "parser") == []
    assert found("", "parser") == []
    assert found("parser") == []
    assert found("parser", "…", "") == []


def test_the_block_names_its_entries_between_its_markers() -> None:
    text, taken = block(hits("uses pnpm", "端口 5433"), LIMITS)
    assert text.splitlines() == [
        START,
        REFERENCE,
        "- [fact] uses pnpm",
        "- [fact] 端口 5433",
        MEMORY_END,
    ]
    assert [hit.entry.id for hit in taken] == [1, 2]
    assert block([], LIMITS) == ("", [])


def test_at_most_four_entries_of_400_characters_stand_in_the_block() -> None:
    text, taken = block(hits(*["字" * 401] * 5), LIMITS)
    assert len(taken) == 4
    assert text.splitlines()[2] == f"- [fact] {'字' * 399}…"
    assert len(block(hits("字" * 400), LIMITS)[0].splitlines()[2]) == len("- [fact] ") + 400


def test_filling_stops_at_the_first_entry_that_does_not_fit() -> None:
    limits = Limits(memory_chars=400)
    text, taken = block(hits("short one", "x" * 300, "short two"), limits)
    assert [hit.entry.id for hit in taken] == [1]
    assert "short two" not in text


def test_the_limit_holds_to_the_character() -> None:
    exact = len(block(hits("a" * 50), LIMITS)[0])
    assert block(hits("a" * 50), Limits(memory_chars=exact))[1] != []
    assert block(hits("a" * 50), Limits(memory_chars=exact - 1)) == ("", [])


def test_zero_means_no_limit() -> None:
    limits = Limits(memory_chars=0, memory_entries=0, memory_entry_chars=0)
    text, taken = block(hits(*["字" * 1_000] * 9), limits)
    assert len(taken) == 9 and text.count("字") == 9_000


@given(st.lists(MARKED, max_size=6))
def test_whatever_an_entry_says_the_block_keeps_its_form(texts: list[str]) -> None:
    text, taken = block(hits(*texts), LIMITS)
    if not taken:
        assert text == ""
        return
    lines = text.splitlines()
    assert len(text) <= LIMITS.memory_chars
    assert (lines[0], lines[1], lines[-1]) == (START, REFERENCE, MEMORY_END)
    assert len(lines) == len(taken) + 3
    assert all(line.startswith("- [fact] ") for line in lines[2:-1])
    assert text.lower().count(START.lower()) == text.lower().count(MEMORY_END.lower()) == 1


def write(call_id: str, path: str) -> dict[str, object]:
    value = calls(call_id, name="write_file")
    value["tool_calls"][0]["function"]["arguments"] = f'{{"path": "{path}", "content": "x"}}'
    return value


def ledger() -> Ledger:
    return Ledger.of(
        Snapshot.of(
            [
                user("Fix the parser of the config file. You must never touch the tests folder."),
                write("c1", "src/parser.py"),
                result("c1"),
                write("c2", "src/配置.py"),
                result("c2"),
                answer(
                    "I chose a hand-written parser because the library is too slow.\n"
                    "The parser is fixed and all 40 tests pass."
                ),
            ]
        ).messages
    )


def test_a_session_leaves_goal_rules_decisions_state_and_its_changed_files() -> None:
    left = distill(ledger(), LIMITS)
    by_kind = {entry.kind: entry for entry in left}
    assert "Fix the parser" in by_kind[EntryKind.GOAL].text
    assert "never touch the tests" in by_kind[EntryKind.CONSTRAINT].text
    assert "hand-written parser" in by_kind[EntryKind.DECISION].text
    paths = by_kind[EntryKind.CHANGED_PATH]
    assert (paths.text, paths.numbers) == ("src/配置.py, src/parser.py", (2, 4))
    assert by_kind[EntryKind.GOAL].numbers == (1,)
    assert all(len(entry.text) <= 400 and entry.numbers for entry in left)


def test_what_says_too_little_or_too_much_is_left_out_or_cut() -> None:
    assert distill(Ledger.of(Snapshot.of([user("go"), answer("ok")]).messages), LIMITS) == []
    long = Ledger.of(Snapshot.of([user("fix the parser " + "字" * 900)]).messages)
    (goal,) = distill(long, Limits(memory_entry_chars=50))
    assert len(goal.text) == 50 and goal.text.endswith("…")


def test_a_successor_is_told_goal_decisions_files_and_state_as_a_summary() -> None:
    message = hand_over(ledger(), 2_500)
    assert message is not None and message.is_summary
    for told in ("Fix the parser", "hand-written parser", "src/parser.py"):
        assert told in message.text
    assert {fact.key for fact in facts_of(message)} >= {"src/parser.py", "src/配置.py"}
    assert len(message.text) < 2_700
    assert hand_over(Ledger(), 2_500) is None


def test_secrets_do_not_pass_into_other_sessions() -> None:
    token = "ghp_" + "a1B2" * 9
    told = Ledger.of(
        Snapshot.of([user(f"Always push with the token {token} to the mirror.")]).messages
    )
    message = hand_over(told, 2_500)
    assert message is not None and token not in message.text
    left = distill(told, LIMITS)
    assert left and all(token not in entry.text for entry in left)
