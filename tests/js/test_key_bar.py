from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

Show = Callable[..., Page]

PAGE = """
<p id="said"></p>
<button data-key="n" id="new">New session <kbd>n</kbd></button>
<button data-key="x" hidden>Hidden</button>
<input data-key="/" data-key-label="filter" id="filter">
<div id="strip" data-keys="ArrowLeft ArrowRight c C" data-key-label="turn, compaction">strip</div>
<ul>
<li data-row><a href="#a" id="a">A</a><button data-key="p" id="pin-a">Pin</button></li>
<li data-row><a href="#b" id="b">B</a><button data-key="p" id="pin-b">Pin</button></li>
</ul>
<key-bar></key-bar>
<script>
const say = (text) => document.getElementById("said").append(text + " ");
for (const button of document.querySelectorAll("button"))
  button.addEventListener("click", () => say(button.id));
document.getElementById("strip").addEventListener("key", (event) => say(event.detail));
</script>
"""


def test_the_bar_names_only_what_works_here(show: Show) -> None:
    page = show(PAGE, "key-bar")
    expect(page.locator(".keys li")).to_have_text(
        ["↑↓row", "nNew session", "/filter", "←→turn", "cCcompaction", "pPin", "?all keys"]
    )


def test_a_key_clicks_its_element(show: Show) -> None:
    page = show(PAGE, "key-bar")
    page.keyboard.press("n")
    expect(page.locator("#said")).to_have_text("new")


def test_keys_are_letters_while_a_field_has_the_focus(show: Show) -> None:
    page = show(PAGE, "key-bar")
    page.keyboard.press("/")
    expect(page.locator("#filter")).to_be_focused()
    page.keyboard.type("nc")
    expect(page.locator("#filter")).to_have_value("nc")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    expect(page.locator("#said")).to_have_text("c")


def test_a_key_with_a_modifier_is_the_browsers(show: Show) -> None:
    page = show(PAGE, "key-bar")
    page.keyboard.press("Control+n")
    page.keyboard.press("Shift+C")
    expect(page.locator("#said")).to_have_text("C")


def test_arrows_move_between_rows_and_a_rows_key_is_its_own(show: Show) -> None:
    page = show(PAGE, "key-bar")
    page.keyboard.press("p")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator("#b")).to_be_focused()
    page.keyboard.press("p")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("p")
    expect(page.locator("#said")).to_have_text("pin-b pin-a")


def test_the_question_mark_explains_and_can_switch_single_keys_off(show: Show) -> None:
    page = show(PAGE, "key-bar")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    expect(page.locator("#keys dd")).to_have_count(6)
    page.get_by_label("Single keys work").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#said")).to_have_text("ArrowRight")
    page.reload()
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_hidden()
