"""*Go* stops for a reason that it says, and ends the plan on the server. The page around it is a stub."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Browser

from kitchen.worlds.collab_overcooked import plan_lanes
from tests.browser import IN_A_BROWSER

pytestmark = IN_A_BROWSER

SCRIPT = Path(plan_lanes.__file__).parent / "static/worlds/collab_overcooked/lane_runner.js"
STUB = """<div data-play><button data-lanes-go><i data-at-rest></i><i data-running></i></button></div>
<form id=menu><label data-amount><input type=radio><input type=number value=3></label></form>
<form id=quick-ask-form></form><input id=seen><i id=plan-lanes></i><i id=talk data-mine=1></i>
<button data-plan-stop></button><ol data-plan-list></ol>"""
PAGE = """() => {
    const play = document.querySelector("[data-play]");
    const [menu, go, seen] = ["#menu", "[data-lanes-go]", "#seen"].map(one => document.querySelector(one));
    const sent = [];
    const world = { may: true, step: 0, phase: "choose", reached: true, left: 9, asks: [], goes: true };
    const commands = () => [["wait", "5"], ["wait", "5"], ["deliver"]];
    play.choosing = {
        may: () => world.may, radioOf: () => menu.querySelector("[type=radio]"),
        send: () => world.goes && tell("command"),
        get step() { return String(world.step); }, get phase() { return world.phase; },
    };
    play.connection = { reached: () => world.reached };
    play.lanes = {
        word: name => name, whyNot: () => "blocked", say: text => text && sent.push(`says ${text}`),
        plan: { steps: [{ state: "asked" }] },
        foretell: () => ({ finish: world.left, asks: world.asks, commands: commands() }),
    };
    function tell(name) {
        const form = name === "command" ? menu : document.getElementById("quick-ask-form");
        form.dispatchEvent(new CustomEvent("htmx:wsConfigSend", { bubbles: true }));
        const then = [...form.querySelectorAll("[name=then]")].length;
        sent.push(`${name} ${menu.querySelector("[type=number]").value} +${then}`);
        world.may = name !== "command";
    }
    HTMLFormElement.prototype.requestSubmit = () => world.goes && tell("asks");
    document.querySelector("[data-plan-stop]").addEventListener("click", () => sent.push("ends the plan"));
    seen.value = JSON.stringify({ players: [{}, { at: [1, 2], face: "north", holds: null, doing: null }] });
    Object.assign(window, { world, sent, go, play });
    window.panels = more => { Object.assign(world, more); play.dispatchEvent(new Event("brigade:panels")); };
    window.shown = (state, mine) => {
        const lanes = JSON.stringify({ steps: [{ key: "a", state }] });
        document.getElementById("plan-lanes").dataset.lanes = lanes;
        document.getElementById("talk").dataset.mine = mine;
        panels({});
    };
}"""
IDLE = "panels({ may: true, step: 4 }), panels({ may: true, step: 8 })"
NOTICE = """document.dispatchEvent(Object.assign(new CustomEvent("htmx:oobBeforeSwap", {
    detail: { target: { id: "notice" }, fragment: { textContent: "Not now" } } })))"""
LISTED = "document.querySelector('[data-plan-list]').append(document.createElement('li')), go.click()"
HIDDEN = """Object.defineProperty(document, "hidden", { value: true }),
    document.dispatchEvent(new Event("visibilitychange"))"""
LOST = "world.reached = false, play.dispatchEvent(new Event('brigade:connection'))"
ASKS = "world.asks = [{ key: 'a', macros: [['wait', '1']] }], go.click()"
SEEN = "[sent, document.querySelector('#menu [type=number]').value, play.classList.contains('is-going')]"
WAITS = "command 1 +1"
"""One step of a wait of four, with nothing that follows it. What is typed in the field is not sent."""


CASES: dict[str, list[str]] = {
    "go.click(), go.click()": [WAITS, "ends the plan"],
    f"go.click(), {IDLE}": [WAITS, WAITS, "says idle"],
    "go.click(), panels({ phase: 'answer' })": [WAITS, "says written", "ends the plan"],
    f"go.click(), {NOTICE}": [WAITS, "says denied", "ends the plan"],
    f"go.click(), {HIDDEN}": [WAITS, "says hidden", "ends the plan"],
    f"go.click(), {LOST}": [WAITS, "says lost"],
    f"go.click(), {LOST}, panels({{ reached: true }})": [WAITS, "says lost", "ends the plan"],
    f"{ASKS}, shown('refused', 2)": ["asks 3 +0", "says said-no"],
    f"{ASKS}, shown('refused', 1), shown('asked', 2)": ["asks 3 +0", "says changed"],
    f"world.goes = false, {ASKS}": ["says denied"],
    "world.goes = false, go.click()": ["says denied"],
    "play.choosing.radioOf = () => null, go.click()": ["says changed"],
    LISTED: ["says listed"],
    "world.may = false, go.click()": [],
}
"""What is sent and said when this happens."""


async def test_go_stops_for_a_reason_and_ends_the_plan(browser: Browser) -> None:
    page, found = await browser.new_page(), dict[str, list[str]]()
    for happens in CASES:
        await page.goto("about:blank")
        await page.set_content(STUB)
        await page.evaluate(PAGE)
        await page.add_script_tag(path=SCRIPT)
        found[happens], typed, goes_on = await page.evaluate(f"({happens}, {SEEN})")
        assert typed == "3", "what somebody typed stays"
        assert not goes_on
    await page.close()
    assert found == CASES
