from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

Show = Callable[..., Page]


def part(hits: int, more: str = "") -> str:
    rows = "".join(f'<div class="entry">hit {n}</div>' for n in range(hits))
    link = f'<a href="/page" data-part="{more}">go on</a>' if more else "These are all."
    return (
        f'{rows}<div data-looked="500" data-hits="{hits}"><span role="status"></span> {link}</div>'
    )


def test_it_goes_on_to_the_end_and_counts(show: Show) -> None:
    page = show(
        f"<text-search>{part(1, '/two')}</text-search>",
        "text-search",
        answers={"/two": part(0, "/three"), "/three": part(2)},
    )
    expect(page.get_by_role("status").last).to_have_text("3 found in 1,500 messages.")
    assert page.locator(".entry").count() == 3
    expect(page.get_by_role("button")).to_have_count(0)


def test_it_can_be_stopped_and_the_link_to_go_on_stays(show: Show) -> None:
    page = show(f"<text-search>{part(1, '/slow')}</text-search>")
    waiting: list[Route] = []
    page.route("**/slow", lambda route: waiting.append(route))
    page.add_script_tag(url="http://modules.test/static/js/text-search.js", type="module")
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button")).to_have_count(0)
    expect(page.get_by_role("link", name="go on")).to_be_visible()
    waiting[0].abort()
