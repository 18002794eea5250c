"""The library as scripts use it: the names of its one door, and the example of the README."""

from __future__ import annotations

import inspect
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from histories import exchange, result, system, user

import agentcore
from agentcore import PRESETS, Message, Snapshot, compact, measure
from agentcore.messages import as_message

README = Path(__file__).parents[2] / "README.md"
SMALL = PRESETS["balanced"].replace(budget=10_000, unit="bytes")


def test_the_door_shows_these_names_and_no_others() -> None:
    assert set(agentcore.__all__) == {
        *("PRESETS", "Ledger", "Message", "Profile", "Snapshot"),
        *("clamp", "compact", "load_transcript", "measure", "simulate", "verify"),
    }


def test_compact_takes_what_it_promises() -> None:
    names = [*inspect.signature(compact).parameters]
    assert names == ["messages", "profile", "pinned", "force", "summarize", "now"]


def test_the_example_of_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    values = exchange(30)
    Path(tmp_path / "chat.json").write_text(json.dumps(values))
    monkeypatch.chdir(tmp_path)
    example = README.read_text().split("```python\n")[1].split("```")[0]
    exec(compile(example, "README.md", "exec"), {})
    before, _, sizes = capsys.readouterr().out.strip().split("\n")
    smaller = json.loads(Path("smaller.json").read_text())
    assert before.startswith(str(measure(values).total))
    assert sizes == f"{measure(values).total} {measure(smaller).total}"
    assert measure(smaller).total < measure(values).total


def test_before_and_after_are_bytes_by_category() -> None:
    values = exchange(30)
    done = compact(values, SMALL)
    assert (done.before, done.after) == (measure(values), measure(done.messages))
    assert done.before.total > 10_000 > done.after.total
    assert sum(done.after.values()) == done.after.total


def test_before_is_what_was_handed_in_where_the_list_was_repaired() -> None:
    values = [system(), user(), result("of no call")]
    done = compact(values, SMALL)
    assert done.before == measure(values) and done.undo() == values
    assert done.after == measure(values[:2]) and done.messages == values[:2]


@pytest.mark.parametrize("form", [list, Snapshot.of, lambda values: [*map(as_message, values)]])
def test_dicts_messages_and_snapshots_come_to_the_same(form: type[list[Message]]) -> None:
    values = exchange(30)
    assert compact(form(values), SMALL).messages == compact(values, SMALL).messages


def test_placeholders_tell_the_time_that_is_handed_in() -> None:
    now = datetime(2026, 11, 30, 9, 30, tzinfo=UTC)
    done = compact(exchange(30), SMALL, now=now)
    told = f"[Tool result snipped - read_file at {now.isoformat()}]"
    assert told in [message.get("content") for message in done.messages]
    assert not compact(done.new, SMALL, now=now).changed


def test_the_input_is_not_changed() -> None:
    values = exchange(30)
    kept = json.dumps(values)
    compact(values, SMALL, frozenset({1}))
    assert json.dumps(values) == kept
