"""What each strategy does to a list, by the tables of spec-compaction 4 and 10."""

from __future__ import annotations

import json
from typing import Any

import pytest
from histories import Value, answer, calls, exchange, group, result, system, user, with_picture

from agentcore import PRESETS, Profile, Snapshot, compact
from agentcore.compaction.plan import Fate
from agentcore.compaction.result import CompactionResult
from agentcore.context import Context
from agentcore.ledger import facts_of
from agentcore.messages import Message, ToolStatus, as_message, born
from agentcore.options import Direction, Stage, SummaryFailure, SummaryOptions

OK, FAILED = ToolStatus.OK, ToolStatus.FAILED


def only(strategy: str, **options: Any) -> Profile:
    """A profile of one stage, due from half of a budget that any list here passes."""
    stage = Stage(strategy, at=0.5, **options)
    return PRESETS["balanced"].replace(stages=(stage,), budget=500, unit="bytes", target=0.1)


def sized(
    strategy: str, budget: int, *, at: float = 0.8, target: float = 0.6, **options: Any
) -> Profile:
    """A profile of one stage that aims at a share of the budget."""
    stage = Stage(strategy, at=at, **options)
    return PRESETS["balanced"].replace(stages=(stage,), budget=budget, unit="bytes", target=target)


def run(
    values: list[Value] | list[Message] | Snapshot, profile: Profile, *pins: int
) -> CompactionResult:
    return compact(values, profile, frozenset(pins))


def texts(done: CompactionResult) -> list[str]:
    return [message.text for message in done.new.messages]


def known(values: list[Value], **facts: dict[int, Any]) -> list[Message]:
    """Messages with what is known beside their wire form: `status`, `tool`, `turn` by row."""
    messages = []
    for row, value in enumerate(values):
        beside = {name: by_row[row] for name, by_row in facts.items() if row in by_row}
        messages.append(born(value, **beside))
    return messages


LONG = "x" * 600
NEWEST = group(90, [LONG, LONG])


def test_snip_keeps_the_newest_five_results_and_every_pairing() -> None:
    values = exchange(9, 600)
    done = run(values, only("snip", keep=5))
    results = [message for message in done.new.messages if message.role == "tool"]
    assert [message.text for message in results[:4]] == ["[Tool result snipped - read_file]"] * 4
    assert all(message.text == LONG for message in results[4:])
    assert [message.tool_call_id for message in results] == [
        value["tool_call_id"] for value in values if value["role"] == "tool"
    ]
    assert {cut.fate for cut in done.plan.removals} == {Fate.SNIPPED}


def test_snip_names_tool_and_turn_where_they_are_known() -> None:
    values = [user(), *group(1, [LONG]), *NEWEST]
    messages = known(values, tool={2: "read_file"}, turn={2: 7})
    done = run(messages, only("snip", keep=0))
    assert texts(done)[2] == "[Tool result snipped - read_file at turn 7]"


def test_snip_takes_stale_results_of_a_group_first() -> None:
    """The second path of the group is read again later; its result goes, and that is enough."""
    first = calls("a", "b")
    for call, path in zip(first["tool_calls"], ("one.py", "two.py"), strict=True):
        call["function"]["arguments"] = json.dumps({"path": path})
    again = calls("c")
    again["tool_calls"][0]["function"]["arguments"] = '{"path": "two.py"}'
    values = [user(), first, result("a", LONG), result("b", LONG), again, result("c", LONG)]
    size = Snapshot.of(values).sizes.bytes
    profile = sized("snip", size, at=0.9, target=0.8, keep=0)
    done = run(values, profile)
    assert texts(done)[2:4] == [LONG, "[Tool result snipped - read_file]"]


def test_snip_stops_at_the_target() -> None:
    values = exchange(40, 600)
    done = run(values, sized("snip", Snapshot.of(values).sizes.bytes, keep=5))
    assert 0.57 <= done.new.sizes.bytes / done.old.sizes.bytes <= 0.6


def test_micro_tells_tool_status_and_original_size() -> None:
    values = [user(), *group(1, [LONG]), *group(2, [LONG]), *group(3, [LONG]), *NEWEST]
    messages = known(values, tool={2: "grep", 4: "run"}, status={2: OK, 4: FAILED})
    done = run(messages, only("micro", keep=0))
    size = done.old.messages[2].sizes.bytes
    assert [texts(done)[row] for row in (2, 4, 6)] == [
        f"[Result: grep - success - {size} bytes]",
        f"[Result: run - failure - {size} bytes]",
        f"[Result: read_file - status unknown - {size} bytes]",
    ]
    assert texts(done)[8:] == [LONG, LONG]


def test_micro_cuts_unsigned_thinking_and_drops_what_is_signed() -> None:
    thinking = {**answer("so"), "reasoning_content": "t" * 900}
    signed = {"type": "thinking", "thinking": "s" * 900, "signature": "sig"}
    unsigned = {"type": "thinking", "thinking": "u" * 900}
    redacted = {"type": "redacted_thinking", "data": "r" * 900}
    said = {"type": "text", "text": "kept"}
    values = [
        user(),
        thinking,
        {"role": "assistant", "content": [signed, unsigned, redacted, said]},
        *NEWEST,
    ]
    done = run(values, only("micro", keep=0))
    first, second = (message.value() for message in done.new.messages[1:3])
    assert first["reasoning_content"] == "t" * 200 + "… (700 more chars of thinking cut)"
    assert [part["type"] for part in second["content"]] == ["thinking", "text"]
    assert second["content"][0]["thinking"].startswith("u" * 200 + "… (700")
    assert {cut.fate for cut in done.plan.removals} == {Fate.CUT}


def test_collapse_counts_calls_and_how_they_ended() -> None:
    values = [user(), *group(1, [LONG, LONG], "I look"), *group(2, ["boom\nmore", LONG]), *NEWEST]
    messages = known(values, status={2: OK, 3: OK, 5: FAILED})
    done = run(messages, only("collapse", keep=0))
    note = texts(done)[1]
    assert note.split("\n") == [
        "[Collapsed: 4 tool calls (read_file x4) - 2 ok, 1 failed, 1 unknown]",
        "- I look",
        "- failed: boom",
    ]
    assert done.new.messages[1].role == "system"
    assert done.new.messages[1].stands_for == (range(2, 8),)
    assert texts(done)[3:] == [LONG, LONG]


def test_collapse_of_all_successful_calls_says_so() -> None:
    values = [user(), *group(1, [LONG]), *NEWEST]
    done = run(known(values, status={2: OK}), only("collapse", keep=0))
    assert texts(done)[1] == "[Collapsed: 1 tool call (read_file x1) - all successful]"


def test_collapse_leaves_what_people_said_between_its_notes() -> None:
    values = [user(), *group(1, [LONG]), user("not so"), *group(2, [LONG]), *NEWEST]
    done = run(values, only("collapse", keep=0))
    assert [message.is_summary for message in done.new.messages[:4]] == [
        False, True, False, True,
    ]  # fmt: skip
    assert texts(done)[2] == "not so"


def test_auto_summarizes_all_but_the_last_three_widened_to_groups() -> None:
    values = [system(), user(LONG), answer(LONG), user(LONG), *group(1, ["a", "b"]), user("now")]
    asked: list[str] = []

    def summarize(text: str, *, max_words: int) -> str:
        asked.append(text)
        return "\n".join(f"{heading}: -" for heading in HEADINGS)

    done = compact(values, only("auto", keep=3), summarize=summarize)
    assert [message.number for message in done.new.messages] == [1, 9, 4, 5, 6, 7, 8]
    assert len(asked) == 1


HEADINGS = (
    "Goal", "Done and results", "Active files", "Decisions and why", "Problems and fixes",
    "Progress", "Next steps", "Code kept verbatim", "Preferences and constraints",
)  # fmt: skip


def test_partial_needs_no_model_and_keeps_the_last_five() -> None:
    values = [system(), user("Keep port 8080. " + LONG), answer(LONG), *group(1, [LONG]), answer()]
    values += [user(f"step {n}") for n in range(5)]
    done = run(values, only("partial", keep=5))
    summary = done.new.messages[1]
    assert summary.text.startswith("[Earlier summary; reference only]\n")
    assert [message.number for message in done.new.messages[2:]] == [7, 8, 9, 10, 11]


def test_partial_may_take_only_what_stands_before_the_last_checkpoint() -> None:
    from agentcore.compaction.partial import Partial
    from agentcore.compaction.strategy import Situation
    from agentcore.pressure import Pressure, Unit, Window, WindowSource

    values = [user(LONG), answer(LONG), answer(LONG), answer(LONG), *group(1, ["a"]), user("now")]
    snapshot = Snapshot.of(values)
    window = Window(100, WindowSource.PROFILE)
    situation = Situation(
        snapshot,
        Pressure(1, 1, Unit.BYTES, 1, window, 0),
        Stage("partial", keep=3, direction=Direction.UP_TO),
        threshold=0.9,
        need=10_000,
        checkpoints=frozenset({3}),
    )
    plan = Partial().compact(situation)
    assert [(cut.start, cut.stop) for cut in plan.removals] == [(0, 2)]


def test_last_resort_leaves_system_pins_instruction_and_one_note() -> None:
    values = [system(), answer(LONG), answer("pinned"), *group(1, [LONG]), user("now"), *NEWEST]
    done = run([*values, answer(LONG)], only("last_resort", keep=0), 2)
    assert [message.number for message in done.new.messages] == [1, 11, 3, 6]
    assert {cut.fate for cut in done.plan.removals} == {Fate.DROPPED}


def test_last_resort_never_drops_results_that_no_reply_has_seen() -> None:
    done = run([system(), answer(LONG), user(), *NEWEST], only("last_resort", keep=0))
    assert [message.number for message in done.new.messages][-3:] == [4, 5, 6]


def test_masking_leaves_reasoning_and_the_last_turns_untouched() -> None:
    values = [user()]
    for turn in range(14):
        values += group(turn, [LONG], f"because {turn}")
    done = run(values, only("mask", keep=10))
    results = [message for message in done.new.messages if message.role == "tool"]
    assert sum(message.text.startswith("[Result: ") for message in results) == 4
    said = [message.text for message in done.new.messages if message.calls]
    assert said == [f"because {turn}" for turn in range(14)]


def test_newest_results_over_the_limit_are_cut_to_a_fair_share() -> None:
    values = [system(), user("read all"), *group(1, ["x" * 20_000] * 10, None)]
    profile = PRESETS["balanced"].replace(budget=120_000, unit="bytes")
    done = run(values, profile)
    results = [message for message in done.new.messages if message.role == "tool"]
    assert done.new.sizes.bytes < 120_000
    assert len(results) == 10
    assert all("bytes omitted" in message.text for message in results)
    whole = {message.sizes.bytes for message in done.old.messages if message.role == "tool"}
    assert {message.original for message in results} == whole
    lengths = {message.sizes.bytes for message in results}
    assert max(lengths) - min(lengths) < 50


def test_small_results_stay_whole_when_a_large_one_is_cut() -> None:
    values = [user("x"), *group(1, ["small", "x" * 40_000])]
    done = run(values, only("fair_share", keep=0).replace(budget=20_000, target=0.4))
    assert [len(text) < 100 for text in texts(done)[2:]] == [True, False]
    assert texts(done)[2] == "small"


def test_elastic_takes_most_from_what_is_most_elastic_and_nothing_from_the_instruction() -> None:
    values = [user("old " + LONG), answer(LONG), user("do this " + LONG)]
    values += group(1, ["r" * 4_000]) + group(2, ["r" * 4_000]) + [*NEWEST]
    size = Snapshot.of(values).sizes.bytes
    done = run(values, sized("elastic", size, keep=0))
    assert done.new.sizes.bytes <= 0.62 * size
    assert texts(done)[2] == "do this " + LONG
    assert "bytes omitted" in texts(done)[4]
    assert {cut.fate for cut in done.plan.removals} == {Fate.CUT}


def test_elastic_cuts_no_message_that_would_free_less_than_its_notice_takes() -> None:
    told = user("Never drop a table. " * 40)
    values = [system(), told, answer(), user("go on"), *group(1, ["x" * 9_000]), answer()]
    done = compact(values, sized("elastic", 3_000))
    assert done.changed and done.messages[1] == told


def test_elastic_keeps_arguments_valid_json_and_takes_pictures_out() -> None:
    call = calls("a")
    call["tool_calls"][0]["function"]["arguments"] = json.dumps({"path": "a", "text": "y" * 9_000})
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 9_000}}
    seen = {"role": "user", "content": [{"type": "text", "text": "see"}, picture]}
    values = [seen, answer(), call, result("a", "ok"), user("go"), *NEWEST]
    done = run(values, only("elastic", keep=0))
    arguments = json.loads(done.new.messages[2].calls[0].arguments)
    assert arguments["path"] == "a" and len(arguments["text"]) < 400
    assert "a picture was here" in texts(done)[0]


def test_a_pin_is_spared_by_every_strategy() -> None:
    values = [system(), user(LONG), *group(1, [LONG, LONG]), answer(LONG), user("now"), *NEWEST]
    for strategy in ("snip", "micro", "collapse", "auto", "partial", "last_resort", "elastic"):
        done = run(values, only(strategy, keep=0), 3)
        kept = {message.number: message.wire for message in done.new.messages}
        assert kept[4] == as_message(values[3]).wire, strategy


def test_stages_run_in_order_and_only_where_they_are_due() -> None:
    values = exchange(60, 900)
    size = Snapshot.of(values).sizes.bytes
    done = run(values, PRESETS["balanced"].replace(budget=round(size / 0.82), unit="bytes"))
    assert [stage.stage for stage in done.stages] == ["snip"]
    done = run(values, PRESETS["balanced"].replace(budget=size // 6, unit="bytes"))
    assert [stage.stage for stage in done.stages][:3] == ["snip", "micro", "collapse"]
    assert done.new.sizes.bytes <= size // 6


def test_a_stage_that_frees_too_little_is_skipped_unless_a_person_asks() -> None:
    """A change in the middle of the list costs the prefix cache from there on."""
    values = [system(), user(), *group(1, ["x" * 200]), *group(2, [LONG]), *exchange(1)[2:]]
    size = Snapshot.of(values).sizes.bytes
    profile = sized("snip", size, keep=2).replace(min_gain=0.1)
    assert not compact(values, profile).changed
    assert compact(values, profile.replace(min_gain=0.0)).changed
    assert compact(values, profile, force=True).changed


def test_a_message_that_is_unpinned_goes_into_the_next_summary_once() -> None:
    asked: list[str] = []

    def summarize(text: str, *, max_words: int) -> str:
        asked.append(text)
        return "so far"

    values = [system(), user("keep me"), answer(LONG), user("two"), answer(LONG), user("three")]
    profile = only("keep_recent", keep=1)
    first = compact(values, profile, frozenset([1]), force=True, summarize=summarize)
    assert texts(first)[2] == "keep me"
    more = [*first.new.messages, born(answer(LONG)), born(user("four"))]
    second = compact(more, profile, force=True, summarize=summarize)
    assert [text.count("keep me") for text in asked] == [0, 1]
    assert "keep me" not in texts(second)


def test_a_run_over_all_stages_is_one_plan_on_the_first_list() -> None:
    values = exchange(60, 900)
    done = run(values, PRESETS["balanced"].replace(budget=6_000, unit="bytes"))
    assert len(done.stages) >= 2
    gone = {number for cut in done.plan.removals for number in range(cut.start, cut.stop)}
    assert len(gone) == sum(cut.stop - cut.start for cut in done.plan.removals)
    new = [message.number for message in done.new.messages if message.number > len(values)]
    assert new == list(range(len(values) + 1, len(values) + 1 + len(new)))
    assert done.undo() == values


@pytest.mark.parametrize("on_failure", SummaryFailure)
def test_balanced_without_a_model_still_gets_under_its_limit(on_failure: SummaryFailure) -> None:
    values = [system(), user("Goal: fix port 8080"), *exchange(80, 500)[2:]]
    options = SummaryOptions(on_failure=on_failure)
    profile = PRESETS["balanced"].replace(budget=8_000, unit="bytes", summary=options)
    assert run(values, profile).new.sizes.bytes < 8_000


def test_a_plain_list_knows_the_tools_of_its_results() -> None:
    values = [system(), user(), *group(1, ["x", "y"])]
    assert [one.tool for one in Snapshot.of(values).messages] == [
        *(None, None, None, "read_file", "read_file")
    ]


def test_elastic_takes_nothing_more_at_once() -> None:
    """What gives but a part of itself has given it after the first run."""
    *others, shown = group(1, [LONG, "short " * 40])
    values = [user(), *(answer(LONG * 10) for _ in range(6)), *others, with_picture(shown), *NEWEST]
    for profile in (only("elastic"), only("elastic").replace(budget=50, target=0.01)):
        first = compact(values, profile)
        assert first.changed and not compact(first.new, profile).changed


def test_micro_shortens_thinking_once() -> None:
    thinking = {**answer("so"), "reasoning_content": "because " * 100}
    values = [user(), thinking, *group(1, ["x"]), *NEWEST]
    profile = only("micro", keep=0).replace(min_gain=0.0)
    first = compact(values, profile)
    assert first.changed and not compact(first.new, profile, force=True).changed


def test_a_new_note_stands_behind_a_pinned_one_in_the_list_and_by_place() -> None:
    first = run([system(), user(), answer(LONG), answer(LONG), user()], only("last_resort"))
    context = Context(first.new)
    for value in (answer(LONG), answer(LONG), user()):
        context.append(value)
    note = first.new.messages[1]
    done = run(context.snapshot(), only("last_resort"), 1)
    assert [one.is_summary for one in done.new.messages[:3]] == [False, True, True]
    assert done.new.messages[1] == note
    after = done.new
    order = [(place, one.number) for place, one in zip(after.places, after.messages, strict=True)]
    assert order == sorted(order)


def test_where_no_user_message_is_the_first_none_is_pinned_by_rule() -> None:
    values = [system(), *exchange(9, 900)[2:], answer(LONG)]
    profile = PRESETS["kairo"].replace(budget=1_000, unit="bytes", min_gain=0.0)
    first = compact(values, profile)
    assert first.changed and not compact(first.new, profile).changed


def test_a_note_of_messages_whose_facts_were_not_looked_for_tells_its_own() -> None:
    call = calls("a", name="edit_file")
    done = run([user(), call, result("a", LONG), *NEWEST], only("collapse", keep=0))
    assert [fact.key for fact in facts_of(done.new.messages[1])] == ["a"]
