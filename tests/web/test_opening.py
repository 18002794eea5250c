from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import a_lease, a_session, a_user, added, said
from channels.db import database_sync_to_async
from working import asked, calls, in_a_thread, kinds, says, texts

from agentcore.breakdown import Category
from agentcore.errors import ModelError
from agentcore.llm.scripted import ScriptedModel
from agentcore.prompt import sections_of
from agentcore.sections import HEADINGS, Part
from hermesweb import acts, lives, runner
from hermesweb.models import AgentSession, MemoryEntry, Profile
from hermesweb.recorder import record

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]

Script = Callable[..., ScriptedModel]


@pytest.fixture(autouse=True)
def allowed(tmp_path: Path, settings: Any) -> None:
    settings.ALLOWED_ROOTS = [tmp_path]


@database_sync_to_async
def remembered(session: AgentSession, *found: str, **known: Any) -> list[MemoryEntry]:
    return [
        MemoryEntry.objects.create(
            **{
                "owner": session.owner,
                "workspace": session.workspace,
                "kind": "fact",
                "text": text,
                "edited": True,
                **known,
            }
        )
        for text in found
    ]


@database_sync_to_async
def tuned(**documents: Any) -> None:
    values = Profile.objects.get(name="small").current.value.values()
    values["documents"] |= documents
    acts.save_profile(None, "small", values, accept_warnings=True)


@database_sync_to_async
def events(session: AgentSession, kind: str) -> list[dict[str, Any]]:
    return list(session.events.filter(kind=kind).order_by("seq").values_list("data", flat=True))


@database_sync_to_async
def say(session: AgentSession, text: str) -> None:
    acts.send(session.owner, session, text)


async def test_the_system_message_holds_what_the_files_and_the_profile_say(
    tmp_path: Path, script: Script
) -> None:
    (tmp_path / "AGENTS.md").write_text("use tabs")
    (tmp_path / "NANOHERMES.md").write_text("a parser")
    skill = tmp_path / ".hermes" / "skills" / "release"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: release\ndescription: cut it\n---\nLong.")
    model = script(says("done"))
    _, session = await asked(tmp_path, "go")
    await tuned(persona="Be kind.")
    await runner.run(session.pk)
    sections = sections_of(model.requests[0].messages[0].text)
    assert [section.part for section in sections] == list(Part)[:-1]
    told = {section.part: section.text for section in sections}
    assert told[Part.PERSONA].endswith("\nBe kind.")
    assert told[Part.PROJECT_DOCS].endswith("\nuse tabs")
    assert told[Part.PROJECT_CONTEXT].endswith("\na parser")
    assert told[Part.SKILLS].endswith("- release: cut it")
    first = await session.messages.aget(number=1)
    assert {"system_prompt", "project_docs", "project_context", "skills"} == set(first.categories)


async def test_no_file_of_the_data_folder_comes_into_the_system_message(
    tmp_path: Path, script: Script, settings: Any
) -> None:
    settings.DATA_DIR = tmp_path / ".data"
    settings.DATA_DIR.mkdir()
    (settings.DATA_DIR / "SKILL.md").write_text("---\nname: inside\n---\nkey")
    (tmp_path / ".hermes" / "skills").mkdir(parents=True)
    for link in ("AGENTS.md", "NANOHERMES.md"):
        (tmp_path / link).symlink_to(".data/SKILL.md")
    (tmp_path / ".hermes" / "skills" / "one").symlink_to("../../.data")
    model = script(says("done"))
    _, session = await asked(tmp_path, "go")
    await runner.run(session.pk)
    told = sections_of(model.requests[0].messages[0].text)
    assert [section.part for section in told] == [Part.BUILT_IN, Part.MODE]


async def test_what_was_recalled_stands_in_the_request_and_is_told_with_its_score(
    tmp_path: Path, script: Script
) -> None:
    model = script(says("5433"))
    _, session = await asked(tmp_path, "which port has the database?")
    port, _ = await remembered(session, "数据库 port is 5433", "nothing alike")
    await runner.run(session.pk)
    system = model.requests[0].messages[0]
    assert "- [fact] 数据库 port is 5433" in system.text and "nothing alike" not in system.text
    assert system.sizes.breakdown[Category.MEMORY] > 0
    (told,) = await events(session, "memory_injected")
    assert (told["run"], told["revision"]) == (1, None)
    ((entry),) = told["entries"]
    assert entry["id"] == port.pk and entry["score"] > 0
    await port.arefresh_from_db()
    assert port.uses == 1
    assert "memory" in (await AgentSession.objects.aget(pk=session.pk)).breakdown


async def test_the_block_is_replaced_each_run_and_gone_when_nothing_is_recalled(
    tmp_path: Path, script: Script
) -> None:
    model = script(says("a"), says("b"), says("c"))
    _, session = await asked(tmp_path, "the port")
    await remembered(session, "the port is 5433", "gauge is round")
    await runner.run(session.pk)
    await say(session, "gauge")
    await runner.run(session.pk)
    await say(session, "unrelated")
    await runner.run(session.pk)
    system = [request.messages[0].text for request in model.requests]
    assert [text.count(HEADINGS[Part.MEMORY]) for text in system] == [1, 1, 0]
    assert "5433" in system[0] and "5433" not in system[1] and "round" in system[1]
    told = await events(session, "memory_injected")
    assert [(one["run"], one["revision"], len(one["entries"])) for one in told] == [
        (1, None, 1),
        (2, 1, 1),
        (3, 2, 0),
    ]
    causes = [one.cause async for one in session.revisions.order_by("number")]
    assert causes == ["memory_injected"] * 2
    assert (await texts(session))[1:] == ["the port", "a", "gauge", "b", "unrelated", "c"]


async def test_nothing_of_the_system_message_changes_in_the_middle_of_a_run(
    tmp_path: Path, script: Script
) -> None:
    docs = tmp_path / "AGENTS.md"
    docs.write_text("old rule")

    def reads(messages: Any) -> dict[str, Any]:
        docs.write_text("new rule")
        in_a_thread(lambda: acts.send(session.owner, session, "the port too"))
        return calls("glob", '{"pattern": "*"}', "c1")

    model = script(reads, says("done"), says("again"))
    _, session = await asked(tmp_path, "the port")
    await remembered(session, "the port is 5433")
    await runner.run(session.pk)
    wires = [request.messages[0].wire for request in model.requests]
    assert wires[0] == wires[1] and "old rule" in wires[0]
    await say(session, "go on")
    await runner.run(session.pk)
    assert "new rule" in model.requests[2].messages[0].text
    assert (await events(session, "system_rebuilt"))[0]["revision"] == 1


async def test_the_first_turn_of_a_run_says_what_it_keeps_of_the_request_before(
    tmp_path: Path, script: Script
) -> None:
    model = script(says("a"), says("b"), says("c"), says("d"))
    _, session = await asked(tmp_path, "hello there")
    await remembered(session, "the port is 5433")
    await runner.run(session.pk)
    for text in ("and now", "the port"):
        await say(session, text)
        await runner.run(session.pk)
    (tmp_path / "AGENTS.md").write_text("new rule")
    await say(session, "the port again")
    await runner.run(session.pk)
    turns = [turn async for turn in session.stored_turns.order_by("number")]
    assert [turn.break_reason for turn in turns] == ["", "", "memory", "prompt"]
    schemas = turns[0].breakdown["tool_schemas"]
    sent = [sum(one.sizes.bytes for one in request.messages) for request in model.requests]
    assert [turn.stable_prefix for turn in turns][:2] == [0, schemas + sent[0]]
    for turn, request in zip(turns[2:], model.requests[2:], strict=True):
        assert schemas < turn.stable_prefix < schemas + request.messages[0].sizes.bytes


async def test_a_new_topic_begins_with_the_rules_of_now_and_without_memory(
    tmp_path: Path, script: Script
) -> None:
    model = script(says("5433"), says("done"))
    _, session = await asked(tmp_path, "the port")
    await remembered(session, "the port is 5433")
    await runner.run(session.pk)
    (tmp_path / "AGENTS.md").write_text("new rule")
    await session.instructions.acreate(kind="new_topic")
    await AgentSession.objects.filter(pk=session.pk).aupdate(status="queued")
    await runner.run(session.pk)
    system, *rest = await texts(session)
    assert "new rule" in system and "5433" not in system
    assert "the port" not in rest
    assert len(model.requests) == 1


async def test_a_recovered_run_keeps_its_system_message_and_its_memory(
    tmp_path: Path, script: Script
) -> None:
    model = script(ModelError("down", retryable=False), says("done"))
    _, session = await asked(tmp_path, "the port")
    await remembered(session, "the port is 5433")
    await runner.run(session.pk)
    # As a killed worker leaves it: the run open, nobody holding it.
    await AgentSession.objects.filter(pk=session.pk).aupdate(run_open=True, status="queued")
    await MemoryEntry.objects.all().adelete()
    (tmp_path / "AGENTS.md").write_text("new rule")
    await runner.run(session.pk)
    assert model.requests[0].messages[0].wire == model.requests[1].messages[0].wire
    assert len(await events(session, "memory_injected")) == 1


async def test_a_mode_changed_in_an_open_run_changes_its_line_and_keeps_the_memory(
    tmp_path: Path, script: Script
) -> None:
    model = script(ModelError("down", retryable=False), says("done"))
    _, session = await asked(tmp_path, "the port")
    await remembered(session, "the port is 5433")
    await runner.run(session.pk)
    await AgentSession.objects.filter(pk=session.pk).aupdate(
        run_open=True, status="queued", mode="plan"
    )
    await MemoryEntry.objects.all().adelete()
    await runner.run(session.pk)
    text = model.requests[1].messages[0].text
    assert "Mode: plan." in text and text.count("5433") == 1


async def test_a_profile_without_memory_recalls_and_keeps_nothing(
    tmp_path: Path, script: Script
) -> None:
    model = script(says("I chose the port 5433 because the other one is taken by the cache."))
    _, session = await asked(tmp_path, "the port of the database server")
    await tuned(memory=False)
    await remembered(session, "the port is 5433", edited=False, source=session)
    await runner.run(session.pk)
    assert HEADINGS[Part.MEMORY] not in model.requests[0].messages[0].text
    assert await MemoryEntry.objects.acount() == 1


async def test_entries_of_another_workspace_or_owner_are_not_recalled(
    tmp_path: Path, script: Script
) -> None:
    model = script(says("done"))
    _, session = await asked(tmp_path, "the port")
    other = await database_sync_to_async(a_user)("eve")
    await remembered(session, "the port of eve", owner=other)
    await remembered(session, "the port elsewhere", workspace="/elsewhere")
    await runner.run(session.pk)
    assert HEADINGS[Part.MEMORY] not in model.requests[0].messages[0].text


async def test_a_session_that_answered_leaves_entries_with_their_messages(
    tmp_path: Path, script: Script
) -> None:
    script(says("I chose port 5433 because the default one is taken."), says("ok"))
    owner, session = await asked(tmp_path, "Find a free port for the database server.")
    await runner.run(session.pk)
    left = [entry async for entry in MemoryEntry.objects.order_by("pk")]
    assert {entry.kind for entry in left} >= {"goal", "decision"}
    assert all(entry.source_id == session.pk and entry.source_numbers for entry in left)
    assert {(entry.owner_id, entry.workspace) for entry in left} == {(owner.pk, str(tmp_path))}
    await MemoryEntry.objects.filter(kind="goal").adelete()
    await say(session, "thanks")
    await runner.run(session.pk)
    kept = {entry.kind async for entry in MemoryEntry.objects.all()}
    assert "goal" not in kept and "decision" in kept


async def test_a_run_that_failed_leaves_nothing(tmp_path: Path, script: Script) -> None:
    script(ModelError("no key"))
    await asked(tmp_path, "Find a free port for the database server.")
    session = await AgentSession.objects.aget()
    await runner.run(session.pk)
    assert not await MemoryEntry.objects.aexists()


async def test_a_successor_begins_with_what_its_predecessor_left(
    tmp_path: Path, script: Script
) -> None:
    model = script(says("I chose port 5433 because 5432 is taken."), says("ready"))
    owner, first = await asked(tmp_path, "Find a free port for the database server.")
    await runner.run(first.pk)
    _, second = await asked(tmp_path, "go on", predecessor=first)
    await runner.run(second.pk)
    left = model.requests[1].messages[1]
    assert left.is_summary
    assert "Find a free port" in left.text and "5433" in left.text
    assert await kinds(second) == [
        "instruction_queued",
        "message_added",
        "message_added",
        *(["memory_injected"] if await events(second, "memory_injected") else []),
        "run_started",
        "message_added",
        "message_added",
        "turn_ended",
        "run_ended",
    ]


async def test_a_predecessor_that_the_owner_may_not_read_hands_nothing_over(
    tmp_path: Path, script: Script
) -> None:
    model = script(says("secret plan for the port"), says("ready"))
    _, first = await asked(tmp_path, "Find a free port for the database server.")
    await runner.run(first.pk)
    _, second = await asked(tmp_path, "go on", predecessor=first)
    other = await database_sync_to_async(a_user)("eve")
    await AgentSession.objects.filter(pk=first.pk).aupdate(owner=other)
    await MemoryEntry.objects.all().adelete()
    await runner.run(second.pk)
    assert [message.role for message in model.requests[1].messages] == ["system", "user"]


async def test_a_list_without_a_system_message_gets_one_in_front(
    tmp_path: Path, script: Script
) -> None:
    model = script(says("done"))
    _, session = await asked(tmp_path, "go")
    await database_sync_to_async(
        lambda: record(session.pk, a_lease(session).fence, added(said(1, "older")))
    )()
    await AgentSession.objects.filter(pk=session.pk).aupdate(holder="", lease_ends=None)
    await runner.run(session.pk)
    assert [message.role for message in model.requests[0].messages] == ["system", "user", "user"]
    assert (await texts(session))[1:] == ["older", "go", "done"]


def test_an_archived_session_leaves_entries_once() -> None:
    session = a_session()
    held = a_lease(session)
    record(session.pk, held.fence, added(said(1, "Find a free port for the database server.")))
    AgentSession.objects.update(holder="", status="idle")
    session.refresh_from_db()
    acts.archive(session.owner, session)
    (entry,) = MemoryEntry.objects.all()
    assert (entry.kind, entry.source_numbers) == ("goal", [1])
    entry.delete()
    acts.archive(session.owner, session, on=False)
    acts.archive(session.owner, session)
    assert not MemoryEntry.objects.exists()
    assert lives.snapshot_of(session).messages
