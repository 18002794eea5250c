"""Where the explorer goes next: a fixed tour of the workspace, the same for the same files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, TypeAlias

from agentcore.llm.explorer.phrases import Phrases, phrases_for
from agentcore.llm.explorer.sightings import (
    EVERYTHING,
    Listing,
    Sighting,
    defined_in,
    hits,
    lines_of,
    listing,
    of_search,
    started_task,
)
from agentcore.llm.explorer.view import View

DEFINITIONS = r"^\s*(class|def|func|fn|function|interface|struct) +\w+"
TESTS = r"def test_|#\[test\]|func Test[A-Z]|\b(it|test)\(.* =>"
OPEN_WORK = "TODO|FIXME"
ENTRIES = r"__name__ == .__main__.|^func main\(|fn main\(|^int main\(|^\[project.scripts\]"
# None of these changes anything; git is kept from refreshing its index.
STATUS = "git --no-optional-locks status --short"
HISTORY = "git --no-optional-locks log --oneline -n 10"
VERSIONS = "python3 --version"
# Runs in the background while sources are read.
LONGEST = (
    r"find . \( -name '.?*' -o -name node_modules \) -prune "
    r"-o -type f -size -1000k -exec wc -l {} + | sort -n | tail -n 11"
)
HEAVIEST = (
    r"find . \( -name '.?*' -o -name node_modules \) -prune "
    r"-o -type f -printf '%s %p\n' | sort -n | tail -n 10"
)

READ_LINES = 250
MOST_READ = 28
PATTERN_CHARS = 24
COUNT_SECONDS = 10
# Where the start is no longer in view.
FIRST_TASK = "task-1"

# The most telling first.
GUIDES = ("readme", "pyproject.toml", "package.json", "cargo.toml", "go.mod", "contributing")
TEST_FILE = re.compile(r"(^|/)(tests?|spec)/|(^|/)test_[^/]*$|[._-](test|spec)\.\w+$")
_ENTRY_STEMS = frozenset({"__main__", "main", "app", "cli", "manage", "index", "server"})
_SOURCE = re.compile(
    r"\.(c|cc|cpp|cs|go|h|hpp|java|jsx?|kt|php|py|rb|rs|scala|sh|sql|swift|tsx?|vue)$"
)
_TEXT = re.compile(r"\.(cfg|css|html|ini|json|md|rst|toml|txt|xml|ya?ml)$")
_SKIPPED = frozenset({".git", ".venv", "__pycache__", "build", "dist", "node_modules", "target"})

Call: TypeAlias = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Move:
    """What is said in one turn, and what is called."""

    text: str
    calls: tuple[Call, ...]


def next_move(seen: View, offered: Collection[str]) -> Move | None:
    """The next turn, or None when there is only the report left."""
    say = phrases_for(seen.instruction)
    if seen.is_interrupted and seen.words and "grep" in offered:
        what = say.interrupted.format(words=named(seen.words, say))
        return stamped(seen, Move(what, _greps(seen.words)), say)
    if seen.step and seen.listing is None:
        # Once: a list that could not be read the first time cannot be read the second.
        can_list = "glob" in offered and "glob" not in seen.called
        return stamped(seen, Move(say.lost, (_glob(),)), say) if can_list else None
    legs = _legs(seen, offered, say)
    if seen.step >= len(legs):
        return None
    return stamped(seen, legs[seen.step], say, legs=len(legs))


def in_order(paths: Iterable[str]) -> list[str]:
    """Files worth reading: entry points, then sources, then texts; of each folder the first, then
    of each the second, so that a short tour sees all parts."""
    places: Counter[PurePosixPath] = Counter()
    ranked = []
    for path in map(PurePosixPath, sorted(paths)):
        is_readable = _SOURCE.search(path.name) or _TEXT.search(path.name)
        if is_readable and _SKIPPED.isdisjoint(path.parts):
            ranked.append((_rank(path), places[path.parent], str(path)))
            places[path.parent] += 1
    return [path for _, _, path in sorted(ranked)]


def stamped(seen: View, leg: Move, say: Phrases, *, legs: int = 0) -> Move:
    """What is said tells where the tour stands, since nothing else remembers it. With `legs` the
    next step of so many; without, something in between that is no step."""
    number = seen.step + (1 if legs else 0)
    stamp = (say.follow_up if seen.is_follow_up else say.step).format(n=number)
    # How many there are is known once the workspace has been listed.
    count = say.of.format(m=legs) if legs and seen.listing else ""
    plan = "" if seen.step or seen.is_follow_up else say.plan
    noticed = say.pause.join(filter(None, (_noticed(one, say) for one in seen.newest)))
    lines = (plan, f"{stamp}{count}{say.colon}{leg.text}", noticed)
    return Move("\n".join(filter(None, lines)), leg.calls)


def named(names: Sequence[str], say: Phrases) -> str:
    return say.comma.join(names)


def _legs(seen: View, offered: Collection[str], say: Phrases) -> list[Move]:
    """All legs that can be gone with the tools offered."""
    known = seen.listing or Listing((), is_complete=False)
    legs = _follow_up(seen, known, say) if seen.is_follow_up else _tour(seen, known, say)
    possible = (
        Move(leg.text, tuple(call for call in leg.calls if call[0] in offered)) for leg in legs
    )
    return [leg for leg in possible if leg.calls]


def _tour(seen: View, known: Listing, say: Phrases) -> list[Move]:
    found = (path for guide in GUIDES for path in known.paths if path.lower().startswith(guide))
    guides = list(found)[:3]
    sources = [path for path in in_order(known.paths) if path not in guides]
    return [
        Move(say.survey, (_glob(), ("list_dir", {}), _run(STATUS))),
        Move(say.guides.format(paths=named(guides, say)), _reads(guides)),
        Move(say.structure, _greps((DEFINITIONS, TESTS, OPEN_WORK))),
        Move(
            say.commands,
            (_run(HISTORY), _run(VERSIONS), ("start_task", {"command": LONGEST})),
        ),
        Move(say.checkpoint, (("checkpoint", {"note": say.note}),)),
        *_skills(seen, say),
        *_readings(seen, sources[:MOST_READ], say),
        Move(say.counting, _counted(seen)),
        _recalling(seen, say),
        Move(say.words.format(words=named(seen.words, say)), _greps(seen.words)),
        Move(say.check, (_glob(), *_greps((ENTRIES,)), _run(HEAVIEST))),
    ]


def _skills(seen: View, say: Phrases) -> Iterable[Move]:
    for name in seen.skills[:1]:
        yield Move(say.skill.format(name=name), (("skill", {"name": name}),))


def _counted(seen: View) -> tuple[Call, ...]:
    task = {"task": started_task(seen.seen) or FIRST_TASK}
    return ("read_task", {**task, "wait": COUNT_SECONDS}), ("stop_task", task)


def _recalling(seen: View, say: Phrases) -> Move:
    words = seen.words[:1] or ("README",)
    return Move(say.recall.format(words=named(words, say)), (("recall", {"query": words[0]}),))


def _readings(seen: View, paths: Sequence[str], say: Phrases) -> Iterable[Move]:
    """Two files a leg, and a look at who uses a name that the last files define."""
    name = _name_to_follow(seen)
    for start in range(0, len(paths), 2):
        pair = paths[start : start + 2]
        what = say.reading.format(paths=named(pair, say))
        if name is None:
            yield Move(what, _reads(pair))
        else:
            following = say.following.format(what=what, name=name)
            yield Move(following, (*_reads(pair), *_greps((_whole_word(name),))))


def _name_to_follow(seen: View) -> str | None:
    for one in seen.newest:
        for name in defined_in(one) if one.tool == "read_file" else ():
            if of_search(seen.seen, _whole_word(name)) is None:
                return name
    return None


def _follow_up(seen: View, known: Listing, say: Phrases) -> list[Move]:
    """A further question: where its words stand, and a look into those files."""
    found: Counter[str] = Counter()
    for word in seen.words:
        if search := of_search(seen.seen, word):
            found.update(search.paths)
    ranked = [path for path, _ in found.most_common()] or in_order(known.paths)
    words = say.words.format(words=named(seen.words, say)) if seen.words else say.survey
    return [
        Move(words, (_glob(), *_greps(seen.words[:2]))),
        Move(say.reading.format(paths=named(ranked[:3], say)), _reads(ranked[:3])),
    ]


def _noticed(one: Sighting, say: Phrases) -> str:
    """What a result showed, in a few words."""
    if one.tool == "read_file" and (lines := lines_of(one)):
        return say.saw_lines.format(path=one.arguments.get("path"), count=lines)
    if one.tool == "grep":
        found = hits(one)
        pattern = str(one.arguments.get("pattern"))
        short = pattern if len(pattern) <= PATTERN_CHARS else f"{pattern[:PATTERN_CHARS]}…"
        return say.saw_hits.format(pattern=short, count=found.count, files=len(found.files))
    if listed := listing([one]):
        return say.saw_files.format(count=len(listed.paths))
    return ""


def _rank(path: PurePosixPath) -> int:
    if path.stem == "__init__" or not _SOURCE.search(path.name):
        return 2
    return 0 if path.stem in _ENTRY_STEMS else 1


def _whole_word(name: str) -> str:
    return rf"\b{name}\b"


def _glob() -> Call:
    return "glob", {"pattern": EVERYTHING}


def _greps(patterns: Iterable[str]) -> tuple[Call, ...]:
    return tuple(("grep", {"pattern": pattern}) for pattern in patterns)


def _reads(paths: Iterable[str]) -> tuple[Call, ...]:
    return tuple(("read_file", {"path": path, "limit": READ_LINES}) for path in paths)


def _run(command: str) -> Call:
    return "run_command", {"command": command}
