"""Show the plan of both cooks as two lanes, which a chef who knows the recipe puts into order.

The steps follow from the recipe and the present kitchen. The page plays them in its own copy of the kitchen
(`lane_forecast.js`), so that it can tell the step of the delivery while somebody moves a step. *Go* then
sends the own steps as plans and the teammate's as requests (`lane_runner.js`). The server checks each of them
as any other command. The world's setting `plan_lanes` switches the lanes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from kitchen.contract.page import Panel
from kitchen.contract.page_view import SeatView
from kitchen.contract.team_messages import REQUESTS_KEY, TeamMessage, commands_in
from kitchen.contract.world import Json, canonical_json
from kitchen.words.gettext_without_django import gettext
from kitchen.worlds.collab_overcooked.display_text import thing_words
from kitchen.worlds.collab_overcooked.food_rules import (
    BLENDER,
    BOARD,
    CAPACITY,
    DISH,
    UTENSILS,
    base_food,
    food_rules,
)
from kitchen.worlds.collab_overcooked.macro_checks import (
    DELIVER,
    FILL,
    LONGEST_WAIT,
    PICKUP,
    PLACE,
    PUT,
    STARTED_BY,
    KitchenThings,
    things_from_observation,
    with_dish,
)
from kitchen.worlds.collab_overcooked.quick_requests import things_in_use
from kitchen.worlds.collab_overcooked.reference_trajectories import (
    BRING_DISH,
    HEAT,
    Macros,
    bring_mash,
    bring_raw,
    bring_slices,
)
from kitchen.worlds.collab_overcooked.refused_requests import was_refused
from kitchen.worlds.collab_overcooked.room_layout import (
    ASSISTANT,
    CHEF,
    COUNTER,
    OWN_UTENSILS,
    ROOM_COLUMNS,
    ROOM_ROWS,
    layout_of,
)
from kitchen.worlds.collab_overcooked.settings import PLAN_LANES
from kitchen.worlds.collab_overcooked.work_names import JOBS, work_name

_TEMPLATE = "worlds/collab_overcooked/plan_lanes.jinja"
STAR_METRIC = "steps_used"
ASKED, REFUSED = "asked", "refused"
"""States of a step of the teammate: it is requested, or was refused and can be requested again."""


class LaneStep(NamedTuple):
    """One step of a lane: whose it is, its name, the thing in its picture, and its commands.

    `job` is the number of the recipe's step that these commands fill a utensil for, -1 if for none. When the
    last one of a job is done, the utensil is started.
    """

    key: str
    seat: int
    name: str
    picture: str
    macros: Macros
    job: int = -1
    state: str = ""
    """ASKED or REFUSED if the reader has requested it; else empty."""


class Lanes(NamedTuple):
    """The content of the panel: what the page's script needs, as JSON. Empty if there are no lanes."""

    plan: str = ""


class _Kitchen(NamedTuple):
    """The things in the kitchen, and the food that was used to make one of them."""

    things: KitchenThings
    used: frozenset[str]
    jobs: Sequence[Sequence[str]]
    """(utensil, product, contents …) of each step of the recipe."""

    def makes(self, thing: str) -> str:
        """Return the utensil that makes this thing of the recipe; empty if none does."""
        return next((name for name, made, *_ in self.jobs if made == thing), "")

    def is_past(self, thing: str, seat: int) -> bool:
        """Return whether this seat has the thing within reach, or has used it."""
        things = self.things
        if thing in _inside(things, seat) or things.lies_on(thing, things.layout.reached[seat]):
            return True
        if base_food(things.hold[seat] or "") == thing:
            return True
        users = [made for _, made, *contents in self.jobs if thing in contents]
        return any(made in self.used for made in users)


def _inside(things: KitchenThings, seat: int) -> set[str]:
    return {thing for name in OWN_UTENSILS[seat] for thing in things.utensils[name].contents}


def lanes_panel(view: SeatView) -> Panel:
    """Return the panel with the plan of both cooks."""
    if not shows_lanes(view) or view.phase == "over":
        return Panel("plan-lanes", _TEMPLATE, Lanes())
    kitchen = _Kitchen(
        things_from_observation(view.observation, view.brief),
        frozenset(things_in_use(view.observation)),
        view.brief["recipe"]["steps"],
    )
    targets = view.result.star_targets
    plan: dict[str, Json] = {
        "steps": [
            {**step._asdict(), "macros": [list(macro) for macro in step.macros]}
            for step in (*_chef_steps(kitchen, view.brief), *_assistant_steps(kitchen, view))
        ],
        "targets": list(targets.targets) if targets and targets.metric.name == STAR_METRIC else [],
    }
    return Panel("plan-lanes", _TEMPLATE, Lanes(canonical_json(plan)))


def lane_rules(brief: Mapping[str, Json]) -> dict[str, Json]:
    """Return the constants of the rules with which the page's script plays a plan. Empty if this person has
    no lanes. `own` are the counters of each room alone, `products` the food by utensil and sorted
    contents."""
    if not brief.get(PLAN_LANES) or "recipe" not in brief:
        return {}
    products: dict[str, Json] = {name: {} for name in UTENSILS}
    for (name, contents), made in food_rules().rows.items():
        products[name][",".join(contents)] = made
    return {
        "columns": list(ROOM_COLUMNS),
        "rows": list(ROOM_ROWS),
        "own": [[list(cell) for cell in cells] for cells in layout_of(brief).own],
        "capacity": CAPACITY,
        "longest_wait": LONGEST_WAIT,
        "starts": dict(STARTED_BY),
        "products": products,
        "served": with_dish(brief["order"]) if brief["in_dish"] else brief["order"],
    }


def shows_lanes(view: SeatView) -> bool:
    """Return whether this person's page has the lanes: a chef with the recipe, who may plan and ask. When the
    episode is over, nobody can be asked any more, and the lanes stay as they were."""
    brief = view.brief
    is_on = brief.get(PLAN_LANES) and not brief["typed"] and view.plans.offered
    may_ask = view.phase == "over" or ASSISTANT in view.talk.addressees
    return bool(is_on and may_ask and view.acts and view.seat == CHEF and "recipe" in brief)


def _chef_steps(kitchen: _Kitchen, brief: Mapping[str, Json]) -> Iterator[LaneStep]:
    """Yield what the chef still has to do, in the order of the recipe. The last one is to serve."""
    for number, (name, made, *contents) in enumerate(kitchen.jobs):
        if name in OWN_UTENSILS[CHEF] and made not in kitchen.used:
            yield from _fill_steps(kitchen, number, name, contents)
        if (
            name in OWN_UTENSILS[CHEF]
            and _is_for_assistant(kitchen, made)
            and not kitchen.is_past(made, ASSISTANT)
        ):
            title = gettext("Hand over {thing}").format(thing=thing_words(made))
            yield LaneStep(f"pass-{made}", CHEF, title, made, ((PICKUP, made, name), (PLACE,)))
    name, made, *_ = kitchen.jobs[-1]
    take: Macros = ((PICKUP, DISH, COUNTER), (FILL, name)) if brief["in_dish"] else ((PICKUP, made, name),)
    yield LaneStep("serve", CHEF, gettext("Serve"), made, (*take, (DELIVER,)))


def _fill_steps(kitchen: _Kitchen, number: int, name: str, contents: Sequence[str]) -> Iterator[LaneStep]:
    utensil = kitchen.things.utensils[name]
    if utensil.ticks:
        return
    missing = [thing for thing in contents if thing not in utensil.contents]
    for thing in missing:
        place = next((own for own in OWN_UTENSILS[CHEF] if own == kitchen.makes(thing)), COUNTER)
        title = gettext(JOBS[name]).format(thing=thing_words(thing))
        macros: Macros = ((PICKUP, thing, place), (PUT, name))
        yield LaneStep(f"put-{name}-{thing}", CHEF, title, thing, macros, number)
    if not missing:
        title = gettext("Start the {utensil}").format(utensil=thing_words(name))
        yield LaneStep(f"start-{name}", CHEF, title, contents[0], (HEAT[name],))


def _is_for_assistant(kitchen: _Kitchen, thing: str) -> bool:
    return any(thing in contents and name in OWN_UTENSILS[ASSISTANT] for name, _, *contents in kitchen.jobs)


def _assistant_steps(kitchen: _Kitchen, view: SeatView) -> Iterator[LaneStep]:
    """Yield what the assistant still has to bring, in the order of the recipe. A dish comes last."""
    needed = [
        thing for name, _, *contents in kitchen.jobs if name in OWN_UTENSILS[CHEF] for thing in contents
    ]
    wanted = [(thing, _unit(kitchen, thing)) for thing in needed]
    wanted += [(DISH, BRING_DISH)] if view.brief["in_dish"] else []
    for thing, unit in wanted:
        if unit and not _is_brought(kitchen, thing):
            state = _request_state(view, unit)
            yield LaneStep(f"bring-{thing}", ASSISTANT, work_name(unit), thing, unit, state=state)


def _is_brought(kitchen: _Kitchen, thing: str) -> bool:
    is_used = thing == DISH and DISH in kitchen.used and kitchen.things.hold[ASSISTANT] != DISH
    lies = kitchen.things.lies_on(thing, kitchen.things.layout.own[ASSISTANT])
    return (is_used and not lies) or kitchen.is_past(thing, CHEF)


def _unit(kitchen: _Kitchen, thing: str) -> Macros:
    """Return the commands with which the assistant brings this thing. Empty if the chef makes it."""
    name = kitchen.makes(thing)
    source = next((inside[0] for _, made, *inside in kitchen.jobs if made == thing), "")
    if name == BOARD:
        return bring_slices(source)
    if name == BLENDER:
        return bring_mash(thing.removeprefix("mashed_"))
    return () if name else bring_raw(thing)


def _request_state(view: SeatView, unit: Macros) -> str:
    """Return ASKED if this work is requested and neither done nor refused, REFUSED if the newest request for
    it was refused, else an empty text."""
    own = [one for one in view.talk.requests if one.sender == view.talk.member and _names(one, unit)]
    if not own:
        return ""
    newest = own[-1]
    if was_refused(newest, view.talk.messages):
        return REFUSED
    theirs = view.observation["players"][ASSISTANT]
    ended = zip(theirs["done_in"][1:], pairwise(map(tuple, theirs["done"])), strict=True)
    return "" if any(step >= newest.step and two == unit[-2:] for step, two in ended) else ASKED


def _names(said: TeamMessage, unit: Macros) -> bool:
    """Return whether a message requests this work, alone or with other work."""
    asked = [tuple(macro) for macro in commands_in(said.data, REQUESTS_KEY)]
    return any(tuple(asked[first : first + len(unit)]) == unit for first in range(len(asked)))
