"""Offer an assistant who is not asked for anything what the name of the order suggests, one press for each.

Everybody sees this name. Each food in it is offered whole and cut, and a dish if the order needs one, so
that the offer tells nothing of the recipe. What the chef has requested or what is there is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kitchen.contract.page import Panel
from kitchen.contract.page_view import SeatView
from kitchen.contract.team_messages import REQUESTS_KEY, commands_in
from kitchen.contract.world import Command, canonical_json
from kitchen.pages.default_page import may_choose
from kitchen.words.gettext_without_django import gettext
from kitchen.worlds.collab_overcooked.display_text import command_words, thing_words
from kitchen.worlds.collab_overcooked.food_rules import DISH, IN_DISH, base_food, food_rules
from kitchen.worlds.collab_overcooked.macro_checks import PICKUP, with_waits
from kitchen.worlds.collab_overcooked.quick_requests import Work, things_there, whole_and_cut
from kitchen.worlds.collab_overcooked.reference_trajectories import BRING_DISH
from kitchen.worlds.collab_overcooked.room_layout import ASSISTANT, layout_of
from kitchen.worlds.collab_overcooked.work_names import BRING
from kitchen.worlds.collab_overcooked.work_steps import estimated_steps


class Idea(NamedTuple):
    """One piece of work that nobody has asked for. `first` is its first command, `then` are the others with
    their texts. `possible` is true if it can begin now."""

    key: str
    name: str
    picture: str
    first: str
    then: tuple[tuple[str, str], ...]
    steps: int
    possible: bool


class Ideas(NamedTuple):
    """The content of the panel; empty if there is nothing to offer."""

    ideas: tuple[Idea, ...]


def ideas_panel(view: SeatView) -> Panel:
    """Return the panel with what an assistant can do unasked."""
    works = works_ahead(view) if view.phase != "over" else ()
    return Panel(
        "ideas", "worlds/collab_overcooked/ideas.jinja", Ideas(tuple(_idea(view, one) for one in works))
    )


def works_ahead(view: SeatView) -> Iterator[Work]:
    """Yield what an assistant can bring unasked."""
    if not view.acts or view.seat != ASSISTANT or view.brief["typed"]:
        return
    order = str(view.brief["order"])
    known = {*_foods(things_there(view.observation)), *_foods(_requested(view))}
    for name in _foods([order]):
        if name not in known:
            yield from whole_and_cut(name)
    if view.brief["in_dish"] and DISH not in known:
        yield Work(BRING, DISH, BRING_DISH)


def _foods(things: Iterable[str]) -> list[str]:
    """Return the raw ingredients in the names of these things, and the dish if something is one or is in
    one."""
    rules, found = food_rules(), dict[str, None]()
    for thing in things:
        base = base_food(thing)
        names = rules.patterns[base][1] if base in rules.patterns else (base,)
        found |= dict.fromkeys((*names, *([DISH] if thing.endswith(IN_DISH) else [])))
    return list(found)


def _requested(view: SeatView) -> Iterator[str]:
    """Yield what the chef has requested. What is lost of it, the chef requests again."""
    for said in view.talk.requests:
        if said.sender != view.talk.member:
            yield from (macro[1] for macro in commands_in(said.data, REQUESTS_KEY) if macro[0] == PICKUP)


def _idea(view: SeatView, work: Work) -> Idea:
    first, *_ = work.macros
    name = gettext(work.name).format(thing=thing_words(work.thing))
    picture = next(macro[1] for macro in reversed(work.macros) if macro[0] == PICKUP)
    then = tuple((_value(macro), command_words(macro)) for macro in with_waits(list(work.macros))[1:])
    is_possible = may_choose(view) and first in view.choice.legal
    steps = estimated_steps(work.macros, ASSISTANT, layout_of(view.brief))
    return Idea(f"idea-{picture}", name, picture, _value(first), then, steps, is_possible)


def _value(macro: Command) -> str:
    return canonical_json(list(macro))
