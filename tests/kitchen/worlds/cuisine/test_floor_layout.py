"""The kitchen as drawn lays itself out: in every level, at every width, nothing lies over anything else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils import translation
from playwright.async_api import Browser, BrowserContext, Page, Route

from kitchen.contract.page import Page as WorldPage
from kitchen.contract.page_view import DRAWING_ONLY, SeatView, StepView
from kitchen.play.live.render_page import page_context, render_panel, script_texts
from kitchen.registry.world_registry import get_world
from kitchen.worlds.cuisine.level_generator import LEVEL_CLASSES
from kitchen.worlds.cuisine.page import PAGE
from tests.browser import IN_A_BROWSER
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.test_page import seen
from tests.nightly import nightly

pytestmark = [*IN_A_BROWSER, pytest.mark.filterwarnings("ignore:level_12")]

LEVELS = sorted(path.stem for path in Path("kitchen/worlds/cuisine/data/levels").glob("*.toml"))
SIZES = ((360, 740), (768, 1024), (1024, 768), (1440, 900))
KITCHENS = [{"level": level} for level in LEVELS] + [
    {"level": "procedural", "difficulty": kind, "level_seed": seed}
    for kind in LEVEL_CLASSES
    for seed in (1, 2)
]
MOVED = {"floor", "orders", "done", "robots", "locations"}
"""The panels that differ in their measures."""
HOST = "http://kitchen.test"

SWAP = """parts => {
    for (const [id, html] of Object.entries(parts)) document.getElementById(id).outerHTML = html;
}"""
TOOLS = """
    const shown = selector => [...document.querySelectorAll(selector)].filter(one => one.checkVisibility());
    const box = one => one.getBoundingClientRect(), wrong = [], slack = 1;
    const told = one => one.id || one.dataset.place || one.dataset.bot || one.getAttribute("class");
"""
LAID_OUT = f"""() => {{
    {TOOLS}
    const over = (a, b) => a.left < b.right - slack && b.left < a.right - slack
        && a.top < b.bottom - slack && b.top < a.bottom - slack;
    const apart = (what, all) => all.forEach((one, n) => all.slice(n + 1).forEach(other => {{
        if (over(box(one), box(other))) wrong.push(`${{what}}: ${{told(one)}} over ${{told(other)}}`);
    }}));
    const inside = (what, all, frame) => all.forEach(one => {{
        const [b, f] = [box(one), box(frame)];
        const sideways = b.left < f.left - slack || b.right > f.right + slack;
        if (sideways || b.top < f.top - slack || b.bottom > f.bottom + slack)
            wrong.push(`${{what}} outside: ${{told(one)}}`);
    }});
    const stage = shown(".stage")[0];
    apart("robots and places", [...shown(".bot"), ...shown(".station-button")]);
    apart("tickets", shown(".ticket"));
    apart("parts", shown(".topbar, .col-orders, .done, .stage"));
    inside("in the stage", [...shown(".station-button"), ...shown(".bot")], stage);
    for (const button of shown(".station-button"))
        inside("in its place", [...button.querySelectorAll(".tool:not(.fire), .station-name")], button);
    const wide = shown("[data-play] :not(.tickets *)").filter(one => box(one).right > innerWidth + slack);
    if (document.documentElement.scrollWidth > innerWidth) wrong.push(`too wide: ${{wide.map(told)}}`);
    if (innerWidth === 1024 && box(stage).bottom > innerHeight) wrong.push("not all places can be seen");
    return wrong;
}}"""
LARGE_ENOUGH = f"""() => {{
    {TOOLS}
    for (const one of shown("[data-play] :is(button, a, summary, .action, .keys-switch)"))
        if (one.offsetHeight < 44 || one.offsetWidth < 44) wrong.push(`small target: ${{told(one)}}`);
    const written = one => [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    for (const one of shown("[data-play] *").filter(written))
        if (parseFloat(getComputedStyle(one).fontSize) < 12) wrong.push(`small text: ${{one.textContent}}`);
    return wrong;
}}"""


def kitchens() -> Iterator[tuple[str, SeatView]]:
    """Each level in mid-episode, all of four robots at one place."""
    for settings in KITCHENS:
        world = get_world("cuisine").create(seats=4, settings=settings)
        world.reset(3)
        chance = Random(4)
        for _ in range(25):
            world.step({seat: chance.choice(world.legal_actions(seat)) for seat in range(4)})
        world.step(dict.fromkeys(range(4), ("goto", "storage0")))
        yield " ".join(map(str, settings.values())), seen(world, 0)


async def serve(route: Route) -> None:
    """Static files as they are, and an empty page for all else."""
    address = route.request.url.removeprefix(f"{HOST}/static/").split("?")[0]
    file = finders.find(address)
    await (route.fulfill(path=file) if file else route.fulfill(body=""))


async def open_page(
    browser: Browser | BrowserContext, view: SeatView, world: WorldPage = PAGE, **more: Any
) -> Page:
    """A play page as it comes from the server, without one; `more` goes to its template."""
    page = await browser.new_page()
    await page.route("**/*", serve)
    words = script_texts(scene=False, ticking=bool(view.timing.tick_ms))
    more |= {"socket_path": "/nowhere/", "leave_url": "/leave/", "script_words": words}
    context = page_context(world, view, **more)
    html = render_to_string("kitchen/play/play.html", context)
    await page.route(
        f"{HOST}/", lambda route: route.fulfill(body=html, content_type="text/html; charset=utf-8")
    )
    await page.goto(HOST)
    return page


@pytest.mark.parametrize("every", [False, *nightly(True)])
async def test_nothing_lies_over_anything_else_and_all_is_large_enough(browser: Browser, every: bool) -> None:
    """`make test` has every kitchen where it is narrowest, and every fourth at the other sizes."""
    views = dict(kitchens())
    some = {name: views[name] for name in (*list(views)[::4], "level_12")}
    page, wrong = await open_page(browser, views["level_12"]), {}
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        wrong[f"at {width}"] = await page.evaluate(LARGE_ENOUGH)
        for name, view in (views if every or width == SIZES[0][0] else some).items():
            parts = {panel.id: render_panel(panel) for panel in PAGE.panels(view) if panel.id in MOVED}
            await page.evaluate(SWAP, parts)
            wrong[f"{name} at {width}"] = await page.evaluate(LAID_OUT)
    assert {where: what for where, what in wrong.items() if what} == {}


async def test_what_a_model_thought_opens_by_keyboard_and_fits(browser: Browser) -> None:
    _, view = next(kitchens())
    thought = {"said": "First rice.", "thought": "Rice is missing. " * 200 + "x" * 200}
    told = changed(view, shows_intents=True, intents={1: thought, 2: thought}, shown=DRAWING_ONLY)
    page = await open_page(browser, told)
    for width, height in (SIZES[0], SIZES[-1]):
        await page.set_viewport_size({"width": width, "height": height})
        fold = page.locator(".intents .thought summary")
        await fold.focus()
        await page.keyboard.press("Enter")
        assert await page.locator(".intents .thought blockquote").is_visible()
        assert [await page.evaluate(check) for check in (LARGE_ENOUGH, LAID_OUT)] == [[], []]
        await page.keyboard.press("Enter")


CUT_OFF = f"""() => {{
    {TOOLS}
    const hides = one => getComputedStyle(one).overflowX !== "visible";
    const wider = one => hides(one) && one.scrollWidth > one.clientWidth + slack;
    const words = ".station-name, .action, .ticket h3, .tag, .own dd, .slot, th, td, legend, button";
    for (const one of shown(`[data-play] :is(${{words}})`).filter(wider))
        wrong.push(`cut off: ${{one.textContent}}`);
    return wrong;
}}"""


@pytest.mark.parametrize("language", ["ar", *nightly("es", "zh-hans")])
async def test_nor_does_it_in_longer_words_or_from_right_to_left(browser: Browser, language: str) -> None:
    """`ar` is no language of ours: English words, from right to left."""
    with translation.override(language):
        views, wrong = dict(kitchens()), {}
        page = await open_page(browser, views["level_12"])
        assert await page.locator("html").get_attribute("dir") == ("rtl" if language == "ar" else "ltr")
        for width, height in (SIZES[0], SIZES[-1]):
            await page.set_viewport_size({"width": width, "height": height})
            wrong[f"at {width}"] = await page.evaluate(CUT_OFF)
            for name in ("level_0", "level_7", "level_12"):
                parts = {
                    panel.id: render_panel(panel) for panel in PAGE.panels(views[name]) if panel.id in MOVED
                }
                await page.evaluate(SWAP, parts)
                wrong[f"{name} at {width}"] = await page.evaluate(LAID_OUT)
    assert {where: what for where, what in wrong.items() if what} == {}


LOOK = """(one, pseudo) => {
    const style = getComputedStyle(one, pseudo);
    const told = ["outline", "border", "background-color", "color", "content"];
    return told.map(name => style.getPropertyValue(name)).join("; ");
}"""


async def test_in_forced_colours_all_that_is_marked_is_told_apart(browser: Browser) -> None:
    world = get_world("cuisine").create(seats=2, settings={"level": "level_3"})
    world.reset(3)
    turn = {0: ("activate", "pot0"), 1: ("noop",)}
    past = StepView(1, turn, world.step(turn))
    view = changed(seen(world, 0, (past,)), hints=("Go to pot 1.",), hinted=("goto", "pot0"))
    page = await open_page(browser, view)
    await page.emulate_media(forced_colors="active")

    async def look(selector: str, pseudo: str = "") -> str:
        return str(await page.eval_on_selector(selector, LOOK, pseudo))

    plain, hinted = await look("#do-goto-pot1"), await look("#do-goto-pot0")
    await page.check("#do-goto-pot1 input", force=True)
    chosen = await look("#do-goto-pot1")
    await page.check("#do-goto-pot0 input", force=True)
    assert len({plain, hinted, chosen, await look("#do-goto-pot0")}) == 4
    places = [await look(f"[data-spot=pot{number}]") for number in (0, 1)]
    await page.focus("[data-spot=pot0]")
    await page.keyboard.press("ArrowRight")
    await page.keyboard.press("ArrowLeft")
    assert len({*places, await look("[data-spot=pot0]:focus-visible")}) == 3
    assert '"you"' in await look(".bot.you", "::after") and '"!"' in await look(".bot.refused", "::before")
    assert "none" in await look("[data-bot='1']", "::before")
    tabs = [await look(f"#tab-{name}") for name in ("drawn", "tables")]
    assert len({*tabs}) == 2
