"""Build the bubble in which a person asks the teammate for one whole piece of work with one press.

Each entry has a picture and a short name, such as *Cut pumpkin*, and stands for all commands of that work. A
cook who does not know the recipe is offered only what follows from the things in sight, because a choice by
the recipe would tell it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from kitchen.contract.page import Panel
from kitchen.contract.page_view import SeatView
from kitchen.contract.team_messages import CODE_KEY, REQUESTS_KEY, commands_in
from kitchen.contract.world import Command, Json, canonical_json, text_hash
from kitchen.words.gettext_without_django import gettext
from kitchen.worlds.collab_overcooked.display_text import commands_words, thing_words
from kitchen.worlds.collab_overcooked.food_rules import (
    BLENDER,
    BOARD,
    DISH,
    IN_DISH,
    base_food,
    food_rules,
)
from kitchen.worlds.collab_overcooked.macro_checks import PICKUP, PLACE
from kitchen.worlds.collab_overcooked.practice_hints import hinted_requests
from kitchen.worlds.collab_overcooked.reference_trajectories import (
    BRING_DISH,
    HEAT,
    bring_mash,
    bring_raw,
    bring_slices,
    put_from_counter,
)
from kitchen.worlds.collab_overcooked.refused_requests import was_refused
from kitchen.worlds.collab_overcooked.room_layout import (
    ASSISTANT,
    CHEF,
    COUNTER,
    OWN_UTENSILS,
    layout_of,
)
from kitchen.worlds.collab_overcooked.work_names import BLEND, BRING, CUT, JOBS, PASS

ASKED, DONE = "asked", "done"
"""States of an entry that the reader has requested."""
MOST = 8
"""Entries of the bubble, without the questions in words."""


class Work(NamedTuple):
    """A piece of work: its name with a place for the thing, the thing, and the teammate's commands."""

    name: str
    thing: str
    macros: tuple[Command, ...]


class QuickRequest(NamedTuple):
    """One entry of the bubble. `requests` are the commands as JSON, and `text` is a question in words instead
    of them. `is_hinted` is true if the hint recommends it."""

    id: str
    name: str
    picture: str
    requests: tuple[str, ...]
    whole: str
    text: str = ""
    is_hinted: bool = False
    state: str = ""
    """ASKED or DONE if the reader has requested it; else empty."""
    cost: str = ""
    """The price of an answer to a question, as text."""


class AskBubble(NamedTuple):
    """The content of the bubble. It is empty if there is no teammate to ask, or if requests are typed."""

    teammate: str
    to: int
    offered: tuple[QuickRequest, ...]
    is_docked: bool = False
    """True if wide pages show the entries above the kitchen all the time, so that one press asks."""
    is_program: bool = False
    """True if the teammate is no person. What was pressed while it answers is then sent after its answer."""


def bubble_panel(view: SeatView) -> Panel:
    """Return the panel with the bubble at the teammate's head."""
    teammate, template = 1 - view.seat, "worlds/collab_overcooked/quick_ask.jinja"
    if not view.acts or view.brief["typed"] or teammate not in view.talk.addressees:
        return Panel("quick-ask", template, AskBubble("", 0, ()))
    is_asking = view.choice.hints and view.choice.hinted is None
    hinted = tuple(hinted_requests(view)) if is_asking else ()
    works = list(dict.fromkeys(works_to_ask(view)))[:MOST]
    offered = [_entry(work, hinted, _state_of(view, work)) for work in works]
    if "recipe" not in view.brief:
        cost = gettext("a tip costs a ★") if marks_tips(view) else ""
        offered.append(_question(gettext("What next?"), gettext("What should I do next?"), cost))
    name, docks = view.talk.members[teammate], view.seat == CHEF and "recipe" in view.brief
    return Panel(
        "quick-ask",
        template,
        AskBubble(name, teammate, tuple(offered), docks, teammate not in view.talk.people),
    )


def _state_of(view: SeatView, work: Work) -> str:
    """Return DONE if the teammate finished this after the newest request for it, ASKED if it is requested,
    not refused and not done, else an empty text."""
    asked = [
        one.step
        for one in view.talk.requests
        if one.sender == view.talk.member
        and not was_refused(one, view.talk.messages)
        and tuple(map(tuple, commands_in(one.data, REQUESTS_KEY))) == work.macros
    ]
    if not asked:
        return ""
    theirs = view.observation["players"][1 - view.seat]
    ended = zip(theirs["done_in"][1:], pairwise(map(tuple, theirs["done"])), strict=True)
    if not any(step >= max(asked) and two == work.macros[-2:] for step, two in ended):
        return ASKED
    return (
        DONE if work.macros[-2][1] in things_in_use(view.observation) else ""
    )  # what was brought may be lost


def things_in_use(seen: Mapping[str, Json]) -> set[str]:
    """Return the things that are somewhere in the kitchen, and all that was used for them."""
    made_of: dict[str, set[str]] = {}
    for (_, inside), product in food_rules().rows.items():
        made_of.setdefault(product, set()).update(inside)
    todo, found = list(things_there(seen)), set[str]()
    while todo:
        thing = todo.pop()
        found |= {thing, DISH} if thing.endswith(IN_DISH) else {thing}
        todo += [one for one in (base_food(thing), *made_of.get(base_food(thing), ())) if one not in found]
    return found


def things_there(seen: Mapping[str, Json]) -> Iterator[str]:
    """Yield all things in hands, on counters and in utensils."""
    held = (player["holds"] for player in seen["players"])
    lying = (one["thing"] for one in seen["counters"])
    inside = (thing for one in seen["utensils"] for thing in (*one["contents"], one["ready"]))
    return (thing for thing in (*held, *lying, *inside) if thing)


def works_to_ask(view: SeatView) -> Iterator[Work]:
    """Yield the pieces of work that this cook can sensibly request of the teammate now."""
    return _of_assistant(view) if view.seat == CHEF else _of_chef(view)


def _of_assistant(view: SeatView) -> Iterator[Work]:
    """Yield the work of the assistant: what the recipe needs from its room, if the reader knows the recipe,
    a dish, and what can be blended. Each raw ingredient is offered whole and cut, in a fixed order."""
    recipe = view.brief.get("recipe", {"ingredients": (), "steps": ()})
    for name, _ in recipe["ingredients"]:
        yield from whole_and_cut(name)
    if view.brief["in_dish"]:
        yield Work(BRING, DISH, BRING_DISH)
    blended = {inside[0]: product for (name, inside), product in food_rules().rows.items() if name == BLENDER}
    wanted = [one[2] for one in recipe["steps"] if one[0] == BLENDER]
    for thing in (*wanted, *_shared_things(view), *_held(view)):
        if thing in blended and blended[thing].startswith("mashed_"):
            raw = blended[thing].removeprefix("mashed_")
            yield Work(BLEND, thing, ((PICKUP, thing, COUNTER), *bring_mash(raw)[1:]))
    yield from _to_pass(view, ASSISTANT)


def whole_and_cut(name: str) -> Iterator[Work]:
    """Yield the work to bring a raw ingredient, whole and cut if it can be cut."""
    yield Work(BRING, name, bring_raw(name))
    if food_rules().product(BOARD, (name,)):
        yield Work(CUT, name, bring_slices(name))


def _of_chef(view: SeatView) -> Iterator[Work]:
    """Yield the work of the chef: to cook or bake what is handed over, or to pass what is ready. Every thing
    is offered for both utensils, so that the choice tells nothing of the recipe."""
    for thing in _shared_things(view):
        for utensil in OWN_UTENSILS[CHEF] if thing != DISH else ():
            macros = (*put_from_counter(thing, utensil), HEAT[utensil])
            yield Work(JOBS[utensil], thing, macros)
    yield from _to_pass(view, CHEF)


def _to_pass(view: SeatView, seat: int) -> Iterator[Work]:
    """Yield the work to hand over what is ready in a utensil of this seat, and needs no dish."""
    for each in view.observation["utensils"]:
        ready = each["ready"]
        if ready and each["thing"] in OWN_UTENSILS[seat] and ready not in food_rules().served_in_dish:
            yield Work(PASS, ready, ((PICKUP, ready, each["thing"]), (PLACE,)))


def _shared_things(view: SeatView) -> list[str]:
    shared = {tuple(cell) for cell in layout_of(view.brief).shared}
    lying = (one for one in view.observation["counters"] if tuple(one["at"]) in shared)
    return [base_food(one["thing"]) for one in lying]


def _held(view: SeatView) -> list[str]:
    """Return what this cook holds, because it can be handed over at once."""
    held = view.observation["players"][view.seat]["holds"]
    return [base_food(held)] if held and view.seat != ASSISTANT else []


def _entry(work: Work, hinted: Sequence[Command], state: str) -> QuickRequest:
    requests = tuple(canonical_json(list(macro)) for macro in work.macros)
    name = gettext(work.name).format(thing=thing_words(work.thing))
    picture = next((macro[1] for macro in reversed(work.macros) if macro[0] == PICKUP), work.thing)
    is_hinted = bool(hinted) and work.macros[: len(hinted)] == tuple(hinted)
    return QuickRequest(
        f"quick-{text_hash(name)[:12]}",
        name,
        picture,
        requests,
        commands_words(work.macros),
        is_hinted=is_hinted,
        state=state,
    )


def marks_tips(view: SeatView) -> bool:
    """Return whether the teammate says which of its requests are tips: only the stand-in does, whose messages
    have a code."""
    return any(CODE_KEY in one.data for one in view.talk.messages if one.sender != view.talk.member)


def _question(name: str, text: str, cost: str) -> QuickRequest:
    return QuickRequest(f"quick-{text_hash(text)[:12]}", name, "", (), text, text, cost=cost)
