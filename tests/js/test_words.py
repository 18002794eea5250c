"""The words of scripts: from the catalogue where a page has one, else as they stand there."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page

Show = Callable[..., Page]

ASK = """async () => {
  const { gettext, ngettext } = await import("/static/js/words.js");
  return [
    gettext("limit %(limit)s", { limit: "60 kB" }),
    ngettext("%(count)s newer turn", "%(count)s newer turns", 1),
    ngettext("%(count)s newer turn", "%(count)s newer turns", 2),
  ];
}"""
CATALOGUE = """<script>
  const words = { "limit %(limit)s": "上限 %(limit)s", "%(count)s newer turn": "新 %(count)s 轮" };
  window.django = { gettext: (text) => words[text] ?? text, ngettext: (one) => words[one] };
</script>"""


def test_without_a_catalogue_they_are_english(show: Show) -> None:
    assert show("").evaluate(ASK) == ["limit 60 kB", "1 newer turn", "2 newer turns"]


def test_with_a_catalogue_they_are_its_own_with_the_same_values(show: Show) -> None:
    assert show(CATALOGUE).evaluate(ASK) == ["上限 60 kB", "新 1 轮", "新 2 轮"]
