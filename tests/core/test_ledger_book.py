from __future__ import annotations

import pytest
from histories import Value, answer, calls, result, system, user
from planted import chinese, english, unknown

from agentcore.compaction.notes import ledger_note, summary_note
from agentcore.facts import FactKind
from agentcore.ledger import Ledger, suggest_pins, survival, with_facts
from agentcore.messages import Message, ToolStatus, as_message, born


def numbered(*values: Value | Message) -> list[Message]:
    return [with_facts(as_message(value).numbered(at)) for at, value in enumerate(values, 1)]


def ledger(*values: Value | Message) -> Ledger:
    return Ledger.of(numbered(*values))


def stated(found: Ledger, *kinds: FactKind) -> list[str]:
    kinds = kinds or (FactKind.CONSTRAINT, FactKind.PREFERENCE, FactKind.DECISION, FactKind.NUMBER)
    return [fact.text for kind in kinds for fact in found.facts(kind)]


def edit(call_id: str, path: str, name: str = "edit_file") -> Value:
    value = calls(call_id, name=name)
    value["tool_calls"][0]["function"]["arguments"] = f'{{"path": "{path}"}}'
    return value


def failed(call_id: str, text: str) -> Message:
    return born(result(call_id, text), status=ToolStatus.FAILED)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("The cap is 800.", "keep it under 500"),
        ("Cap the response at 800 words.", "Keep the response under 500 words."),
        ("Keep it under 800 MB.", "Make it at most 500 MB"),
        ("Keep it under 800 MB.", "make that 500 MB"),
        ("不要超过800字", "改成500字"),
        ("at least 3 retries", "at least 5 retries"),
        ("The deadline is Friday.", "The deadline is Monday."),
        ("Use tabs.", "Use 4 spaces."),
        ("Answer in English.", "From now on answer in Chinese."),
        ("Always use npm.", "Use pnpm."),
        ("Never touch the public API.", "You may change the public API now."),
        ("We decided on the queue for imports.", "We switched to threads instead of the queue."),
        ("port 8080 for the web", "port 9090 for the web"),
        ("The budget is 1847.20", "The budget is 2000.50 now"),
        ("预算上限800元", "把上限改成500"),
        ("响应时间不超过800毫秒", "响应时间控制在500毫秒以内"),
        ("请用中文回答", "请用英文回答"),
        ("不要修改公共接口", "现在可以修改公共接口"),
        ("端口是8080", "端口是9090"),
    ],
)
def test_a_later_statement_on_the_same_subject_replaces_the_earlier(
    earlier: str, later: str
) -> None:
    found = ledger(user(earlier), answer("ok"), user(later))
    assert earlier.rstrip(".") not in stated(found)
    assert [(old.number, new.number) for old, new in found.superseded] == [(1, 3)]
    assert earlier not in found.text(2_000).replace(f"Goal:\n- {earlier}", "")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Keep the log under 500 MB.", "Keep the cache under 800 MB."),
        ("Never delete backups.", "Never delete old logs."),
        ("Keep the log under 500 MB.", "Timeouts stay under 30 seconds."),
        ("Keep it under 500 MB.", "Keep it under 30 seconds."),
        ("at most 5 retries", "at least 2 retries"),
        ("port 8080 for the web", "port 5432 for the database"),
        ("Use tabs.", "Answer in English."),
        ("日志不超过500MB", "缓存不超过800MB"),
        ("不要修改公共接口", "不要删除备份"),
    ],
)
def test_statements_about_different_subjects_both_stay(one: str, other: str) -> None:
    found = ledger(user(one), user(other))
    assert stated(found) == [one.rstrip("."), other.rstrip(".")]
    assert found.superseded == ()


@pytest.mark.parametrize(
    "later",
    [
        "I'm sure branches got deleted; instead make sure that it's retried.",
        "Do not delete the branch any more.",
        "From now on delete the temporary folder after a run instead.",
    ],
)
def test_a_rule_outlives_what_shares_no_more_than_a_verb_with_it(later: str) -> None:
    found = ledger(user("Fix it. Do not delete a backup."), user(later))
    assert "Do not delete a backup" in stated(found)


def test_a_bare_new_value_takes_over_the_subject_of_the_old_one() -> None:
    found = ledger(
        user("Cap the cache at 800 MB."),
        user("Keep the log under 90 MB."),
        user("Keep the cache under 700 MB."),
        user("make that 500 MB"),
        user("Keep the cache under 300 MB."),
    )
    assert stated(found) == ["Keep the log under 90 MB", "Keep the cache under 300 MB"]


def test_what_the_assistant_counts_replaces_nothing_that_was_asked_for() -> None:
    found = ledger(user("The budget is 1847.20"), answer("The budget is 9.99 so far"))
    assert "The budget is 1847.20" in stated(found, FactKind.NUMBER)


def test_the_goal_is_the_first_instruction_until_another_is_set() -> None:
    found = ledger(user("Fix the parser."), answer("done"), user("Now the French version."))
    assert found.goal and found.goal.text == "Fix the parser."
    assert found.instruction and found.instruction.text == "Now the French version."
    found = ledger(user("Fix the parser."), user("New task: write the manual."))
    assert found.goal and found.goal.text == "New task: write the manual."
    assert [old.text for old, _ in found.superseded] == ["Fix the parser."]


def test_a_goal_loses_the_value_that_was_replaced_since() -> None:
    text = ledger(user("Build a scraper with a cap of 800 calls."), user("keep it under 500")).text(
        900
    )
    assert "Build a scraper" in text and "500" in text and "800" not in text


def test_the_state_is_the_last_statement_and_the_last_list_of_to_dos() -> None:
    found = ledger(
        answer("Next step: read.\n- [ ] read\n- [ ] write"),
        answer("Reading is done. Next step: write.\n- [ ] write"),
    )
    assert stated(found, FactKind.STATE) == ["write", "Next step: write"]


def test_a_failed_edit_changed_nothing_and_tells_what_was_tried() -> None:
    found = ledger(
        edit("a", "src/a.py"),
        result("a", "edited"),
        edit("b", "src/b.py"),
        failed("b", "b.py is read-only"),
        edit("c", "src/a.py"),
        failed("c", "no match"),
    )
    assert stated(found, FactKind.CHANGED_PATH) == ["src/a.py"]
    assert found.facts(FactKind.CHANGED_PATH)[0].number == 1
    assert stated(found, FactKind.FAILURE) == ["src/b.py: b.py is read-only", "src/a.py: no match"]


@pytest.mark.parametrize("room", [0, 50, 200, 700, 4_000])
def test_the_text_is_bounded_and_begins_with_goal_and_rules(room: int) -> None:
    rules = [f"Never delete table number {at} of the live register." for at in range(40)]
    found = ledger(user("Fix the parser."), *(user(rule) for rule in rules))
    text = found.text(room)
    assert len(text) <= room
    if room >= 700:
        assert text.startswith("Goal:\n- Fix the parser.\n")
        assert "table number 39" in text
        assert ("older left out" in text) == ("table number 0 of" not in text)


def test_the_text_keeps_values_and_paths_as_they_were_said() -> None:
    planted = english()
    text = ledger(*planted.first).text(4_000)
    assert [needle for needle in planted.must_know if needle not in text] == []


def test_two_values_of_one_sentence_are_one_line_of_the_text() -> None:
    text = ledger(answer("It made 4 commits in place of 1 commit.")).text(900)
    assert text == "Values:\n- It made 4 commits in place of 1 commit"


def test_a_value_without_a_name_of_its_own_is_told_by_its_sentence() -> None:
    found = ledger(user("The ports are 8080 and 9090")).facts(FactKind.NUMBER)
    assert [(fact.key, fact.text) for fact in found] == [
        ("8080", "The ports are 8080"),
        ("9090", "The ports are 8080 and 9090"),
    ]


def test_values_that_a_person_named_stay_longer_than_those_of_tools() -> None:
    counted = [result("c", f"elapsed_{at}: {at} ms") for at in range(100)]
    text = ledger(user("Look. The port is 8080."), *counted).text(500)
    assert "The port is 8080" in text and "older left out" in text


def test_the_text_holds_no_line_break_or_control_character_of_a_message() -> None:
    text = ledger(user("Never push\x00\x1b[31m.\r\nFix it."), failed("c", "\x07bad\nline")).text(
        900
    )
    assert {one for one in text if one < " "} == {"\n"}


@pytest.mark.parametrize("planted", [english(), chinese()], ids=["english", "chinese"])
def test_planted_facts_outlive_five_ledgers_made_from_each_other(planted: object) -> None:
    planted = english() if planted == english() else chinese()
    messages = numbered(*planted.first)
    for at in range(5):
        note = summary_note(Ledger.of(messages).text(2_500))
        later = [planted.revision] if at == 1 else [user(f"go on with part {at}")]
        messages = numbered(note, *later)
    text = Ledger.of(messages).text(2_500)
    assert unknown(planted.must_know, numbered(summary_note(text))) == []
    assert planted.holds in text and planted.gone not in text


def test_a_ledger_that_reads_its_own_text_writes_the_same_again() -> None:
    told = numbered(
        *english().first,
        answer("I decided to keep one cursor. Next step: measure.\n- [ ] measure"),
        edit("z", "docs/a.md", "read_file"),
        failed("z", "error: no such page"),
    )
    text = Ledger.of(told).text(4_000)
    again = Ledger.of(numbered(summary_note(text))).text(4_000)
    assert again == text


def test_a_pinned_message_behind_a_summary_does_not_take_back_what_replaced_it() -> None:
    first = born(user("Keep the response under 800 ms.")).numbered(2)
    later = born(user("Keep the response under 500 ms instead.")).numbered(4)
    told = ledger_note([with_facts(later)], 1_000).numbered(9)
    assert told.facts and {fact.number for fact in told.facts} == {4}
    text = Ledger.of([told, first]).text(1_000)
    assert "500 ms" in text and "800 ms" not in text


def test_what_a_summary_tells_in_its_own_words_is_older_than_what_stands_behind_it() -> None:
    words = "[Earlier summary; reference only]\nThe response must stay under 800 ms."
    summary = born(system(words), stands_for=(range(2, 4),)).numbered(9)
    later = born(user("Keep the response under 500 ms instead.")).numbered(4)
    text = Ledger.of([summary, later]).text(1_000)
    assert "500 ms" in text and "800 ms" not in text


def test_suggested_pins_are_rules_and_decisions_that_hold() -> None:
    found = ledger(
        user("Fix it. Cap 800."),
        answer("I decided to use SQLite."),
        user("keep it under 500"),
        user("I prefer tabs."),
    )
    assert suggest_pins(found) == {
        2: "decision: I decided to use SQLite",
        3: "constraint: keep it under 500",
    }


def test_a_fact_survives_in_its_message_in_another_one_or_in_a_summary() -> None:
    messages = numbered(
        user("Fix the importer. Never touch the live table. Region is eu-north-7."),
        edit("a", "/repo/src/a.py"),
        result("a"),
        edit("b", "/repo/src/b.py"),
        result("b"),
        edit("c", "/repo/src/a.py"),
        result("c"),
    )
    found = Ledger.of(messages)
    note = summary_note("Fixing the importer, region eu-north-7; the live table is never touched.")
    kept = survival(found, [note, *messages[5:]])
    assert {kind: (one.kept, len(one.lost)) for kind, one in kept.items()} == {
        FactKind.GOAL: (1, 0),
        FactKind.CONSTRAINT: (1, 0),
        FactKind.CHANGED_PATH: (1, 1),
        FactKind.NUMBER: (1, 0),
    }
    assert [(fact.text, fact.number) for fact in kept[FactKind.CHANGED_PATH].lost] == [
        ("/repo/src/b.py", 4)
    ]


@pytest.mark.parametrize(
    ("summary", "is_known"),
    [
        ("Changed src/b.py.", True),
        ("Changed `/repo/src/b.py`", True),
        ("Changed b.py.", False),
        ("Changed src/b.pyc", False),
        ("", False),
    ],
)
def test_a_path_is_known_by_its_last_two_parts(summary: str, is_known: bool) -> None:
    found = ledger(edit("b", "/repo/src/b.py"))
    assert survival(found, [summary_note(summary)])[FactKind.CHANGED_PATH].kept == is_known


def test_a_number_inside_a_longer_one_is_not_known() -> None:
    found = ledger(user("The port is 8080"))
    assert survival(found, [summary_note("1808042 rows")])[FactKind.NUMBER].kept == 0
    assert survival(found, [summary_note("port=8080, ok")])[FactKind.NUMBER].kept == 1


def test_what_was_replaced_is_no_loss() -> None:
    messages = numbered(user("Cap 800."), user("keep it under 500"))
    found = survival(Ledger.of(messages), messages[1:])
    assert found[FactKind.CONSTRAINT].lost == ()
