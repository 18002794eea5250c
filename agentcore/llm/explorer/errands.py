"""What an instruction asks for beyond a look round: to read an address, to search the web, to write
what was found to a file. Done after the tour, each once, and only where a person asked for it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from agentcore.llm.explorer.itinerary import Call, Move, named, stamped
from agentcore.llm.explorer.phrases import Phrases, phrases_for
from agentcore.llm.explorer.report import report
from agentcore.llm.explorer.view import View

ADDRESS = re.compile(r"https?://[^\s<>\"'()，。；）]+[^\s<>\"'().,;:!?，。；）]")
ON_THE_WEB = re.compile(r"\b(on|search) the web\b|网上|搜索网络", re.IGNORECASE)
TO_A_FILE = re.compile(r"(?:\b[Ww]rite\b[^\n]*? (?:in)?to |写[入到进] ?)([\w./-]+\.md)\b")

ORDER = ("web_fetch", "web_search", "write_file", "edit_file")


def is_on_errand(seen: View) -> bool:
    """Whether the tour is over: its list of files may be out of view by now."""
    return not seen.is_interrupted and any(name in ORDER for name in seen.called)


def next_errand(seen: View, offered: Collection[str]) -> Move | None:
    """The one after that which was done last, or None when there is none left. A failed one is not
    tried again."""
    say = phrases_for(seen.instruction)
    done = max((ORDER.index(name) for name in seen.called if name in ORDER), default=-1)
    for errand in _errands(seen, say):
        tool = errand.calls[0][0]
        if tool in offered and ORDER.index(tool) > done:
            return stamped(seen, errand, say)
    return None


def _errands(seen: View, say: Phrases) -> Iterator[Move]:
    if address := ADDRESS.search(seen.instruction):
        url = address[0]
        yield _move(say.address.format(url=url), ("web_fetch", {"url": url}))
    if ON_THE_WEB.search(seen.instruction) and seen.words:
        query = {"query": " ".join(seen.words)}
        yield _move(say.web.format(words=named(seen.words, say)), ("web_search", query))
    wanted = TO_A_FILE.search(seen.instruction)
    path = wanted[1] if wanted else ""
    # What lies there already, or may lie there, is not written over.
    if path and seen.listing and path not in seen.listing.paths:
        text = {"path": path, "content": f"{report(seen)}\n"}
        yield _move(say.writing.format(path=path), ("write_file", text))
    if path and "write_file" in seen.called:
        change = {"path": path, "old_text": say.report, "new_text": f"# {say.report}"}
        yield _move(say.heading.format(path=path), ("edit_file", change))


def _move(said: str, call: Call) -> Move:
    return Move(said, (call,))
