"""Tables fit the page: on a phone the last columns that matter, on a desktop several conditions."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.contrib.staticfiles.finders import find
from django.template.loader import render_to_string
from playwright.async_api import Page

from study.monitor.live_measures import LiveMeasures, MeasureCell
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
    await page.set_content(f"<html lang=en><style>{styles}</style><body class=staff><main>{table}</main>")
    assert await page.evaluate(SIDEWAYS) <= 0
    cell = page.get_by_role("cell", name="Until: 2026-03-04 05:06:07")
    assert await cell.count() == 1 and await page.get_by_role("columnheader").count() == 5


@pytest.mark.parametrize(("width", "conditions"), [(1440, 6), (360, 1)])
async def test_measures_of_several_conditions_fit_because_their_texts_break(
    page: Page, width: int, conditions: int
) -> None:
    cell = MeasureCell("92 %", "n = 60 (70 events), 95 % interval 75 % to 100 %")
    rows = (("Initiating capability", (cell,) * conditions),)
    names = tuple(f"Assistant, level {number}" for number in range(conditions))
    table = render_to_string(
        "study/monitor/live_measures.html", {"measures": LiveMeasures("people", names, rows)}
    )
    styles = "".join(Path(find(f"css/{name}.css") or "").read_text() for name in SHEETS)
    await page.set_viewport_size({"width": width, "height": 740})
    await page.set_content(f"<html lang=en><style>{styles}</style><body class=staff><main>{table}</main>")
    assert await page.evaluate(SIDEWAYS) <= 0
