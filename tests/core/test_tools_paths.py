from __future__ import annotations

import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentcore.errors import ToolError
from agentcore.tools.base import Workspace
from agentcore.tools.paths import MAX_LINKS, file_size, located, opened

SECRET = b"the neighbour's key"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with a neighbour that no path may reach."""
    root, victim = tmp_path.resolve() / "agent", tmp_path.resolve() / "agent-victim"
    for folder in (root / "sub" / "deep", victim):
        folder.mkdir(parents=True)
    (victim / "key").write_bytes(SECRET)
    (root / "ok.txt").write_bytes(b"ok")
    (root / "sub" / "deep" / "leaf").write_bytes(b"leaf")
    return root


def content(root: Path, path: str) -> bytes:
    with opened(Workspace(root), path) as descriptor:
        return os.read(descriptor, 100)


def refusal(root: Path, path: str) -> str:
    with pytest.raises(ToolError) as caught:
        content(root, path)
    return str(caught.value)


@pytest.mark.parametrize("path", ["ok.txt", "./ok.txt", "sub/../ok.txt", "sub//deep/../../ok.txt"])
def test_what_lies_inside_is_opened(root: Path, path: str) -> None:
    assert content(root, path) == b"ok"


@pytest.mark.parametrize(
    "path", ["../agent-victim/key", "sub/../../agent-victim/key", "..", "sub/../..", "none/../../x"]
)
def test_a_path_that_leaves_is_refused_by_the_rule(root: Path, path: str) -> None:
    assert refusal(root, path) == (
        f"{path}: leads out of the workspace; only what lies inside can be used"
    )


@pytest.mark.parametrize("path", [os.__file__, f"/proc/self/root{os.__file__}", "~/x", "", "a\0b"])
def test_absolute_home_empty_and_nul_paths_are_refused(root: Path, path: str) -> None:
    assert "workspace" in refusal(root, path)


def test_a_path_that_has_no_file_system_form_is_refused(root: Path) -> None:
    assert "cannot be the name" in refusal(root, "a\ud800")


@pytest.mark.parametrize("path", ["%2e%2e/agent-victim/key", "．．/agent-victim/key", "․․/key"])
def test_look_alikes_of_the_parent_are_ordinary_names(root: Path, path: str) -> None:
    assert refusal(root, path).endswith("no such file or directory")


def test_a_sibling_with_the_same_beginning_is_outside(root: Path) -> None:
    (root / "link").symlink_to(f"{root}-victim/key")
    assert "leads out" in refusal(root, "link")


@pytest.mark.parametrize("target", ["../agent-victim", "sub/../../agent-victim", "/etc", "/"])
def test_a_link_that_leaves_is_refused_whether_its_target_exists_or_not(
    root: Path, target: str
) -> None:
    (root / "link").symlink_to(target)
    texts = [refusal(root, f"link/{name}") for name in ("key", "hosts", "absent")]
    assert all("leads out of the workspace" in text for text in texts)


@pytest.mark.parametrize("target", ["sub/deep", "./sub/../sub/deep", "{root}/sub/deep", "other"])
def test_a_link_that_stays_inside_is_followed(root: Path, target: str) -> None:
    (root / "other").symlink_to("sub/deep")
    (root / "link").symlink_to(target.format(root=root))
    assert content(root, "link/leaf") == b"leaf"


def test_a_parent_step_after_a_link_counts_from_its_target(root: Path) -> None:
    (root / "link").symlink_to("sub/deep")
    (root / "sub" / "twig").write_bytes(b"twig")
    assert content(root, "link/../twig") == b"twig"


def test_links_in_a_circle_end_in_a_refusal(root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    assert f"more than {MAX_LINKS} symbolic links" in refusal(root, "a")


def test_no_wait_and_no_content_for_what_is_no_ordinary_file(root: Path) -> None:
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root / "socket"))
        assert "socket" in refusal(root, "socket")
    for name, kind in (("fifo", "a FIFO"), ("sub", "a folder")):
        with pytest.raises(ToolError, match=kind), opened(Workspace(root), name) as descriptor:
            file_size(name, descriptor)


def test_folders_on_the_way_are_made_only_when_asked(root: Path) -> None:
    with (
        pytest.raises(ToolError, match="no such file"),
        located(Workspace(root), "new/folder/file"),
    ):
        pass
    with located(Workspace(root), "new/folder/file", create=True) as (folder, name):
        assert name == "file"
        assert os.path.samestat(os.fstat(folder), os.stat(root / "new" / "folder"))


def test_no_descriptor_stays_open(root: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    (root / "link").symlink_to("../agent-victim")
    for path in ("sub/deep/leaf", "link/key", "sub/deep/leaf/x", "sub/absent"):
        with suppress(ToolError):
            content(root, path)
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("back", [None, 1, 2, 3])
@pytest.mark.parametrize("at", range(9))
def test_a_link_that_is_swapped_in_meanwhile_leads_nowhere(
    root: Path, monkeypatch: pytest.MonkeyPatch, at: int, back: int | None
) -> None:
    """Before each step of the walk a folder is swapped for a link to the neighbour, for good or
    until some steps later."""
    swapped, real = root / "swapped", root / "real"
    swapped.mkdir()
    (swapped / "key").write_bytes(b"own")
    step = 0

    def swapping(call: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*arguments: Any, **known: Any) -> Any:
            nonlocal step
            if step == at:
                swapped.rename(real)
                swapped.symlink_to(f"{root}-victim")
            elif back and step == at + back:
                swapped.unlink()
                real.rename(swapped)
            step += 1
            return call(*arguments, **known)

        return stepped

    for name in ("open", "readlink", "read"):
        monkeypatch.setattr(os, name, swapping(getattr(os, name)))
    try:
        found = content(root, "swapped/key")
    except ToolError as error:
        found = str(error).encode()
    assert found == b"own" or found.startswith(b"swapped/key: "), found
    # There are more points to swap at than steps, so that all of these were met.
    assert step < 9


names = st.sampled_from(["..", ".", "", "sub", "deep", "out", "in", "loop", "ok.txt", "key"])


@given(path=st.lists(names, min_size=1, max_size=9).map("/".join))
def test_no_walk_whatever_reaches_the_neighbour(
    path: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = tmp_path_factory.getbasetemp().resolve() / "walks"
    root = base / "agent"
    if not root.exists():
        (root / "sub" / "deep").mkdir(parents=True)
        (base / "key").write_bytes(SECRET)
        (root / "sub" / "key").write_bytes(b"own")
        (root / "out").symlink_to("..")
        (root / "sub" / "out").symlink_to(base)
        (root / "sub" / "in").symlink_to("../sub")
        (root / "sub" / "loop").symlink_to("loop/..")
    with suppress(ToolError, IsADirectoryError):
        assert content(root, path) != SECRET
