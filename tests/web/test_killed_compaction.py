"""A worker that dies between the summary and the swap: exactly one valid list, told once."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import pytest
from asgiref.sync import async_to_sync
from builders import a_user
from dying import Died, Dying
from scenes import a_talk
from working import says, worked

from agentcore.compaction.asked import CompactionOptions
from agentcore.events import CompactionEnded
from agentcore.invariants import legal
from agentcore.llm.scripted import ScriptedModel
from hermesweb import acts, lives, runner
from hermesweb.models import AgentSession, ModelEndpoint

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]
WISH = CompactionOptions(stage="keep_recent", keep_last=4)


@pytest.fixture(params=[False, True], ids=["before the swap is stored", "after it"])
def killed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the swap was stored; only the first worker dies."""
    dying = Dying(1, after=request.param, of=CompactionEnded)
    monkeypatch.setattr(runner, "record", dying)
    return bool(request.param)


@pytest.mark.parametrize("previewed", [False, True], ids=["by a model", "as it was shown"])
def test_another_worker_makes_it_once(
    script: Callable[..., ScriptedModel], killed: bool, previewed: bool
) -> None:
    ada = a_user("ada")
    model = script(*[says("The parser is half fixed.")] * 3)
    ModelEndpoint.objects.create(name="scripted", model="m")
    session = a_talk(ada, 24, text="x" * 2_000)
    if previewed:
        row = acts.apply_preview(ada, session, acts.preview(ada, session, WISH)[0].pk)
    else:
        row = acts.compact_now(ada, session, WISH)
    with contextlib.suppress(Died):
        async_to_sync(runner.run)(session.pk)
    row.refresh_from_db()
    assert row.state == ("applied" if killed else "queued" if previewed else "running")
    AgentSession.objects.update(holder="", lease_ends=None)
    worked(session)
    row.refresh_from_db()
    assert (row.state, session.revision, session.stored_compactions.count()) == ("applied", 1, 1)
    assert session.events.filter(kind="compaction_ended").count() == 1
    assert session.status == "idle" and not session.instructions.filter(state="queued").exists()
    assert not legal(lives.snapshot_of(session).messages)
    assert len(model.requests) == (0 if previewed else 1 if killed else 2)
