"""Measure what a step costs the browser that shows it: `python -m tests.live.drawing [--steps 40]`.

A kitchen with three robots is played once. Its messages are then put into a real page, one after the other.
For each size of the screen, the program prints the milliseconds of processor time for each step, by kind of
work: style, layout, painting, turning it into pixels. The row `echo` is an empty page whose one line is
replaced as often. Compare the rows of two versions of the app by their ratio to this row, because times
depend on other work of the machine. The program needs Chromium, but no server.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import django
from playwright.async_api import Browser, Page, async_playwright

from kitchen.contract.page_view import DRAWING_TABLES, StepView
from kitchen.registry.world_registry import get_page, get_world
from tests.browser import ARGUMENTS, find_chromium

SIZES = ((1440, 900), (390, 844))
WARM_UP = 8
"""The number of first steps that are not measured."""
KINDS = {
    "style": ("UpdateLayoutTree",),
    "layout": ("Layout", "PrePaint"),
    "paint": ("Paint", "Layerize", "Commit"),
    "pixels": ("RasterTask",),
}
"""The events of Chromium's trace for each kind of work."""
EMPTY = "<!doctype html><html lang='en'><title>Echo</title><div data-play><p id='echo'>0</p></div></html>"
PUT = """async html => {
    const coming = document.createElement("template");
    coming.innerHTML = html;
    document.dispatchEvent(new CustomEvent("htmx:wsBeforeMessage"));
    for (const fresh of [...coming.content.children]) {
        for (const gap of fresh.querySelectorAll("template[id]")) {
            gap.replaceWith(...gap.id.split(" ").map(id => document.getElementById(id)).filter(Boolean));
        }
        document.getElementById(fresh.id)?.replaceWith(fresh);
    }
    document.dispatchEvent(new CustomEvent("htmx:wsAfterMessage"));
    document.querySelector("[data-play]").dispatchEvent(new Event("brigade:panels"));
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""
"""Put a message into the page, as the page's own scripts do, and wait until it is drawn."""


def played(steps: int) -> tuple[Any, list[str]]:
    """Return the first view of a kitchen, and the message of each step after it. Modules are imported here,
    because Django is not set up earlier."""
    from kitchen.play.live.render_page import Screen
    from tests.kitchen.worlds.cuisine.test_page import seen

    world, chance, screen = (
        get_world("cuisine").create(seats=3, settings={"level": "level_3"}),
        Random(1),
        Screen(),
    )
    world.reset(3)
    first, past, messages = replace(seen(world, 0), shown=DRAWING_TABLES), list[StepView](), list[str]()
    screen.fragments(get_page("cuisine"), first)
    while len(messages) < steps and not world.over:
        turn = {seat: chance.choice(world.legal_actions(seat)) for seat in range(world.seats)}
        past.insert(0, StepView(world.clock, turn, world.step(turn)))
        view = replace(seen(world, 0, tuple(past[:8])), shown=DRAWING_TABLES)
        messages.append(screen.fragments(get_page("cuisine"), view))
    return first, messages


async def traced(browser: Browser, page: Page, messages: Sequence[str], pause: int) -> Counter[str]:
    """Return the milliseconds of each kind of work for a step, of all processes together."""
    for message in messages[:WARM_UP]:
        await page.evaluate(PUT, message)
    session, events, ended = await browser.new_browser_cdp_session(), list[Any](), asyncio.Event()
    session.on("Tracing.dataCollected", lambda some: events.extend(some["value"]))
    session.on("Tracing.tracingComplete", lambda _: ended.set())
    categories = ["devtools.timeline", "disabled-by-default-devtools.timeline", "cc"]
    await session.send(
        "Tracing.start", {"transferMode": "ReportEvents", "traceConfig": {"includedCategories": categories}}
    )
    for message in messages[WARM_UP:]:
        await page.evaluate(PUT, message)
        await page.wait_for_timeout(pause)
    await session.send("Tracing.end")
    await ended.wait()
    return Counter(
        {
            kind: sum(e.get("tdur", 0) for e in events if e["name"] in names) / 1000 / len(messages[WARM_UP:])
            for kind, names in KINDS.items()
        }
    )


async def run(steps: int, pause: int) -> None:
    """Print a row for the echo and one for the kitchen at each size. A module is imported here, because
    Django is not set up earlier."""
    from tests.kitchen.worlds.cuisine.test_floor_layout import open_page

    first, messages = played(WARM_UP + steps)
    echoes = [f"<p id='echo'>{number}</p>" for number in range(len(messages))]
    print(f"{'screen':>9} {'page':>8}", *(f"{kind:>7}" for kind in KINDS), f"{'all: ms':>8} {'echoes':>7}")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        for width, height in SIZES:
            empty, page = await browser.new_page(), await open_page(browser, first, get_page("cuisine"))
            await empty.set_content(EMPTY)
            rows = {}
            for name, one, coming in (("echo", empty, echoes), ("kitchen", page, messages)):
                await one.set_viewport_size({"width": width, "height": height})
                await one.bring_to_front()
                rows[name] = await traced(browser, one, coming, pause)
                told = [f"{rows[name][kind]:>7.2f}" for kind in KINDS]
                times = rows[name].total() / rows["echo"].total()
                print(f"{width:>4}x{height:<4} {name:>8}", *told, f"{rows[name].total():>8.1f} {times:>7.1f}")
                await one.close()
        await browser.close()


def main() -> int:
    """Measure, and print the table. Return 1 if there is no browser."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--pause", type=int, default=60, help="milliseconds between two steps")
    given = parser.parse_args()
    if not find_chromium():
        print("no Chromium was found: set CHROMIUM to its path", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="brigade-bench-") as folder:
        os.environ |= {"BRIGADE_VAR": folder, "DJANGO_SETTINGS_MODULE": "brigade.settings"}
        django.setup()
        asyncio.run(run(given.steps, given.pause))
    return 0


if __name__ == "__main__":
    sys.exit(main())
