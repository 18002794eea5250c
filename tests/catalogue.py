"""The texts of pages and scripts, and what locale/ holds of them.

Run as a program it brings locale/ up to date: new texts come in untranslated, old ones go, and what
Django reads (.mo) is written anew. Needs no gettext.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import polib
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
LANGUAGES = ("zh_Hans",)
DOMAINS = ("django", "djangojs")
# Where a context and a plural stand in the arguments of each function.
CALLS = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop"), (None, 0, None)),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (None, 0, 1)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), (0, 1, None)),
    **dict.fromkeys(("npgettext", "npgettext_lazy"), (0, 1, 2)),
    # What agentcore says to people.
    "Said": (None, 0, None),
}
_QUOTED = r"""u?'(?:[^'\\\n]|\\.)*'|u?"(?:[^"\\\n]|\\.)*\""""
_CALL = re.compile(rf"\b({'|'.join(CALLS)})\(\s*((?:(?:{_QUOTED})\s*,?\s*)+)")


class Text(NamedTuple):
    context: str
    one: str
    many: str


@cache
def texts(domain: str) -> dict[Text, list[str]]:
    """Each text with the files that say it."""
    found: dict[Text, set[str]] = {}
    for path, text in _said(domain):
        found.setdefault(text, set()).add(path.relative_to(ROOT).as_posix())
    return {text: sorted(files) for text, files in sorted(found.items())}


def po_path(language: str, domain: str) -> Path:
    return ROOT / "locale" / language / "LC_MESSAGES" / f"{domain}.po"


def text_of(entry: polib.POEntry) -> Text:
    return Text(entry.msgctxt or "", entry.msgid, entry.msgid_plural)


def translations(entry: polib.POEntry) -> list[str]:
    """One for each plural form of the language."""
    return list(entry.msgstr_plural.values()) if entry.msgid_plural else [entry.msgstr]


def update(path: Path, wanted: dict[Text, list[str]]) -> list[str]:
    """Bring a .po and its .mo up to date; what is not translated yet."""
    old = polib.pofile(str(path), wrapwidth=98)
    known = {text_of(entry): entry for entry in old}
    new = polib.POFile(wrapwidth=98)
    new.header, new.metadata = old.header, old.metadata
    for text, files in wanted.items():
        entry = known.get(text) or _entry(text)
        entry.occurrences = [(file, "") for file in files]
        new.append(entry)
    new.save(str(path))
    new.save_as_mofile(str(path.with_suffix(".mo")))
    return [entry.msgid for entry in new if not all(translations(entry))]


def _entry(text: Text) -> polib.POEntry:
    said = {"msgid_plural": text.many, "msgstr_plural": {0: ""}} if text.many else {}
    return polib.POEntry(msgid=text.one, msgctxt=text.context or None, **said)


def _said(domain: str) -> Iterator[tuple[Path, Text]]:
    if domain == "djangojs":
        for path in (ROOT / "static" / "js").rglob("*.js"):
            yield from ((path, text) for text in _of_calls(path.read_text()))
        return
    for path in (ROOT / "templates").rglob("*.html"):
        code = templatize(path.read_text(), origin=str(path))
        yield from ((path, text) for text in _of_calls(code))
    for package in ("agentcore", "hermesweb"):
        for path in (ROOT / package).rglob("*.py"):
            yield from ((path, text) for text in _of_python(path.read_text()))


def _of_python(code: str) -> Iterator[Text]:
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.Call) or getattr(node.func, "id", "") not in CALLS:
            continue
        values = [one.value if isinstance(one, ast.Constant) else None for one in node.args]
        if text := _text(node.func.id, values):  # type: ignore[attr-defined]
            yield text


def _of_calls(code: str) -> Iterator[Text]:
    for name, arguments in _CALL.findall(code):
        quoted = re.findall(_QUOTED, arguments)
        if text := _text(name, [ast.literal_eval(one) for one in quoted]):
            yield text


def _text(name: str, values: list[Any]) -> Text | None:
    """None where the text is worked out at run time."""
    places = CALLS[name]
    said = ["" if place is None else values[place] for place in places]
    return Text(*said) if all(isinstance(one, str) for one in said) else None


def main() -> None:
    for language in LANGUAGES:
        for domain in DOMAINS:
            path = po_path(language, domain)
            missing = update(path, texts(domain))
            print(f"{path.relative_to(ROOT)}: {len(missing)} texts have no translation yet")
            for text in missing:
                print(f"    {text}")


if __name__ == "__main__":
    main()
