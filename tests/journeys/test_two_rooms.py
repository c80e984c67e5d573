"""Chef and assistant of Collab-Overcooked in a real browser: by keyboard, by touch, and as two people."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from playwright.async_api import Browser, Page

from kitchen.contract.world import Command
from kitchen.worlds.collab_overcooked.display_text import picker_words
from kitchen.worlds.collab_overcooked.reference_trajectories import references
from tests.browser import IN_A_BROWSER, SHOTS
from tests.journeys.axe import violations
from tests.journeys.fitting import misfits
from tests.journeys.person import Person, enter_loaded, new_slug
from tests.servers import Stack

pytestmark = IN_A_BROWSER

STUDY = """slug = "{slug}"
title = "Two rooms"
seed = 5
[world]
kind = "collab_overcooked"
settings = {{ task = "{task}", gamma = 3.0, one_press = {one_press} }}
[parts.consent]
text = "I agree."
{practice}[[conditions]]
key = "one"
name = "one"
label = "Two rooms"
coplayer = "recipe_partner"
teammates = 1
offers_plans = true
shows_intents = true
star_targets = {{ steps_used = [100, 90, 80] }}
organisation = {{ kind = "pair", settings = {{ within = true }}, people = {people} }}
[[items]]
key = "i0"
measure = "M0"
text = "Item."
"""
PRACTICE = """[parts.practice.settings]
own_seat = true
[parts.practice.settings.kitchen]
world = "collab_overcooked"
coplayer = "recipe_partner"
teammates = 1
settings = { task = "baked_pumpkin_soup", gamma = 3.0, plan_lanes = true }
"""
SOUP = "baked_pumpkin_soup"
STEW = "sliced_pumpkin_and_chickpea_stew"
SIZES = ((360, 740), (390, 844), (768, 1024), (844, 390), (1024, 768), (1440, 900))
UNHURRIED = 320
"""Milliseconds between two taps that are no double tap."""
COVERED = Path(__file__).with_name("kitchen_in_sight.js").read_text().rstrip().rstrip(";")
"""What lies over the kitchen, or keeps it out of sight, whichever panel is shown."""

NAMES_COVERED = """[...document.querySelectorAll("#requests .request-card")].filter(card => {
    const [name, button] = [".wanted", ".button"].map(one => card.querySelector(one).getBoundingClientRect());
    return name.right > button.left + 1 && name.bottom > button.top + 1;
}).map(card => card.innerText)"""
"""The requests of which a button covers the name."""

RECONNECTED = """() => new Promise(done => {
    document.addEventListener("htmx:wsAfterMessage", () => done(), { once: true });
    document.querySelector("[data-play]").connection.reconnect();
})"""
"""All panels come anew."""

VERDICTS = """() => {
    const [play, end] = ["[data-play]", "#over"].map(one => document.querySelector(one));
    const { serving, moves } = JSON.parse(document.getElementById("board").dataset.rules);
    const at = serving.map((value, axis) => value - moves.north[axis]), seen = [], make = () => "";
    const tools = { show() {}, gain() {}, beside() {}, make, act: (seat, pose) => seen.push(pose) };
    for (const over of [true, false]) for (const right of [true, false]) {
        end.classList.toggle("is-over", over);
        const [before, after] = ["boiled_egg", null].map(
            holds => ({ players: [{ at, face: "north", holds }] }));
        play.painters.changed(before, { ...after, delivered: { 0: right } }, tools);
    }
    end.classList.add("is-over");
    return seen;
}"""
"""The poses of both cooks after a right and a wrong delivery, in a game that is over and in one that is
not."""

JOBS_ENDED = """() => {
    const seen = [], make = () => "";
    const players = [{ at: [3, 2] }, { at: [1, 2] }].map(one => ({ ...one, face: "north" }));
    const utensil = (at, inside) => ({ at, contents: [], left: null, ready: null, ...inside });
    const act = (seat, pose) => seen.push(pose);
    const tools = { show: (_, at) => seen.push(at.join()), act, gain() {}, make };
    const before = [utensil([0, 2], { contents: ["egg"], left: 1 }), utensil([4, 3], { contents: ["egg"] })];
    const after = [utensil([0, 2], { ready: "egg" }), utensil([4, 3], {})];
    document.querySelector("[data-play]").painters.changed(
        { players, utensils: before }, { players, utensils: after }, tools);
    return seen;
}"""
"""Returns the marks that appear when a job is done beside its cook, and when contents are lost far from
everybody."""

CLICKED_TWICE = """() => [1, 2].map(() => {
    document.querySelector("[data-wait-on]").click();
    return document.querySelector("[data-play]").classList.contains("is-waiting-on");
})"""
"""Whether the cook waits after each of two clicks of assistive technology, which send no press before."""

REFUSED = """() => {
    const { choosing } = document.querySelector("[data-play]"), { send } = choosing;
    const [target, fragment, line] = ["p", "div", "p"].map(name => document.createElement(name));
    const tell = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));
    let sent = 0;
    Object.assign(target, { id: "notice" });
    line.textContent = "Refused";
    fragment.append(line);
    choosing.send = () => { sent += 1; };
    document.querySelector("#requests [data-key]:not(:disabled)").click();
    for (const _ of [1, 2, 3]) {
        tell("htmx:oobBeforeSwap", { target, fragment });
        tell("htmx:wsAfterMessage", { message: "" });
    }
    choosing.send = send;
    return sent;
}"""
"""How often an accepted request is sent while the server refuses everything."""

UNFOLDED = """value => {
    const radio = document.querySelector("[data-play]").choosing.radioOf(value);
    radio.closest("details")?.setAttribute("open", "");
    radio.focus();
}"""
"""The focus is at an action of the menu, which may be folded."""

PANTRY = """() => {
    const menu = document.getElementById("menu"), part = document.createElement("fieldset");
    const action = hidden => `<label class="action" ${hidden}>
        <input type="radio" name="command" value='["${hidden}"]' data-text="It"></label>`;
    part.innerHTML = `<kbd>ö</kbd><input data-pantry-search>${action("hidden")}${action("")}`;
    const fresh = part.cloneNode(true);
    fresh.title = "as of the next step";
    menu.append(part);
    const tell = (name, detail = { message: "" }) =>
        document.dispatchEvent(new CustomEvent(name, { detail }));
    const replace = (target, now) => {
        const fragment = document.createElement("div");
        fragment.append(now);
        tell("htmx:oobBeforeSwap", { target, fragment });
        target.replaceWith(now);
    };
    part.querySelector("[data-pantry-search]").focus();
    tell("htmx:wsBeforeMessage");
    replace(part, fresh);
    replace(document.getElementById("spoken"), document.getElementById("spoken").cloneNode(true));
    tell("htmx:wsAfterMessage");
    const isIn = document.activeElement === fresh.querySelector("[data-pantry-search]");
    fresh.querySelector("[hidden=''], label").hidden = true; // what the search does not find
    menu.dispatchEvent(new KeyboardEvent("keydown", { key: "ö", bubbles: true }));
    const chosen = menu.querySelector("input[name=command]:checked")?.value;
    fresh.remove();
    return [isIn, chosen];
}"""
"""Puts a pantry into the menu, replaces it in a message of two panels while one writes in it, and presses its
key. Returns whether one still writes in it, and what the key has chosen."""


def entered(
    stack: Stack,
    folder: Path,
    task: str,
    people: Iterable[int],
    page: str = "play",
    count: int = 1,
    one_press: bool = False,
) -> list[str]:
    """Return the addresses of so many people who came to this page of such a study."""
    file, slug = folder / f"{new_slug()}.toml", new_slug()
    practice = PRACTICE if page == "practice" else ""
    settings = {"task": task, "one_press": json.dumps(one_press)}
    file.write_text(STUDY.format(slug=slug, people=list(people), practice=practice, **settings))
    return enter_loaded(stack, file, slug, people=count, page=page)


async def picture(page: Page, name: str) -> None:
    """Keep a picture of the page for somebody who wants to look."""
    if SHOTS:
        await page.screenshot(path=Path(SHOTS) / f"{name}.png")


async def kitchen_covered(page: Page, name: str) -> list[str]:
    """Return what covers the kitchen at any size; the page is as large as before afterwards."""
    before, found = page.viewport_size, []
    for width, height in SIZES:
        await page.set_viewport_size({"width": width, "height": height})
        await page.wait_for_function(f"innerWidth === {width}")
        found += [f"{width}x{height} {one}" for one in await page.evaluate(COVERED)]
        await picture(page, f"{name}-{width}x{height}")
    if before:
        await page.set_viewport_size(before)
    return found


async def open_all_requests(page: Page) -> None:
    """Unfold the form with all requests."""
    if not await page.locator("#ask-fold[open]").count():
        await page.focus("#ask-fold > summary")
        await page.keyboard.press("Enter")


async def pick_by_keyboard(page: Page, macro: Command) -> None:
    """Choose verb, thing and place of a macro in the lists, by typing, and add it."""
    await open_all_requests(page)
    for place, (code, _) in enumerate(picker_words(macro)):
        select = page.locator("#ask-form [data-macro-picker] select").nth(place)
        await select.focus()
        text = await select.locator(f"option[value='{code}']").inner_text()
        await page.keyboard.type(text)
        assert await select.input_value() == code
    await page.focus("[data-add-request]")
    await page.keyboard.press("Enter")


async def ask_by_keyboard(page: Page, macros: Iterable[Command]) -> None:
    """Ask for these macros in one message, and wait for the answer within the step."""
    for macro in macros:
        await pick_by_keyboard(page, macro)
    before = await page.locator(".said:not(.is-yours)").count()
    await page.focus("#ask-text")
    await page.keyboard.type("Please.")
    await page.keyboard.press("Enter")
    await page.wait_for_selector(f".said:not(.is-yours) >> nth={before}")
    assert await page.locator("[data-request-list] li").count() == 0


async def press_macro(page: Page, macro: Command) -> None:
    """Choose a macro of the menu by keyboard as soon as the menu offers it, and send it."""
    value = json.dumps(list(macro), separators=(",", ":"))
    await page.wait_for_function(
        "value => document.querySelector('[data-play]').choosing.radioOf(value)", arg=value
    )
    await page.evaluate(UNFOLDED, value)
    await page.keyboard.press("Space")
    await page.keyboard.press("Enter")


async def asked_again(page: Page, step: int) -> bool:
    """Wait until a step later than this one waits for this person; False if the episode is over."""
    later = f"#bar[data-phase=choose]:not([data-step='{step}'])"
    await page.wait_for_selector(f"{later}, #bar[data-phase=over]", timeout=60_000)
    return await page.get_attribute("#bar", "data-phase") != "over"


async def act(page: Page, person: Person, macro: Command) -> None:
    """Carry out a macro by keyboard as soon as it can begin; wait until then."""
    going = True
    while going:
        before = await person.step()
        wanted = macro if list(macro) in [list(one) for one in await person.offered()] else ("wait", "1")
        await press_macro(page, wanted)
        going = await asked_again(page, before) and wanted != macro


async def ask_in_the_bubble(page: Page, name: str) -> None:
    """Open the bubble by its key, choose this piece of work, and wait for the answer."""
    before = await page.locator(".said:not(.is-yours)").count()
    await page.keyboard.press("a")
    while await page.evaluate("document.activeElement.innerText") != name:
        await page.keyboard.press("ArrowRight")
    await page.keyboard.press("Enter")
    await page.wait_for_selector(f".said:not(.is-yours) >> nth={before}")


async def draft_kept(page: Page) -> bool:
    """Write and pick something, lose the connection; return whether all of it is there when it is back."""
    await open_all_requests(page)
    await page.fill("#ask-text", "Half a sent")
    await page.click("[data-add-request]")
    await page.evaluate(RECONNECTED)
    await page.wait_for_selector("#connection[data-state=connected]")
    kept = await page.input_value("#ask-text") == "Half a sent"
    requests = await page.locator("[data-request-list] li").count()
    await page.click("[data-remove-request]")
    await page.fill("#ask-text", "")
    return kept and requests == 1


async def test_a_chef_practises_by_keyboard_with_the_kitchen_in_sight(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    person, pair = Person(page), references(SOUP)[0]
    await page.set_viewport_size({"width": 1280, "height": 900})
    await person.enter(entered(live_stack, tmp_path, SOUP, people=[0], page="practice")[0])
    assert "Cook in the pot: baked pumpkin slices" in await page.inner_text("#score")
    assert "ask Cook 2 for it" in await page.inner_text("#hint")
    assert await draft_kept(page)
    assert await page.evaluate(PANTRY) == [True, '[""]']
    await page.click("#tab-tables")
    await page.keyboard.press("a")
    assert await page.is_visible("#quick-ask-form"), "the bubble is shown beside the tables, too"
    await page.keyboard.press("Escape")
    await page.click("#tab-drawn")
    await ask_in_the_bubble(page, "Cut pumpkin")
    await ask_by_keyboard(page, pair.units[1])
    assert await person.step() == 0, "the answer came within the step"
    assert await page.locator("#asked .request-card").count() == 2
    assert await page.evaluate(CLICKED_TWICE) == [True, False]
    assert await asked_again(page, 0)
    await page.focus("#menu-title")
    await page.keyboard.press("w")
    await page.wait_for_selector("#wait-said-why:has-text('On the shared counter: pumpkin slices')")
    assert await person.step() > 5, "one press waits until there is something to do"
    await act_all(person, pair.chef[:3])
    assert await kitchen_covered(page, "chef") == []
    foretold = await page.inner_text("[data-lanes-finish]")
    await page.press("[data-lanes-go]", "Enter")
    await page.wait_for_selector("#over.is-over")
    assert "The dish was delivered in time" in await page.inner_text("#over")
    assert foretold == f"Served in step {await person.step()}"
    assert await page.evaluate(VERDICTS) == ["cheer", "cheer", "sad"] * 2, "both are glad of it"
    assert await page.evaluate(JOBS_ENDED) == ["0,2", "cheer", "4,3", "2,1.6"]
    await page.evaluate("document.getElementById('menu').remove()")  # as for somebody who watches
    await page.keyboard.press("x")
    assert person.problems == []


@pytest.mark.nightly
async def test_an_assistant_practises_by_the_hints(page: Page, live_stack: Stack, tmp_path: Path) -> None:
    """Somebody accepts each request, and waits when the hint says so. Lists offer few things."""
    person = Person(page)
    await page.set_viewport_size({"width": 390, "height": 844})
    await person.enter(entered(live_stack, tmp_path, SOUP, people=[1], page="practice")[0])
    await page.wait_for_selector("#requests [data-accept]")
    await page.wait_for_selector("#hint:has-text('Press “Do this”')")
    assert await page.evaluate(REFUSED) == 2, "once more, and no more"
    await page.click("[data-panel-tab=ask]")
    things = await page.locator("#ask-form select").nth(1).locator("option").all_inner_texts()
    assert "Pumpkin slices" in things and len(things) < 6, "what was requested, and what one job makes of it"
    await picture(page, "assistant-practice-ask")
    await page.click("[data-panel-tab=act]")
    going, hints = True, list[str]()
    while going:
        before = await person.step()
        hints.append(await page.inner_text("#hint"))
        await picture(page, f"assistant-practice-{before}")
        if "Press “Do this”" in hints[-1]:
            await page.locator("#requests [data-accept]:not(:disabled)").first.press("Enter")
        else:
            await press_macro(page, ("wait", "1"))
        going = await asked_again(page, before)
    assert sum("Press “Do this”" in hint for hint in hints) == 2
    assert "The dish was delivered in time" in await page.inner_text("#over")
    assert person.problems == []


@pytest.mark.nightly
async def test_an_assistant_delivers_by_keyboard_with_one_press_for_each_request(
    page: Page, live_stack: Stack, tmp_path: Path
) -> None:
    """Both requests are pressed at once: the second follows the first. An own idea and the wait follow."""
    person = Person(page)
    await page.set_viewport_size({"width": 1280, "height": 900})
    await person.enter(entered(live_stack, tmp_path, STEW, people=[1])[0])
    assert "You do not have the recipe" in await page.inner_text("#score")
    await page.wait_for_selector("[data-key='2']")
    assert await kitchen_covered(page, "assistant") == []
    for width in (1440, 1280):
        await page.set_viewport_size({"width": width, "height": 900})
        assert await page.evaluate(NAMES_COVERED) == [], f"{width} px"
    assert await page.evaluate("document.activeElement.dataset.key") == "1", "Enter does it"
    await page.keyboard.press("Enter")
    await page.wait_for_selector("#requests [data-later]")
    await page.keyboard.press("1")
    await page.wait_for_selector("#requests [aria-pressed=true], #requests .is-accepted ~ .is-accepted")
    await page.press("[data-idea='idea-dish']:not(:disabled):visible", "Enter")
    await page.wait_for_selector("#over.is-over", timeout=60_000)
    assert "The dish was delivered in time" in await page.inner_text("#over")
    assert person.problems == []


@pytest.mark.nightly
@pytest.mark.parametrize("seat", [0, 1])
async def test_a_soup_is_delivered_by_touch_on_a_phone(
    browser: Browser, live_stack: Stack, tmp_path: Path, seat: int
) -> None:
    context = await browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, base_url=live_stack.url
    )
    page = await context.new_page()
    person = Person(page)
    await person.enter(entered(live_stack, tmp_path, SOUP, people=[seat], one_press=True)[0])
    if seat == 0:
        await chef_by_touch(page, person)
    else:
        await assistant_by_touch(page, person)
    assert "The dish was delivered in time" in await page.inner_text("#over")
    assert await page.evaluate("document.documentElement.scrollWidth <= 390")
    assert person.problems == []
    await context.close()


async def chef_by_touch(page: Page, person: Person) -> None:
    """Ask for all units, then play the chef's trajectory. What must follow needs no press of its own."""
    pair = references(SOUP)[0]
    for unit in pair.units:
        await page.tap("[data-panel-tab=ask]")
        for macro in unit:
            for place, (code, _) in enumerate(picker_words(macro)):
                await page.locator("#ask-form [data-macro-picker] select").nth(place).select_option(code)
            await page.tap("[data-add-request]")
        await picture(page, f"chef-touch-ask-{len(unit)}")
        before = await page.locator(".said:not(.is-yours)").count()
        await page.tap("#ask-form [data-send]")
        await page.wait_for_selector(f".said:not(.is-yours) >> nth={before}", state="attached")
    await page.tap("[data-panel-tab=act]")
    todo, presses = list(pair.chef), 0
    while todo:
        macro, going = todo.pop(0), True
        while going:
            before = await person.step()
            wanted = macro if list(macro) in [list(one) for one in await person.offered()] else ("wait", "1")
            value = json.dumps(list(wanted), separators=(",", ":"))
            await page.wait_for_timeout(UNHURRIED)
            await page.evaluate(UNFOLDED, value)
            then = await page.get_attribute(f"#menu input[value='{value}']", "data-then")
            await page.locator("#menu label", has=page.locator(f"input[value='{value}']")).tap()
            presses += wanted == macro
            del todo[: len(json.loads(then or "[]")) if wanted == macro else 0]
            if wanted[0] == "wait" and await person.step() == before:
                await page.tap("#menu [data-submit]")
            going = await asked_again(page, before) and wanted != macro
    assert presses == 3, "slices to the oven, from there to the pot, and the dish to the guest"


async def assistant_by_touch(page: Page, person: Person) -> None:
    """Accept every request, and wait meanwhile."""
    await page.wait_for_selector("#requests [data-accept]")
    going = True
    while going:
        before = await person.step()
        card = page.locator(
            "#requests :not(.is-accepted) > [data-accept]:not(:disabled):not(.secondary)"
        ).first
        if await card.count():
            await picture(page, f"assistant-touch-{before}")
            await card.tap()
        elif not await page.locator("#menu .own p").count():
            await page.wait_for_timeout(UNHURRIED)
            await page.tap("[data-wait-on]")
            await page.wait_for_selector(f"#bar:not([data-step='{before}'])")
            await page.wait_for_selector("[data-play]:not(.is-waiting-on)")
        going = await asked_again(page, before)


@pytest.mark.nightly
async def test_two_people_hold_a_conversation_and_deliver(
    page: Page, browser: Browser, live_stack: Stack, tmp_path: Path
) -> None:
    task, pair = "boiled_egg", references("boiled_egg")[0]
    first, second = entered(live_stack, tmp_path, task, people=[0, 1], count=2)
    context = await browser.new_context(base_url=live_stack.url, viewport={"width": 390, "height": 844})
    chef, assistant = Person(page), Person(await context.new_page())
    await page.goto(first)
    await assistant.page.goto(second)
    await assistant.connected()
    await chef.connected()
    await assistant.page.wait_for_selector("#phase:has-text('Cook 1 speaks first')")
    assert await assistant.page.locator("#ask-form [data-send]").is_disabled()
    await picture(assistant.page, "two-assistant-held")
    await ask_and_answer(page, assistant.page, [macro for unit in pair.units for macro in unit])
    await picture(page, "two-chef")
    await assistant.page.click("[data-panel-tab=act]")
    await picture(assistant.page, "two-assistant")
    wait = assistant.page.locator(
        "[data-amount]", has=assistant.page.locator("""input[value='["wait","1"]']""")
    )
    await assistant.page.click("#more-waits > summary")
    await wait.locator("input[type=number]").fill("5")
    await wait.locator("input[type=number]").press("Enter")
    await act(page, chef, ("wait", "1"))
    await assistant.page.wait_for_selector("#phase:has-text('You do not have to choose')")
    await assistant.page.click("#requests [data-accept]")  # it ends the wait, and its rest follows
    await assistant.page.wait_for_selector("#queues section:not(.is-chef) li", state="attached")
    await assistant.page.wait_for_selector("#phase :text('Your plan goes on')")
    await act(page, chef, ("wait", "1"))
    await ask_a_busy_teammate(chef, assistant)
    await asyncio.gather(act_all(chef, pair.chef), wait_whenever_asked(assistant))
    for person in (chef, assistant):
        assert "The dish was delivered in time" in await person.page.inner_text("#over")
        assert person.problems == []
    await context.close()


async def ask_and_answer(chef: Page, assistant: Page, macros: list[Command]) -> None:
    """Ask, be asked back, and answer, in one step."""
    for macro in macros:
        await pick_by_keyboard(chef, macro)
    await chef.press("#ask-text", "Enter")
    await assistant.wait_for_selector("#requests [data-accept]")
    assert (await assistant.inner_text("#talk-said")).startswith("Cook 1: Request: Bring egg")
    await assistant.click("[data-panel-tab=ask]")
    await assistant.fill("#ask-text", "At once?")
    await assistant.press("#ask-text", "Enter")
    await chef.wait_for_selector(".said:has-text('At once?')")
    await chef.fill("#ask-text", "Yes.")
    await chef.press("#ask-text", "Enter")
    await assistant.click("[data-panel-tab=talk]")
    await assistant.wait_for_selector(".said:has-text('Yes.')")


async def ask_a_busy_teammate(chef: Person, assistant: Person) -> None:
    """Write while the teammate carries out a plan. The step waits until the teammate gives no answer, then
    until the teammate accepts a request."""
    await chef.page.fill("#ask-text", "Soon?")
    await chef.page.press("#ask-text", "Enter")
    await assistant.page.wait_for_selector("#bar[data-phase=answer]")
    await assistant.page.wait_for_selector("#phase:has-text('Answer Cook 1')")
    await chef.page.wait_for_selector("#phase:has-text('Cook 2 is answering')")
    assert await chef.page.locator("#ask-form [data-send]").is_disabled()
    await chef.page.locator("#menu .action").first.click(force=True)
    await picture(assistant.page, "two-assistant-busy")
    await assistant.page.set_viewport_size({"width": 1440, "height": 900})
    await picture(assistant.page, "two-assistant-busy-wide")
    await assistant.page.set_viewport_size({"width": 390, "height": 844})
    await assistant.page.click("#pass-turn")
    await chef.page.wait_for_selector(".said:has-text('Cook 2 said nothing more.')")
    assert await assistant.page.locator("#pass-turn").count() == 0
    await chef.page.wait_for_selector("#menu input[name=command]:checked:enabled", state="attached")
    assert await chef.page.locator("#menu [data-submit]").is_enabled(), "what was chosen meanwhile is kept"
    await pick_by_keyboard(chef.page, ("place_obj_on_counter",))
    await chef.page.press("#ask-text", "Enter")
    await assistant.page.wait_for_selector("#bar[data-phase=answer]")
    await assistant.page.locator("#requests [data-accept]").first.click()
    await chef.page.wait_for_selector(".said:has-text('Cook 2 answered with a plan.')")
    await assistant.page.wait_for_selector("#requests .is-accepted >> nth=0", state="attached")


async def wait_whenever_asked(person: Person) -> None:
    """Choose a wait whenever something has to be chosen, until the episode is over."""
    going = True
    while going:
        step = await person.step()
        choosing = await person.page.get_attribute("#bar", "data-phase") == "choose"
        if choosing and not await person.page.locator("#menu .own p").count():
            await press_macro(person.page, ("wait", "1"))
        going = await asked_again(person.page, step)


async def act_all(person: Person, macros: Iterable[Command]) -> None:
    """Carry out these macros by keyboard, one after another."""
    for macro in macros:
        await act(person.page, person, macro)


@pytest.mark.nightly
@pytest.mark.parametrize("seat", [0, 1])
async def test_the_page_is_accessible_and_fits(
    page: Page, live_stack: Stack, tmp_path: Path, seat: int
) -> None:
    person = Person(page)
    await person.enter(entered(live_stack, tmp_path, SOUP, people=[seat])[0])
    if seat:
        await page.wait_for_selector("#requests [data-accept]")
    assert await kitchen_covered(page, f"seat-{seat}") == []
    for panel in ("act", "ask", "talk", "about"):
        await page.set_viewport_size({"width": 360, "height": 740})
        await page.click(f"[data-panel-tab={panel}]")
        assert await violations(page, f"seat {seat}, {panel}") == []
    assert await misfits(page, f"seat {seat}") == []
    if seat:
        await page.focus("#requests .refuse")
        await page.keyboard.press("Enter")
        await page.wait_for_selector("#requests .is-refused", state="attached")
        assert await page.evaluate("document.activeElement.id") == "menu-title", "there is no other request"
    assert person.problems == []
