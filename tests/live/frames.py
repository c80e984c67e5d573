"""Measure how many frames a second the map of the block worlds draws: `python -m tests.live.frames`.

The map shows 2,048 blocks around a builder who walks without a pause, so every frame shows them elsewhere.
The program prints, at an angle and from above: frames a second, the time between frames that 95 of 100 keep,
and the milliseconds that the page itself spends on a frame. A browser draws at most 60 frames a second. It
needs Chromium, but no server. Without a graphics card, Chromium draws with the processor, which is slower.
`--seconds` sets the time for each view.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import django
from playwright.async_api import async_playwright

from kitchen.contract.page_view import DRAWING_ONLY, SeatView
from kitchen.registry.world_registry import get_page
from tests.browser import ARGUMENTS, find_chromium

if TYPE_CHECKING:
    from playwright.async_api import Page

SIZES = ((1440, 900), (390, 844))
WIDE, DEEP, HIGH = 32, 16, 4
WARM_UP = 1.0
"""Seconds before the measuring, in which pictures of blocks are drawn for the first time."""
MEASURE = """async seconds => {
    const now = document.getElementById("map-now"), play = document.querySelector("[data-play]");
    const start = JSON.parse(now.getAttribute("value"));
    const step = number => {
        const moved = structuredClone(start);
        moved.spots.find(one => one.spot === "you").at[0] += number % 2;
        now.setAttribute("value", JSON.stringify(moved));
        play.dispatchEvent(new Event("brigade:panels"));
    };
    const own = requestAnimationFrame, spent = [];
    window.requestAnimationFrame = paint => own(time => {
        const began = performance.now();
        paint(time);
        spent.push(performance.now() - began);
    });
    const gaps = [];
    let [number, last, walked] = [0, performance.now(), 0];
    const end = last + seconds * 1000;
    await new Promise(done => own(function tick(time) {
        if (gaps.length || number) gaps.push(time - last);
        last = time;
        if (time - walked > 200) { walked = time; step(number += 1); }
        time < end ? own(tick) : done();
    }));
    window.requestAnimationFrame = own;
    gaps.sort((one, other) => one - other);
    spent.sort((one, other) => one - other);
    const mean = gaps.reduce((sum, one) => sum + one, 0) / gaps.length;
    return [1000 / mean, gaps[Math.floor(gaps.length * 0.95)], spent[Math.floor(spent.length / 2)]];
}"""
"""Walk to and fro for some seconds. Return frames a second, the 95th percentile of milliseconds
between frames, and the median of milliseconds for painting one."""


def crowded() -> SeatView:
    """Return the view of a builder in the valley, in the middle of 2,048 blocks of four kinds. Modules are
    imported here, because Django is not set up earlier."""
    from tests.kitchen.worlds.blocks.games import game
    from tests.kitchen.worlds.cuisine.test_page import seen

    world = game("gather")
    kinds = ("stone", "oak_log", "iron_ore", "oak_planks")
    for x in range(WIDE):
        for z in range(DEEP):
            for y in range(HIGH):
                world.grid.put((x - WIDE // 2, y, z - DEEP // 2), kinds[(x + y + z) % len(kinds)])
    return replace(seen(world, 0), shown=DRAWING_ONLY)


async def measure(page: Page, seconds: float) -> list[float]:
    """Zoom out as far as the map allows, and measure while the builder walks."""
    for _ in range(8):
        await page.click("[data-zoom='-1']")
    await page.evaluate(MEASURE, WARM_UP)
    measured: list[float] = await page.evaluate(MEASURE, seconds)
    return measured


async def run(seconds: float) -> None:
    """Print a row for each size of the screen and each view. A module is imported here, because Django is not
    set up earlier."""
    from tests.kitchen.worlds.cuisine.test_floor_layout import open_page

    view = crowded()
    print(f"{'screen':>9} {'view':>10} {'frames/s':>9} {'95 %: ms':>9} {'paint: ms':>10}")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        for width, height in SIZES:
            page: Any = await open_page(browser, view, get_page("blocks_gather"))
            await page.set_viewport_size({"width": width, "height": height})
            for name in ("at an angle", "from above"):
                if name == "from above":
                    await page.click("[data-angle]")
                rate, gap, paint = await measure(page, seconds)
                print(
                    f"{width:>4}x{height:<4} {name:>11} {rate:>8.1f} {gap:>9.1f} {paint:>10.1f}", flush=True
                )
            await page.close()
        await browser.close()


def main() -> int:
    """Measure, and print the table. Return 1 if there is no browser."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    seconds = parser.parse_args().seconds
    if not find_chromium():
        print("no Chromium was found: set CHROMIUM to its path", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="brigade-bench-") as folder:
        os.environ |= {"BRIGADE_VAR": folder, "DJANGO_SETTINGS_MODULE": "brigade.settings"}
        django.setup()
        asyncio.run(run(seconds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
