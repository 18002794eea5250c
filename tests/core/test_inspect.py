from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from recorded import as_line, boundary, replied, said, text

from agentcore.__main__ import main

KEYS = {
    "": "format messages size breakdown largest archive turns peak window compactions ledger"
    " problems",
    "size": "bytes chars tokens tokens_are",
    "largest": "number index bytes",
    "archive": "messages bytes",
    "peak": "turn bytes tokens",
    "window": "tokens from",
    "compactions": "turn trigger before after",
    "ledger": "turn messages bytes action after",
    "problems": "line kind detail",
}


def write(path: Path, *records: dict[str, Any] | bytes) -> Path:
    path.write_bytes(b"".join(map(as_line, records)))
    return path


def told(capsys: pytest.CaptureFixture[str], path: Path, *options: str) -> tuple[int, Any]:
    code = main(["inspect", str(path), "--json", *options])
    return code, json.loads(capsys.readouterr().out)


@pytest.fixture
def compacted(tmp_path: Path) -> Path:
    """Two turns, a compaction, a third turn and a torn tail."""
    return write(
        tmp_path / "session.jsonl",
        said("u1", None, "go"),
        replied("a1", "u1", "m1", text("one")),
        said("u2", "a1", "on"),
        replied("a2", "u2", "m2", text("two"), usage={"input_tokens": 800}),
        boundary("b1"),
        said("s1", "b1", "all of it", isCompactSummary=True),
        replied("a3", "s1", "m3", text("three"), usage={"input_tokens": 50}),
        b'{"type":"us',
    )


def test_the_json_has_exactly_the_promised_keys(
    capsys: pytest.CaptureFixture[str], compacted: Path
) -> None:
    _, facts = told(capsys, compacted)
    assert list(facts) == KEYS.pop("").split()
    for name, keys in KEYS.items():
        rows = facts[name] if isinstance(facts[name], list) else [facts[name]]
        assert rows and all(list(row) == keys.split() for row in rows), name


def test_sizes_are_of_the_context_and_the_archive_holds_all(
    capsys: pytest.CaptureFixture[str], compacted: Path
) -> None:
    code, facts = told(capsys, compacted)
    assert code == 1 and facts["format"] == "claude-code"
    assert (facts["messages"], facts["archive"]["messages"], facts["turns"]) == (2, 6, 3)
    assert sum(facts["breakdown"].values()) == facts["size"]["bytes"]
    assert facts["size"]["tokens"] == 50 and facts["size"]["tokens_are"] == "provider"
    assert facts["window"] == {"tokens": 200_000, "from": "model_table"}
    assert facts["largest"][0] == {"number": 6, "index": 1, "bytes": 38}
    assert facts["problems"] == [
        {"line": 8, "kind": "torn_tail", "detail": facts["problems"][0]["detail"]}
    ]


def test_the_ledger_tells_size_before_and_after_a_compaction(
    capsys: pytest.CaptureFixture[str], compacted: Path
) -> None:
    _, facts = told(capsys, compacted)
    (compaction,) = facts["compactions"]
    first, second, third = facts["ledger"]
    assert [row["messages"] for row in facts["ledger"]] == [2, 4, 5]
    assert (first["action"], first["after"]) == (None, None)
    assert (second["action"], second["after"]) == ("recorded", compaction["after"])
    assert second["bytes"] == compaction["before"] > compaction["after"]
    assert third["bytes"] == facts["size"]["bytes"] and compaction["turn"] == 2
    assert facts["peak"] == {"turn": 2, "bytes": second["bytes"], "tokens": 800}


def test_tokens_are_an_estimate_where_the_list_changed_since_the_last_reply(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = write(
        tmp_path / "session.jsonl",
        said("u1", None, "go"),
        replied("a1", "u1", "m1", text("one"), usage={"input_tokens": 90_000}),
        boundary("b1"),
        said("s1", "b1", "all of it", isCompactSummary=True),
    )
    _, facts = told(capsys, path)
    assert facts["size"]["tokens"] < 100 and facts["size"]["tokens_are"] == "estimate"
    assert facts["peak"]["tokens"] == 90_000


def test_schemas_stand_beside_the_size(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "grep", "parameters": {}}}
    body = {"model": "mystery", "messages": [{"role": "user", "content": "go"}], "tools": [tool]}
    code, facts = told(capsys, write(tmp_path / "body.json", body))
    assert code == 0
    schemas = len(json.dumps([tool], separators=(",", ":")))
    assert facts["breakdown"] == {"tool_schemas": schemas, "user": facts["size"]["bytes"]}
    assert facts["window"] == {"tokens": 128_000, "from": "assumed"}
    assert facts["peak"] == {"turn": None, "bytes": 30, "tokens": facts["size"]["tokens"]}


def test_exact_counts_use_the_tokenizer_of_the_model(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "hello world"}]}
    path = write(tmp_path / "body.json", body)
    _, facts = told(capsys, path, "--exact")
    assert facts["size"]["tokens_are"] == "exact"
    quicktok = pytest.importorskip("quicktok")
    wire = '{"role":"user","content":"hello world"}'
    assert facts["size"]["tokens"] == quicktok.get_encoding("o200k_base").count(wire)


def test_exact_counts_leave_pictures_out(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 100_000}}
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": [image]}]}
    _, facts = told(capsys, write(tmp_path / "body.json", body), "--exact")
    assert 1_500 < facts["size"]["tokens"] < 1_600


def test_exact_counts_are_refused_where_no_tokenizer_fits(
    capsys: pytest.CaptureFixture[str],
    compacted: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert main(["inspect", str(compacted), "--exact"]) == 2
    assert "no exact tokenizer for the model 'claude-opus-4'" in capsys.readouterr().err
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "go"}]}
    monkeypatch.setitem(sys.modules, "quicktok", None)
    assert main(["inspect", str(write(tmp_path / "body.json", body)), "--exact"]) == 2
    assert "quicktok-v1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "empty"), (b"\0\x01\xff\xfe", "not UTF-8"), (b'{"messages": [', "neither JSON")],
)
def test_bad_input_is_told_on_stderr_with_code_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "bad"
    path.write_bytes(content)
    assert main(["inspect", str(path), "--json"]) == 2
    out, err = capsys.readouterr()
    assert not out and reason in err and str(path) in err


def test_a_path_that_cannot_be_read_is_told_with_code_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["inspect", str(tmp_path / "none")]) == 2
    assert "No such file" in capsys.readouterr().err
    assert main(["inspect", str(tmp_path)]) == 2
    assert "Is a directory" in capsys.readouterr().err


def test_an_unknown_format_is_told_with_code_2(
    capsys: pytest.CaptureFixture[str], compacted: Path
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["inspect", str(compacted), "--format", "codex"])
    assert stopped.value.code == 2
    assert "codex" in capsys.readouterr().err


def test_the_table_shows_no_control_characters_of_a_recording(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = write(tmp_path / "session.jsonl", said("u1", None, "\x1b[31mred"), b"{")
    assert main(["inspect", str(path)]) == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out and "\ufffd[31mred" in out
    assert "line 2: torn_tail" in out


def test_a_file_of_several_conversations_says_which_one_is_shown(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "runs.json"
    path.write_text(json.dumps([{"traj": [{"role": "user", "content": "go"}]}] * 2))
    assert main(["inspect", str(path), "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["messages"] == 1 and "the first of 2 conversations" in err


def test_the_command_line_runs_as_a_module(compacted: Path) -> None:
    command = [sys.executable, "-m", "agentcore", "inspect", str(compacted)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "after turn 2" in done.stdout


@pytest.mark.parametrize("folder", ["claude-code", "openai-chat"])
def test_breakdowns_of_real_files_sum_to_the_size(
    capsys: pytest.CaptureFixture[str], shared: Path, folder: str
) -> None:
    for path in sorted((shared / "transcripts" / folder).iterdir()):
        _, facts = told(capsys, path)
        schemas = facts["breakdown"].pop("tool_schemas", 0)
        assert sum(facts["breakdown"].values()) == facts["size"]["bytes"], path.name
        assert schemas or folder == "claude-code" or "tau" in path.name
        assert facts["size"]["tokens"] < facts["window"]["tokens"]
