"""Each text of pages and scripts is there in every language, as locale/ and its .mo hold it."""

from __future__ import annotations

import ast
import re
from collections import Counter
from enum import StrEnum
from pathlib import Path

import catalogue
import polib
import pytest
from catalogue import Text
from django.template.base import Lexer, TokenType

from agentcore.breakdown import Category
from agentcore.compaction.plan import Fate, Origin
from agentcore.compaction.result import CompactionState, Trigger
from agentcore.compaction.strategies import strategy_names
from agentcore.directives import InstructionKind
from agentcore.facts import FactKind
from agentcore.kinds import BreakReason, EventKind, RunEnd
from agentcore.memory import EntryKind
from agentcore.messages import Role
from agentcore.options import (
    Automatic,
    Direction,
    KeepDocs,
    SummaryFailure,
    SummaryInput,
    SummarySource,
)
from agentcore.pressure import TokenSource, Unit, WindowSource
from agentcore.profile import GROUPS
from agentcore.sections import Part
from agentcore.tools import Mode
from agentcore.transcripts.base import ProblemKind
from agentcore.verify import Check
from hermesweb.admin.profile_form import ProfileForm
from hermesweb.labels import NAMES
from hermesweb.models import DeliveryState, SessionKind, Status
from hermesweb.occasions import Occasion
from hermesweb.rollup import By
from hermesweb.wall import Group, Sort

RUN = "run .venv/bin/python tests/catalogue.py and translate what it names"
TEMPLATES = catalogue.ROOT / "templates"
FILES = [
    catalogue.po_path(language, domain)
    for language in catalogue.LANGUAGES
    for domain in catalogue.DOMAINS
]
# Closed lists whose values are read on a page.
SHOWN: tuple[type[StrEnum], ...] = (
    *(Category, Role, Part, Fate, Origin, FactKind, EntryKind, Check, Trigger, CompactionState),
    *(Status, SessionKind, RunEnd, EventKind, InstructionKind, BreakReason, ProblemKind, Mode),
    *(Group, Sort, By, Unit, TokenSource, WindowSource, Occasion, DeliveryState),
    *(Automatic, Direction, KeepDocs, SummaryFailure, SummaryInput, SummarySource),
)
# Which argument of a call a person reads; the API speaks English, and so do its own refusals.
TOLD = {
    **dict.fromkeys(("Refused", "Invalid", "ValidationError", "PermissionDenied"), 0),
    **dict.fromkeys(("messages.success", "messages.warning", "messages.error"), 1),
}
TOLD_BY_NAME = {"label", "help_text", "said", "description", "verbose_name", "verbose_name_plural"}
TOLD_IN_DICTS = {"aria-label", "data-key-label", "required", "empty"}
# The same of what `agentcore` says, and pages show: an exception, or a value that tells why.
SAID = {
    **dict.fromkeys(("ModelError", "ContextTooLong", "ProfileError", "TranscriptError"), 0),
    **dict.fromkeys(("MessageError", "WireError", "PlanError", "StalePlan", "ToolError"), 0),
    **dict.fromkeys(("ModelUnavailable", "WorkspaceGone", "NoHistory"), 0),
    **{"SummaryFailed": 1, "Route": 1, "Problem": 2, "Violation": 2},
}
# What only a model, a programmer, a log or a test reads.
UNSEEN = {
    *(("PlanError", name) for name in ("plan.py", "result.py", "compact.py")),
    *(("StalePlan", name) for name in ("border.py", "queued.py", "changes.py")),
    *(("TranscriptError", name) for name in ("exact.py", "told.py")),
    *(("MessageError", "hooks.py"), ("ModelError", "scripted.py")),
}
SEEN_OF_TOOLS = {"arguments.py", "fetcher.py"}
CORE = sorted(
    path
    for package in ("agentcore", "hermesweb")
    for path in (catalogue.ROOT / package).rglob("*.py")
)
CODE = sorted(
    path
    for path in (catalogue.ROOT / "hermesweb").rglob("*.py")
    if not {"api", "migrations", "management"} & set(path.parts)
)
# Names, units, signs and addresses.
SAME_EVERYWHERE = {"Hermesweb", "UTC", "USD", "https"}
MARKS = re.compile(r"%\(\w+\)[a-z]|\{\w+[^{}]*\}|%%|</?[a-z][^>]*>")


def entries(path: Path) -> list[polib.POEntry]:
    return list(polib.pofile(str(path)))


def said(text: Text) -> str:
    return text.many or text.one


@pytest.mark.parametrize("path", FILES, ids=str)
def test_the_catalogue_holds_each_text_and_no_other(path: Path) -> None:
    held = {catalogue.text_of(entry) for entry in entries(path)}
    wanted = catalogue.texts(path.stem).keys()
    assert wanted - held == set(), RUN
    assert held - wanted == set(), RUN


@pytest.mark.parametrize("path", FILES, ids=str)
def test_each_text_is_translated_and_none_is_a_guess(path: Path) -> None:
    found = entries(path)
    assert [entry.msgid for entry in found if not all(catalogue.translations(entry))] == [], RUN
    assert [entry.msgid for entry in found if entry.fuzzy or entry.obsolete] == []


@pytest.mark.parametrize("path", FILES, ids=str)
def test_a_translation_has_the_values_and_the_tags_of_its_text(path: Path) -> None:
    wrong = [
        (entry.msgid, translation)
        for entry in entries(path)
        for translation in catalogue.translations(entry)
        if Counter(MARKS.findall(translation))
        != Counter(MARKS.findall(said(catalogue.text_of(entry))))
    ]
    assert wrong == []


@pytest.mark.parametrize("path", FILES, ids=str)
def test_what_django_reads_is_what_the_catalogue_says(path: Path) -> None:
    compiled = polib.pofile(str(path)).to_binary()
    assert path.with_suffix(".mo").read_bytes() == compiled, RUN


def test_every_value_that_is_shown_has_a_name() -> None:
    named = {name for names in NAMES.values() for name in names}
    texts = {text.one for text in catalogue.texts("django")}
    assert named <= texts
    values = [member.value for members in SHOWN for member in members]
    fields = [str(field.label) for field in ProfileForm.declared_fields.values()]
    wanted = {value.replace("_", " ") for value in (*values, *strategy_names(), *fields, *GROUPS)}
    assert wanted - texts == set(), "hermesweb/labels.py names it"


def test_the_keys_of_one_element_keep_their_number() -> None:
    templates = "".join(path.read_text() for path in TEMPLATES.rglob("*.html"))
    lists = re.findall(r'data-keys="[^"]*" data-key-label="{% translate "([^"]*)"', templates)
    assert lists
    for language in catalogue.LANGUAGES:
        known = {e.msgid: e.msgstr for e in entries(catalogue.po_path(language, "django"))}
        for one in lists:
            assert known[one].count(", ") == one.count(", ")


def unmarked(template: str) -> list[str]:
    """Words that are read as they stand in a template, or read out."""
    tokens = Lexer(template).tokenize()
    html, inside = "", False
    for token in tokens:
        if token.token_type == TokenType.BLOCK:
            name = token.contents.split()[0]
            inside = name == "blocktranslate" or (inside and name != "endblocktranslate")
        html += token.contents if token.token_type == TokenType.TEXT and not inside else "\0"
    html = re.sub(r"<(script|style|code|kbd)\b.*?</\1>", "", html, flags=re.DOTALL)
    attributes = re.findall(r'\b(?:aria-label|title|placeholder|data-key-label)="([^"]*)"', html)
    said = " ".join((*attributes, re.sub(r"<[^>]*>", " ", html)))
    return [word for word in re.findall("[A-Za-z]{2,}", said) if word not in SAME_EVERYWHERE]


@pytest.mark.parametrize(
    "path", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: str(path.relative_to(TEMPLATES))
)
def test_every_word_of_a_template_is_marked_for_translation(path: Path) -> None:
    assert unmarked(path.read_text()) == []


def test_a_word_that_is_not_marked_is_found() -> None:
    template = """{% load i18n %}{# no matter #}<p title="Read out">{% if a < b %}Shown{% endif %}
    {% translate "marked" %}{% blocktranslate with n=n %}So {{ n }} is{% endblocktranslate %}
    <code>left_alone</code></p>"""
    assert unmarked(template) == ["Read", "out", "Shown"]


def untold(code: str) -> list[str]:
    """What a person would read in English only: errors, notes and labels as plain strings."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Call):
            place = TOLD.get(ast.unparse(node.func).removeprefix("acts.").removeprefix("forms."))
            said = node.args[place : place + 1] if place is not None else []
            said += [one.value for one in node.keywords if one.arg in TOLD_BY_NAME]
            found += [ast.unparse(one) for one in said if isinstance(one, ast.JoinedStr)]
            found += [one.value for one in said if getattr(one, "value", "") and is_text(one)]
        elif isinstance(node, ast.Dict):
            named = zip(node.keys, node.values, strict=True)
            told = [value for key, value in named if getattr(key, "value", "") in TOLD_IN_DICTS]
            found += [one.value for one in told if is_text(one)]
    return found


def unsaid(code: str, file: str) -> list[str]:
    """What `agentcore` tells a person as plain English, there or by a name that stands for it."""
    found: list[ast.expr] = []
    named: dict[str, ast.expr] = {}
    nodes = [node for node in ast.walk(ast.parse(code)) if hasattr(node, "lineno")]
    for node in sorted(nodes, key=lambda one: one.lineno):  # type: ignore[attr-defined]
        if isinstance(node, ast.Assign):
            named |= {ast.unparse(target): node.value for target in node.targets}
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            seen = file in SEEN_OF_TOOLS if name == "ToolError" else (name, file) not in UNSEEN
            if name in SAID and seen:
                said = node.args[SAID[name] : SAID[name] + 1]
                found += [named.get(ast.unparse(one), one) for one in said]
    return [ast.unparse(one) for one in found if has_words(one)]


def has_words(node: ast.expr) -> bool:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    texts = [part.value for part in parts if isinstance(part, ast.Constant)]
    return any(re.search("[a-z]{3}", str(text)) for text in texts)


def is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


@pytest.mark.parametrize("path", CODE, ids=lambda path: str(path.relative_to(catalogue.ROOT)))
def test_what_python_tells_a_person_is_marked_too(path: Path) -> None:
    assert untold(path.read_text()) == []


def test_a_plain_refusal_is_found() -> None:
    code = """
raise Refused("stop first", "running")
answer(said=f"{n} go", other="x")
Invalid(_("a"), "b")
"""
    assert sorted(untold(code)) == ["f'{n} go'", "stop first"]


@pytest.mark.parametrize("path", CORE, ids=lambda path: str(path.relative_to(catalogue.ROOT)))
def test_what_the_core_tells_a_person_can_be_said_in_another_language(path: Path) -> None:
    assert unsaid(path.read_text(), path.name) == []


def test_a_plain_reason_of_the_core_is_found() -> None:
    code = """
def f(name):
    text = f"{name} is gone"
    raise ModelError(text, retryable=True)
    SummaryFailed(Failure.EMPTY, "no text came")
    text = Said("{name} is gone", name=name)
    raise ModelError(text)
    raise ModelError(f"{name}: {error}")
    raise ModelError(str(error))
"""
    found = unsaid(code, "some.py")
    assert found == ["f'{name} is gone'", "'no text came'"]


def test_texts_are_found_in_templates_code_and_scripts() -> None:
    pages, scripts = catalogue.texts("django"), catalogue.texts("djangojs")
    assert Text("", "Compact now", "") in pages
    assert Text("", "%(count)s turn", "%(count)s turns") in pages
    assert Text("", "%(count)s needs you.", "%(count)s need you.") in pages
    assert Text("of a session", "start", "") in pages
    assert Text("", "%(count)s newer turn", "%(count)s newer turns") in scripts
