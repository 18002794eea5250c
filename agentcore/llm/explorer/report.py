"""The explorer's last word: only what results in view show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath

from agentcore.llm.explorer.itinerary import ENTRIES, HEAVIEST, HISTORY, OPEN_WORK, TEST_FILE, named
from agentcore.llm.explorer.phrases import Phrases, phrases_for
from agentcore.llm.explorer.sightings import (
    Listing,
    commits,
    counted_lines,
    of_command,
    of_search,
    weighed,
)
from agentcore.llm.explorer.view import View

MOST_NAMED = 6


def report(seen: View) -> str:
    say = phrases_for(seen.instruction)
    found = [
        *_of_files(seen.listing, say),
        *_of_weights(seen, say),
        *_of_searches(seen, say),
        *_of_history(seen, say),
        *_of_readings(seen, say),
    ]
    return "\n".join([say.report, *(f"- {line}" for line in found), "", say.honest])


def last_word(seen: View) -> str:
    """The report, and that nothing is left to do: else an earlier step is the newest state."""
    return f"{report(seen)}\n{phrases_for(seen.instruction).done}"


def _of_files(known: Listing | None, say: Phrases) -> Iterator[str]:
    if known is None:
        yield say.not_listed
        return
    count = say.files if known.is_complete else say.files_at_least
    yield count.format(count=len(known.paths))
    endings = Counter(
        PurePosixPath(path).suffix or PurePosixPath(path).name for path in known.paths
    )
    if endings:
        kinds = [f"{ending} {count}" for ending, count in endings.most_common(MOST_NAMED)]
        yield say.kinds.format(kinds=named(kinds, say))
    tests = sum(TEST_FILE.search(path) is not None for path in known.paths)
    yield say.tests.format(count=tests)


def _of_weights(seen: View, say: Phrases) -> Iterator[str]:
    heaviest = weighed(of_command(seen.seen, HEAVIEST) or "")[:MOST_NAMED]
    if heaviest:
        files = [f"{path} ({size:,} bytes)" for size, path in heaviest]
        yield say.largest.format(files=named(files, say))
    if longest := counted_lines(seen.seen)[:MOST_NAMED]:
        files = [f"{path} ({lines:,})" for lines, path in longest]
        yield say.longest.format(files=named(files, say))


def _of_searches(seen: View, say: Phrases) -> Iterator[str]:
    entries = of_search(seen.seen, ENTRIES)
    if entries and entries.files:
        yield say.entries.format(paths=named(entries.files[:MOST_NAMED], say))
    if open_work := of_search(seen.seen, OPEN_WORK):
        yield say.open_work.format(count=open_work.count, files=len(open_work.files))
    for word in seen.words:
        found = of_search(seen.seen, word)
        if found and found.files:
            paths = named(found.files[:3], say)
            yield say.word.format(word=word, count=found.count, paths=paths)
        elif found:
            yield say.word_missing.format(word=word)


def _of_history(seen: View, say: Phrases) -> Iterator[str]:
    known = commits(of_command(seen.seen, HISTORY) or "")
    if known:
        yield say.commit.format(commit=known[0])


def _of_readings(seen: View, say: Phrases) -> Iterator[str]:
    read = [str(one.arguments.get("path")) for one in seen.seen if one.tool == "read_file"]
    if read:
        newest = named(read[-MOST_NAMED:], say)
        yield say.read.format(count=len(set(read)), paths=newest)
