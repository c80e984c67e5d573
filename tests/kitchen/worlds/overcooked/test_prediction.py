"""What a page shows of a key before the server says it agrees with the rules, in recorded episodes of the
released game. What a page cannot know, it does not show."""

from __future__ import annotations

import html
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser

from kitchen.contract.reference_recordings import read_recording_file
from kitchen.worlds.overcooked.layout import DIRECTIONS, Cell, cell_ahead
from kitchen.worlds.overcooked.page import PAGE
from kitchen.worlds.overcooked.reference_traces import TRACES, Trace
from kitchen.worlds.overcooked.world import Overcooked
from tests.browser import IN_A_BROWSER
from tests.kitchen.changed_facts import changed
from tests.kitchen.worlds.cuisine.test_page import seen
from tests.nightly import nightly

pytestmark = IN_A_BROWSER

ROOT = Path(__file__).parents[4]
FILE = Path(__file__).parents[2] / "data" / "overcooked.jsonl.gz"
SOME = (2, 22, 26)
"""Lines of the recordings that `make test` plays: pots that start by themselves and pots that do not, a
crowded kitchen, and tomatoes."""
SCRIPTS = (
    ROOT / "kitchen/worlds/overcooked/static/worlds/overcooked/interact_effects.js",
    ROOT / "static/js/grid_prediction.js",
)
STUB = """<main data-play class="is-ticking"><i id="board" data-floor="{floor}" data-rules="{rules}"></i>
<i id="seen" data-seat="0"></i></main>"""
PREDICTED = """told => {
    const { knows, after } = document.querySelector("[data-play]").prediction;
    return JSON.stringify(JSON.parse(told).map(([seen, seat, command]) => {
        const shown = knows(seen, [], command, seat);
        return [shown, after(seen, [{ command, shown }], seat)];
    }));
}"""
"""Returns for each case whether the effect of the command is known, and what is seen with it."""

Case = tuple[dict[str, Any], int, tuple[str], dict[str, Any], dict[int, tuple[str]]]
"""What was seen, the seat, its command, what was seen after the step, and the commands of both."""


def cases_of(trace: Trace) -> tuple[Overcooked, list[Case]]:
    """The world of a recorded episode, and a case for each command."""
    world = Overcooked.create(seats=2, settings={**trace.settings, "clock": "tick"})
    world.reset(0)
    cases: list[Any] = []
    for turn in trace.turns:
        before = world.observe(0)
        world.step(turn)
        cases += [(before, seat, command, world.observe(0), turn) for seat, command in turn.items()]
    return world, cases


def ahead(player: dict[str, Any], verb: str) -> Cell:
    return cell_ahead(tuple(player["at"]), verb if verb in DIRECTIONS else player["face"])


def lying(shown: dict[str, Any], cell: Cell) -> list[Any]:
    found = (entry for layer in ("pots", "counters") for entry in shown[layer])
    return [entry for entry in found if tuple(entry["at"]) == cell]


def verdict(case: Case, known: bool, shown: dict[str, Any], serving: set[Cell]) -> str:
    """Say how the page did in one case. `met`: the other one wanted or used the same cell in the same step.
    `room`: the other one made room in it. No page can know these two."""
    before, seat, (verb,), now, turn = case
    own, player, after = before["players"][seat], shown["players"][seat], now["players"][seat]
    other, (theirs,) = before["players"][1 - seat], turn[1 - seat]
    is_move, faced = verb in DIRECTIONS, ahead(own, verb)
    if not known:
        return "nothing came of it" if own["holds"] == after["holds"] else "not shown"
    is_seen = verb == "interact" and faced not in serving
    if player == after and (not is_seen or lying(shown, faced) == lying(now, faced)):
        return "right"
    if is_move and player == {**after, "at": own["at"]}:
        return "room"
    if ahead(other, theirs) in ((faced, tuple(own["at"])) if is_move else (faced,)):
        return "met"
    return f"wrong: {case}, {shown}"


@pytest.mark.parametrize("every", [False, *nightly(True)])
async def test_what_is_shown_early_agrees_with_recorded_episodes(browser: Browser, every: bool) -> None:
    page, found = await browser.new_page(), Counter[str]()
    for line in read_recording_file(FILE):
        if not every and line.number not in SOME:
            continue
        world, cases = cases_of(line.parsed(TRACES))
        board: Any = PAGE.board(changed(seen(world, 0), tick_ms=167)).shows
        await page.set_content(STUB.format(floor=board.floor, rules=html.escape(board.rules)))
        for script in SCRIPTS:
            await page.add_script_tag(path=script)
        told: list[tuple[bool, dict[str, Any]]] = json.loads(
            await page.evaluate(PREDICTED, json.dumps([case[:3] for case in cases]))
        )
        serving = set(map(tuple, json.loads(board.rules)["serving"]))
        found.update(verdict(case, *pair, serving) for case, pair in zip(cases, told, strict=True))
    await page.close()
    assert [said for said in found if said.startswith("wrong")] == []
    assert found["not shown"] + found["met"] + found["room"] < 0.1 * found["right"], found
