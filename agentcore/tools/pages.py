"""The text of what a server sent, in whatever encoding it really is."""

from __future__ import annotations

import codecs

import turbohtml
from turbohtml.detect import detect

from agentcore.errors import ToolError
from agentcore.tools.fetcher import Page

HTML = ("text/html", "application/xhtml+xml")
TEXT = ("json", "xml", "javascript", "yaml", "toml", "x-sh", "csv", "x-www-form-urlencoded")
# Encodings of the web. Others that Python knows, such as punycode, take for ever or are none.
ENCODINGS = ("utf", "iso-8859", "iso8859", "latin", "windows-", "cp", "gb", "big5", "euc", "shift")
MORE_ENCODINGS = ("koi8", "ascii", "us-ascii", "iso-2022-jp", "sjis", "tis-620", "macintosh")


def text_of(page: Page) -> tuple[str, str]:
    """The text, of HTML what a reader sees, and notes on what the server said of it.

    Raises ToolError for what is no text.
    """
    kind, _, parameters = page.content_type.lower().partition(";")
    kind = kind.strip()
    text, note = _decoded(page.body, _charset(parameters))
    if kind in HTML or (not kind and text.lstrip()[:1] == "<"):
        return turbohtml.parse(text, positions=False).to_text().strip(), note
    if not (kind.startswith("text/") or kind.endswith(TEXT) or not kind) or "\0" in text:
        raise ToolError(f"{page.url} is {kind or 'binary'}, {len(page.body)} bytes: not text")
    return text, note


def _charset(parameters: str) -> str:
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip() == "charset":
            return value.strip(" \t\"'")
    return ""


def _decoded(body: bytes, declared: str) -> tuple[str, str]:
    """By a mark at the beginning, by what the server declares if that fits, else by the bytes."""
    found = detect(body)
    if found.codec is None:
        return "", ""
    if declared and not found.bom:
        text = _strictly(body, declared)
        if text is not None:
            return text, ""
        note = f"it is not in {declared[:40]}, as the server says; read as {found.encoding}"
    else:
        note = ""
    return body.decode(found.codec, "replace").removeprefix("\ufeff"), note


def _strictly(body: bytes, encoding: str) -> str | None:
    """None when the bytes do not fit the encoding; one character may be cut at the end."""
    if not encoding.startswith((*ENCODINGS, *MORE_ENCODINGS)) or encoding.startswith("utf-7"):
        return None
    try:
        return codecs.getincrementaldecoder(encoding)("strict").decode(body)
    except (LookupError, UnicodeError):
        return None
