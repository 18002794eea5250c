"""A server on loopback that speaks OpenAI's chat completions and says what it is told to say."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

Say: TypeAlias = Callable[[Sequence[Mapping[str, Any]]], Mapping[str, Any]]


@contextlib.contextmanager
def stub_model(say: Say) -> Iterator[str]:
    """Its base URL. `say` gets the messages of a request and returns the assistant message."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = say(body["messages"])
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            for chunk in _chunks(message):
                self.wfile.write(f"data: {chunk}\n\n".encode())

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _chunks(message: Mapping[str, Any]) -> Iterator[str]:
    calls = [{"index": place, **call} for place, call in enumerate(message.get("tool_calls", ()))]
    delta = {"role": "assistant", "content": message.get("content")}
    if calls:
        delta["tool_calls"] = calls
    for part, finish in ((delta, None), ({}, "tool_calls" if calls else "stop")):
        yield json.dumps(
            {
                "id": "stub",
                "object": "chat.completion.chunk",
                "created": 0,
                "model": "stub",
                "choices": [{"index": 0, "delta": part, "finish_reason": finish}],
            }
        )
    yield "[DONE]"
