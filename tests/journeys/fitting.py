"""Check accessibility rules that axe does not check: target sizes, readable text, visible focus, and content
that stays visible when the page is zoomed or the text is spaced out."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Page

SCRIPT = Path(__file__).with_suffix(".js").read_text()
TARGET, TEXT = 44, 12
"""The minimum width and height of a target, and the minimum size of text, in CSS pixels."""
ZOOMED = {"width": 320, "height": 256}
"""The size of a page of 1280 by 1024 pixels at 400 % zoom."""


async def misfits(page: Page, name: str) -> list[str]:
    """Return a line for each fault of the shown page. The function changes the page, so load it again
    afterwards."""

    async def asked(way: str, question: str) -> list[str]:
        return [f"{name}, {way}: {one}" for one in await page.evaluate(f"fitting.{question}")]

    await page.evaluate(SCRIPT)
    await page.set_viewport_size({"width": 360, "height": 900})
    found = await asked("narrow", f"small({TARGET}, {TEXT})") + await asked("focused", "obscured()")
    await page.set_viewport_size({"width": 1440, "height": 900})
    found += await asked("wide", f"small({TARGET}, {TEXT})")
    await page.set_viewport_size(ZOOMED)  # type: ignore[arg-type]
    found += await asked("zoomed", "lost()")
    await page.evaluate("fitting.space()")
    return found + await asked("spaced", "lost()")
