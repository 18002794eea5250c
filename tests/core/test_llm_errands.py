from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from servers import said, serving
from tours import Session, project, written

from agentcore.messages import ToolStatus, born
from agentcore.skills import skills_in
from agentcore.tools import Lent, Mode, Web, toolbox
from agentcore.tools.base import Toolbox
from agentcore.tools.fetcher import Fetcher
from agentcore.tools.recall import Found

SKILL = "---\nname: tidy\ndescription: How to tidy up\n---\nTidy the shelves.\n"
FOUND = json.dumps({"results": [{"title": "Shelves", "url": "https://x/", "content": "of wood"}]})


class Shelf:
    """An archive that holds one message."""

    async def search(self, query: str, limit: int) -> Sequence[Found]:
        return [Found(1, 0, "user", f"it asked for {query}")]


def names(session: Session) -> list[str]:
    return [name for name, _ in session.calls]


def offered(box: Toolbox) -> set[str]:
    return {str(schema["function"]["name"]) for schema in box.schemas}


async def test_one_tour_uses_all_tools(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    workspace = written(root, project() | {".hermes/skills/tidy/SKILL.md": SKILL})
    skills = skills_in(workspace)
    async with serving(said(FOUND, "Content-Type: application/json")) as server:
        place = f"http://127.0.0.1:{server.port}"
        fetcher = Fetcher(trusted=frozenset([("127.0.0.1", server.port)]))
        box = toolbox(workspace, Mode.GOAL, Lent(Shelf(), skills, Web(fetcher, place)))
        session = Session(
            box, f"Where is Part7Shelf? Search the web, read {place}/a, write it to notes/shelf.md."
        )
        session.messages[0] = born({"role": "system", "content": f"careful\n\n{skills.listing}"})
        report = await session.run()
        await box.close()
    assert set(names(session)) == offered(box)
    assert {"web_fetch", "web_search", "write_file", "edit_file"} < offered(box)
    failed = [one.text for one in session.messages if one.status is ToolStatus.FAILED]
    assert [text for text in failed if "git --no-optional-locks" not in text] == []
    assert len(server.requests) == 2
    text = (root / "notes" / "shelf.md").read_text()
    assert text.startswith("# What the results show:\n- Files: 12")
    assert "`Part7Shelf`: 1 hits" in text and "`Part7Shelf`: 1 hits" in report


@pytest.mark.parametrize(
    "instruction", ["Explore this project", "What does https mean here?", "Read notes.md to me"]
)
async def test_nothing_is_fetched_or_written_that_nobody_asked_for(
    instruction: str, tmp_path: Path
) -> None:
    box = toolbox(written(tmp_path.resolve(), project(12)), Mode.GOAL, Lent(web=Web()))
    session = Session(box, instruction)
    await session.run()
    await box.close()
    assert not {"web_fetch", "web_search", "write_file", "edit_file"} & set(names(session))


@pytest.mark.parametrize("asked", ["Write what you see to README.md", "把看到的写入 README.md"])
async def test_a_file_that_lies_there_is_not_written_over(asked: str, tmp_path: Path) -> None:
    root = tmp_path.resolve()
    box = toolbox(written(root, project(12)), Mode.GOAL)
    session = Session(box, asked)
    await session.run()
    await box.close()
    assert (root / "README.md").read_text() == project()["README.md"]
    assert "write_file" not in names(session)


@pytest.mark.parametrize("keep", [0, 1])
async def test_an_errand_is_tried_once_though_it_fails_or_is_forgotten(
    keep: int, tmp_path: Path
) -> None:
    box = toolbox(written(tmp_path.resolve(), project(12)), Mode.GOAL, Lent(web=Web()))
    session = Session(box, "Read http://127.0.0.1:1/a and write it to notes.md")
    assert await session.run(keep=keep)
    await box.close()
    wanted = ["web_fetch"] if keep else ["web_fetch", "write_file", "edit_file"]
    assert names(session)[-len(wanted) :] == wanted
    assert names(session).count("web_fetch") == 1
