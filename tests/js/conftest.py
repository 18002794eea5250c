"""Modules run in Chromium on a page made of routes: no server, and a socket the test holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from playwright.sync_api import Page, Route

ORIGIN = "http://modules.test"
# The application's policy; the nonce is that of the inline scripts of a test's body.
POLICY = (
    "default-src 'self'; script-src 'self' 'nonce-n'; style-src 'self' 'nonce-n'; "
    "img-src 'self' data:; object-src 'none'; connect-src 'self' ws:"
)
SHELL = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<link rel="stylesheet" href="/static/tokens.css">
<link rel="stylesheet" href="/static/css/base.css">
<link rel="stylesheet" href="/static/css/strip.css">
<link rel="stylesheet" href="/static/css/plot.css">
<script nonce="n"></script></head>
<body><span id="connection" role="status"></span>{body}
{scripts}</body></html>"""


@pytest.fixture
def show(page: Page) -> Callable[..., Page]:
    """Opens a page with `body` that has loaded the named modules; other paths by `answers`."""

    def open_page(body: str, *modules: str, answers: dict[str, str] | None = None) -> Page:
        body = body.replace("<script>", '<script nonce="n">')
        tags = [f'<script type="module" src="/static/js/{name}.js"></script>' for name in modules]
        html = SHELL.replace("{body}", body).replace("{scripts}", "".join(tags))
        page.route(f"{ORIGIN}/**", lambda route: _answer(route, {"/": html, **(answers or {})}))
        page.goto(f"{ORIGIN}/")
        return page

    return open_page


def _answer(route: Route, answers: dict[str, str]) -> None:
    path = route.request.url.removeprefix(ORIGIN)
    if path in answers:
        kind = "text/html" if path == "/" else "application/json"
        headers = {"Content-Security-Policy": POLICY}
        route.fulfill(body=answers[path], content_type=f"{kind}; charset=utf-8", headers=headers)
        return
    found = finders.find(path.removeprefix("/static/"))
    if found is None:
        route.fulfill(status=404)
    else:
        route.fulfill(path=Path(found))
