"""The page's script foretells what the kitchen then does: in all levels and layouts, and in rare cases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playwright.async_api import Browser

from kitchen.contract.world import Json
from kitchen.worlds.collab_overcooked import plan_lanes
from kitchen.worlds.collab_overcooked.food_rules import BOARD, DISH, POT, UTENSILS
from kitchen.worlds.collab_overcooked.macro_checks import PLACE
from kitchen.worlds.collab_overcooked.page import PAGE
from kitchen.worlds.collab_overcooked.room_layout import COUNTER, LAYOUTS
from kitchen.worlds.collab_overcooked.world import CollabOvercooked
from tests.browser import IN_A_BROWSER
from tests.kitchen.worlds.collab_overcooked.games import game
from tests.kitchen.worlds.collab_overcooked.test_plan_lanes import STEW, lane, seen, steps_of
from tests.kitchen.worlds.collab_overcooked.test_practice_hints import BY_LEVEL

pytestmark = IN_A_BROWSER

SCRIPT = Path(plan_lanes.__file__).parent / "static/worlds/collab_overcooked/lane_forecast.js"
FORETELL = """cases => cases.map(({ seen, steps, rules }) => {
    const [own, theirs] = [0, 1].map(seat => steps.filter(one => one.seat === seat));
    return document.querySelector("[data-play]").forecast(seen, { own, theirs }, rules).finish;
})"""


def case(world: CollabOvercooked) -> tuple[dict[str, Json], int]:
    """Return the script's input when every step is asked for, and the number of steps until the real
    delivery (0 if there is none)."""
    shown = seen(world)
    steps = steps_of(shown)
    given: dict[str, Json] = {
        "seen": world.observe(0),
        "steps": [one | {"state": "asked" if one["seat"] else ""} for one in steps],
        "rules": json.loads(json.dumps(PAGE.script_rules(shown))),
    }
    return given, steps_until_delivery(world, steps)


def steps_until_delivery(world: CollabOvercooked, steps: list[dict[str, Any]]) -> int:
    """Each cook begins its next macro as soon as it can."""
    left, begun = [lane(steps, 0), lane(steps, 1)], world.clock
    if world.hold[0]:
        left[0].insert(0, (PLACE,))
    while not world.has_ended:
        free = [seat for seat in (0, 1) if world.doing[seat] is None and left[seat]]
        world.step({seat: left[seat].pop(0) for seat in free if world.allows(seat, left[seat][0])})
    return world.clock - begun if world.delivered else 0


def kitchen(**changes: Any) -> CollabOvercooked:
    """A kitchen of the stew in this state."""
    world = game(STEW, plan_lanes=True, gamma=3.0)
    for name, value in changes.items():
        setattr(world, name, value)
    return world


def things_on_shared_counters() -> list[str | None]:
    """Return the ingredients of the stew, on all counters that both cooks reach."""
    lying = dict(zip(LAYOUTS["released"].shared, ("zucchini_slices", "chickpea", DISH), strict=True))
    return [lying.get(cell) for cell in LAYOUTS["released"].counters]


def rare_kitchens() -> dict[str, CollabOvercooked]:
    """Kitchens that no plan leads to, by what is special in them."""
    empty: dict[str, list[Any]] = {name: [[], 0, None] for name in UTENSILS}
    gone: list[Any] = ["pickup", "egg", COUNTER]
    own = kitchen(counters=things_on_shared_counters())
    own.hold[0] = "egg"
    return {
        "only own counters are free": own,
        "the board makes something else": kitchen(utensils=empty | {BOARD: [["carrot"], 1, None]}),
        "the pot makes something else": kitchen(utensils=empty | {POT: [["potato"], 1, None]}),
        "the pot destroys it": kitchen(utensils=empty | {POT: [["egg"], 0, None]}),
        "what the assistant wants is gone": kitchen(doing=[None, gone]),
        "what the chef wants is gone": kitchen(doing=[gone, None]),
    }


async def test_the_script_foretells_what_the_kitchen_does(browser: Browser) -> None:
    usual = [(task, layout) for task in BY_LEVEL for layout in LAYOUTS]
    kitchens = {str(one): game(one[0], layout=one[1], plan_lanes=True, gamma=3.0) for one in usual}
    kitchens |= rare_kitchens()
    given, real = zip(*map(case, kitchens.values()), strict=True)
    page = await browser.new_page()
    await page.set_content("<div data-play></div><i id=plan-lanes></i>")
    await page.add_script_tag(path=SCRIPT)
    assert await page.evaluate("() => 'forecast' in document.querySelector('[data-play]')")
    foretold = await page.evaluate(FORETELL, list(given))
    await page.close()
    assert dict(zip(kitchens, foretold, strict=True)) == dict(zip(kitchens, real, strict=True))
    delivered = [name for name, steps in zip(kitchens, real, strict=True) if steps]
    assert set(map(str, usual)) < set(delivered) and len(delivered) == len(usual) + 3
