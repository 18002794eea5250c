"""Facts in the first and last 2 kB of a tool result: failures, warnings, named values."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from agentcore.facts import Fact, FactKind
from agentcore.ledger.cues import lowered
from agentcore.ledger.prose import flat, unit_behind
from agentcore.limits import head_of
from agentcore.messages import ToolStatus

EDGE_BYTES = 2_000
LINE_CHARS = 200
FAILURES, WARNINGS, NUMBERS = 6, 6, 6
# Numbers looked at; a table has hundreds.
NUMBERS_SEEN = 30

# Every alternative begins with a letter of its own: what is none of them is skipped fast.
_SIGN = re.compile(
    r"error|exception|fatal|fail|panic|traceback \(|denied|no such file|not found"
    r"|exit(?:ed| code| status)|command not|timed out|warn|deprecat|错误|失败|异常|警告|超时"
)
# What each line that tells a failure holds: looked for first, since it is found faster.
_MAY_FAIL = re.compile(
    r"error|exception|fatal|fail|panic|traceback|denied|no such file|not found|exit|timed out"
    r"|错误|失败|异常|超时"
)
# A line that tells a failure, and not code or a listing that only holds the word.
_FAILURE = re.compile(
    r"(?:.{0,80}?[\s\]:.(])?(?:[a-z_.]{0,60}(?:error|exception|failure)(?:\[[a-z0-9]{1,8}\])?[:!]"
    r"|fatal:|fatal error|panic:|failed\b|traceback \(|.{0,60}permission denied"
    r"|.{0,80}no such file|.{0,60}command not found|exit(?:ed with)? (?:code|status)[ :]{1,2}[1-9]"
    r"|.{0,60}timed out)|.{0,60}(?:错误|失败|异常|超时)"
)
_WARNING = re.compile(
    r"(?:.{0,80}?[\s\[\](:])?(?:[a-z]{0,30}warning(?:\[[a-z0-9]{1,8}\])?\]?[:!]"
    r"|warn(?:ing)?\]?[\s:]|deprecat)|.{0,60}警告"
)
_NONE = re.compile(r"(?<!\S)(?:0|no|without|zero) (?:\w{1,20} )?(?:error|fail|warn|exception)")
# Lines of a listing: a line number, a hit of a search (but not a compiler's report), a comment,
# code.
_LISTING = re.compile(
    r"\s{0,8}(?:[0-9]{1,6}[\t|→]"
    r"|[\w./\-]{1,200}:[0-9]{1,6}[:\-](?![0-9: ]{0,8}(?:fatal )?(?:error|warn))"
    r"|//|#|\*|raise |except |throw |return |def |if |assert )"
)
_NUMBER = re.compile(r"[0-9][0-9.,]{0,30}")
_TIMELIKE = (":", "-", "/")
_NAME = re.compile(r"([a-z][a-z_ \-]{1,30}?)\s?[:=]\s?[$€£¥]?$")
# How placeholders begin: what stands there is no output.
_STAND_INS = ("[Tool result snipped", "[Result: ")


def facts_of_result(
    text: str, number: int, *, status: ToolStatus | None, call: str
) -> Iterator[Fact]:
    """A failure for each call that failed, with its first line where no line tells an error."""
    if text.startswith(_STAND_INS):
        return
    shown = edges(text)
    low = lowered(shown)
    failed = status is ToolStatus.FAILED
    told = list(_lines_that_tell(shown, low, number, failed=failed, call=call))
    if failed and not any(fact.kind is FactKind.FAILURE for fact in told):
        said = flat(shown[:LINE_CHARS].partition("\n")[0]) or "failed"
        yield Fact(FactKind.FAILURE, said, number, said, call=call)
    yield from told
    yield from islice(_numbers(shown, low, number), NUMBERS)


def edges(text: str) -> str:
    """The first and last 2 kB, cut at characters; the whole text where it is not longer."""
    if len(text) <= 2 * EDGE_BYTES // 3:
        return text
    head = head_of(text[:EDGE_BYTES], EDGE_BYTES)
    rest = text[len(head) :][-EDGE_BYTES:]
    while len(rest) > 1 and len(rest.encode("utf-8", "surrogatepass")) > EDGE_BYTES:
        over = len(rest.encode("utf-8", "surrogatepass")) - EDGE_BYTES
        rest = rest[max(1, over // 4) :]
    return f"{head}\n{rest}" if len(head) + len(rest) < len(text) else text


def _lines_that_tell(
    text: str, low: str, number: int, *, failed: bool, call: str
) -> Iterator[Fact]:
    """Each line once. Warnings count only where the call did not fail."""
    room = {FactKind.FAILURE: FAILURES, FactKind.WARNING: 0 if failed else WARNINGS}
    done = 0
    for sign in _SIGN.finditer(low):
        if sign.start() < done:
            continue
        start = max(low.rfind("\n", 0, sign.start()) + 1, sign.start() - LINE_CHARS)
        stop = low.find("\n", sign.end())
        done = len(low) if stop < 0 else stop
        end = min(done, start + 2 * LINE_CHARS)
        kind = _kind_of(low, start, end, warnings=room[FactKind.WARNING] > 0)
        if kind and room[kind] and not _is_no_report(low, start, end):
            room[kind] -= 1
            said = flat(text[start:done])[:LINE_CHARS]
            owner = call if failed and kind is FactKind.FAILURE else ""
            yield Fact(kind, said, number, said, call=owner)
            if not any(room.values()):
                return


def _kind_of(low: str, start: int, stop: int, *, warnings: bool) -> FactKind | None:
    if _MAY_FAIL.search(low, start, stop) and _FAILURE.match(low, start, stop):
        return FactKind.FAILURE
    return FactKind.WARNING if warnings and _WARNING.match(low, start, stop) else None


def _is_no_report(low: str, start: int, stop: int) -> bool:
    return bool(_LISTING.match(low, start, stop) or _NONE.search(low, start, stop))


def _numbers(text: str, low: str, number: int) -> Iterator[Fact]:
    """Values with a name in front (`port: 8080`) or a unit behind (`12 passed`)."""
    for match in islice(_NUMBER.finditer(low), NUMBERS_SEEN):
        start = match.start()
        stop = start + len(match[0].rstrip(".,"))
        # Part of a word, a time, a date, a path or a version.
        if start and (low[start - 1].isalnum() or low[start - 1] in ".-/_#"):
            continue
        if low[stop : stop + 1] in _TIMELIKE:
            continue
        unit = unit_behind(low, stop)
        is_named = low[max(0, start - 2) : start].rstrip(" $€£¥").endswith((":", "="))
        name = _NAME.search(low, max(0, start - 36), start) if is_named else None
        if unit or name:
            said = flat(text[name.start() if name else start : stop + len(unit) + 1])
            yield Fact(FactKind.NUMBER, said, number, said)
