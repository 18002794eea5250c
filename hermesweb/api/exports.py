from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from channels.db import database_sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import StreamingHttpResponse
from ninja import Router

from hermesweb import acts, export
from hermesweb.access import session_or_404
from hermesweb.http import SignedIn

router = Router(tags=["sessions"])


@router.get("/sessions/{id}/export")
def download(request: SignedIn, id: str, raw: bool = False) -> StreamingHttpResponse:
    """JSONL of messages, changes of the list, turns and events, to be imported again: masked, or
    `raw` as it was, with the permission raw."""
    session = session_or_404(request.user, id)
    if raw:
        acts.read_raw(request.user, session, "export")
    lines = export.lines(session, raw=raw)
    name = f"hermesweb-{session.pk}{'-raw' if raw else ''}.jsonl"
    return StreamingHttpResponse(
        _asynchronous(lines) if isinstance(request, ASGIRequest) else lines,
        content_type="application/x-ndjson; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


async def _asynchronous(lines: Iterator[str]) -> AsyncIterator[str]:
    """Without it the server would gather all of them before it sends the first."""
    following = database_sync_to_async(next)
    while line := await following(lines, ""):
        yield line
