"""Name commands, things, past steps and partners' intents in words for participants. Plain Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from kitchen.contract.agent_skills import WAIT
from kitchen.contract.page import Panel, PlayerView, SeatView, StepView
from kitchen.contract.world import Command, Event, Intent, Json
from kitchen.pages.default_page import PastStep, SeatLine
from kitchen.words.translation import gettext, gettext_noop, ngettext, pgettext
from kitchen.worlds.overcooked.kitchen_objects import DISH, FILLED, LAID, POTTED, SERVED, STARTED, TOOK
from kitchen.worlds.overcooked.layout import FLOOR, is_floor
from kitchen.worlds.overcooked.movement import BLOCKED_BY_SEAT
from kitchen.worlds.overcooked.skill_names import DELIVER, FILL, PICKUP, PLACE, PUT_VERBS, START

COMMAND_LABELS: Mapping[str, str] = {
    "north": gettext_noop("Go up"),
    "south": gettext_noop("Go down"),
    "east": gettext_noop("Go right"),
    "west": gettext_noop("Go left"),
    "interact": gettext_noop("Use what is in front of you"),
    "stay": gettext_noop("Stay"),
}
FURNITURE_NAMES: Mapping[str, str] = {
    "X": gettext_noop("counter"),
    "O": gettext_noop("onions"),
    "T": gettext_noop("tomatoes"),
    "D": gettext_noop("dishes"),
    "P": gettext_noop("pot"),
    "S": gettext_noop("serving place"),
    " ": gettext_noop("floor"),
}
THING_NAMES: Mapping[str, str] = {
    "onion": gettext_noop("onion"),
    "tomato": gettext_noop("tomato"),
    "dish": gettext_noop("dish"),
}

THING_PHRASES: Mapping[str, str] = {
    "onion": gettext_noop("an onion"),
    "tomato": gettext_noop("a tomato"),
    "dish": gettext_noop("a dish"),
}
"""Things with an article, for taking or putting them."""


def furniture_name(letter: str) -> str:
    """Return the name of the furniture with this letter, such as `counter`."""
    return gettext(FURNITURE_NAMES[FLOOR if is_floor(letter) else letter])


def command_label(command: Command) -> str:
    """Return the label of a command, such as `Go left`; empty if it is no command."""
    return gettext(COMMAND_LABELS[command[0]]) if command and command[0] in COMMAND_LABELS else ""


def thing_name(item: Json) -> str:
    """Return the name of a thing in a hand or a cell: `onion`, `soup of onion, onion, onion`, `nothing`."""
    if item is None:
        return pgettext("what somebody holds", "nothing")
    if isinstance(item, str):
        return gettext(THING_NAMES[item])
    return gettext("soup of {ingredients}").format(ingredients=ingredient_list(item[1]))


def thing_phrase(item: Json) -> str:
    """Return a thing with its article: `an onion`, `a soup`; empty for None."""
    if item is None:
        return ""
    return gettext(THING_PHRASES[item]) if isinstance(item, str) else gettext("a soup")


def duration_text(ticks: int, brief: Mapping[str, Json]) -> str:
    """Return a number of ticks as participants read it: `20 steps`, or `3 seconds` if a clock runs."""
    if brief["clock"] != "tick":
        return ngettext("{count} step", "{count} steps", ticks).format(count=ticks)
    seconds = max(1, round(ticks * brief["tick_ms"] / 1000))
    return ngettext("{count} second", "{count} seconds", seconds).format(count=seconds)


def ingredient_list(ingredients: Sequence[str]) -> str:
    """Return ingredients in words, such as `onion, onion, tomato`."""
    return ", ".join(gettext(THING_NAMES[each]) for each in ingredients)


def pot_text(contents: Sequence[str], left: int | None, brief: Mapping[str, Json]) -> str:
    """Return a pot in words: `onion, onion; not cooking yet`, `onion, onion, onion; ready in 3 steps`."""
    if left is None:
        state = gettext("not cooking yet")
    elif left == 0:
        state = gettext("ready")
    else:
        state = gettext("ready in {time}").format(time=duration_text(left, brief))
    return f"{ingredient_list(contents)}; {state}"


MOVED_SENTENCES: Mapping[str, str] = {
    "north": gettext_noop("went up"),
    "south": gettext_noop("went down"),
    "east": gettext_noop("went right"),
    "west": gettext_noop("went left"),
}
TURNED_SENTENCES: Mapping[str, str] = {
    "north": gettext_noop("turned up"),
    "south": gettext_noop("turned down"),
    "east": gettext_noop("turned right"),
    "west": gettext_noop("turned left"),
}
DONE_SENTENCES: Mapping[str, str] = {
    TOOK: gettext_noop("took {thing}"),
    LAID: gettext_noop("put {thing} down"),
    POTTED: gettext_noop("put {thing} into the pot"),
    STARTED: gettext_noop("started the pot"),
    FILLED: gettext_noop("took the soup out of the pot"),
    SERVED: gettext_noop("delivered the soup"),
}
REFUSAL_SENTENCES: Mapping[str, str] = {
    "nothing_there": gettext_noop("there is nothing to use"),
    "place_taken": gettext_noop("something lies there already"),
    "hands_full": gettext_noop("both hands are full"),
    "hands_empty": gettext_noop("the hands are empty"),
    "pot_cooking": gettext_noop("the pot is cooking already"),
    "pot_full": gettext_noop("the pot is full"),
    "not_ready": gettext_noop("the soup is not ready yet"),
    "wrong_item": gettext_noop("that does not go in there"),
    "not_a_soup": gettext_noop("only soups are delivered"),
}
"""Why an interact changed nothing, by refusal code."""


def past_step(step: StepView, view: SeatView) -> PastStep:
    """Return one past tick: a line for each cook, deliveries, and soups that became ready."""
    lines = tuple(_line(step, player, view) for player in view.players)
    return PastStep(step.number, lines, tuple(_news(step, view)))


def _line(step: StepView, player: PlayerView, view: SeatView) -> SeatLine:
    name = gettext("You") if player.is_you else player.name
    events = (event for event in step.events if event.seat == player.seat)
    event = next((event for event in events if event.kind in ("performed", "refused")), None)
    if step.ran_out and player.is_you:
        return SeatLine(player.seat, name, gettext("ran out of time"), "")
    if event is None:
        return SeatLine(player.seat, name, gettext("waited"), "")
    if event.kind == "refused":
        codes = [code for code in event.data["reasons"] if code in REFUSAL_SENTENCES]
        return SeatLine(
            player.seat,
            name,
            gettext("did nothing"),
            ", ".join(gettext(REFUSAL_SENTENCES[code]) for code in codes),
        )
    return SeatLine(player.seat, name, *_did(event))


def _did(event: Event) -> tuple[str, str]:
    """Return what was done, and what blocked it."""
    verb = event.data["command"][0]
    if verb in MOVED_SENTENCES and event.data["moved"]:
        return gettext(MOVED_SENTENCES[verb]), ""
    if verb in TURNED_SENTENCES:
        kept = event.data["blocked_by"] == BLOCKED_BY_SEAT
        return gettext(TURNED_SENTENCES[verb]), gettext("the other cook is in the way") if kept else ""
    if verb == "interact":
        deed = DONE_SENTENCES[event.data["did"]]
        return gettext(deed).format(thing=thing_phrase(event.data["thing"])), ""
    return gettext("waited"), ""


def delivery_text(points: int, *, own: bool) -> str:
    """Return the sentence for a delivery, with placeholders in braces."""
    if own and points:
        return gettext("You have delivered a soup: {points} points.")
    if own:
        return gettext("You have delivered a soup that nobody ordered.")
    if points:
        return gettext("{player} has delivered a soup: {points} points.")
    return gettext("{player} has delivered a soup that nobody ordered.")


def _news(step: StepView, view: SeatView) -> Iterator[tuple[str, str]]:
    """Yield deliveries with their points, and soups that became ready."""
    for event in step.events:
        if event.kind == "delivered" and event.seat is not None:
            player, points = view.players[event.seat], event.data["points"]
            said = delivery_text(points, own=player.is_you)
            yield "completed" if points else "failed", said.format(player=player.name, points=points)
        elif event.kind == "ready":
            yield "ready", gettext("A soup is ready.")


ONION, TOMATO = "onion", "tomato"
_TEMPLATES = "worlds/overcooked"
NEXT_SENTENCES: Mapping[str, str] = {
    f"{PICKUP} {ONION}": gettext_noop("Next: take an onion"),
    f"{PICKUP} {TOMATO}": gettext_noop("Next: take a tomato"),
    f"{PICKUP} {DISH}": gettext_noop("Next: take a dish"),
    PUT_VERBS[ONION]: gettext_noop("Next: put an onion into a pot"),
    PUT_VERBS[TOMATO]: gettext_noop("Next: put a tomato into a pot"),
    PLACE: gettext_noop("Next: put something down on a counter"),
    START: gettext_noop("Next: start a pot"),
    FILL: gettext_noop("Next: take a soup out of a pot"),
    DELIVER: gettext_noop("Next: deliver a soup"),
    WAIT: gettext_noop("Next: wait"),
}
"""What a partner does next, by its skill and the object of the skill."""
EXPECTED_SENTENCES: Mapping[str, str] = {
    f"{PICKUP} {ONION}": gettext_noop("It expects that you take an onion"),
    f"{PICKUP} {TOMATO}": gettext_noop("It expects that you take a tomato"),
    f"{PICKUP} {DISH}": gettext_noop("It expects that you take a dish"),
    PUT_VERBS[ONION]: gettext_noop("It expects that you put an onion into a pot"),
    PUT_VERBS[TOMATO]: gettext_noop("It expects that you put a tomato into a pot"),
    PLACE: gettext_noop("It expects that you put something down on a counter"),
    START: gettext_noop("It expects that you start a pot"),
    FILL: gettext_noop("It expects that you take a soup out of a pot"),
    DELIVER: gettext_noop("It expects that you deliver a soup"),
    WAIT: gettext_noop("It expects that you wait"),
}
"""What a partner expects of the reader, by skill and object."""


class PartnerIntent(NamedTuple):
    """Another cook and its intent in words; empty if it gave none."""

    seat: int
    name: str
    text: str


class IntentList(NamedTuple):
    """All other cooks, in the order of seats."""

    partners: tuple[PartnerIntent, ...]


def intents_panel(view: SeatView) -> Panel:
    """Return the panel with what the other cooks will do next."""
    partners = tuple(
        PartnerIntent(
            player.seat, player.name, intent_text(view.plans.intents.get(player.seat, {}), view.seat)
        )
        for player in view.players
        if not player.is_you
    )
    return Panel("intents", f"{_TEMPLATES}/intents.jinja", IntentList(partners))


def intent_text(intent: Intent, seat: int) -> str:
    """Return an intent in words: `Next: take an onion. It expects that you deliver a soup`.

    Empty if the intent says nothing to this seat.
    """
    at = NEXT_SENTENCES.get(_code(intent, "do", "item"), "")
    expects = (
        EXPECTED_SENTENCES.get(_code(intent, "foresees", "what"), "") if intent.get("of") == str(seat) else ""
    )
    return ". ".join(gettext(text) for text in (at, expects) if text)


def _code(intent: Intent, *names: str) -> str:
    return " ".join(word for name in names if (word := intent.get(name)))
