"""A page that waits for a result loads itself again, but never stops a reader who leaves it."""

from __future__ import annotations

import asyncio

from django.contrib.staticfiles import finders
from playwright.async_api import Page, Route

from tests.browser import IN_A_BROWSER

pytestmark = IN_A_BROWSER

HOST = "http://waiting.test"
EVERY = 0.2
"""Seconds between two loads of the page."""
SLOW = 0.7
"""Seconds until the next page answers."""
PAGE = f"""<!doctype html><title>Waiting</title><a href="/next">Next</a>
<form action="/next"><button>Go</button></form>
<script src="/waiting.js" data-waiting="{EVERY}"></script>"""


async def test_a_page_that_waits_lets_its_reader_leave(page: Page) -> None:
    loads = list[str]()
    script = finders.find("js/waiting.js")
    assert script

    async def serve(route: Route) -> None:
        at = route.request.url.removeprefix(HOST)
        loads.append(at)
        if at == "/waiting.js":
            await route.fulfill(path=script)
        elif at == "/":
            await route.fulfill(body=PAGE, content_type="text/html")
        else:
            await asyncio.sleep(SLOW)
            await route.fulfill(body="<title>Next</title>", content_type="text/html")

    await page.route(f"{HOST}/**", serve)
    for leave in ("a", "button"):
        loads.clear()
        await page.goto(f"{HOST}/")
        async with asyncio.timeout(10):
            while loads.count("/") < 2:
                await asyncio.sleep(EVERY / 3)
        await page.click(leave, no_wait_after=True)
        await page.wait_for_url(f"{HOST}/next*", timeout=10_000)
        assert loads[-1].startswith("/next") and await page.title() == "Next"
