"""What frames every page: the way between the parts, the keys, the fields of forms."""

from __future__ import annotations

from typing import Any

import pytest
from house import BASE_DIR
from playwright.sync_api import Browser, expect

OUTSIDE = """
(all) => all.filter((one) => {
  const box = one.getBoundingClientRect();
  const frame = one.closest("nav, .keys").getBoundingClientRect();
  return box.width === 0 || box.left < frame.left || box.right > frame.right;
}).map((one) => one.textContent)
"""
CUT = """
(keys) => {
  const line = keys[0].getBoundingClientRect();
  const end = keys[0].lastElementChild.getBoundingClientRect();
  return [...keys[0].children].filter((one) => {
    const box = one.getBoundingClientRect();
    const shown = box.top < line.bottom;
    return shown && one !== keys[0].lastElementChild && box.right > end.left;
  }).map((one) => one.textContent);
}
"""


def test_all_parts_are_in_reach_at_360_px(watched: Any) -> None:
    page = watched.page
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(watched.house.url)
    links = page.locator(".top__nav a")
    assert links.evaluate_all(OUTSIDE) == []
    assert links.count() >= 2


@pytest.mark.parametrize("width", [1440, 1000])
def test_the_way_to_all_keys_is_there_and_no_key_is_cut(watched: Any, width: int) -> None:
    page = watched.page
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(f"{watched.house.url}/sessions/new/")
    page.evaluate(
        """() => document.querySelector("main").insertAdjacentHTML("beforeend",
          [..."abcdefghjklmopqr"].map((key) =>
            `<button data-key="${key}" data-key-label="a label">${key}</button>`).join(""))"""
    )
    page.evaluate("document.dispatchEvent(new Event('htmx:after:swap'))")
    keys = page.locator(".keys")
    assert keys.locator("li").count() > 16
    assert keys.evaluate_all(CUT) == []
    assert keys.locator("li").last.locator("button").evaluate_all(OUTSIDE) == []
    keys.get_by_role("button", name="all keys").click()


def test_the_sign_in_is_sound_in_both_themes_and_languages(watched: Any) -> None:
    page = watched.page
    page.context.clear_cookies()
    page.set_viewport_size({"width": 360, "height": 800})
    page.goto(watched.house.url)
    assert "/accounts/login/" in page.url
    for theme in ("light", "dark"):
        watched.theme(theme)
        assert watched.findings() == []
    assert watched.in_chinese() == []


def test_a_field_with_an_error_has_an_edge_of_its_own(
    watched: Any, browser: Browser, signed_in: dict[str, Any]
) -> None:
    context = browser.new_context(storage_state=signed_in)
    page = context.new_page()
    page.goto(f"{watched.house.url}/sessions/new/")
    page.get_by_label("Folder").fill("/nowhere")
    page.get_by_role("button", name="Start").click()
    color = "(one) => getComputedStyle(one).borderTopColor"
    right, wrong = page.get_by_label("Title"), page.locator("#id_instruction")
    expect(page.locator("#id_instruction_error")).to_be_visible()
    assert wrong.evaluate(color) != right.evaluate(color)
    context.close()


def test_a_title_without_a_space_does_not_widen_its_pages(watched: Any) -> None:
    page = watched.page
    answer = page.request.post(
        f"{watched.house.url}/api/v1/sessions",
        headers={"Authorization": f"Bearer {watched.house.api_token}"},
        data={"workspace": str(BASE_DIR / "docs"), "model": "explorer", "profile": "small"}
        | {"title": "x" * 120},
    )
    assert answer.ok, answer.text()
    page.set_viewport_size({"width": 360, "height": 800})
    for rest in ("", "settings/", "pins/", "compact/"):
        page.goto(f"{watched.house.url}/sessions/{answer.json()['id']}/{rest}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, rest
