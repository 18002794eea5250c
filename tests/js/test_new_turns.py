from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

Show = Callable[..., Page]
# A page as the session's: what is above, the list, the bar below; the link makes the list follow.
BODY = """
<style nonce="n">
  #above { height: 600px } #below { height: 400px } #messages { height: 3000px; background: silver }
  new-turns { display: block } .dock { position: fixed; inset: auto 0 0; height: 50px }
  .visually-hidden { position: absolute; width: 1px; overflow: hidden }
</style>
<div id="above"></div>
<section id="messages"%s><a data-newest hidden href="#">newest</a></section>
<div id="below"></div>
<div class="dock">
<new-turns data-keys="f" data-key-label="follow"></new-turns><key-bar></key-bar>
</div>
<script>
  window.asked = 0;
  document.addEventListener("messages:said", () => { window.asked += 1; });
  const newest = document.querySelector("[data-newest]");
  newest.addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("messages").setAttribute("data-follows", "");
    document.dispatchEvent(new CustomEvent("htmx:after:swap"));
  });
</script>
"""
FOLLOWS = BODY % " data-follows"
OLDER = BODY % ""


def tell(page: Page, *kinds: str) -> None:
    for kind in kinds:
        page.evaluate(
            "(kind) => document.dispatchEvent(new CustomEvent('session:' + kind, { detail: {} }))",
            kind,
        )


def scroll(page: Page, y: int) -> None:
    page.evaluate("(y) => new Promise((done) => { scrollTo(0, y); setTimeout(done, 100); })", y)


def asked(page: Page) -> Any:
    return page.evaluate("window.asked")


def left_below(page: Page) -> Any:
    """Pixels of the list that lie below what can be seen."""
    return page.evaluate(
        "document.getElementById('messages').getBoundingClientRect().bottom - (innerHeight - 50)"
    )


@pytest.fixture
def button(page: Page) -> Any:
    return page.locator("new-turns button")


@pytest.mark.parametrize("y", [0, 10_000])
def test_who_has_the_newest_in_view_is_shown_what_is_said_and_no_button(
    show: Show, button: Any, y: int
) -> None:
    page = show(FOLLOWS, "new-turns")
    scroll(page, y)
    tell(page, "message_added", "turn_ended")
    assert asked(page) == 1
    expect(button).to_be_hidden()


def test_while_one_reads_in_the_list_it_stays_and_the_turns_are_counted(
    show: Show, button: Any
) -> None:
    page = show(FOLLOWS, "new-turns")
    scroll(page, 1_500)
    tell(page, "message_added", "turn_ended")
    expect(button).to_have_text("1 new turn")
    tell(page, "message_added", "turn_ended")
    expect(button).to_have_text("2 new turns")
    # Screen readers are told once.
    expect(page.get_by_role("status").last).to_have_text("1 new turn")
    assert asked(page) == 0


def test_the_button_leads_to_the_end_and_goes(show: Show, button: Any) -> None:
    page = show(FOLLOWS, "new-turns")
    scroll(page, 1_500)
    tell(page, "message_added", "turn_ended")
    button.click()
    assert asked(page) == 1 and left_below(page) <= 0
    expect(button).to_be_hidden()


def test_who_comes_back_alone_is_shown_what_was_said_meanwhile(show: Show, button: Any) -> None:
    page = show(FOLLOWS, "new-turns")
    scroll(page, 1_500)
    tell(page, "message_added", "turn_ended")
    scroll(page, 10_000)
    assert asked(page) == 1
    expect(button).to_be_hidden()


def test_from_an_older_page_it_leads_to_the_newest(show: Show, button: Any) -> None:
    page = show(OLDER, "new-turns")
    scroll(page, 900)
    tell(page, "turn_ended")
    button.click()
    assert page.locator("#messages[data-follows]").count() == 1 and left_below(page) <= 0


def test_the_end_stays_in_view_when_the_list_grows(show: Show) -> None:
    page = show(FOLLOWS, "new-turns")
    scroll(page, 600 + 3_000 - page.viewport_size["height"] + 50)  # type: ignore[index]
    page.evaluate(
        """() => {
          document.dispatchEvent(new CustomEvent("htmx:before:swap"));
          const more = document.createElement("div");
          more.textContent = "more";
          document.getElementById("messages").after(more);
          document.getElementById("messages").insertAdjacentHTML("beforeend", "<p>more</p>");
          document.getElementById("above").insertAdjacentHTML("beforebegin", "<hr>".repeat(20));
          document.dispatchEvent(new CustomEvent("htmx:after:swap"));
        }"""
    )
    assert left_below(page) <= 0


def test_a_turn_chosen_in_the_strip_is_looking_back_too(show: Show, button: Any) -> None:
    page = show(FOLLOWS + "<turn-strip></turn-strip>", "new-turns")
    page.evaluate("document.querySelector('turn-strip').following = false")
    tell(page, "message_added", "turn_ended")
    expect(button).to_have_text("1 new turn")
    assert asked(page) == 1
    page.evaluate(
        """() => {
          const strip = document.querySelector("turn-strip");
          strip.following = true;
          strip.dispatchEvent(new CustomEvent("turn:shown", { bubbles: true }));
        }"""
    )
    expect(button).to_be_hidden()


def test_the_key_f_leads_to_the_newest(show: Show, button: Any) -> None:
    page = show(FOLLOWS, "new-turns", "key-bar")
    scroll(page, 1_500)
    tell(page, "turn_ended")
    expect(button).to_be_visible()
    page.keyboard.press("f")
    expect(button).to_be_hidden()
    assert left_below(page) <= 0
