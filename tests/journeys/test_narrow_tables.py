"""On a phone, tables whose last columns matter are read without scrolling sideways."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from django.contrib.staticfiles.finders import find
from django.template.loader import render_to_string
from playwright.async_api import Page

from tests.browser import IN_A_BROWSER

pytestmark = IN_A_BROWSER

SHEETS = ("tokens", "base", "staff", "live")
SIDEWAYS = """() => { const one = document.querySelector(".data-scroll");
                      return one.scrollWidth - one.clientWidth; }"""


async def test_outages_are_read_whole_on_a_phone(page: Page) -> None:
    since = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
    one = {"what": "co-players' workers", "since": since, "until": since, "seconds": 1234.0}
    outages = [
        one | {"note": "the clock of this machine was set back"},
        one | {"until": None, "seconds": None},
    ]
    table = render_to_string("study/monitor/outages.html", {"outages": outages, "outages_days": 7})
    styles = "".join(Path(find(f"css/{name}.css") or "").read_text() for name in SHEETS)
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.set_content(f"<html lang=en><style>{styles}</style><body><main>{table}</main>")
    assert await page.evaluate(SIDEWAYS) <= 0
    cell = page.get_by_role("cell", name="Until: 2026-03-04 05:06:07")
    assert await cell.count() == 1 and await page.get_by_role("columnheader").count() == 5
