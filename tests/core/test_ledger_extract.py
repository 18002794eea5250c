from __future__ import annotations

import time

import pytest
from histories import Value, answer, broken_lists, calls, result, user
from hypothesis import given
from hypothesis import strategies as st

from agentcore.facts import FactKind
from agentcore.ledger import Fact, extract, with_facts
from agentcore.messages import ToolStatus, as_message, born


def facts(value: Value, **known: object) -> list[tuple[str, str]]:
    return [(str(fact.kind), fact.text) for fact in extract(born(value, **known).numbered(3))]


def keys(value: Value, kind: FactKind, **known: object) -> list[str]:
    return [fact.key for fact in extract(born(value, **known).numbered(3)) if fact.kind is kind]


def call(name: str, arguments: str) -> Value:
    value = calls("c1", name=name)
    value["tool_calls"][0]["function"]["arguments"] = arguments
    return value


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("Never touch the public API.", "constraint", "Never touch the public API"),
        ("You must not use eval.", "constraint", "You must not use eval"),
        ("do not delete the backups", "constraint", "do not delete the backups"),
        ("Don't push to main!", "constraint", "Don't push to main"),
        ("Only read from the replica.", "constraint", "Only read from the replica"),
        ("Keep the log under 500 MB.", "constraint", "Keep the log under 500 MB"),
        ("Finish it by Friday.", "constraint", "Finish it by Friday"),
        ("From now on answer in English.", "constraint", "From now on answer in English"),
        ("The cap is 800 requests.", "constraint", "The cap is 800 requests"),
        ("Ask me before you deploy.", "constraint", "Ask me before you deploy"),
        ("No deploys on Friday.", "constraint", "No deploys on Friday"),
        ("The report has to be short.", "constraint", "The report has to be short"),
        ("The output should be JSON.", "preference", "The output should be JSON"),
        ("数据库是只读的", "constraint", "数据库是只读的"),
        ("Use 4 spaces.", "preference", "Use 4 spaces"),
        ("- use tabs", "preference", "use tabs"),
        ("I prefer short names.", "preference", "I prefer short names"),
        ("We decided on plain SQL.", "decision", "We decided on plain SQL"),
        ("不要修改公共接口。", "constraint", "不要修改公共接口"),
        ("必须兼容 Python 3.9", "constraint", "必须兼容 Python 3.9"),
        ("预算上限800元", "constraint", "预算上限800元"),
        ("响应时间控制在500毫秒以内", "constraint", "响应时间控制在500毫秒以内"),
        ("从现在开始用英文回答", "constraint", "从现在开始用英文回答"),
        ("请用英文回答", "preference", "请用英文回答"),
        ("最好写得短一些", "preference", "最好写得短一些"),
        ("我们决定采用方案二", "decision", "我们决定采用方案二"),
    ],
)
def test_a_person_states_rules_wishes_and_decisions(text: str, kind: str, said: str) -> None:
    assert (kind, said) in facts(user(text))


@pytest.mark.parametrize(
    "text",
    [
        "Must it be fast?",
        "I can't see the button on the page",
        "It was fine before the summer",
        "I had 2 sessions before those 2",
        "I closed 2 of them by running quit",
        "// never call this twice",
        "No problem, go on with the second file",
        "No, the other one",
        "可以看一下吗",
        "```\n# never call this twice\n```",
    ],
)
def test_what_is_no_rule_is_not_taken_for_one(text: str) -> None:
    assert not {kind for kind, _ in facts(user(text))} & {"constraint", "preference", "decision"}


def test_two_rules_in_one_sentence_are_two_facts() -> None:
    text = "Build it, never touch the API, and keep the output under 800 chars."
    assert [said for kind, said in facts(user(text)) if kind == "constraint"] == [
        "Build it, never touch the API",
        "keep the output under 800 chars",
    ]


def test_no_clause_begins_within_a_number() -> None:
    rules = [
        "Never import more than 3,000 rows without asking",
        "Never start it before 8:30 without asking",
    ]
    for rule in rules:
        said = facts(user(f"{rule}."))
        assert [text for kind, text in said if kind == "constraint"] == [rule]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (
            "Region is eu-north-7, ticket INC-4471, budget 1847.20.",
            ["eu-north-7", "INC-4471", "1847.20"],
        ),
        ("port 8080 for the web, port 5432 for the database", ["8080", "5432"]),
        ("The build is v2.14.3, see #4812.", ["v2.14.3", "#4812"]),
        ("端口是8080，版本3.11.4", ["8080", "3.11.4"]),
        ("1. first\n2. second", []),
    ],
)
def test_a_person_names_values(text: str, values: list[str]) -> None:
    assert keys(user(text), FactKind.NUMBER) == values


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("Fix the parser. Never touch the API.", ["Fix the parser."]),
        ("修复解析器。不要修改接口。", ["修复解析器。"]),
        ("ok, go on", []),
        ("好的，继续", []),
        ("Never touch the API.", ["Never touch the API."]),
    ],
)
def test_the_goal_is_what_is_asked_for_without_its_rules(text: str, goal: list[str]) -> None:
    assert keys(user(text), FactKind.GOAL) == goal


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        (
            "I chose a queue rather than a thread.",
            "decision",
            "I chose a queue rather than a thread",
        ),
        ("Plan B: rename internals only.", "decision", "Plan B: rename internals only"),
        ("Next step: write the tests.", "state", "Next step: write the tests"),
        ("- [x] read\n- [ ] migrate", "state", "migrate"),
        ("我选择方案二，因为它更简单。", "decision", "我选择方案二，因为它更简单"),
        ("读取模块已完成。", "state", "读取模块已完成"),
    ],
)
def test_the_assistant_decides_and_tells_its_state(text: str, kind: str, said: str) -> None:
    assert (kind, said) in facts(answer(text))


def test_what_happened_instead_of_something_is_no_decision() -> None:
    assert set(facts(answer("It made 4 commits instead of 1."))) == {
        ("number", "It made 4 commits instead of 1")
    }


def test_the_assistant_makes_no_rules() -> None:
    assert "constraint" not in dict(facts(answer("We must never call it twice.")))


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("read_file", '{"path": "src/a.py"}', [("read_path", "src/a.py")]),
        ("Edit", '{"file_path": "/r/b.py", "new_string": "c.py"}', [("changed_path", "/r/b.py")]),
        ("str_replace_editor", '{"command": "view", "path": "a"}', [("read_path", "a")]),
        ("str_replace_editor", '{"command": "create", "path": "a"}', [("changed_path", "a")]),
        ("run_command", '{"command": "pytest -x"}', [("command", "pytest -x")]),
        ("shell", '{"command": ["bash", "-lc", "ls"]}', [("command", "ls")]),
        (
            "Bash",
            '{"command": "echo x > out.txt 2>&1"}',
            [("command", "echo x > out.txt 2>&1"), ("changed_path", "out.txt")],
        ),
        (
            "apply_patch",
            '{"input": "*** Begin Patch\\n*** Update File: src/a.py\\n@@"}',
            [("changed_path", "src/a.py")],
        ),
        ("search_flight", '{"origin": "JFK", "destination": "SEA"}', []),
        (
            "TodoWrite",
            '{"todos": [{"content": "a", "status": "completed"}, {"content": "b"}]}',
            [("state", "b")],
        ),
        ("read_file", '{"path": ["a", 1, null, "b"]}', [("read_path", "a"), ("read_path", "b")]),
        ("read_file", '{"path": ', []),
        ("read_file", "[1]", []),
    ],
)
def test_paths_and_commands_come_from_arguments(
    name: str, arguments: str, expected: list[tuple[str, str]]
) -> None:
    assert facts(call(name, arguments)) == expected


def test_paths_in_prose_are_no_facts() -> None:
    found = facts(answer("I changed src/a.py and ran pytest."))
    assert not {kind for kind, _ in found} & {"changed_path", "read_path", "command"}


@pytest.mark.parametrize(
    ("text", "status", "expected"),
    [
        ("ok\nwarning: unused variable", ToolStatus.OK, [("warning", "warning: unused variable")]),
        ("src/a.c:3:1: warning: unused", None, [("warning", "src/a.c:3:1: warning: unused")]),
        ("ValueError: bad row", None, [("failure", "ValueError: bad row")]),
        ("cat: x: No such file or directory", ToolStatus.FAILED, None),
        ("exit code 2", ToolStatus.FAILED, [("failure", "exit code 2")]),
        ("nothing said", ToolStatus.FAILED, [("failure", "nothing said")]),
        ("错误：无法连接", ToolStatus.OK, [("failure", "错误：无法连接")]),
        ("0 errors, no warnings", ToolStatus.OK, []),
        ("   12\traise ValueError: x", ToolStatus.OK, []),
        ("src/a.py:12:    # error: see below", ToolStatus.OK, []),
    ],
)
def test_results_tell_failures_and_warnings(
    text: str, status: ToolStatus | None, expected: list[tuple[str, str]] | None
) -> None:
    found = facts(result("c1", text), status=status)
    expected = [("failure", text)] if expected is None else expected
    assert [one for one in found if one[0] != "number"] == expected


def test_status_is_metadata_and_never_guessed_from_text() -> None:
    told = extract(born(result("c1", "error: it broke"), status=ToolStatus.OK).numbered(1))
    assert [fact.call for fact in told] == [""]
    failed = extract(born(result("c1", "all fine"), status=ToolStatus.FAILED).numbered(1))
    assert [(fact.kind, fact.call) for fact in failed] == [(FactKind.FAILURE, "c1")]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("port: 8080", ["port: 8080"]),
        ("===== 12 passed, 3 failed in 2.5 s =====", ["12 passed", "3 failed", "2.5 s"]),
        ("2026-01-01 10:22:31 started", []),
    ],
)
def test_results_give_named_values(text: str, values: list[str]) -> None:
    assert keys(result("c", text), FactKind.NUMBER) == values


def test_only_the_edges_of_a_result_are_read() -> None:
    middle = "warning: head\n" + "x" * 3_000 + "\nwarning: middle\n" + "x" * 3_000
    told = [said for _, said in facts(result("c", middle + "\nwarning: tail"))]
    assert told == ["warning: head", "warning: tail"]


@given(broken_lists())
def test_facts_follow_from_the_message_alone(values: list[Value]) -> None:
    messages = [as_message(value).numbered(at) for at, value in enumerate(values, 1)]
    forwards = [extract(message) for message in messages]
    backwards = [extract(message) for message in reversed(messages)][::-1]
    assert forwards == backwards == [extract(message) for message in messages]
    for message, found in zip(messages, forwards, strict=True):
        assert {fact.number for fact in found} <= {message.number}
        assert with_facts(message).facts == found


@given(st.text(max_size=400), st.sampled_from(["user", "assistant", "tool"]))
def test_any_text_is_read(text: str, role: str) -> None:
    value = {"role": role, "content": text, **({"tool_call_id": "c"} if role == "tool" else {})}
    for fact in extract(born(value)):
        assert "\n" not in fact.text and fact.key


@given(st.text(max_size=200))
def test_any_arguments_are_read(arguments: str) -> None:
    for fact in extract(born(call("edit", arguments))):
        assert isinstance(fact, Fact)


@pytest.mark.parametrize("role", ["user", "assistant", "tool"])
@pytest.mark.parametrize(
    "text",
    [
        "a" * 300_000,
        "1" * 300_000,
        "a-" * 150_000,
        "1." * 150_000,
        "never " * 50_000,
        "[ ] " * 70_000,
        "```" * 100_000,
        "\n" * 300_000,
        "error " * 50_000,
        "warning: 5 ms " * 20_000,
        " must" + "," * 300_000,
        "不要" * 100_000,
        "error:" + " " * 300_000 + "x",
        "\x00never\x00" * 30_000,
        "\ud800 must \udfff" * 20_000,
    ],
    ids=range(15),
)
def test_hostile_text_is_read_in_linear_time(text: str, role: str) -> None:
    value = {"role": role, "content": text, **({"tool_call_id": "c"} if role == "tool" else {})}
    message = born(value)
    started = time.process_time()
    found = extract(message)
    assert time.process_time() - started < 1.5
    assert len(found) < 200


def test_a_message_gives_its_number_to_its_own_facts_alone() -> None:
    message = with_facts(as_message(user("Never push.")))
    assert {fact.number for fact in message.numbered(7).facts or ()} == {7}
    carried = Fact(FactKind.GOAL, "go", 2, "go")
    note = born({"role": "system", "content": "[Earlier summary; reference only]\nx"})
    assert born(note.value(), facts=(carried,)).numbered(9).facts == (carried,)
