"""Every recorded session that imports: forked, compacted as it was shown, and undone, by pages.

The list after the undo is the one before the compaction, byte for byte."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from asgiref.sync import async_to_sync
from builders import a_user, rows_of
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from recorded import SHARED

from agentcore import load_transcript
from agentcore.errors import TranscriptError
from agentcore.invariants import legal
from hermesweb import lives, runner
from hermesweb.models import AgentSession, Compaction

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("woken")]

FOLDER = SHARED / "transcripts"
FILES = [path for path in sorted(FOLDER.glob("*/*")) if path.is_file()]
# One that makes a summary, one that rewrites rows.
HOW = ("stage=keep_recent&keep_last=1", "preset=observation-masking&keep_last=0")


@pytest.fixture
def recording(client: Client, path: Path) -> AgentSession:
    """Imported through the page."""
    try:
        load_transcript(path)
    except TranscriptError as error:
        pytest.skip(f"not a recording that is read today: {error}")
    client.force_login(a_user("ada"))
    file = SimpleUploadedFile(path.name, path.read_bytes())
    found = client.post("/imports/new/", {"file": file}, follow=True)
    assert found.status_code == 200, found.content
    imported = re.search(r"/imports/(\w+)/", found.redirect_chain[0][0])
    assert imported
    return AgentSession.objects.get(pk=imported[1])


def forked(client: Client, session: AgentSession) -> AgentSession:
    at = f"{session.revision}.{session.last_number}"
    here = {"workspace": str(Path(__file__).parent), "model": "explorer"}
    answer = client.post(f"/sessions/{session.pk}/forks", {"at": at, **here})
    made = re.fullmatch(r"/sessions/(\w+)/", answer["Location"])
    assert made and made[1] != session.pk, client.get(answer["Location"]).content
    return AgentSession.objects.get(pk=made[1])


def taken(session: AgentSession) -> None:
    async_to_sync(runner.run)(session.pk)
    session.refresh_from_db()


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_undo_gives_the_list_back_byte_for_byte(
    client: Client, recording: AgentSession, path: Path
) -> None:
    session = forked(client, recording)
    before = rows_of(lives.snapshot_of(session))
    for how in HOW:
        row = compacted(client, session, how)
        if row is None:
            continue
        after = lives.snapshot_of(session)
        assert rows_of(after) != before and not legal(after.messages)
        client.post(f"/sessions/{session.pk}/compactions/{row.number}/undo")
        taken(session)
        row.refresh_from_db()
        assert row.state == "undone"
        assert rows_of(lives.snapshot_of(session)) == before


def compacted(client: Client, session: AgentSession, how: str) -> Compaction | None:
    """As the page shows it; None where it says that nothing would change."""
    page = client.get(f"/sessions/{session.pk}/compact/?{how}").content.decode()
    shown = re.search(r'id="preview-id" value="(\w+)"', page)
    assert shown
    if 'id="apply"' not in page:
        assert "Would change nothing" in page
        return None
    answer = client.post(f"/sessions/{session.pk}/compact/apply", {"preview_id": shown[1]})
    taken(session)
    row = session.stored_compactions.latest("number")
    assert answer["Location"] == f"/sessions/{session.pk}/compactions/{row.number}/"
    assert (row.state, row.failure, row.detail) == ("applied", "", "")
    return row
