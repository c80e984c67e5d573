"""Find a Collab-Overcooked cook's next command towards an aim (a goal that somebody asked for).

The command depends only on the present observation, so earlier mistakes do not matter. If a product is
missing, the cook makes it only if it consists of a single ingredient. So the cook needs no recipe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kitchen.contract.advisers import AimPursuer, AimStep
from kitchen.contract.agent import Situation
from kitchen.contract.world import FAIL, UNKNOWN, Aim, Command, Json
from kitchen.worlds.collab_overcooked.collaboration_scores import matched_prefix
from kitchen.worlds.collab_overcooked.cook_aims import (
    BRING,
    PUT_IN,
    SERVE,
    SingleSource,
    aim_mark,
    aim_status,
    made_of_one,
    seat_aims,
)
from kitchen.worlds.collab_overcooked.food_rules import DISH, IN_DISH, base_food
from kitchen.worlds.collab_overcooked.macro_checks import (
    DELIVER,
    FILL,
    PICKUP,
    PLACE,
    PUT,
    STARTED_BY,
    KitchenThings,
    things_from_observation,
)
from kitchen.worlds.collab_overcooked.order_tasks import tasks
from kitchen.worlds.collab_overcooked.recipe_partner import SHORTEST_PAIR
from kitchen.worlds.collab_overcooked.reference_trajectories import references
from kitchen.worlds.collab_overcooked.room_layout import (
    CHEF,
    COUNTER,
    DISHES,
    INGREDIENTS,
    OWN_UTENSILS,
)

_VERB_OF: Mapping[str, str] = {name: verb for verb, name in STARTED_BY.items()}


class CookPursuer(AimPursuer):
    """Work out the macros that reach a cook's aim. If the cook holds something useless for the aim, the
    first macro puts it on a counter."""

    def pursue(self, situation: Situation, seat: int, aim: Aim, since: Json) -> AimStep:
        """Return the status of the aim and the next macro towards it. The macro is None if it cannot begin
        now, or if the aim is reached or cannot be reached."""
        brief, seen = situation.briefs[seat], situation.observations[seat]
        if aim not in seat_aims(seat):
            return AimStep(FAIL)
        things = things_from_observation(seen, brief)
        done = _done(seen, seat)
        status = aim_status(things, done, aim, since)
        if status != UNKNOWN:
            return AimStep(status)
        macro = next_macro(things, seat, aim)
        return AimStep(UNKNOWN, macro if macro in situation.legal[seat] else None)

    def aims(self, situation: Situation, seat: int) -> Sequence[Aim]:
        """Return all aims of the cook."""
        return seat_aims(seat)

    def mark(self, situation: Situation, seat: int, aim: Aim) -> Json:
        """Return how often the cook has done so far what the aim ends with."""
        return aim_mark(_done(situation.observations[seat], seat), aim)

    def can_suggest(self, brief: Mapping[str, Json]) -> bool:
        """Return whether the brief contains the recipe, without which no aims can be suggested."""
        return "recipe" in brief

    def suggest(
        self, brief: Mapping[str, Json], seen: Mapping[str, Json], seat: int, taken: Sequence[Aim]
    ) -> Aim | None:
        """Return the next aim of the shortest reference solution."""
        task = tasks()[brief["order"]]
        pair = references(task.name)[SHORTEST_PAIR[task.level]]
        macros = pair.chef if seat == CHEF else pair.assistant
        aim = aim_of_macros(macros, matched_prefix(_done(seen, seat), macros))
        return aim if aim in seat_aims(seat) else None


def _done(seen: Mapping[str, Json], seat: int) -> list[Command]:
    """Return the macros of this cook that took effect, as listed in the observation."""
    return [tuple(macro) for macro in seen["players"][seat]["done"]]


def aim_of_macros(macros: Sequence[Command], done: int) -> Aim | None:
    """Return the aim that a sequence of macros reaches after its first `done` macros were carried out.
    Return None if no macro is left."""
    thing = source = ""
    for number, macro in enumerate(macros):
        if macro[0] == PICKUP:
            thing, source = macro[1], macro[2]
        elif number >= done:
            return _ended_aim(macro, thing, source)
    return None


def _ended_aim(macro: Command, thing: str, source: str) -> Aim:
    """Return the aim that a cook reaches with this macro. `thing` is what the cook holds, and `source` is
    the place where the cook took it."""
    if macro[0] in STARTED_BY:
        return macro
    if macro[0] in {FILL, DELIVER}:
        return (SERVE, macro[1] if macro[0] == FILL else source)
    return (BRING, thing) if macro[0] == PLACE else (PUT_IN, thing, macro[1])


def next_macro(things: KitchenThings, seat: int, aim: Aim) -> Command | None:
    """Return the next macro towards an aim that is not reached yet; None if nothing can be done now.
    Whether the macro can begin now is not checked."""
    kind, held = aim[0], things.hold[seat]
    if kind == SERVE:
        return _serve(things, held, aim[1])
    if kind in STARTED_BY:
        return aim if held is None else (PLACE,)
    if held is not None and base_food(held) == aim[1]:
        return _use(things, aim)
    return _get(things, seat, aim[1])


def _use(things: KitchenThings, aim: Aim) -> Command | None:
    """Return the next macro for an aim if the cook already holds the thing that the aim is about. A thing
    to bring is held until a shared counter is free. Return None if nothing can be done now."""
    if aim[0] == PUT_IN:
        return (PUT, aim[2])
    return (PLACE,) if things.free(things.layout.shared) else None


def _get(things: KitchenThings, seat: int, thing: str) -> Command | None:
    """Return the next macro with which a cook who does not hold this thing gets it. Return None if nothing
    can be done now."""
    held, source = things.hold[seat], made_of_one(things.rules, thing)
    if source and (
        source.utensil not in OWN_UTENSILS[seat] or things.lies_on(thing, things.layout.reached[seat])
    ):
        source = None
    if held is not None:
        is_part = source is not None and held == source.part and _is_empty(things, source)
        return (PUT, source.utensil) if source and is_part else (PLACE,)
    return _make(things, seat, source) if source else _take(things, seat, thing)


def _is_empty(things: KitchenThings, source: SingleSource) -> bool:
    utensil = things.utensils[source.utensil]
    return not utensil.contents and utensil.ready is None


def _make(things: KitchenThings, seat: int, source: SingleSource) -> Command | None:
    """Return the next macro with which a cook with empty hands makes a product and takes it out of its
    utensil. If the utensil holds another product, the cook first takes this one out. Return None if
    nothing can be done now."""
    utensil = things.utensils[source.utensil]
    if utensil.ready:
        return (PICKUP, utensil.ready, source.utensil)
    if utensil.contents == [source.part]:
        return (_VERB_OF[source.utensil], source.utensil)
    return None if utensil.contents else _get(things, seat, source.part)


def _take(things: KitchenThings, seat: int, thing: str) -> Command | None:
    """Return the macro that picks up a thing from where it lies or is stored. Return None if it is at no
    place that the cook reaches."""
    if things.lies_on(thing, things.layout.reached[seat]):
        return (PICKUP, thing, COUNTER)
    if seat == CHEF:
        return None
    return (PICKUP, thing, DISHES if thing == DISH else INGREDIENTS)


def _serve(things: KitchenThings, held: str | None, name: str) -> Command | None:
    """Return the cook's next macro to deliver the product of the utensil `name`. `held` is what the cook
    holds. If the order must be served in a dish, the cook first gets a dish and fills it. Return None if
    the product is not ready."""
    ready = things.utensils[name].ready
    if not things.needs_dish:
        if held is None:
            return (PICKUP, ready, name) if ready else None
        return (DELIVER,) if held in things.rules.made_in(name) else (PLACE,)
    if held is None:
        return (PICKUP, DISH, COUNTER)
    if held == DISH:
        return (FILL, name)
    return (DELIVER,) if held.endswith(IN_DISH) else (PLACE,)


PURSUER = CookPursuer()
