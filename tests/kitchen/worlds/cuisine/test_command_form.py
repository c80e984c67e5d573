"""How a choice is made and sent in a browser: once, as it is shown, and again until it is answered. The test
is the server."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from playwright.async_api import Browser, Page, WebSocketRoute, expect

from kitchen.contract.agent import REASON_PLAN_BROKEN
from kitchen.contract.automatic_commands import PLAN_ILLEGAL
from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Event
from kitchen.play.live.render_page import PONG_HTML, Screen
from kitchen.worlds.cuisine.page import PAGE
from tests.browser import IN_A_BROWSER
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.test_floor_layout import HOST, open_page
from tests.kitchen.worlds.cuisine.test_step_report import kitchen, play

pytestmark = IN_A_BROWSER

FOCUS_ID = "document.activeElement.id"
FOCUS = "document.activeElement.dataset.spot || document.activeElement.textContent"
CHOSEN = "document.querySelector('#menu input:checked')?.value || ''"
MENU = "[data-spot-menu]"
AT_ONCE = """["[data-spot=pot0]", "[data-spot=chopboard0]", "#do-goto-chopboard0 input"]
    .forEach(one => document.querySelector(one).click())"""
"""Three choices before an answer could be there."""
PRESS_POT = """document.querySelector("#do-goto-pot0").dispatchEvent(
    new MouseEvent("click", { detail: 1, bubbles: true, cancelable: true }))"""
LISTEN = """() => {
    window.heard = [];
    const said = document.getElementById("stage-said");
    new MutationObserver(() => heard.push(said.textContent)).observe(said, { childList: true });
}"""
TO_POT, TO_BOARD = '["goto","pot0"]', '["goto","chopboard0"]'


class Line:
    """A page, and the other end of its websocket."""

    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []
        self.views: list[str] = []  # told to be seen
        self.dead = False
        self._screen = Screen()
        self._route: WebSocketRoute | None = None

    async def open(self, browser: Browser, view: SeatView, **more: Any) -> Page:
        """The page as it looks at first, connected."""
        context = await browser.new_context()
        await context.route_web_socket("**/nowhere/**", self._connect)
        await context.clock.install()
        self._screen.fragments(PAGE, view)
        page = await open_page(context, view, **more)
        await expect(page.locator("#connection")).to_have_attribute("data-state", "connected")
        return page

    async def _connect(self, route: WebSocketRoute) -> None:
        if self.dead:
            await route.close(code=1011)
            return
        self._route = route
        route.on_message(lambda text: self.heard.append(json.loads(text)))
        route.send(PONG_HTML)

    def says(self, html: str) -> None:
        """Something comes."""
        assert self._route
        self._route.send(html)

    def shows(self, view: SeatView) -> None:
        """What has changed of the view comes."""
        self.says(self._screen.fragments(PAGE, view))

    def shows_all(self, view: SeatView) -> None:
        """The whole comes, as after a new connection."""
        self._screen = Screen()
        self.shows(view)

    async def die(self, page: Page) -> None:
        """It breaks, and cannot be made again for the time being."""
        self.dead = True
        await self.close(1011)
        await expect(page.locator("#connection")).to_have_attribute("data-state", "reconnecting")

    async def close(self, code: int) -> None:
        """The server breaks it off."""
        assert self._route
        await self._route.close(code=code)

    async def mend(self, page: Page) -> None:
        """It can be made again; some seconds pass."""
        self.dead = False
        await page.clock.fast_forward(9000)
        await expect(page.locator("#connection")).to_have_attribute("data-state", "connected")
        await page.clock.fast_forward(4000)

    async def commanded(self, page: Page, *commands: str) -> None:
        """Just these were commanded since it was asked last."""
        await page.evaluate("() => new Promise(requestAnimationFrame)")
        while len(sent := [one["command"] for one in self.heard if one["type"] == "command"]) < len(commands):
            await page.wait_for_timeout(10)
        self.views += [one["view"] for one in self.heard if one["type"] == "view"]
        self.heard.clear()
        assert sent == [*commands]


async def test_what_was_sent_is_shown_and_sent_again_and_nothing_else_until_it_is_answered(
    browser: Browser,
) -> None:
    line = Line()
    page, view = await line.open(browser, play(kitchen())), play(kitchen())
    line.shows(replace(view, phase="thinking"))
    await expect(page.locator("#bar")).to_have_attribute("data-phase", "thinking")
    for verb in ("goto-pot0", "goto-chopboard0"):  # while a teammate answers, a choice can be changed
        await page.click(f"#do-{verb}", force=True)
    assert await page.evaluate(CHOSEN) == TO_BOARD
    await expect(page.locator("#menu-hint")).to_have_text("You chose: Go to chopping board 1")
    line.shows(view)
    await expect(page.locator("#bar")).to_have_attribute("data-phase", "choose")
    assert await page.evaluate(CHOSEN) == TO_BOARD
    await expect(page.locator("#menu-hint")).not_to_contain_text("You chose")
    await page.evaluate(AT_ONCE)
    assert await page.evaluate(CHOSEN) == TO_POT
    await expect(page.locator("#menu-hint")).to_have_text("You chose: Go to pot 1")
    await line.die(page)
    await line.commanded(page, TO_POT)
    await line.mend(page)
    await line.commanded(page, TO_POT)
    await line.die(page)
    await page.dblclick("[data-spot=chopboard0]")  # chosen anew while nothing can be sent
    await page.set_viewport_size({"width": 360, "height": 740})
    await expect(page.locator("[data-submit]:visible")).to_have_text("Not connected: your choice is kept")
    await line.mend(page)
    await line.commanded(page, TO_BOARD)
    line.shows(replace(view, phase="waiting"))
    await expect(page.locator("#bar")).to_have_attribute("data-phase", "waiting")
    await page.evaluate(PRESS_POT)
    assert await page.evaluate(CHOSEN) == TO_BOARD, "what was sent cannot be changed"
    line.shows(play(kitchen(), [("goto", "chopboard0")]))
    await expect(page.locator("#bar")).to_have_attribute("data-step", "1")
    await line.close(4409)
    await expect(page.locator("#elsewhere")).to_be_visible()
    await page.click("[data-spot=pot0]")  # another page plays
    await page.click("[data-take]")
    await line.mend(page)
    await line.commanded(page)
    await line.close(4404)  # who left in another tab reads all of it, also at 360 px
    await expect(page.locator("#gone-for-good")).to_be_visible()
    assert await page.evaluate(FOCUS_ID) == "gone-title"
    assert await page.evaluate(
        "(e => e.scrollWidth <= e.clientWidth)(document.querySelector('#connection [data-text]'))"
    )


async def test_a_small_menu_stays_while_it_holds_and_gives_the_focus_back(
    browser: Browser,
) -> None:
    line, world = Line(), kitchen(2)
    view = play(world, [("goto", "storage0"), ("noop",)])
    page = await line.open(browser, view)
    menu = page.locator(MENU)
    assert await page.get_attribute("[data-spot=pot0]", "title") == "Go to pot 1"
    assert await page.get_attribute("[data-spot=storage0]", "aria-expanded") == "false"
    await page.focus("[data-spot=storage0]")
    for _ in range(2):
        await page.keyboard.down("Enter")  # held, it is pressed again
    await page.keyboard.up("Enter")
    assert await page.get_attribute("[data-spot=storage0]", "aria-expanded") == "true"
    assert await menu.get_attribute("aria-label") == "Storage"
    first = await page.evaluate(FOCUS)
    line.says(PONG_HTML)
    line.shows(view := replace(view, waiting_for=(0,)))
    await page.wait_for_selector("#phase:not(:has-text('Robot 2'))", state="attached")
    assert await page.evaluate(FOCUS) == first
    await page.keyboard.press("Enter")
    assert await page.evaluate(FOCUS) == "storage0"
    assert await menu.is_hidden()
    await line.commanded(page, await page.evaluate(CHOSEN))
    await page.click("#tab-tables")
    await page.click("#tab-drawn")  # looked at, nothing chosen there
    line.shows(play(world, [("noop",), ("noop",)]))
    await expect(page.locator("#bar")).to_have_attribute("data-step", "2")
    await page.dblclick("[data-spot=storage0]")
    line.shows(play(world, [("noop",), ("noop",)]))
    await menu.wait_for(state="hidden")
    assert await page.evaluate(FOCUS) == "storage0"
    await line.commanded(page)
    assert line.views == ["drawn"]
    await page.eval_on_selector("#do-goto-pot1", "action => action.remove()")
    await page.click("[data-spot=pot1]")
    await expect(page.locator("#stage-said")).to_have_text("You cannot do anything here at the moment.")
    await page.keyboard.press("Escape")
    await expect(page.locator("#stage-said")).to_be_empty()


async def test_what_is_asked_first_is_chosen_when_it_is_sent_on_the_drawing_and_in_the_menu(
    browser: Browser,
) -> None:
    line, world = Line(), kitchen()
    view = play(world, [("goto", "storage0")], [("get", "storage0", "rice")])
    view = changed(view, hints=("Go to pot 1.",), hinted=("goto", "pot0"))
    page = await line.open(browser, view)
    await page.click("#do-put-storage0")
    assert await page.evaluate(CHOSEN) == '["put","storage0"]'
    await page.click("[data-spot=storage0]")
    await page.keyboard.press("Escape")
    await line.commanded(page)
    line = Line()
    page = await line.open(browser, view, asks_first=True)
    await page.click("[data-spot=pot0]")
    await page.keyboard.press("Escape")
    assert await page.evaluate(CHOSEN) == ""
    await page.set_viewport_size({"width": 360, "height": 740})
    await page.click("[data-quick] button")
    asked = await page.inner_text("[data-quick] p")
    await page.evaluate("scrollTo(0, 9999)")
    away = await page.evaluate("scrollY")
    line.says(PONG_HTML)
    await page.evaluate("() => new Promise(requestAnimationFrame)")
    assert await page.evaluate("scrollY") == away > 0  # where the hint is has been seen
    assert await page.inner_text("[data-quick] p") == asked
    await line.commanded(page)


OPEN = "[...document.querySelectorAll('[data-play] details[open] summary')].map(one => one.textContent)"


async def test_what_was_open_stays_open_with_its_choice_when_a_page_has_reconnected(browser: Browser) -> None:
    thought = {1: {"said": "First rice.", "thought": "Rice is missing."}}
    line, view = Line(), changed(play(kitchen(2)), offered=True, shows_intents=True, intents=thought)
    page = await line.open(browser, view, asks_first=True)
    fold, submit = page.locator("[data-fold=show-actions]"), page.locator("[data-submit]")
    await page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    opened = await page.evaluate(OPEN)
    assert "What it thought" in opened
    await page.set_viewport_size({"width": 360, "height": 740})
    await fold.click()
    await page.click("#do-goto-pot0")
    for step in range(2):
        await line.die(page)
        await expect(submit).to_have_text("Not connected: your choice is kept")
        await line.mend(page)
        line.shows_all(view)
        await expect(submit).to_have_text("Go to pot 1")
        await expect(submit).to_be_visible()
        await expect(fold).to_have_attribute("aria-expanded", "true")
        assert (await page.evaluate(CHOSEN), await page.evaluate(OPEN)) == (TO_POT, opened), step
    await page.keyboard.press("Escape")
    await fold.click()
    line.shows_all(view)
    await expect(fold).to_have_attribute("aria-expanded", "false")
    await expect(page.locator("#menu-actions")).to_be_hidden()


async def test_kitchen_or_tables_is_remembered_for_the_episode_and_for_no_other(browser: Browser) -> None:
    page = await open_page(browser, play(kitchen()))
    await page.click("#tab-tables")
    await page.reload()
    tables = page.get_by_role("tabpanel", name="Tables")
    await expect(tables).to_be_visible()
    html = str(await page.evaluate("fetch('/').then(answer => answer.text())")).replace("/nowhere/", "/next/")
    await page.route(f"{HOST}/", lambda route: route.fulfill(body=html, content_type="text/html"))
    await page.reload()
    await expect(page.get_by_role("tabpanel", name="Kitchen")).to_be_visible()
    await expect(tables).to_be_hidden()


async def test_an_act_that_was_to_follow_and_became_impossible_is_told_and_opens_no_list(
    browser: Browser,
) -> None:
    line, world = Line(), kitchen()
    page = await line.open(browser, changed(play(world), offered=True, order_choices=True))
    said, fold, stop = (page.locator(one) for one in ("#plan-said", "#plan-fold", "#going-on-stop"))
    assert await fold.get_attribute("open") is None
    then, waiting = (("put", "pot0"), ("activate", "pot0")), ("noop",)
    line.shows(
        changed(
            play(world),
            offered=True,
            order_choices=True,
            phase="waiting",
            by_seat={0: (("goto", "pot0"), *then)},
        )
    )
    await stop.hover()
    await page.mouse.down()
    line.shows(
        changed(play(world, [waiting]), offered=True, order_choices=True, phase="waiting", by_seat={0: then})
    )
    await expect(page.locator("#bar")).to_have_attribute("data-step", "1")
    assert await page.evaluate(FOCUS_ID) == "going-on-stop"
    await page.mouse.up()
    while not (heard := [one for one in line.heard if one["type"] == "plan"]):
        await page.wait_for_timeout(10)
    assert (heard[0]["then"], heard[0]["step"]) == ([], 2), "a press that began before a step counts"
    line.shows_all(
        changed(
            play(world, [waiting]), offered=True, order_choices=True, phase="waiting", by_seat={0: then[1:]}
        )
    )
    await expect(page.locator("#bar")).to_have_attribute("data-step", "2")
    assert await page.evaluate(FOCUS_ID) == "going-on-stop"
    view = changed(play(world, [("goto", "storage0")]), offered=True, order_choices=True)
    why = {"why": PLAN_ILLEGAL, "left": [["get", "storage0", "rice"]]}
    broken = replace(view.history[0], events=(Event(REASON_PLAN_BROKEN, 0, why),))
    line.shows(replace(view, history=(broken, *view.history[1:])))
    await expect(said).to_contain_text("not possible any more: Take rice from storage")
    await expect(said).to_be_visible()
    assert await fold.get_attribute("open") is None, "one press made this plan, not the list"
    assert await page.evaluate(FOCUS_ID) == "menu-title", "nothing goes on that could be stopped"
    line.shows(changed(play(world, [("noop",)]), offered=True, order_choices=True))
    await expect(said).to_have_text("")
    await page.evaluate(LISTEN)
    order = page.locator("[data-order] >> nth=0")
    assert await order.get_attribute("aria-label") is None
    for times in (1, 2):  # nothing can be done for it
        await order.click()
        await page.wait_for_function(f"heard.filter(Boolean).length === {times}")
    first, empty, again = await page.evaluate("heard")
    assert (first, empty) == (again, ""), "a region that has its words already is not read again"


async def test_while_a_plan_is_put_together_a_press_chooses_and_the_button_sends_both(
    browser: Browser,
) -> None:
    line, world = Line(), kitchen()
    page = await line.open(
        browser, changed(play(world), offered=True, order_choices=True, plannable=world.plannable(0))
    )
    submit = page.locator("[data-submit]")
    await page.click("#plan-fold summary")
    await page.click(".all-actions")
    await page.click("#do-goto-pot0")
    await expect(submit).to_have_text("Go to pot 1")
    await page.click(
        "[data-spot=chopboard0]"
    )  # on the drawing, too, and a key or Enter there would do the same
    assert (await page.evaluate(CHOSEN), await page.inner_text(f"{MENU} p")) == (
        TO_BOARD,
        "Go to chopping board 1",
    )
    await page.keyboard.press("Escape")
    await page.select_option("#plan-choice", TO_POT)
    await page.click("#plan-add")
    await expect(submit).to_have_text("Go to chopping board 1, then 1 more")
    await line.commanded(page)
    await submit.click()
    await page.wait_for_timeout(0)
    (then,) = [one["then"] for one in line.heard if one["type"] == "command"]
    assert then == TO_POT
    await line.commanded(page, TO_BOARD)
    line.shows(
        changed(
            play(world, [("goto", "chopboard0")]),
            offered=True,
            order_choices=True,
            plannable=world.plannable(0),
        )
    )
    await expect(page.locator("#bar")).to_have_attribute("data-step", "1")
    await page.click("#plan-fold summary")  # without a plan, one press is one action again
    await page.click("#do-goto-pot0")
    await line.commanded(page, TO_POT)
    steps = [("goto", "storage0"), ("get", "storage0", "rice")]
    line.shows(
        changed(
            play(world, *([step] for step in steps)),
            offered=True,
            order_choices=True,
            plannable=world.plannable(0),
        )
    )
    await expect(page.locator("#bar")).to_have_attribute("data-step", "3")
    await expect(page.locator("[data-spot=pot0]")).to_have_attribute(
        "title", "Go and make cooked rice in pot 1"
    )
    await page.click("[data-spot=pot0]")  # what one would do there goes along
    while not (heard := [one for one in line.heard if one["type"] == "command"]):
        await page.wait_for_timeout(10)
    (sent,) = heard
    assert (sent["command"], sent["then"]) == (TO_POT, ['["put","pot0"]', '["activate","pot0"]'])
    line.heard.clear()
    line.shows(
        changed(play(world, [("noop",)]), offered=True, order_choices=True, plannable=world.plannable(0))
    )
    await expect(page.locator("#bar")).to_have_attribute("data-step", "4")
    order = page.locator("[data-order] >> nth=0")
    await expect(order).to_have_attribute("aria-label", "Salmon sushi: Make cooked rice")
    await order.click()  # the first thing for this order, which is the same
    while not (heard := [one for one in line.heard if one["type"] == "command"]):
        await page.wait_for_timeout(10)
    assert (heard[0]["command"], heard[0]["then"]) == (sent["command"], sent["then"])
