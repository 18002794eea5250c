"""Numbers with their unit and source, and text from outside shown as text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from math import floor
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import conditional_escape, escape, format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from hermesweb import sentences
from hermesweb.categories import LETTERS, label
from hermesweb.labels import unit_word, words
from hermesweb.shown import shown

register = template.Library()

# Controls other than tab and line feed, direction and invisible characters, lone surrogates:
# what could hide text, reorder it, or fail to encode.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


@register.filter
def size(count: int | None) -> str:
    """Bytes: `312 B`, `84.2 kB`, `1.84 MB`, `10.82 GB`; kB = 1,000 bytes."""
    if count is None:
        return _("unknown")
    if abs(count) < 1_000:
        return f"{count} B"
    if abs(count) < 999_950:
        return f"{count / 1_000:.1f} kB"
    if abs(count) < 999_995_000:
        return f"{count / 1_000_000:.2f} MB"
    return f"{count / 1_000_000_000:.2f} GB"


@register.filter
def tokens(count: int | None, source: str = "estimate") -> str:
    """`21,388 tok (provider)` when counted, `≈ 21.4k tok` when estimated."""
    if count is None:
        return _("unknown")
    if source == "estimate":
        return f"≈ {_short(count)} tok"
    return f"{count:,} tok ({words(source)})"


@register.filter
def amount(count: int | None, unit: str) -> str:
    """A quantity in a limit's unit, short: `84.2 kB`, `84.2k chars`, `136.5k tok`."""
    if count is None:
        return _("unknown")
    if unit == "bytes":
        return size(count)
    return f"{_short(count)} {unit_word(unit)}"


@register.filter
def exactly(count: int | None, unit: str) -> str:
    """A quantity in full: `120,000 bytes`, `144,000 tok`."""
    return _("unknown") if count is None else f"{count:,} {unit_word(unit)}"


@register.filter
def usd(cost: Decimal | str | None) -> str:
    """`$0.0297`; an amount that is not known is told as such, and never as 0."""
    if cost is None:
        return _("unknown")
    amount = Decimal(cost)
    return f"${amount:.2f}" if amount >= 1 or not amount else f"${amount:.2g}"


@register.filter
def percent(fraction: float | None, digits: int = 0) -> str:
    """0.758 -> `76%`, a half up as `share` of turns.js; never capped: 2.47 -> `247%`."""
    if fraction is None:
        return _("unknown")
    scale = 10**digits
    return f"{floor(fraction * 100 * scale + 0.5) / scale:.{digits}f}%"


@register.filter
def ago(moment: datetime) -> str:
    """`14 s ago`, `6 min ago`, `2 h ago`, `3 d ago`."""
    seconds = max((timezone.now() - moment).total_seconds(), 0)
    if seconds >= 86_400:
        return _("%(count)s d ago") % {"count": int(seconds // 86_400)}
    if seconds >= 3_600:
        return _("%(count)s h ago") % {"count": int(seconds // 3_600)}
    if seconds >= 60:
        return _("%(count)s min ago") % {"count": int(seconds // 60)}
    return _("%(count)s s ago") % {"count": round(seconds)}


@register.filter
def lasting(seconds: int) -> str:
    """The two largest units: `40 s`, `29 min 40 s`, `2 h 5 min`, `1 d 3 h`. count-down.js writes
    the same."""
    for unit, size, below, part in (("d", 86_400, "h", 3_600), ("h", 3_600, "min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit} {seconds % size // part} {below}"
    return f"{seconds // 60} min {seconds % 60} s" if seconds >= 60 else f"{seconds} s"


@register.filter
def coordinate(value: float) -> str:
    """A number for an SVG attribute, with a point in every locale."""
    return f"{value:.3f}"


@register.filter
def plain(text: object) -> str:
    """Text for an attribute or title: NUL is `␀`, other unseen characters are named."""
    return _UNSEEN.sub(lambda match: _plain_name(match[0]), str(text))


def json_text(value: object) -> str:
    """Indented JSON that can be edited: unseen characters stand as their escapes."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


@register.filter
def visible(text: object) -> SafeString:
    """Escaped text in which unseen characters stand as chips with their name."""
    whole = str(text)
    if not _UNSEEN.search(whole):
        return escape(whole)
    parts = _UNSEEN.split(whole)
    names = [*map(_name, _UNSEEN.findall(whole)), ""]
    return format_html_join("", "{}{}", zip(parts, map(_chip, names), strict=True))


@register.filter
def at_slashes(path: str) -> SafeString:
    """As `visible`; a line may end behind each slash, and so not within a name."""
    return format_html_join(
        SafeString("/<wbr>"), "{}", ((visible(part),) for part in path.split("/"))
    )


@register.filter
def retold(text: str, kept: Mapping[str, Any] | None) -> SafeString:
    """What `agentcore` said, in the reader's language where `kept` tells how it was made; else as
    it was said, which is English."""
    if anew := kept and sentences.retold(kept):
        return visible(anew)
    if not text or get_language() == "en":
        return visible(text)
    return format_html('<span lang="en">{}</span>', visible(text))


@register.filter
def origin(source: str) -> str:
    """Where a number is from, with the name of its counter: `exact o200k`."""
    kind, space, counter = source.partition(" ")
    return words(kind) + space + counter


@register.filter
def letter(category: str) -> str:
    return LETTERS[category]


@register.filter
def chip(category: str) -> SafeString:
    """A category's letter in its colour."""
    return format_html(
        '<span class="letter cat-{}" title="{}">{}</span>',
        *(category, label(category), LETTERS[category]),
    )


@register.simple_tag
def size_bar(category: str, share: float) -> SafeString:
    """A size as a bar against the largest beside it; `share` in percent of that."""
    return format_html(
        '<svg class="row__bar" aria-hidden="true">'
        '<rect class="bar__track" x="0" y="1" width="100%" height="10" rx="2"/>'
        '<rect class="cat cat-{0}" x="0" y="1" width="{1}%" height="10" rx="2"/>'
        '<rect fill="url(#p-{0})" x="0" y="1" width="{1}%" height="10" rx="2"/></svg>',
        *(category, coordinate(share)),
    )


register.filter("label", label)
register.filter("told", sentences.told)
register.filter("words", words)
register.filter("masked", shown)


def _short(count: int) -> str:
    if abs(count) < 1_000:
        return str(count)
    if abs(count) < 999_950:
        return f"{count / 1_000:.1f}k"
    return f"{count / 1_000_000:.2f}M"


def _plain_name(character: str) -> str:
    return "␀" if character == "\0" else f"[{_name(character)}]"


def _name(character: str) -> str:
    if character == "\0":
        return "␀"
    return "ESC" if character == "\x1b" else f"U+{ord(character):04X}"


def _chip(name: str) -> SafeString:
    if not name or name == "␀":
        return conditional_escape(name)
    return format_html('<span class="chip chip--off">{}</span>', name)
