"""What the wall says in a sentence, and what of it needs a decision."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import ngettext

from hermesweb.wall import Group, Row


def verdict(shown: Sequence[Row]) -> tuple[str, str]:
    """The calm part and the warning, which may be empty."""
    live = sum(row.is_live for row in shown)
    warnings = [*_needs(shown), *_thrash(shown), *_soon(shown)]
    return _calm(len(shown), live), " ".join(warnings)


def _calm(count: int, live: int) -> str:
    if not live:
        text = ngettext(
            "%(count)s session, none running.", "%(count)s sessions, none running.", count
        )
        return text % {"count": count}
    text = ngettext(
        "%(count)s session, %(live)s running.", "%(count)s sessions, %(live)s running.", count
    )
    return text % {"count": count, "live": live}


def _needs(shown: Sequence[Row]) -> list[str]:
    count = sum(row.group is Group.NEEDS_YOU for row in shown)
    text = ngettext("%(count)s needs you.", "%(count)s need you.", count)
    return [text % {"count": count}] if count else []


def _thrash(shown: Sequence[Row]) -> list[str]:
    count = sum(row.is_live and row.session.thrash for row in shown)
    text = ngettext("%(count)s compacts every turn.", "%(count)s compact every turn.", count)
    return [text % {"count": count}] if count else []


def _soon(shown: Sequence[Row]) -> list[str]:
    close = [row for row in shown if row.is_soon and not row.session.thrash]
    if not close:
        return []
    turns = max(row.left or 1 for row in close)
    if len(close) == 1:
        text = ngettext(
            "“%(title)s” compacts within %(count)s turn.",
            "“%(title)s” compacts within %(count)s turns.",
            turns,
        )
        return [text % {"title": close[0].session, "count": turns}]
    text = ngettext(
        "%(sessions)s compact within %(count)s turn.",
        "%(sessions)s compact within %(count)s turns.",
        turns,
    )
    return [text % {"sessions": len(close), "count": turns}]
