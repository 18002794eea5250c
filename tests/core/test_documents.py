from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentcore import documents
from agentcore.documents import guidance, joined, project_context
from agentcore.limits import Limits
from agentcore.options import KeepDocs

LIMITS = Limits()


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "root" / "team" / "project"
    folder.mkdir(parents=True)
    return folder


def chain(workspace: Path, root: Path, **known: object) -> list[str]:
    names = known.pop("names", ["AGENTS.md"])
    return guidance(workspace, [root], names, limits=LIMITS, **known)  # type: ignore[arg-type]


def test_the_chain_goes_from_the_user_over_the_root_down_to_the_workspace(
    tmp_path: Path, workspace: Path
) -> None:
    home = tmp_path / "home.md"
    home.write_text("user")
    (tmp_path / "AGENTS.md").write_text("above the root")
    (tmp_path / "root" / "AGENTS.md").write_text("root\n")
    (workspace.parent / "AGENTS.md").write_text("  \n")
    (workspace / "AGENTS.md").write_text("\ufeffproject")
    found = chain(workspace, tmp_path / "root", user_wide=home)
    assert found == ["user", "root", "project"]
    assert chain(workspace, tmp_path / "root") == ["root", "project"]


def test_of_several_allowed_roots_the_highest_begins_the_chain(
    tmp_path: Path, workspace: Path
) -> None:
    (tmp_path / "root" / "AGENTS.md").write_text("root")
    (workspace / "AGENTS.md").write_text("project")
    roots = [workspace.parent, tmp_path / "root", tmp_path / "other"]
    assert guidance(workspace, roots, ["AGENTS.md"], limits=LIMITS) == ["root", "project"]


def test_a_workspace_in_no_root_is_read_alone(tmp_path: Path, workspace: Path) -> None:
    (workspace.parent / "AGENTS.md").write_text("team")
    (workspace / "AGENTS.md").write_text("project")
    assert chain(workspace, tmp_path / "elsewhere") == []
    assert chain(workspace, workspace) == ["project"]


def test_each_folder_gives_its_names_in_their_order(workspace: Path) -> None:
    (workspace / "AGENTS.md").write_text("agents")
    (workspace / "RULES.md").write_text("rules")
    found = chain(workspace, workspace, names=["RULES.md", "AGENTS.md"])
    assert found == ["rules", "agents"]


def test_one_file_through_two_paths_is_read_once(tmp_path: Path, workspace: Path) -> None:
    (workspace / "AGENTS.md").write_text("same")
    (tmp_path / "root" / "AGENTS.md").symlink_to(workspace / "AGENTS.md")
    (workspace / "RULES.md").symlink_to("AGENTS.md")
    root = tmp_path / "root"
    assert chain(workspace, root, names=["AGENTS.md", "RULES.md"]) == ["same"]


def test_without_a_real_path_the_path_itself_tells_files_apart(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.path.realpath

    def fails(path: str, *, strict: bool = False) -> str:
        if strict:
            raise OSError("no real path")
        return str(real(path))

    monkeypatch.setattr(documents.os.path, "realpath", fails)
    (workspace / "AGENTS.md").write_text("read all the same")
    assert chain(workspace, workspace) == ["read all the same"]


def test_links_out_of_the_roots_are_not_read(tmp_path: Path, workspace: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("key")
    (workspace / "AGENTS.md").symlink_to(secret)
    (workspace / "NANOHERMES.md").symlink_to(secret)
    assert chain(workspace, tmp_path / "root") == []
    assert project_context(workspace, LIMITS) == ""


@pytest.mark.parametrize("inside", [".data", ".data/logs"])
def test_nothing_of_a_closed_folder_is_read(workspace: Path, inside: str) -> None:
    closed, folder = workspace / ".data", workspace / inside
    folder.mkdir(parents=True)
    (folder / "key").write_text("key")
    (folder / "AGENTS.md").write_text("rules of nobody")
    (workspace / "AGENTS.md").symlink_to(f"{inside}/key")
    (workspace / "NANOHERMES.md").symlink_to(f"{inside}/key")
    assert chain(workspace, workspace) == ["key"]
    assert chain(workspace, workspace, closed=closed) == []
    assert project_context(workspace, LIMITS, closed=closed) == ""
    assert chain(folder, workspace, closed=closed) == []


def test_a_workspace_below_a_closed_folder_keeps_its_own_rules(workspace: Path) -> None:
    mine = workspace / ".data" / "workspaces" / "mine"
    mine.mkdir(parents=True)
    (mine / "AGENTS.md").write_text("mine")
    (workspace / "AGENTS.md").write_text("above")
    roots = [mine.parent, workspace]
    found = guidance(mine, roots, ["AGENTS.md"], limits=LIMITS, closed=workspace / ".data")
    assert found == ["above", "mine"]


def test_what_is_no_readable_text_is_left_out(workspace: Path) -> None:
    os.mkfifo(workspace / "AGENTS.md")
    (workspace / "A.md").mkdir()
    (workspace / "B.md").write_bytes(b"\0\1")
    (workspace / "C.md").symlink_to("C.md")
    (workspace / "D.md").write_bytes(b"caf\xe9")
    names = ["AGENTS.md", "A.md", "B.md", "C.md", "D.md", "E.md"]
    assert chain(workspace, workspace, names=names) == ["caf\ufffd"]


@pytest.mark.parametrize("text", ["a" * 20_000, "字" * 6_666, "", "short"])
def test_up_to_its_limit_the_chain_is_whole(text: str) -> None:
    assert joined([text], LIMITS, KeepDocs.SPECIFIC) == text


@pytest.mark.parametrize(
    ("text", "keep", "kept"),
    [
        ("a" * 30_000, KeepDocs.GENERAL, 20_000),
        ("字" * 10_000, KeepDocs.GENERAL, 19_998),
        ("字" * 10_000, KeepDocs.SPECIFIC, 19_998),
        ("a" + "😀" * 6_000, KeepDocs.GENERAL, 19_997),
        ("😀" * 6_000 + "a", KeepDocs.SPECIFIC, 19_997),
        ("e\u0301" * 9_000, KeepDocs.GENERAL, 19_999),
        ("e\u0301" * 9_000, KeepDocs.SPECIFIC, 20_000),
    ],
    ids=range(7),
)
def test_over_its_limit_the_chain_is_cut_at_a_character(
    text: str, keep: KeepDocs, kept: int
) -> None:
    whole = text
    text = joined([whole], LIMITS, keep)
    size = len(whole.encode())
    notice = f"… project guidance truncated ({size - kept} bytes omitted)"
    if keep is KeepDocs.GENERAL:
        body, _, found = text.rpartition("\n")
        assert whole.startswith(body)
    else:
        found, _, body = text.partition("\n")
        assert whole.endswith(body)
    assert (found, len(body.encode())) == (notice, kept)


def test_the_switch_says_which_rules_are_sacrificed() -> None:
    texts = ["general rule", "x" * 20_000, "specific rule"]
    assert "specific rule" not in joined(texts, LIMITS, KeepDocs.GENERAL)
    assert "general rule" not in joined(texts, LIMITS, KeepDocs.SPECIFIC)
    assert joined(texts, LIMITS, KeepDocs.SPECIFIC).endswith("\n\nspecific rule")


def test_no_limit_means_the_whole_chain() -> None:
    unlimited = Limits(project_docs_bytes=0)
    assert joined(["a" * 90_000], unlimited, KeepDocs.SPECIFIC) == "a" * 90_000


def test_the_project_context_is_never_cut_below_the_limit_for_files(workspace: Path) -> None:
    path = workspace / "NANOHERMES.md"
    assert project_context(workspace, LIMITS) == ""
    path.write_text("字" * 30_000)
    assert project_context(workspace, LIMITS) == "字" * 30_000
    path.write_text("a" * 1_000)
    told = project_context(workspace, Limits(file_bytes=400))
    assert told == "a" * 400 + "\n… 600 more bytes not read"
    for most in (10**15, 0):
        assert project_context(workspace, Limits(file_bytes=most)) == "a" * 1_000
