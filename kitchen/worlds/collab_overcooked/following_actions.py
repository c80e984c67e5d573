"""Find the actions that must follow an action, so that one press does them all.

An action must follow if nothing else makes sense then, as far as this seat may know. Slices that the recipe
needs in the oven alone are put into it, and the oven is started when all is inside. A cook without the recipe
knows what its own utensils make of one thing. The commands follow as a plan: the log has each of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Command
from kitchen.worlds.collab_overcooked.food_rules import DISH, base_food
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
from kitchen.worlds.collab_overcooked.room_layout import CHEF, INGREDIENTS, OWN_UTENSILS

START_OF = {utensil: (verb, utensil) for verb, utensil in STARTED_BY.items()}


class KnownJob(NamedTuple):
    """One job that a seat knows to be useful: the utensil, its contents, and the product."""

    utensil: str
    contents: tuple[str, ...]
    makes: str


class CookKnowledge(NamedTuple):
    """What a seat may use to find the next action: things, jobs, the order, and whether it has the recipe."""

    things: KitchenThings
    seat: int
    order: str
    jobs: Sequence[KnownJob]
    has_recipe: bool


def following_actions(view: SeatView, macro: Command) -> tuple[Command, ...]:
    """Return the actions that must follow this one. Empty unless the world's setting `one_press` is on, and
    people may plan."""
    if not view.brief.get("one_press") or not view.plans.offered or view.brief["typed"]:
        return ()
    if macro[0] == PICKUP and macro[2] == INGREDIENTS:
        return ()  # whether it is cut is a choice
    return tuple(_following(known_by(view), macro))


def known_by(view: SeatView) -> CookKnowledge:
    """Return what this seat knows. Without the recipe, these are the jobs of its own utensils with one thing,
    for an assistant: what the chef makes of several things is the recipe."""
    things, brief = things_from_observation(view.observation, view.brief), view.brief
    if "recipe" in brief:
        jobs = [KnownJob(name, tuple(inside), made) for name, made, *inside in brief["recipe"]["steps"]]
    elif view.seat == CHEF:
        jobs = []
    else:
        rows = things.rules.rows.items()
        jobs = [KnownJob(name, inside, made) for (name, inside), made in rows if len(inside) == 1]
    return CookKnowledge(things, view.seat, brief["order"], jobs, "recipe" in brief)


def _following(known: CookKnowledge, macro: Command) -> Iterator[Command]:
    held = known.things.hold[known.seat]
    while following := _next(known, macro, held):
        yield following
        held = macro[1] if macro[0] == PICKUP else held
        macro = following


def _next(known: CookKnowledge, macro: Command, held: str | None) -> Command | None:
    verb = macro[0]
    if verb == PICKUP:
        return _use(known, macro[1], macro[2])
    if verb == PUT and held:
        return _start(known, macro[1], held)
    return (DELIVER,) if verb == FILL and _holds_order(known, macro[1]) else None


def _use(known: CookKnowledge, thing: str, place: str) -> Command | None:
    """Return what a cook does with the thing that it has taken from this place."""
    if thing == DISH:
        return _use_dish(known)
    if thing == known.order and known.seat == CHEF and not known.things.needs_dish:
        return (DELIVER,)
    wanted = [job for job in known.jobs if thing in job.contents]
    own = [job for job in wanted if job.utensil in OWN_UTENSILS[known.seat]]
    if own:
        fits = [job for job in own if _has_room(known, job, thing)]
        return (PUT, fits[0].utensil) if len(wanted) == len(fits) == 1 else None
    is_made_here = place in OWN_UTENSILS[known.seat]
    is_for_teammate = wanted if known.has_recipe else known.seat != CHEF
    return (PLACE,) if is_made_here and is_for_teammate and _has_counter(known) else None


def _use_dish(known: CookKnowledge) -> Command | None:
    if known.seat != CHEF:
        return (PLACE,) if _has_counter(known) else None
    return next(((FILL, name) for name in OWN_UTENSILS[CHEF] if _holds_order(known, name)), None)


def _has_counter(known: CookKnowledge) -> bool:
    return bool(known.things.free(known.things.layout.shared))


def _holds_order(known: CookKnowledge, name: str) -> bool:
    """Return whether the order is in this utensil, or is being made in it."""
    utensil, rules = known.things.utensils[name], known.things.rules
    made = rules.product(name, utensil.contents) if utensil.ticks else utensil.ready
    return made == known.order


def _has_room(known: CookKnowledge, job: KnownJob, thing: str) -> bool:
    """Return whether the job's utensil is free for the thing. It may hold other things of the job."""
    utensil = known.things.utensils[job.utensil]
    inside = Counter([*utensil.contents, base_food(thing)])
    return not utensil.ticks and not utensil.ready and inside <= Counter(job.contents)


def _start(known: CookKnowledge, name: str, held: str) -> Command | None:
    """Return the command that starts a utensil if all is inside then."""
    inside = Counter([*known.things.utensils[name].contents, base_food(held)])
    is_full = any(job.utensil == name and Counter(job.contents) == inside for job in known.jobs)
    return START_OF[name] if is_full else None
