"""Show how far the dish is, what the cooks have handed over, and which requests were met soon.

The steps of the recipe are shown only to a cook who knows the recipe. All else follows from what both cooks
see, and is the same for both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kitchen.contract.page import Panel
from kitchen.contract.page_view import SeatView
from kitchen.contract.team_messages import REQUESTS_KEY, TeamMessage, commands_in
from kitchen.contract.world import Command, Json
from kitchen.words.gettext_without_django import gettext, ngettext
from kitchen.worlds.collab_overcooked.best_runs import BestRun, Pace, best_run, pace_beside
from kitchen.worlds.collab_overcooked.chef_requests import is_tip
from kitchen.worlds.collab_overcooked.counter_handovers import Handover, find_handovers
from kitchen.worlds.collab_overcooked.display_text import recipe_steps, thing_words
from kitchen.worlds.collab_overcooked.food_rules import IN_DISH, base_food
from kitchen.worlds.collab_overcooked.guests import guest_of, quote
from kitchen.worlds.collab_overcooked.macro_checks import PICKUP, WAIT
from kitchen.worlds.collab_overcooked.room_layout import ASSISTANT, SEATS, Layout, layout_of

_TEMPLATES = "worlds/collab_overcooked"
SOON = 4
"""Steps for each requested command within which a request is met soon. A command takes three on average."""
SHOWN = 6
"""Things that are shown as handed over, the newest ones."""


class RecipeStep(NamedTuple):
    """One step of the recipe: its text, what it makes, and whether that was made."""

    text: str
    picture: str
    is_done: bool


class HandedOver(NamedTuple):
    """One thing that a cook put down and the other took: the first cook's seat, the thing with its name, and
    how it was beside the best run, as text: short (`+2`) and in words. Both are empty without a best run."""

    seat: int
    thing: str
    name: str
    pace: str = ""
    pace_words: str = ""


class OrderContent(NamedTuple):
    """The content of the order panel, which stays the same: the ordered food, and whether the seat knows the
    recipe."""

    order: str
    picture: str
    in_dish: bool
    knows: bool
    best: int = 0
    """The steps of the best run; 0 if it is not shown."""
    guest: str = ""
    """The words of the guest."""


class TimeLeft(NamedTuple):
    """The steps left of the limit, and the steps of the best run (0: not shown)."""

    left: int
    limit: int
    best: int = 0


class RecipeSteps(NamedTuple):
    """The steps of the recipe."""

    steps: tuple[RecipeStep, ...]


class Together(NamedTuple):
    """The things that were handed over, the number of requests that were met soon, how much was handed over
    unasked, and how many handovers in a row lost no step on the best run."""

    handed_over: tuple[HandedOver, ...]
    met_soon: int
    own_ideas: int
    combo: int = 0


def order_panel(view: SeatView) -> Panel:
    """Return the panel with the order. Its parts are the time, the recipe and the progress, of which only the
    time changes in every step."""
    seen, brief, players = view.observation, view.brief, view.observation["players"]
    recipe = recipe_progress(brief, seen, is_delivered=bool(view.result.score.get("success")))
    requests = view.talk.requests
    layout = layout_of(brief)
    run = best_run(brief)
    handed = tuple(handed_over(players, layout, run)[-SHOWN:])
    combo = _pace(list(find_handovers(players, layout)), run).combo
    ideas = own_ideas(requests, players, layout)
    together = Together(handed, met_soon(requests, players), ideas, combo)
    left = TimeLeft(seen["steps_left"], brief["limit"], run.steps if run else 0)
    parts = (
        Panel("time-left", f"{_TEMPLATES}/time_left.jinja", left),
        Panel("recipe-steps", f"{_TEMPLATES}/recipe_steps.jinja", RecipeSteps(recipe)),
        Panel("together", f"{_TEMPLATES}/together.jinja", together),
    )
    guest = guest_of(brief)
    shows = OrderContent(
        thing_words(brief["order"]),
        served_code(brief),
        brief["in_dish"],
        bool(recipe),
        left.best,
        quote(guest, guest.wish),
    )
    return Panel("score", f"{_TEMPLATES}/order.jinja", shows, parts=parts)


def served_code(brief: Mapping[str, Json]) -> str:
    """Return the code of the order as it is delivered: in a dish, if it needs one."""
    return str(brief["order"]) + (IN_DISH if brief["in_dish"] else "")


def recipe_progress(
    brief: Mapping[str, Json], seen: Mapping[str, Json], *, is_delivered: bool
) -> tuple[RecipeStep, ...]:
    """Return the steps of the recipe; empty without the recipe. A step is done if what it makes is there, or
    was used in a later step. The last step is the delivery: all are done if the order is delivered."""
    texts = recipe_steps(brief)
    if not texts:
        return ()
    there, steps = _things_there(seen), brief["recipe"]["steps"]
    done, used = [], set[str]()
    for _, product, *contents in reversed(steps):
        is_done = is_delivered or product in there or product in used
        used |= {product, *contents} if is_done else set()
        done.append(is_done)
    pictures = (
        *(product for _, product, *_ in steps),
        served_code(brief),
    )
    return tuple(map(RecipeStep, texts, pictures, (*reversed(done), is_delivered)))


def _things_there(seen: Mapping[str, Json]) -> set[str]:
    held = (player["holds"] for player in seen["players"])
    lying = (one["thing"] for one in seen["counters"])
    inside = (thing for one in seen["utensils"] for thing in (*one["contents"], one["ready"]))
    return {base_food(thing) for thing in (*held, *lying, *inside) if thing}


def handed_over(
    players: Sequence[Mapping[str, Json]], layout: Layout, run: BestRun | None = None
) -> list[HandedOver]:
    """Return what the cooks have handed over, with its names, in the order of time. With a best run, each has
    its pace."""
    found = list(find_handovers(players, layout))
    behind = _pace(found, run).behind or (None,) * len(found)
    return [
        HandedOver(one.seat, one.thing, thing_words(one.thing), *pace_texts(steps))
        for one, steps in zip(found, behind, strict=True)
    ]


def pace_news(view: SeatView) -> dict[str, Json]:
    """Return the number of handovers, how the newest one is beside the best run (`+2`), and the combo, as
    `pace`. Empty before the first one, and without a best run."""
    found = list(find_handovers(view.observation["players"], layout_of(view.brief)))
    beside = _pace(found, best_run(view.brief))
    text = pace_texts(beside.behind[-1])[0] if beside.behind else ""
    return {"pace": [len(found), text, beside.combo]} if text else {}


def _pace(found: Sequence[Handover], run: BestRun | None) -> Pace:
    return pace_beside([one.taken_in for one in found], run)


def pace_texts(behind: int | None) -> tuple[str, str]:
    """Return how far a handover is behind the best run, short and in words. Empty if it is not known."""
    if behind is None:
        return "", ""
    if not behind:
        return "=", gettext("as fast as the best run")
    if behind < 0:
        text = ngettext("{count} step ahead of the best run", "{count} steps ahead of the best run", -behind)
        return f"\N{MINUS SIGN}{-behind}", text.format(count=-behind)
    text = ngettext("{count} step behind the best run", "{count} steps behind the best run", behind)
    return f"+{behind}", text.format(count=behind)


def met_soon(requests: Sequence[TeamMessage], players: Sequence[Mapping[str, Json]]) -> int:
    """Return how many requests the other cook met within `SOON` steps for each command. A command counts for
    one request."""
    count = 0
    for seat in SEATS:
        done = list(
            zip(players[1 - seat]["done_in"], map(tuple, players[1 - seat]["done"]), strict=True),
        )
        for said in requests:
            wanted = [one for one in commands_in(said.data, REQUESTS_KEY) if one[0] != WAIT]
            if said.sender == seat and wanted:
                number = _finished_with(wanted, said.step, done)
                count += number > 0
                done = done[number:]
    return count


def own_ideas(requests: Sequence[TeamMessage], players: Sequence[Mapping[str, Json]], layout: Layout) -> int:
    """Return how many things the assistant handed over that nobody had requested when they were put down.
    Each tip of the chef (`chef_requests.is_tip`) costs one.

    A handover counts only if commands had been requested before: 0 if the chef writes in words or not at all.
    So later requests change nothing.
    """
    asked = [
        (said.step, macro[1])
        for said in requests
        if said.sender != ASSISTANT
        for macro in commands_in(said.data, REQUESTS_KEY)
        if macro[0] == PICKUP
    ]
    first = min((step for step, _ in asked), default=0)
    handed = find_handovers(players, layout) if asked else ()
    found = sum(
        one.seat == ASSISTANT
        and first <= one.taken_in
        and not any(step <= one.put_in and thing == one.thing for step, thing in asked)
        for one in handed
    )
    return max(0, found - sum(map(is_tip, requests)))


def _finished_with(wanted: Sequence[Command], asked_in: int, done: Sequence[tuple[int, Command]]) -> int:
    """Return the number of finished commands up to the last wanted one, if all were done in time; else 0."""
    todo = list(wanted)
    for number, (step, macro) in enumerate(done, start=1):
        if step < asked_in or macro != todo[0]:
            continue
        todo.pop(0)
        if not todo:
            return number if step - asked_in < SOON * len(wanted) else 0
    return 0
