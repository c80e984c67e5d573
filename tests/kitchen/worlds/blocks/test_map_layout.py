"""The drawn map in a browser: it is in sight at every width, and looks as the state says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from playwright.async_api import Browser

from kitchen.contract.page_view import DRAWING_ONLY, TalkView
from kitchen.play.coplayers.answer_messages import MESSAGE_RECEIPTS
from kitchen.play.live.render_page import Screen
from kitchen.play.turn.submitted_commands import RECEIPTS
from kitchen.play.turn.websocket_messages import NoticeMessage
from kitchen.registry.world_registry import get_page
from kitchen.worlds.blocks.cell_words import cell_words
from tests.browser import IN_A_BROWSER
from tests.kitchen.worlds.blocks.games import game
from tests.kitchen.worlds.cuisine.test_floor_layout import open_page
from tests.kitchen.worlds.cuisine.test_page import seen

pytestmark = IN_A_BROWSER

SIZES = ((360, 740), (390, 844), (1024, 768), (1440, 900))
COVERED = """() => {
    const {left, top, right, bottom} = document.querySelector(".map").getBoundingClientRect();
    const points = [left + 9, right - 9].flatMap(x => [[x, top + 9], [x, bottom - 9]]);
    const wide = document.documentElement.scrollWidth - innerWidth;
    const small = [...document.querySelectorAll(".map-tools button:not([hidden]), .map-spot")]
        .filter(one => one.checkVisibility() && Math.min(one.offsetWidth, one.offsetHeight) < 44);
    const covered = points.filter(point => !document.elementFromPoint(...point)?.closest(".map"));
    return [wide, small.length, covered.length];
}"""
"""Pixels beyond the width, targets too small for a finger, and corners of the map under something."""
COLOUR = """([x, y]) => {
    const canvas = document.querySelector(".map-canvas"), scale = canvas.width / canvas.clientWidth;
    const at = [canvas.clientWidth / 2 + x, canvas.clientHeight / 2 + y].map(one => Math.round(one * scale));
    return canvas.getContext("2d").getImageData(...at, 1, 1).data.slice(0, 3).join();
}"""
PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


IN_FRONT = """name => {
    const canvas = document.querySelector(".map-front"), frame = canvas.getBoundingClientRect();
    const {left, bottom, width} = document.querySelector(name + " .seat").getBoundingClientRect();
    const scale = canvas.width / frame.width;
    const at = [left + width / 2 - frame.left, bottom - 8 - frame.top].map(one => Math.round(one * scale));
    return canvas.getContext("2d").getImageData(...at, 1, 1).data[3] > 0;
}"""
"""Whether something is drawn over the feet of a builder."""


async def test_the_map_is_whole_in_sight_and_shows_blocks_where_they_are(browser: Browser) -> None:
    world = game("gather")
    world.at = [(0, 0, 0), (3, 0, 2)]
    for place in ((2, 0, 0), (3, 0, 0), (4, 0, 0), (1, 0, 1)):
        world.grid.put(place, "stone")
    page = await open_page(browser, replace(seen(world, 0), shown=DRAWING_ONLY), get_page(world.kind))
    problems: list[str] = []
    await page.click("[data-angle]")
    page.on("pageerror", lambda error: problems.append(str(error)))
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        await page.evaluate(PAINTED)
        assert await page.evaluate(COVERED) == [0, 0, 0], width
        cell = float(await page.get_attribute("[data-map]", "data-cell") or 0)
        colours = [await page.evaluate(COLOUR, [columns * cell, 0]) for columns in (3.2, -3.2)]
        assert colours[0] != colours[1], "stone to the right, ground to the left"
    await page.click("[data-angle]")
    await page.evaluate(PAINTED)
    assert await page.evaluate(IN_FRONT, ".is-you"), "the stone before a builder covers it"
    assert not await page.evaluate(IN_FRONT, ".is-builder:not(.is-you)"), "nothing is before the other one"
    assert not problems
    assert await page.locator(".map-spot.is-beyond").count() > 0, "what is out of sight is marked at the edge"
    await page.close()


MARKS = """() => [...document.querySelectorAll(".map-spot.is-beyond")].map(one => {
    const box = one.getBoundingClientRect(), middle = [box.left + box.width / 2, box.top + box.height / 2];
    const found = document.elementsFromPoint(...middle).map(each => each.closest(".map-spot"));
    return found.find(Boolean) === one ? "" : one.dataset.spot;
})"""
"""For each mark at the edge of the map: empty if no other spot covers its middle, else its name."""


async def test_marks_of_what_is_out_of_sight_do_not_cover_each_other(browser: Browser) -> None:
    world = game("cooking")
    world.at = [(-12, 0, -11), (2, 0, 0)]
    page = await open_page(browser, replace(seen(world, 0), shown=DRAWING_ONLY), get_page(world.kind))
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        for _ in range(2):
            await page.evaluate("document.querySelector('.map').scrollIntoView()")
            await page.evaluate(PAINTED)
            marks = await page.evaluate(MARKS)
            assert len(marks) > 4 and not [mark for mark in marks if mark], width
            await page.click("[data-angle]")
    await page.close()


async def test_at_the_edge_of_the_area_the_map_shows_hardly_anything_beyond(browser: Browser) -> None:
    world = game("kitchen")
    world.step({0: ("goto", "chest")})  # the northern edge
    page = await open_page(browser, replace(seen(world, 0), shown=DRAWING_ONLY), get_page(world.kind))
    await page.click("[data-angle]")
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        await page.evaluate(PAINTED)
        cell = float(await page.get_attribute("[data-map]", "data-cell") or 0)
        top = -await page.evaluate("document.querySelector('.map-canvas').clientHeight / 2")
        outside, inside = [await page.evaluate(COLOUR, [0.3 * cell, top + at * cell]) for at in (0.4, 1.4)]
        own, middle = await page.evaluate(PLACES)
        assert outside != inside and own < middle - cell, "the builder is not in the middle"
    await page.close()


PLACES = """() => [".is-you", ".map-canvas"].map(one => {
    const box = document.querySelector(one).getBoundingClientRect();
    return box.top + box.height / 2;
})"""
"""The heights of the own builder and of the middle of the map, in pixels."""


UNDER_TALK = """() => [...document.querySelectorAll(".map-tools button:not([hidden])")].filter(one => {
    const {left, bottom, width} = one.getBoundingClientRect();
    const above = document.elementFromPoint(left + width / 2, bottom - 3)?.closest("button");
    return one.checkVisibility() && above !== one;
}).length"""
"""How many buttons below the map lie under something."""
STAND = """([kinds, placed]) => {
    const now = document.getElementById("map-now");
    now.setAttribute("value", JSON.stringify({ ...JSON.parse(now.getAttribute("value")), placed }));
    const chunks = document.getElementById("map-chunks").children;
    for (const one of chunks) one.setAttribute("value", JSON.stringify(kinds));
    document.querySelector("[data-play]").dispatchEvent(new Event("brigade:panels"));
}"""
"""Change the blocks of each chunk to these, of which some are known to be placed by somebody."""
OWNER = """at => { const { blockOwners } = document.querySelector("[data-play]");
    return [blockOwners.of(at), blockOwners.last() ?? null]; }"""
"""The seat that is known to have placed a block, and where this person's newest block is."""


SITE = """([wide, high, deep]) => {
    const {cellWords, mapCamera, mapPointing} = document.querySelector("[data-play]");
    const cells = [...Array(wide * high * deep).keys()]
        .map(one => [one % wide, Math.floor(one / wide) % high, Math.floor(one / wide / high)]);
    const seen = ([x, y, z]) => mapPointing.siteCell(mapCamera.pixels([x, y + 0.49, z]));
    return cells.map(cell => [cell, seen(cell), cellWords.say(cell)]);
}"""
"""Each cell of the site, the cell that a pixel in the middle of its upper side belongs to, and its words."""


WITH_A_GAP = 'legend = { s = "stone", g = "glass" }\nlevels = [["sss.."], ["gg.gg"]]'


async def test_a_high_conversation_leaves_the_buttons_of_the_map_in_sight(browser: Browser) -> None:
    talk = TalkView(member=0, members={0: "Player 1", 1: "Player 2"}, addressees=(1,), spoken=True)
    view = replace(seen(game("kitchen"), 0), shown=DRAWING_ONLY, talk=talk)
    page = await open_page(browser, view, get_page("blocks_kitchen"))
    assert await page.locator("#talk").count()
    for width, height in ((1280, 720), (1440, 900)):
        await page.set_viewport_size({"width": width, "height": height})
        await page.evaluate("document.getElementById('talk').style.minHeight = '11rem'")
        await page.evaluate(PAINTED)
        assert await page.evaluate(UNDER_TALK) == 0, width
    await page.close()


async def test_when_blocks_come_the_nearest_builder_swings_and_what_is_pointed_at_is_told_anew(
    browser: Browser,
) -> None:
    world = game("construction", blueprint="pyramid")
    world.put_block((0, 0, 0), "sandstone")  # so that there is a chunk
    page = await open_page(browser, replace(seen(world, 0), shown=DRAWING_ONLY), get_page(world.kind))
    await page.click("[data-angle]")
    box = await page.locator(".map-canvas").bounding_box()
    assert box
    await page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert (await page.inner_text("[data-pointed]")).startswith("Place sandstone")
    swings = page.locator(".is-builder .character use[href='#pose-chop']")
    assert await swings.count() == 0
    await page.evaluate(STAND, [{"sandstone": [0, 1, 28, 1]}, []])
    assert await swings.count() == 1
    assert await page.evaluate(OWNER, [4, 0, 3]) == [None, None], "the nearest builder is not its owner"
    await page.evaluate(STAND, [{"sandstone": [0, 1, 28, 2]}, [[1, 0, 5, 0, 3]]])
    assert await page.evaluate(OWNER, [5, 0, 3]) == [0, [5, 0, 3]]
    await page.evaluate(STAND, [{"sandstone": [0, 1, 28, 1]}, [[1, 0, 5, 0, 3]]])
    await page.evaluate(STAND, [{"sandstone": [0, 1, 28, 2]}, [[1, 0, 5, 0, 3]]])
    assert await page.evaluate(OWNER, [5, 0, 3]) == [None, None], "it was taken away, and came from somebody"
    await page.evaluate(PAINTED)
    assert (await page.inner_text("[data-pointed]")).startswith("sandstone")
    await page.mouse.move(2, 2)
    assert await page.inner_text("[data-pointed]") == ""
    await page.click("[data-angle]")
    await page.evaluate(PAINTED)
    size = world.brief(0)["size"]
    for cell, found, words in await page.evaluate(SITE, size):
        assert words == cell_words(cell, size)
        assert cell[1] or found == cell, "the cell under the pointer is the one that one sees"
    await page.close()


WAITING = "document.querySelector('[data-play]').blockQueue.cells()"
PIXEL_OF = """at => { const [x, y] = document.querySelector("[data-play]").mapCamera.pixels(at);
    const { left, top } = document.querySelector(".map-canvas").getBoundingClientRect();
    return [left + x, top + y]; }"""


HOLD = """pack => {
    const now = document.getElementById("map-now");
    now.setAttribute("value", JSON.stringify({ ...JSON.parse(now.getAttribute("value")), pack }));
    document.querySelector("[data-play]").dispatchEvent(new Event("brigade:panels"));
}"""
"""Change what the own builder holds: item, name and amount of each."""
WITHOUT_PLAN = """({ by_block, placeable }) => {
    const { mapBlocks: { world }, cellActions } = document.querySelector("[data-play]");
    const { ground, now } = world;
    world.ground = { ...ground, by_block, blueprint: null };
    world.now = { ...now, placeable: placeable ?? now.placeable };
    const said = cellActions.say([0, 0, 0]);
    Object.assign(world, { ground, now });
    return said;
}"""
"""What a free cell says to somebody who does not know the plan."""
ASK = """([first, ...others]) => {
    document.querySelector("[data-play]").blockAsking.ask([first, ...others]);
    return document.querySelector("#talk-form [name=text]").value;
}"""
"""Ask for what belongs on these cells. Return what stands in the message box after that."""

REFUSED = """([at, notices]) => {
    const { talk, blockAsking } = document.querySelector("[data-play]");
    const target = Object.assign(document.createElement("p"), { id: "notice" });
    talk.sendAside = () => true;
    blockAsking.ask([at]);
    return notices.map(html => {
        const fragment = document.createRange().createContextualFragment(html);
        document.dispatchEvent(new CustomEvent("htmx:oobBeforeSwap", { detail: { target, fragment } }));
        return document.querySelector("#talk-form [name=text]").value;
    });
}"""
"""Ask for what belongs on a cell, and get these notices. Return what stands in the message box after each."""


async def test_a_line_over_cells_places_what_is_in_the_hand_and_asks_for_every_stretch_that_is_lacked(
    browser: Browser,
) -> None:
    plan: dict[str, Any] = {"own_blueprint": WITH_A_GAP, "blueprint_blocked": "others"}
    world = game("construction", {"stone": 2, "dirt": 5}, {}, by_block=True, **plan)
    talk = TalkView(member=0, members={0: "Player 1", 1: "Player 2"}, addressees=(1,))
    view = replace(seen(world, 0), shown=DRAWING_ONLY, talk=talk)
    page = await open_page(browser, view, get_page(world.kind))
    first, last = [await page.evaluate(PIXEL_OF, [column, 0, 0]) for column in (0, 2)]
    await page.keyboard.press("2")
    assert await page.get_attribute(".slot[aria-pressed=true]", "data-item") == "dirt"
    assert await page.inner_text(".slot[aria-keyshortcuts='2'] small") == "dirt"
    await page.mouse.click(*first)
    assert await page.inner_text("[data-toast]") == "Here goes stone: choose 1"
    assert await page.evaluate(WAITING) == []
    await page.keyboard.press("1")
    await page.mouse.move(*first)
    await page.mouse.down()
    await page.mouse.move(*last, steps=6)
    assert await page.evaluate(WAITING) == [[0, 0, 0], [1, 0, 0]], "no more than are held"
    await page.mouse.up()
    await page.keyboard.press("Escape")
    assert await page.evaluate(WAITING) == []
    assert await page.evaluate(WITHOUT_PLAN, {"by_block": True}) == "Place stone"
    await page.evaluate(HOLD, [["dirt", "dirt", 5]])
    assert await page.evaluate(WITHOUT_PLAN, {"by_block": True}) == "Choose a block below the map first"
    for by_block in (True, False):
        none_held: dict[str, object] = {"by_block": by_block, "placeable": []}
        assert await page.evaluate(WITHOUT_PLAN, none_held) == "You have no block to place"
    assert await page.inner_text("[data-toast]") == "stone: none left. Choose another block."
    assert await page.locator(".slot[aria-pressed=true]").count() == 0, "nothing takes its place by itself"
    asked = "Glass on level 2, row 1, columns 1 to 2. Glass on level 2, row 1, columns 4 to 5"
    assert await page.evaluate(ASK, [[0, 1, 0], [1, 1, 0], [3, 1, 0], [4, 1, 0]]) == asked
    said = await page.inner_text("[data-toast]")
    assert said == f"Not sent. It is in the message box now: {asked}", "there is no connection"
    codes = [(code, RECEIPTS[code]) for code in ("repeated", "late")]
    codes.append(("too_many", MESSAGE_RECEIPTS["too_many"]))
    notices = [Screen().notice(NoticeMessage(code, text)) for code, text in codes]
    assert await page.evaluate(REFUSED, [[3, 1, 0], notices]) == [
        *[asked] * 2,
        f"{asked} Glass on level 2, row 1, column 4",
    ], "only what is about messages says that it was not sent"
    await page.close()
