"""Check that no panel of a page of play covers another, on a phone and on a desk."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Page

from tests.browser import SHOTS

SCRIPT = Path(__file__).with_name("panels_apart.js").read_text().rstrip().rstrip(";")
SIZES = {390: 844, 1440: 900}
"""The width and height of a phone and of a desk, in CSS pixels."""


async def covered(page: Page, name: str, sizes: dict[int, int] | None = None) -> list[str]:
    """Return what covers something at each size. Take pictures of the window and of the whole page.

    The sheet at the foot of a phone counts. It must leave the drawing in sight. At the end of the page, it
    must hide nothing.
    """
    found = []
    for width, height in (sizes or SIZES).items():
        await page.set_viewport_size({"width": width, "height": height})
        await page.wait_for_function(f"innerWidth === {width}")
        found += [f"{name}, {width}: {one}" for one in await page.evaluate(SCRIPT)]
        if SHOTS:
            await page.screenshot(path=f"{SHOTS}/{name}-{width}.png")
            await page.screenshot(path=f"{SHOTS}/{name}-{width}-whole.png", full_page=True)
    return found
