"""The kitchen in three dimensions: opened when it is wanted, played by mouse, by keys and with an emulated
headset, and every command arrives in the log."""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.async_api import Browser, Page, ViewportSize, expect

from tests.browser import NIGHTLY_IN_A_BROWSER
from tests.journeys.axe import violations
from tests.journeys.fitting import misfits
from tests.journeys.person import Person, condition, enter_kitchen
from tests.servers import Stack

pytestmark = NIGHTLY_IN_A_BROWSER  # tests/kitchen/play/test_scene.py has what the scene is sent

EMULATOR = Path(__file__).parents[1] / "scene" / "iwer.min.js"
HEADSET = """
window.device = new IWER.XRDevice(IWER.metaQuest3);
device.stereoEnabled = false;
device.installRuntime({forceInstall: true});
"""
HEADSET_PICTURE: ViewportSize = {"width": 200, "height": 150}
"""The emulated headset draws every frame, and as many pixels as the window has."""
LACKS = "document.querySelector('[data-scene-headset]').hidden"
AIM = """async ([place, wanted, panel]) => {
    const {right} = device.controllers, said = document.querySelector("[data-scene-said]");
    const pictures = async many => { for (; many; many--) await new Promise(requestAnimationFrame); };
    device.position.set(0, 1.6, 0);
    const places = [...document.querySelectorAll("[data-spot]")];
    const index = places.findIndex(one => one.dataset.spot === place);
    const radius = Math.max(3, places.length * 1.22 / 2.2);
    const ahead = ((places.length - 1) / 2 - index) * 1.22 / radius;
    const rows = [1.38, 1.22], columns = [0.14, -0.14];
    for (const [height, aside] of panel ? rows.flatMap(row => columns.map(one => [row, one])) : [[1.1, 0]]) {
        const yaw = ahead + aside;
        right.position.set(0, height, 0);
        right.quaternion.set(0, Math.sin(yaw / 2), 0, Math.cos(yaw / 2));
        await pictures(3);
        const met = () => said.textContent.startsWith(wanted);
        for (let tries = panel ? 10 : 60; tries && !met(); tries--) await pictures(1);
        if (met()) break;
    }
    return said.textContent;
}"""
"""Points the ray at a place (where it stands: `static/js/scene/plan.js`), or at a button of the panel before
it (the first two rows of two); what is said of what it has come to."""
PULL = """async () => {
    const {right} = device.controllers;
    const pictures = async many => { for (; many; many--) await new Promise(requestAnimationFrame); };
    right.updateButtonValue("trigger", 1);
    await pictures(3);
    right.updateButtonValue("trigger", 0);
    await pictures(2);
}"""
SCROLLED = """() => new Promise(done => {
    const look = () => scrollY > 0 ? done() : requestAnimationFrame(look);
    look();
})"""
RING = """async () => {
    const load = name => import(`/static/js/scene/${name}.js`);
    const [{readPage}, {Place}, {themeOf}, {LOOKS}] = await Promise.all(
        [...["page", "place", "theme"].map(load), import("/static/worlds/cuisine/scene.js")]);
    const play = document.querySelector("[data-play]"), spot = play.querySelector("[data-spot=pot0]");
    spot.toggleAttribute("data-hinted", true);
    const [told] = readPage(play).places().filter(({hinted}) => hinted);
    spot.toggleAttribute("data-hinted", false);
    const place = new Place(told, LOOKS, themeOf(play)), nothing = {items: [], missing: [], left: 0};
    const seen = [];
    for (const hinted of [told.hinted, false]) {
        await place.show(nothing, {chosen: false, hinted});
        seen.push(place.halo.visible);
    }
    return [told.spot, ...seen];
}"""
"""Of a place that the hint is about: which one the scene reads, and whether it has a ring then, and later."""
STORED = """
import json
from kitchen.play.models import Seat
seat = Seat.objects.get(episode__rounds__participant__key="{key}")
print(json.dumps([seat.scene, [row.command for row in seat.episode.commands.order_by("step")]]))
"""


async def test_a_person_plays_in_three_dimensions_by_mouse_by_keys_and_in_a_headset(
    browser: Browser, live_stack: Stack, tmp_path: Path
) -> None:
    context = await browser.new_context(
        base_url=live_stack.url,
        viewport={"width": 800, "height": 600},
        device_scale_factor=0.5,  # a quarter of what there is to draw
    )
    context.set_default_timeout(60_000)
    page = await context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    person = Person(page)
    shown = condition("one") + "three_dimensions = true\n"
    await person.enter(enter_kitchen(live_stack, tmp_path, shown, steps=9))
    await page.wait_for_function(LACKS)
    assert [address for address in asked if "/scene" in address and address.endswith("js")] == [
        f"{live_stack.url}/static/js/scene/door.js"
    ]
    await page.add_init_script(path=EMULATOR)
    await page.add_init_script(HEADSET)
    await page.reload()
    await person.connected()
    await page.click("[data-scene-open]")
    await page.wait_for_selector(".in-scene [data-scene-frame]:focus")
    assert await page.is_hidden("[data-stage]")
    await page.focus("#menu-title")
    await page.keyboard.press("Escape")  # wherever the focus is
    await page.wait_for_selector("[data-stage]")
    await page.keyboard.press("Enter")
    await _click_on(page, "Storage")
    await person.stepped(1)
    await page.mouse.wheel(0, 200)  # over the scene
    await page.evaluate(SCROLLED)
    await _go_to(page, "Pot")
    await page.keyboard.press("Enter")
    await person.stepped(2)
    await page.set_viewport_size(HEADSET_PICTURE)
    await page.click("[data-scene-headset]")
    await page.wait_for_function("device.activeSession")
    await _pull(page, "storage0", "Storage")
    await person.stepped(3)
    await _pull(page, "storage0", "Storage")  # there: what can be done is on the panel that it opens
    said = page.locator("[data-scene-said]")
    await expect(said).to_have_text(re.compile("^Take"))
    first = await said.text_content()
    await _aim(page, "storage0", "Take salmon" if first == "Take rice" else "Take rice", panel=True)
    await _pull(page, "storage0", "Take rice", panel=True)
    await person.stepped(4)
    for step in (5, 6, 7):  # go, put, use
        await _pull(page, "pot0", "Pot 1")
        await person.stepped(step)
    await page.evaluate("device.activeSession.end()")
    await page.wait_for_selector("[data-stage]")
    assert not person.problems
    key = page.url.rstrip("/").rsplit("/", 1)[-1]
    way, commands = json.loads(live_stack.manage("shell", "-v", "0", "-c", STORED.format(key=key)))
    assert way == "headset"
    assert [command[0] for command in commands] == ["goto"] * 3 + ["get", "goto", "put", "activate"]
    assert [command[1][:3] for command in commands] == ["sto", "pot", "sto", "sto", *["pot"] * 3]
    await page.click("[data-scene-open]")
    await page.wait_for_selector(".in-scene [data-scene-frame]:focus")
    assert await page.evaluate(RING) == ["pot0", True, False]
    assert not await violations(page, "scene") + await misfits(page, "scene")


async def _aim(page: Page, place: str, wanted: str, *, panel: bool = False) -> None:
    """Turn the controller until this is what it points at."""
    assert (await page.evaluate(AIM, [place, wanted, panel])).startswith(wanted)


async def _pull(page: Page, place: str, wanted: str, *, panel: bool = False) -> None:
    """Point at it and pull the trigger."""
    await _aim(page, place, wanted, panel=panel)
    await page.evaluate(PULL)


async def _click_on(page: Page, place: str) -> None:
    """Move the mouse until this place is pointed at, and press."""
    frame = await page.locator("[data-scene-frame]").bounding_box()
    assert frame
    for part in range(2, 40):
        await page.mouse.move(frame["x"] + frame["width"] * part / 40, frame["y"] + frame["height"] * 0.5)
        if (await page.inner_text("[data-scene-said]")).startswith(place):
            break
    await page.mouse.down()
    await page.mouse.up()


async def _go_to(page: Page, place: str) -> None:
    """The arrow keys until this place is chosen."""
    for _ in range(12):
        if (await page.inner_text("[data-scene-said]")).startswith(place):
            return
        await page.keyboard.press("ArrowRight")
