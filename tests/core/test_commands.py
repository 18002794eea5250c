"""`lint`, `compact`, `simulate` and `diff` from the command line; `inspect` has its own file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from histories import Value, answer, calls, exchange, group, result, user
from planted import english, work

from agentcore import PRESETS, compact
from agentcore.__main__ import main


def write(path: Path, values: Any) -> Path:
    path.write_text(json.dumps(values))
    return path


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return write(tmp_path / "session.json", [*exchange(40), answer()])


def told(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, Any]:
    """Exit code and the one JSON object on stdout."""
    code = main([*map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


def refused(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """What stderr says of bad input; nothing else is said."""
    try:
        code = main([*map(str, arguments)])
    except SystemExit as stopped:
        assert isinstance(stopped.code, int)
        code = stopped.code
    out, err = capsys.readouterr()
    assert (code, out) == (2, "") and err
    return err


SMALL = ("--preset", "balanced", "--budget", "20000", "--unit", "bytes")


def test_lint_names_line_number_index_kind_and_detail(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    body = {"messages": [user(), result("lost"), calls("open"), user("on")]}
    path = tmp_path / "requests.jsonl"
    path.write_text(json.dumps(body) + "\n{torn")
    code, facts = told(capsys, "lint", path)
    assert code == 1 and list(facts) == ["problems"]
    rows = facts["problems"]
    assert all(list(row) == ["line", "number", "index", "kind", "detail"] for row in rows)
    assert [tuple(row.values())[:4] for row in rows] == [
        (2, None, None, "torn_tail"),
        (1, 2, 1, "orphan_result"),
        (1, 3, 2, "unanswered_call"),
    ]


def test_lint_of_a_sound_list_is_fine(capsys: pytest.CaptureFixture[str], session: Path) -> None:
    assert told(capsys, "lint", session) == (0, {"problems": []})
    assert main(["lint", str(session)]) == 0
    assert capsys.readouterr().out == "nothing is wrong with it\n"


def test_compact_has_exactly_the_promised_keys(
    capsys: pytest.CaptureFixture[str], session: Path
) -> None:
    options = ("--preset", "nanohermes", "--budget", "20000", "--set", "target=0.5")
    _, facts = told(capsys, "compact", session, *options)
    assert " ".join(facts) == "changed reason before after stages checks survival fates added"
    for key, keys in (
        ("before", "size breakdown"),
        ("after", "size breakdown"),
        ("stages", "stage freed"),
        ("checks", "check ok detail"),
        ("fates", "number index fate stage bytes_before bytes_after"),
        ("added", "number origin bytes stands_for"),
    ):
        rows = facts[key] if isinstance(facts[key], list) else [facts[key]]
        assert rows and all(list(row) == keys.split() for row in rows), key
    assert all(list(kept) == ["kept", "lost"] for kept in facts["survival"].values())
    assert len(facts["checks"]) == 7


def test_compact_tells_what_the_library_does_and_writes_the_list(
    capsys: pytest.CaptureFixture[str], session: Path, tmp_path: Path
) -> None:
    out = tmp_path / "after.json"
    _, facts = told(capsys, "compact", session, *SMALL, "--out", out)
    values = json.loads(session.read_text())
    done = compact(values, PRESETS["balanced"].replace(budget=20_000, unit="bytes"))
    assert json.loads(out.read_text()) == done.messages != values
    assert facts["after"]["size"] == done.new.sizes.bytes
    assert sum(facts["after"]["breakdown"].values()) == facts["after"]["size"]
    freed = sum(stage["freed"] for stage in facts["stages"])
    assert freed == facts["before"]["size"] - facts["after"]["size"] > 0
    gone = sum(row["bytes_before"] - (row["bytes_after"] or 0) for row in facts["fates"])
    assert gone - sum(row["bytes"] for row in facts["added"]) == freed


def test_a_pin_is_an_index_and_stays(capsys: pytest.CaptureFixture[str], session: Path) -> None:
    _, facts = told(capsys, "compact", session, *SMALL, "--force")
    fates = {row["index"]: row["fate"] for row in facts["fates"]}
    assert 3 in fates
    _, facts = told(capsys, "compact", session, *SMALL, "--force", "--pin", "3", "5")
    assert not {3, 5} & {row["index"] for row in facts["fates"]}


def test_compact_says_what_it_wrote_beside_its_table(
    capsys: pytest.CaptureFixture[str], session: Path, tmp_path: Path
) -> None:
    arguments = ["compact", str(session), *SMALL, "--out", str(tmp_path / "after.json")]
    main(arguments)
    count = len(json.loads((tmp_path / "after.json").read_text()))
    assert f"after.json: {count} messages written" in capsys.readouterr().err
    main([*arguments, "--json"])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("command", ["inspect", "lint", "compact", "simulate"])
def test_a_reader_that_has_seen_enough_ends_a_command_quietly(session: Path, command: str) -> None:
    preset = ["--preset", "balanced"] if command in ("compact", "simulate") else []
    reading, writing = os.pipe()
    os.close(reading)
    arguments = [sys.executable, "-m", "agentcore", command, str(session), *preset]
    done = subprocess.run(arguments, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_an_illegal_list_is_repaired_and_each_repair_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    values = [user(), result("lost", "x" * 500), calls("open"), *exchange(30)[2:], answer()]
    path, out = write(tmp_path / "list.json", values), tmp_path / "after.json"
    arguments = ["compact", str(path), *SMALL, "--force", "--json", "--out", str(out)]
    assert main(arguments) == 1
    said, err = capsys.readouterr()
    assert "message 2: result without its call" in err and "message 3" in err
    repaired = [row for row in json.loads(said)["fates"] if row["fate"] == "repaired"]
    assert [(row["index"], row["stage"]) for row in repaired] == [(1, "repair")]
    assert main(["lint", str(out), "--json"]) == 0


def test_nothing_due_is_said_and_the_list_is_written_as_it_was(
    capsys: pytest.CaptureFixture[str], session: Path, tmp_path: Path
) -> None:
    out = tmp_path / "after.json"
    code, facts = told(capsys, "compact", session, "--preset", "balanced", "--out", out)
    assert code == 0 and (facts["changed"], facts["reason"]) == (False, "nothing_to_compact")
    assert not facts["fates"] and not facts["added"]
    assert json.loads(out.read_text()) == json.loads(session.read_text())


def test_simulate_has_a_run_a_preset_with_exactly_the_promised_keys(
    capsys: pytest.CaptureFixture[str], session: Path
) -> None:
    code, facts = told(
        capsys, "simulate", session, "--preset", "balanced", "--preset", "elastic",
        "--budget", "20000", "--unit", "bytes", "--set", "min_gain=0.05",
    )  # fmt: skip
    assert code == 0 and [run["preset"] for run in facts["runs"]] == ["balanced", "elastic"]
    for run in facts["runs"]:
        assert " ".join(run) == (
            "preset peak compactions floor cumulative_input cached_input thrash survival series"
        )
        assert all(list(point) == ["turn", "bytes", "action"] for point in run["series"])
        assert run["compactions"] == sum(bool(point["action"]) for point in run["series"]) > 0


def test_a_value_of_the_profile_changes_the_replay(
    capsys: pytest.CaptureFixture[str], session: Path
) -> None:
    stages = '[{"strategy": "keep_recent", "at": 0.9, "keep": 4}]'
    _, facts = told(
        capsys, "simulate", session, "--preset", "balanced", "--budget", "20000", "--unit",
        "bytes", "--set", f"stages={stages}", "--set", "summary.words=50",
    )  # fmt: skip
    actions = {point["action"] for point in facts["runs"][0]["series"]}
    assert actions == {None, "keep_recent"}


def test_diff_tells_the_fate_of_each_message(
    capsys: pytest.CaptureFixture[str], session: Path, tmp_path: Path
) -> None:
    out = tmp_path / "after.json"
    _, done = told(capsys, "compact", session, *SMALL, "--out", out)
    code, facts = told(capsys, "diff", session, out)
    assert code == 0 and list(facts) == ["rows", "before", "after"]
    fates = [row.get("fate") for row in facts["rows"] if row.get("fate") not in (None, "kept")]
    assert fates == [row["fate"] for row in done["fates"]]
    sizes = [row["bytes_after"] for row in facts["rows"] if row["bytes_after"] is not None]
    assert sum(sizes) == facts["after"]["bytes"] == done["after"]["size"]


def test_diff_knows_notes_by_their_headers(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    values: list[Value] = [*english().first, *work(0, 30), answer()]
    before, after = write(tmp_path / "before.json", values), tmp_path / "after.json"
    arguments = ("compact", before, "--preset", "nanohermes", "--force", "--out", after)
    _, done = told(capsys, *arguments)
    _, facts = told(capsys, "diff", before, after)
    gone = {row["fate"] for row in facts["rows"] if row["index_after"] is None}
    assert gone == {row["fate"] for row in done["fates"]} == {"dropped"}
    added = [row["origin"] for row in facts["rows"] if row["index_before"] is None]
    assert added == [row["origin"] for row in done["added"]] == ["note"]


@pytest.mark.parametrize("command", ["compact", "simulate"])
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--preset", "largest"), "'largest'"),
        (("--preset", "balanced", "--unit", "furlongs"), "'furlongs'"),
        (("--preset", "balanced", "--unit", "bytes"), "give --budget too"),
        (("--preset", "balanced", "--budget", "0"), "whole number from 1, not 0"),
        (("--preset", "balanced", "--budget", "many"), "'many'"),
        (("--preset", "balanced", "--set", "target"), "KEY=VALUE"),
        (("--preset", "balanced", "--set", "target=2"), "target"),
        (("--preset", "balanced", "--set", "colour=red"), "unknown value colour"),
        (("--preset", "balanced", "--set", "limits.colour=1"), "limits.colour"),
        (("--preset", "balanced", "--set", "colour.red=1"), "no group 'colour'"),
        (("--preset", "balanced", "--set", "stages=7"), "stages is a list"),
        (("--preset", "balanced", "--set", 'stages=[{"strategy": "magic"}]'), "'magic'"),
        ((), "--preset"),
    ],
)
def test_bad_options_are_told_with_code_2(
    capsys: pytest.CaptureFixture[str],
    session: Path,
    command: str,
    options: tuple[str, ...],
    reason: str,
) -> None:
    assert reason in refused(capsys, command, session, *options)


@pytest.mark.parametrize("index", ["-1", "83", "x"])
def test_a_pin_that_is_no_index_is_refused_and_nothing_is_written(
    capsys: pytest.CaptureFixture[str], session: Path, tmp_path: Path, index: str
) -> None:
    out = tmp_path / "after.json"
    assert index in refused(capsys, "compact", session, *SMALL, "--out", out, "--pin", index)
    assert not out.exists()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "empty"),
        ("{}", "no reader knows"),
        ('[{"role": "user", "content": "go"}, {"role": "king", "content": "x"}]', "'king'"),
        ('[{"role": "user", "content": "go"}, 7]', "int instead of a message"),
    ],
)
def test_a_file_that_is_no_list_is_refused_and_nothing_is_written(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: str, reason: str
) -> None:
    path, out = tmp_path / "list.json", tmp_path / "after.json"
    path.write_text(content)
    err = refused(capsys, "compact", path, *SMALL, "--out", out)
    assert reason in err and str(path) in err and not out.exists()


@pytest.mark.parametrize("arguments", [["lint"], ["compact", *SMALL], ["simulate", *SMALL]])
def test_a_missing_file_is_told_with_code_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str]
) -> None:
    assert "No such file" in refused(capsys, arguments[0], tmp_path / "none", *arguments[1:])


def test_a_missing_side_of_a_diff_is_named(
    capsys: pytest.CaptureFixture[str], session: Path, tmp_path: Path
) -> None:
    assert "none" in refused(capsys, "diff", session, tmp_path / "none")


def test_a_place_that_cannot_be_written_is_told_with_code_2(
    capsys: pytest.CaptureFixture[str], session: Path, tmp_path: Path
) -> None:
    out = tmp_path / "no folder" / "after.json"
    assert "cannot be written" in refused(capsys, "compact", session, *SMALL, "--out", out)


def test_tables_are_for_people(capsys: pytest.CaptureFixture[str], session: Path) -> None:
    main(["compact", str(session), *SMALL])
    assert "checks" in (out := capsys.readouterr().out) and "history_legal" in out
    main(["simulate", str(session), *SMALL])
    assert "after turn" in (out := capsys.readouterr().out) and "balanced" in out
    main(["diff", str(session), str(session)])
    assert "83 kept" in capsys.readouterr().out


def test_control_characters_of_a_list_stay_out_of_the_tables(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    values = [user("never \x1b[31m delete the table"), *group(1, ["x\x1b[2J" * 300] * 3)]
    path = write(tmp_path / "list.json", [*values, *exchange(20)[2:], answer()])
    for arguments in (["lint", path], ["compact", path, *SMALL, "--force"]):
        main([str(one) for one in arguments])
        out, err = capsys.readouterr()
        assert "\x1b" not in out + err
