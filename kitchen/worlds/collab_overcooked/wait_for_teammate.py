"""Find what a cook who waits for the teammate has to know, and show the button that begins to wait.

The page waits one step after another, with one command for each step, until this module reports something
newer than what was known when the wait began (see `wait_on.js`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple

from kitchen.contract.page import Panel
from kitchen.contract.page_view import SeatView, StepView
from kitchen.contract.team_messages import CODE_KEY, REQUESTS_KEY, TeamMessage, commands_in
from kitchen.contract.world import Event
from kitchen.words.english_text import sentence_case
from kitchen.words.gettext_without_django import gettext
from kitchen.worlds.collab_overcooked.chef_requests import COURTESIES
from kitchen.worlds.collab_overcooked.display_text import list_words, thing_words
from kitchen.worlds.collab_overcooked.macro_checks import GO_ON, PLACE, WAIT
from kitchen.worlds.collab_overcooked.room_layout import CHEF, OWN_UTENSILS, layout_of

IDLE_STEPS = 2
"""Steps of a teammate without anything to do after which both would wait for each other."""
LOSS_SHOWN = 6
"""Steps for which the page says beside the board that food was lost."""
IDLE_REMINDER = 5
"""Steps after which this is told again, so that nobody waits until the end of the game."""


class News(NamedTuple):
    """The newest thing that a waiting cook has to know. `step` is the step in which it happened, 0 if there
    is none."""

    step: int
    text: str


class WaitButton(NamedTuple):
    """The content of the panel with the button. `is_possible` is false while this cook carries something out,
    because its steps pass by themselves. `message` is the number of the newest message from somebody else, 0
    if there is none."""

    teammate: str
    is_possible: bool
    message: int
    news_step: int
    news: str
    tip: str = ""
    """What a chef who knows the recipe does next: ask, or wait for what was asked for."""


def wait_panel(view: SeatView) -> Panel:
    """Return the panel with the button to wait for the teammate, and with what ends the wait."""
    template = "worlds/collab_overcooked/wait_on.jinja"
    if not view.acts:
        return Panel("wait-on", template, WaitButton("", False, 0, 0, ""))
    said = [one.number for one in view.talk.messages if _needs_reader(one, view)]
    news = newest_news(view)
    teammate = view.players[1 - view.seat].name
    shows = WaitButton(
        teammate,
        view.phase == "choose" and not view.choice.may_act,
        max(said, default=0),
        news.step,
        news.text,
        _tip(view, teammate),
    )
    return Panel("wait-on", template, shows)


def _tip(view: SeatView, teammate: str) -> str:
    """Return what asking leads to, for a chef who knows the recipe and is not told it by hints."""
    if view.seat != CHEF or "recipe" not in view.brief or view.brief["typed"] or view.phase == "over":
        return ""
    own = (one for one in view.talk.requests if one.sender == view.talk.member)
    asked = [one for one in own if commands_in(one.data, REQUESTS_KEY)]
    if asked and all(_is_met(view, one) for one in asked):
        return ""
    if asked:
        return gettext("{teammate} gets what you ask for: wait, or do your own part.").format(
            teammate=teammate
        )
    return gettext("Ask {teammate} for what the recipe needs.").format(teammate=teammate)


def _is_met(view: SeatView, said: TeamMessage) -> bool:
    """Return whether the teammate has since ended its work as an own request says."""
    theirs, wanted = view.observation["players"][1 - view.seat], commands_in(said.data, REQUESTS_KEY)
    ends = zip(theirs["done_in"][1:], pairwise(map(tuple, theirs["done"])), strict=True)
    return any(step >= said.step and list(two) == list(map(tuple, wanted[-2:])) for step, two in ends)


def _needs_reader(message: TeamMessage, view: SeatView) -> bool:
    """Return whether a message of somebody else needs the reader. Thanks need no reaction."""
    is_thanks = message.data.get(CODE_KEY) in COURTESIES
    return message.sender not in (None, view.talk.member) and not is_thanks


def newest_news(view: SeatView) -> News:
    """Return the newest thing that needs this cook: something ready in an own utensil, something handed over,
    a failure, or a teammate who waits, too."""
    found = (
        News(step.number, text)
        for step in view.history
        for event in step.events
        if (text := _news_text(event, view))
    )
    return max(next(found, News(0, "")), _idle_news(view))


def unspoken_news(view: SeatView) -> str:
    """Return the news of the newest step that no sentence about an event tells: something handed over, or,
    while this cook waits, a teammate who waits, too. Empty if there is none."""
    last = next(iter(view.history), None)
    if last is None or not view.acts:
        return ""
    if any(_is_hand_over(event, view) for event in last.events):
        return _handed_over(view)
    idle = _idle_news(view)
    return idle.text if idle.step == last.number and last.commands.get(view.seat, GO_ON)[0] == WAIT else ""


def _is_hand_over(event: Event, view: SeatView) -> bool:
    """Return whether the teammate has put something onto a counter."""
    return (event.kind, event.seat) == ("done", 1 - view.seat) and tuple(event.data["macro"]) == (PLACE,)


def _news_text(event: Event, view: SeatView) -> str:
    """Return the sentence about an event, if it needs this cook; else an empty text."""
    data = event.data
    if event.kind == "ready" and data["utensil"] in OWN_UTENSILS[view.seat]:
        text = gettext("{utensil}, ready: {product}")
        return sentence_case(
            text.format(utensil=thing_words(data["utensil"]), product=thing_words(data["product"]))
        )
    if _is_hand_over(event, view):
        return _handed_over(view)
    if event.kind == "destroyed":
        return _lost(event)
    if event.kind == "delivered" and not data["right"]:
        return gettext("This was not what was ordered")
    return gettext("What was needed is gone") if (event.kind, event.seat) == ("gone", view.seat) else ""


def _lost(event: Event) -> str:
    text = gettext("{utensil}: this made nothing, and {contents} is lost")
    utensil, contents = thing_words(event.data["utensil"]), list_words(event.data["contents"])
    return sentence_case(text.format(utensil=utensil, contents=contents))


def lost_words(view: SeatView) -> str:
    """Return what a utensil has destroyed in one of the last `LOSS_SHOWN` steps, as a sentence; else an empty
    text."""
    found = (
        _lost(event)
        for step in view.history
        for event in step.events
        if event.kind == "destroyed" and view.step - step.number < LOSS_SHOWN
    )
    return next(found, "")


def room_words(view: SeatView) -> str:
    """Return a warning if only one shared counter is free, or none. Else an empty text."""
    shared = set(layout_of(view.brief).shared)
    free = len(shared - {tuple(one["at"]) for one in view.observation["counters"]})
    if free > 1 or view.phase == "over":
        return ""
    if not free:
        return gettext("All shared counters are full: take something before you hand over more.")
    return gettext("Only one shared counter is still free.")


def _handed_over(view: SeatView) -> str:
    """Return a sentence about what lies on the shared counters; empty if they are empty."""
    shared = {tuple(cell) for cell in layout_of(view.brief).shared}
    things = [one["thing"] for one in view.observation["counters"] if tuple(one["at"]) in shared]
    text = gettext("On the shared counter: {things}")
    return text.format(things=list_words(things)) if things else ""


def _idle_news(view: SeatView) -> News:
    """Return the news that the teammate has been waiting for `IDLE_STEPS` steps while no utensil runs. It is
    told again in every step whose number is a multiple of `IDLE_REMINDER`."""
    teammate, seen = 1 - view.seat, view.observation
    doing = seen["players"][teammate]["doing"]
    runs = any(each["left"] is not None for each in seen["utensils"])
    if runs or (doing and doing[0] != WAIT) or view.plans.by_seat.get(teammate):
        return News(0, "")
    numbers = [step.number for step in reversed(idle_steps(view.history, teammate))]
    since_known = bool(numbers) and (len(numbers) < len(view.history) or len(numbers) == view.step)
    told = [number for number in numbers if number % IDLE_REMINDER == 0]
    told += numbers[IDLE_STEPS - 1 : IDLE_STEPS] if since_known else []
    if len(numbers) < IDLE_STEPS or not told:
        return News(0, "")
    return News(max(told), gettext("{cook} waits for you, too").format(cook=view.players[teammate].name))


def idle_steps(history: Sequence[StepView], seat: int) -> list[StepView]:
    """Return the newest steps in which this seat did nothing but wait, newest first, although nothing was
    about to become ready. Its last action must have ended."""

    def is_idle(step: StepView) -> bool:
        command = step.commands.get(seat, GO_ON)
        ended = any(event.seat == seat and event.kind in ("done", "gone") for event in step.events)
        waited = command == GO_ON or command[0] == WAIT
        return waited and not ended and not any(event.kind == "ready" for event in step.events)

    return list(takewhile(is_idle, history))
