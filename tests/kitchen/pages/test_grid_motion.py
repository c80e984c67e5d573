"""How cooks walk on a grid: evenly although steps come early and late, and never in a jump. Time and frames
are those of the test, so a busy machine changes nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest_asyncio
from playwright.async_api import Browser, Page

from tests.browser import IN_A_BROWSER

pytestmark = IN_A_BROWSER

SCRIPTS = Path(__file__).parents[3] / "static" / "js"
TICK, FRAME = 160, 16
STUB = "<main data-play><svg data-moves></svg><i id=walker></i></main>"
WALKED = """([tick, frame, trip, comings, moves]) => {
    let [now, paint, drawn] = [0, null, []];
    performance.now = () => now;
    window.requestAnimationFrame = (next) => { paint = next; return 1; };
    const play = document.querySelector("[data-play]");
    const pace = play.paceOf(() => trip);
    const motion = play.motionOf((element, [x]) => drawn.push([now, x]));
    const actor = motion.add(document.getElementById("walker"));
    pace.reset(0, 0, tick);
    motion.glide(actor, [0, 0], 0);
    for (; now < tick * (comings.length + 5); now += frame) {
        comings.forEach((came, number) => {
            if (came < now - frame || came >= now) return;
            const step = number + 1;
            pace.came(step, came);
            if (moves === "follow") motion.follow(actor, [step, 0], pace.due(step) + pace.cushion(), tick);
            else motion.glide(actor, [number ? 0 : 1, 0], number ? 150 : tick * 1.1, Infinity);
        });
        const painting = paint;
        paint = null;
        painting?.(now);
    }
    return [drawn, pace.stepAt(tick * 10 + 1), pace.closes(10)];
}"""
"""Lets a cook walk one cell a step, with steps that come at these times. Returns where it was drawn and when,
and in which step a key counts that is pressed in step 10."""


@pytest_asyncio.fixture(loop_scope="session")
async def stub(browser: Browser) -> AsyncIterator[Page]:
    """An empty page without a server."""
    page = await browser.new_page()
    yield page
    await page.close()


async def walked(page: Page, comings: list[float], moves: str, trip: int | None = None) -> Any:
    await page.set_content(STUB)
    for name in ("play/tick_pace.js", "grid_motion.js"):
        await page.add_script_tag(path=SCRIPTS / name)
    return await page.evaluate(WALKED, [TICK, FRAME, trip, comings, moves])


def ways(drawn: list[list[float]]) -> list[float]:
    """How far the cook went from one frame to the next, in cells."""
    return [two - one for (_, one), (_, two) in pairwise(drawn)]


async def test_who_is_followed_walks_evenly_and_catches_up_on_the_way(stub: Page) -> None:
    late = [0, 30, 5, 60, 20, 0, 45, 10, 55, 0, 30, 40, 5, 50, 0, 25]
    drawn, *_ = await walked(stub, [TICK * (n + 1) + by for n, by in enumerate(late)], "follow")
    steady = [way for way, (now, _) in zip(ways(drawn), drawn, strict=False) if now > TICK * 8]
    usual = FRAME / TICK
    assert sum(abs(way - usual) < 0.02 for way in steady) > 0.9 * len(steady)
    arrivals = [TICK * (n + 1) for n in range(5)] + [TICK * 10 + n for n in range(5)] + [TICK * 11.0]
    paused, *_ = await walked(stub, arrivals, "follow")
    assert max(ways(paused)) <= 3 * usual + 1e-9 and paused[-1][1] == len(arrivals)
    assert min(now for now, at in paused if at >= len(arrivals) - 1) <= TICK * 13  # and soon it is there


async def test_what_was_shown_too_early_is_put_right_within_150_ms(stub: Page) -> None:
    drawn, *_ = await walked(stub, [TICK, 2 * TICK], "glide")
    assert max(map(abs, ways(drawn))) <= FRAME / 150 + 1e-9
    assert drawn[-1][1] == 0 and drawn[-1][0] <= 2 * TICK + FRAME + 150 + FRAME


async def test_a_key_counts_in_the_step_that_it_reaches_in_time(stub: Page) -> None:
    for trip, step, closes in ((0, 11, 1600), (100, 11, 1500), (200, 12, 1400)):
        told = await walked(stub, [float(TICK * (n + 1)) for n in range(3)], "follow", trip)
        assert told[1:] == [step, closes]
