"""The grids' page where a clock takes the ticks, in a browser without a server: what the clock says is shown,
and what was pressed a little before it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from playwright.async_api import Browser, Page, WebSocketRoute

from kitchen.contract.page_view import DRAWING_TABLES, SeatView
from kitchen.contract.world import Json
from kitchen.play.live.common_panels import shared_panels
from kitchen.play.live.render_page import render_panel
from kitchen.worlds.overcooked.page import PAGE
from kitchen.worlds.overcooked.world import Overcooked
from tests.browser import IN_A_BROWSER
from tests.journeys.axe import violations
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.test_floor_layout import LARGE_ENOUGH, SIZES, open_page
from tests.kitchen.worlds.cuisine.test_page import seen
from tests.kitchen.worlds.overcooked.test_page import SOUP, make

pytestmark = IN_A_BROWSER

TICK = 100
HEAR = """() => document.querySelector("[data-play]")
    .addEventListener("brigade:tick", event => { window.told = event.detail.step; })"""
FACES = "() => document.querySelector(`.actor[data-seat='0'] .nose`).getAttribute('transform')"
HELD = """() => [...document.querySelectorAll(`.actor[data-seat='0'] .held use`)]
    .map(use => use.getAttribute("href").replace(/.*#/, "#"))"""
POTS = "() => document.querySelectorAll('[data-moves] .pots > g').length"
STANDS = "() => document.querySelector(`.actor[data-seat='0']`).getAttribute('transform')"


class Clock:
    """What the owner of an episode tells the page of seat 0."""

    def __init__(
        self, page: Page, world: Overcooked, lines: list[WebSocketRoute], sent: Sequence[Json] = ()
    ) -> None:
        self.page, self.world, self.lines, self.sent = page, world, lines, sent
        self.before = world.observe(0)

    async def say(self, **message: Json) -> None:
        step = message.get("step")
        self.lines[-1].send(json.dumps(message))
        if step is not None:
            await self.page.wait_for_function(f"() => window.told === {step}")
            await self.page.evaluate("() => { window.told = null; }")

    async def whole(self, **more: Json) -> None:
        told = {"step": self.world.clock, "tick_ms": TICK, "observation": self.world.observe(0), "score": {}}
        await self.say(type="whole", **told, **{"key": 0, "starts_in_ms": 0, "lost_ms": 0, **more})

    async def tick(self, verb: str, **more: Json) -> None:
        events = [event.to_json() for event in self.world.step({0: (verb,), 1: ("stay",)})]
        now = self.world.observe(0)
        news = {name: value for name, value in now.items() if self.before[name] != value}
        self.before = now
        told = {"step": self.world.clock, "changed": news, "gone": [], "events": events, "score": {}}
        await self.say(type="tick", **{**told, "key": 0, "lost_ms": 0, **more})


def view_of(world: Overcooked, **more: Any) -> SeatView:
    return changed(seen(world, 0), **{"tick_ms": TICK, **more})


async def started(browser: Browser, *, template: Mapping[str, Any] | None = None, **more: Any) -> Clock:
    """A page that was told how things are. `template` goes to its template."""
    world = make("cramped_room", clock="tick", tick_ms=TICK)
    context, lines, sent = await browser.new_context(), list[WebSocketRoute](), list[Json]()

    def connect(line: WebSocketRoute) -> None:
        lines.append(line)
        line.on_message(lambda text: sent.append(json.loads(text)))

    await context.route_web_socket("**/*", connect)
    page = await open_page(context, view_of(world, **more), PAGE, **(template or {}))
    await page.wait_for_selector("#connection[data-state=connected]")
    await page.evaluate(HEAR)
    clock = Clock(page, world, lines, sent)
    await clock.whole()
    return clock


async def test_what_is_pressed_is_shown_before_the_clock_says_it_and_put_right_where_it_says_otherwise(
    browser: Browser,
) -> None:
    clock = await started(browser)
    page = clock.page
    at = await page.evaluate(STANDS)
    await page.keyboard.press("ArrowRight")
    assert await page.evaluate(FACES) == "rotate(90)"
    await page.wait_for_function(f"before => ({STANDS})() !== before", arg=at)
    await clock.tick("west", key=2)  # something else was pressed last, as the server heard it
    assert await page.evaluate(FACES) == "rotate(270)"
    await page.wait_for_function(f"before => ({STANDS})() === before", arg=at)


async def test_what_space_does_is_shown_at_once_and_put_right_where_the_clock_says_otherwise(
    browser: Browser,
) -> None:
    clock = await started(browser)
    page = clock.page
    for key in ("ArrowUp", "ArrowLeft"):  # the box of onions is in front after these
        await page.keyboard.press(key)
    await page.keyboard.down(" ")
    assert await page.evaluate(HELD) == ["#onion"]
    assert await page.inner_text("[data-holds]") == "onion"
    assert await page.locator(".pad [data-down]").get_attribute("data-press") == "space"
    await page.keyboard.up(" ")
    assert await page.locator(".pad [data-down]").count() == 0
    await page.evaluate("() => { window.held = document.querySelector('.held :last-child'); }")
    for verb in ("north", "west"):
        await clock.tick(verb)
    await clock.tick("interact", key=6, heard=[5, 0])
    assert await page.evaluate("held.isConnected")  # it is confirmed, and not drawn anew
    await page.keyboard.press(" ")  # the box of onions takes nothing back: nothing is shown
    await clock.tick("east", key=8)
    await clock.tick("north", key=8)
    await page.keyboard.press(" ")
    assert await page.evaluate(HELD) == [] and await page.evaluate(POTS) == 1
    pot: Json = [{"at": [2, 0], "contents": ["onion"] * 3, "left": 20}]
    await clock.tick("stay", key=10, changed={"pots": pot})  # the other cook filled it a moment before
    assert await page.evaluate(HELD) == ["#onion"]
    keys = [one for one in clock.sent if one["type"] == "key"]
    assert ["trip" in one for one in keys] == 6 * [False] + [True] + 3 * [False]


SLIDER = {"text": "Trust", "low": "none", "high": "complete"}
FOCUSED = "() => [document.activeElement.id, document.getElementById('rating-slider').value]"


async def test_a_pointer_rates_with_one_press_and_the_keys_are_the_games_again(browser: Browser) -> None:
    clock = await started(browser, template={"rating_slider": SLIDER})
    page, slider = clock.page, clock.page.locator("#rating-slider")
    box = await slider.bounding_box()
    assert box
    await page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + box["height"] / 2)
    await page.mouse.down()
    await page.keyboard.press("ArrowLeft")
    _, rated = await page.evaluate(FOCUSED)
    assert 70 < int(rated) < 80
    await page.mouse.up()
    await page.click("label[for=rating-slider]")
    await page.wait_for_selector("#menu-title:focus")
    await page.keyboard.press("ArrowLeft")
    assert await page.evaluate(FACES) == "rotate(270)"
    assert await page.evaluate(FOCUSED) == ["menu-title", rated]
    assert [one["type"] for one in clock.sent if one["type"] != "ping"] == ["slider", "key", "key"]
    while (await page.evaluate(FOCUSED))[0] != "rating-slider":
        await page.keyboard.press("Shift+Tab")
    await page.keyboard.press("ArrowLeft")
    assert await page.evaluate(FOCUSED) == ["rating-slider", str(int(rated) - 1)]


async def test_a_page_that_reconnects_says_which_step_it_was_shown_and_from_where(browser: Browser) -> None:
    clock = await started(browser)
    await clock.whole(source=["0a1b", 2, 30])
    await clock.tick("stay")
    assert "seen=" not in clock.lines[-1].url
    before = len(clock.lines)
    await clock.lines[-1].close(code=1012)
    async with asyncio.timeout(20):
        while len(clock.lines) == before:
            await clock.page.wait_for_timeout(20)
    assert clock.lines[-1].url.endswith(f"&seen=0a1b.2.30.{clock.world.clock}")


RINGS = """() => [[...document.querySelectorAll(".hint-ring")].map(ring => ring.getAttribute("transform")),
    document.querySelector(".pad-interact").hasAttribute("data-hinted")]"""


async def test_a_hint_rings_the_cells_to_use_and_the_button_once_one_faces_them(browser: Browser) -> None:
    clock = await started(browser, hints=("Your cook has a ring around it.",))
    page = clock.page
    await clock.tick("north", errand={"do": "pickup", "item": "onion", "at": "0,1 4,1"})
    assert await page.evaluate(RINGS) == [["translate(24 72)", "translate(216 72)"], False]
    await clock.tick("west")  # to the box of onions
    assert (await page.evaluate(RINGS))[1] is True
    await clock.tick("interact", errand={"do": "put_onion_in_pot", "at": "2,0"})
    assert await page.evaluate(RINGS) == [["translate(120 24)"], False]


async def test_what_was_carried_out_is_not_ahead_any_more(browser: Browser) -> None:
    clock = await started(browser)
    page = clock.page
    await page.evaluate(
        "() => { window.ahead = []; document.querySelector('[data-play]')"
        ".addEventListener('brigade:tick', event => ahead.push(event.detail.ahead.length)); }"
    )
    await page.keyboard.press("ArrowRight")
    await clock.tick("stay")
    await clock.tick("east")
    assert await page.evaluate("ahead") == [1, 1, 0]


async def test_a_soup_is_told_in_words_as_it_comes_and_its_delivery_aloud(browser: Browser) -> None:
    clock = await started(browser)
    page = clock.page
    for verb in SOUP:
        await clock.tick(verb)
    assert await page.inner_text("[data-points]") == "20"
    assert await page.inner_text("#score [data-left]") == str((400 - len(SOUP)) * TICK // 1000)
    assert "You have delivered a soup: 20 points." in str(await page.text_content("#spoken"))
    assert await page.text_content(".gain-mark") == "+20"
    assert await page.locator("[data-moves] :is([href='#guest-happy'], [href='#arms-cheer'])").count() == 2
    assert await page.inner_text("[data-helped]") == "You cooked and served the soup"
    assert await page.inner_text("[data-ahead]") == "serving place"
    deeds = await page.locator("[data-deeds] .past-line").all_inner_texts()
    assert [" ".join(deed.split()) for deed in deeds[:3]] == [
        "✓ You have delivered a soup: 20 points.",
        "You: took the soup out of the pot",
        "· A soup is ready.",
    ]
    await clock.whole(errand={"do": "pickup", "item": "onion"})
    assert await page.inner_text("#hint .next") == "Next: take an onion"
    await page.wait_for_function(
        "() => document.querySelector('[data-actor]').textContent.includes('column 4, row 3')"
    )
    assert await page.locator(".bar-step").is_hidden()


HEAR_SOUNDS = """() => { window.heard = []; document.querySelector("[data-play]")
    .addEventListener("brigade:sound", ({ detail }) => heard.push(detail)); }"""
HEAR_ALOUD = """() => { window.aloud = []; new MutationObserver(all => aloud.push(...all
    .flatMap(one => [...one.addedNodes]).map(node => node.textContent)))
    .observe(document.getElementById("spoken"), { childList: true, characterData: true, subtree: true }); }"""


async def test_sound_is_offered_once_and_played_for_what_happens_once_it_is_on(browser: Browser) -> None:
    clock = await started(browser, template={"recommends_sound": True})
    page = clock.page
    await page.evaluate(HEAR_SOUNDS)
    assert await page.get_attribute("[data-sound]", "aria-pressed") == "false"
    await clock.tick("stay", events=[{"kind": "ready", "pot": [2, 0]}])
    assert await page.evaluate("heard") == []
    await page.click("[data-sound-accept]")
    assert await page.locator("[data-sound-offer]").is_hidden()
    assert await page.evaluate("document.querySelector('[data-play]').sounds.NAMES.length") == 10
    for points in (20, 0):
        await clock.tick("stay", events=[{"kind": "delivered", "seat": 1, "points": points}])
    await clock.tick("north")
    assert await page.evaluate("heard") == ["message", "served", "missed", "step"]
    told = [one for one in clock.sent if one["type"] == "sound"]
    assert told == [{"type": "sound", "state": "part"}]
    await page.reload()
    await page.wait_for_selector("[data-sound][aria-pressed=true]")
    assert await page.locator("[data-sound-offer]").is_hidden()


async def test_each_of_two_equal_deliveries_is_said_aloud(browser: Browser) -> None:
    clock = await started(browser)
    page = clock.page
    await page.evaluate(HEAR_ALOUD)
    delivered: Json = {"kind": "delivered", "seat": 1, "points": 20}
    for _ in range(2):
        await clock.tick("stay", events=[delivered])
    assert await page.evaluate("aloud") == ["Robot 2 has delivered a soup: 20 points."] * 2
    await page.wait_for_function("() => !document.getElementById('spoken').textContent")


async def test_who_presses_in_vain_reads_why_and_a_held_key_is_told_of_once(browser: Browser) -> None:
    clock = await started(browser)
    page = clock.page
    await page.evaluate(HEAR_ALOUD)
    for verb in ("north", "west", "interact", "interact", "interact"):
        await clock.tick(verb)
    assert await page.locator(".refused-words[aria-hidden=true]").all_inner_texts() == ["both hands are full"]
    refused: Json = {"kind": "refused", "seat": 1, "command": ["interact"], "reasons": ["hands_full"]}
    await clock.tick("stay", events=[refused])  # another cook's is not told
    deeds = await page.locator("[data-deeds] .past-line").all_inner_texts()
    said = [" ".join(deed.split()) for deed in deeds]
    assert said == ["You: ✕ both hands are full", "You: took an onion"]
    assert await page.evaluate("aloud") == []
    await clock.tick("stay", events=[{**refused, "seat": 0, "reasons": ["hands_empty"]}])
    told = await page.locator(".refused-words").all_inner_texts()
    assert told == ["the hands are empty"], "a later reason is read at once"
    assert await violations(page, "a grid under a clock") == []


async def test_in_words_alone_nothing_is_drawn_and_the_words_follow_the_clock(browser: Browser) -> None:
    clock = await started(browser, shown=DRAWING_TABLES)
    page = clock.page
    assert not await page.is_visible("[data-board]")
    assert await page.locator("#in-words").count() == 0
    for verb in ("north", "west", "interact"):
        await clock.tick(verb)
    assert await page.inner_text("[data-holds]") == "onion"
    await page.wait_for_function(
        "() => document.querySelector('[data-actor]').innerText.includes('holds onion')"
    )
    assert await page.is_visible("#grid")
    assert await page.inner_text("#score [data-left]") == str((400 - 3) * TICK // 1000 + 1)


async def test_when_it_begins_and_that_time_was_lost_is_said(browser: Browser) -> None:
    clock = await started(browser)
    page = clock.page
    await clock.whole(starts_in_ms=3_599_900)
    assert await page.inner_text("#tick-said") == "The game begins in 3600 s"
    await clock.tick("stay", lost_ms=1234)
    stood = "The clock stopped for 1.2 s. It continues from the same point."
    assert await page.inner_text("#tick-said") == stood and await page.inner_text("#notice") == ""


SAYINGS = """() => {
    const read = (id) => document.querySelector(id).textContent.trim();
    window.sayings = [];
    const note = () => {
        const [clock, line] = [read("#tick-said"), read("#connection [data-text]")];
        if (sayings.at(-1)?.join() !== [clock, line].join()) sayings.push([clock, line]);
    };
    const everything = { childList: true, characterData: true, subtree: true };
    new MutationObserver(note).observe(document.body, everything);
    note();
}"""
"""Notes what the page says of the clock and of its connection, whenever one of the two changes."""
STOPPED = "The clock has stopped. It will continue by itself."
DOUBTED = "Waiting for the connection… The game may go on meanwhile."


async def sayings_until(clock: Clock, last: tuple[str, str]) -> list[tuple[str, str]]:
    """What the page says after one tick, up to this."""
    await clock.tick("stay")
    await clock.page.evaluate(SAYINGS)
    await clock.page.wait_for_function("last => sayings.at(-1).join() === last.join()", arg=list(last))
    return [(of_clock, of_line) for of_clock, of_line in await clock.page.evaluate("sayings")]


async def test_a_server_that_is_silent_is_not_said_to_have_stopped_its_clock(browser: Browser) -> None:
    clock = await started(browser)
    found = await sayings_until(clock, ("", DOUBTED))
    assert found == [("", "Connected"), ("", DOUBTED)]
    clock.lines[-1].send('{"type": "pong"}')  # it answers again, and a moment later come the steps
    await clock.page.wait_for_timeout(600)
    await clock.tick("stay")
    assert await clock.page.evaluate("sayings.slice(2)") == [["", "Connected"]]


async def test_a_clock_that_stopped_is_told_of_only_while_its_server_answers(browser: Browser) -> None:
    clock, answers, sent = await started(browser), True, list[str]()

    def answer(text: str | bytes) -> None:
        sent.append(str(text))
        if answers:
            clock.lines[-1].send('{"type": "pong"}')

    clock.lines[-1].on_message(answer)
    found = await sayings_until(clock, (STOPPED, "Connected"))
    assert found == [("", "Connected"), (STOPPED, "Connected")]
    answers = False
    await clock.page.wait_for_function("last => sayings.at(-1).join() === last.join()", arg=["", DOUBTED])
    assert any('"ping","trip":' in text for text in sent)
    pairs = {tuple(one) for one in await clock.page.evaluate("sayings")}
    assert (STOPPED, DOUBTED) not in pairs


TOPS = """() => {
    const words = JSON.parse(document.getElementById("words").textContent);
    return [words.awaited, words.stood, ""].map(text => {
        const said = document.getElementById("tick-said");
        said.textContent = text;
        const top = document.querySelector(".board-frame").getBoundingClientRect().top;
        const sound = document.querySelector("[data-sound]"), { right } = sound.getBoundingClientRect();
        const free = !text || said.getBoundingClientRect().bottom <= top;
        return [top, free, sound.checkVisibility() && right <= innerWidth];
    });
}"""
"""Where the grid begins while something is said of the clock, whether that leaves it free, and whether the
switch for sound is in reach."""
PADS = """() => ["counter", "pot: tomato, tomato, tomato; not cooking yet"]
    .map(text => {
        document.querySelector("[data-ahead]").textContent = text;
        return document.querySelector(".pad").getBoundingClientRect().top;
    })"""
WIDTHS = [(360, 740), (390, 844), (800, 600), (820, 1180), (1024, 768), (1280, 720), (1440, 900)]


async def test_nothing_moves_and_no_grid_is_covered_by_what_is_said_of_the_clock(browser: Browser) -> None:
    page = (await started(browser)).page
    for width, height in WIDTHS:
        await page.set_viewport_size({"width": width, "height": height})
        (begun, *_), *others = reversed(await page.evaluate(TOPS))
        assert others == [[begun, True, True]] * 2, width


async def test_the_pad_stays_where_it_is_however_much_is_in_front_of_the_cook(browser: Browser) -> None:
    page = (await started(browser)).page
    for width, height in WIDTHS[4:]:
        await page.set_viewport_size({"width": width, "height": height})
        short, long = await page.evaluate(PADS)
        assert short == long, width


async def test_on_a_low_page_the_grid_is_large_and_the_pad_beside_it(browser: Browser) -> None:
    page = (await started(browser)).page
    await page.set_viewport_size({"width": 800, "height": 600})
    board, pad = page.locator(".board-frame"), page.locator(".pad")
    grid, keys = await board.bounding_box(), await pad.bounding_box()
    assert grid and keys and grid["width"] > 400 and grid["y"] + grid["height"] <= 600
    assert keys["x"] >= grid["x"] + grid["width"] and keys["y"] + keys["height"] <= 600


SHIELDED = """() => {
    const play = document.querySelector("[data-play]");
    window.shielded = [];
    new MutationObserver(() => {
        const takes = getComputedStyle(document.querySelector(".over-continue a")).pointerEvents;
        if (play.matches(".is-just-over") && !shielded.length) shielded.push(takes);
    }).observe(play, { attributeFilter: ["class"] });
}"""


async def test_at_the_end_the_page_says_so_and_nothing_is_pressed_any_more(browser: Browser) -> None:
    clock = await started(browser)
    page, view = clock.page, view_of(clock.world, phase="over")
    html = "".join(render_panel(panel) for panel in (*shared_panels(PAGE, view), *PAGE.panels(view)))
    await page.evaluate(SHIELDED)
    await clock.say(type="over", status="ended", html=html)
    await page.wait_for_selector("#over.is-over h2")
    await page.wait_for_selector("[data-play]:not(.is-just-over)")
    assert await page.evaluate("shielded") == ["none"]  # a tap that came late hit nothing
    face = await page.evaluate(FACES)
    await page.keyboard.press("ArrowRight")
    assert await page.evaluate(FACES) == face


async def test_a_finger_on_the_pad_holds_a_key_and_all_is_large_enough(browser: Browser) -> None:
    clock = await started(browser)
    page = clock.page
    for width, height in SIZES[::3]:
        await page.set_viewport_size({"width": width, "height": height})
        assert await page.evaluate(LARGE_ENOUGH) == []
    await page.evaluate(
        "() => { window.most = 0; document.querySelector('[data-play]')"
        ".addEventListener('brigade:tick', event => { most = Math.max(most, event.detail.ahead.length); }); }"
    )
    await page.hover(".pad-west")
    await page.mouse.down()
    await page.wait_for_function("() => most >= 2")
    await page.mouse.up()
