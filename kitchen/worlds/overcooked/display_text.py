"""Write commands, things, past steps and intents as text for Overcooked participants.

An intent is what another cook is about to do.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import NamedTuple

from kitchen.contract.page import Panel
from kitchen.contract.page_view import PlayerView, SeatView, StepView
from kitchen.contract.world import Command, Event, Intent, Json
from kitchen.pages.default_page import PastStep, SeatLine
from kitchen.words.gettext_without_django import gettext, ngettext, pgettext
from kitchen.worlds.overcooked.game_rules import BLOCKED_BY_SEAT
from kitchen.worlds.overcooked.layout import is_floor

SENTENCES: Mapping[str, Mapping[str, str]] = tomllib.loads(
    (Path(__file__).parent / "data" / "sentences.toml").read_text("utf-8")
)
"""The sentences that participants read, in English, by table and key."""


def translated(table: str, key: str) -> str:
    """Return the sentence in `SENTENCES[table][key]`, translated into the reader's language."""
    return gettext(SENTENCES[table][key])


def furniture_name(letter: str) -> str:
    """Return the name for this letter of a layout, such as `counter` for `X`."""
    return translated("furniture", "floor" if is_floor(letter) else letter)


def command_label(command: Command) -> str:
    """Return the label of a command, such as `Go left`; empty for an unknown command."""
    labels = SENTENCES["commands"]
    return gettext(labels[command[0]]) if command and command[0] in labels else ""


def thing_name(item: Json) -> str:
    """Return the name of a thing that is held or lies on a counter: `onion` or `soup of onion, onion, onion`.

    `item` has the form of observations. None gives `nothing`.
    """
    if item is None:
        return pgettext("what somebody holds", "nothing")
    if isinstance(item, str):
        return translated("things", item)
    return gettext("soup of {ingredients}").format(ingredients=ingredient_list(item[1]))


def thing_phrase(item: Json) -> str:
    """Return the thing with its article: `an onion`, `a soup`; empty if `item` is None."""
    if item is None:
        return ""
    return translated("thing_phrases", item) if isinstance(item, str) else gettext("a soup")


def duration_text(ticks: int, brief: Mapping[str, Json]) -> str:
    """Return a number of ticks as text: `20 steps`, or `4 seconds` if the world has a clock. Seconds are
    rounded up, as in the page's countdown."""
    if brief["clock"] != "tick":
        return ngettext("{count} step", "{count} steps", ticks).format(count=ticks)
    seconds = max(1, ceil(ticks * brief["tick_ms"] / 1000))
    return ngettext("{count} second", "{count} seconds", seconds).format(count=seconds)


def ingredient_list(ingredients: Sequence[str]) -> str:
    """Return the names of ingredients, such as `onion, onion, tomato`."""
    return ", ".join(translated("things", each) for each in ingredients)


def pot_text(contents: Sequence[str], left: int | None, brief: Mapping[str, Json]) -> str:
    """Return the state of a pot as text: `onion, onion; not cooking yet`, `onion, onion, onion; ready in 3
    steps`.

    `left` is the number of ticks until the soup is ready, None if the pot is not started.
    """
    if left is None:
        state = gettext("not cooking yet")
    elif left == 0:
        state = gettext("ready")
    else:
        state = gettext("ready in {time}").format(time=duration_text(left, brief))
    return f"{ingredient_list(contents)}; {state}"


def past_step(step: StepView, view: SeatView) -> PastStep:
    """Return the description of a past tick: one line for each cook, then deliveries and soups that became
    ready."""
    lines = tuple(_line(step, player, view) for player in view.players)
    return PastStep(step.number, lines, tuple(_news(step, view)))


def _line(step: StepView, player: PlayerView, view: SeatView) -> SeatLine:
    name = gettext("You") if player.is_you else player.name
    events = (event for event in step.events if event.seat == player.seat)
    event = next((event for event in events if event.kind in ("performed", "refused")), None)
    if step.ran_out and player.is_you:
        return SeatLine(player.seat, name, gettext("ran out of time"), "")
    if event is None:
        return SeatLine(player.seat, name, pgettext("log of a step", "waited"), "")
    if event.kind == "refused":
        codes = [code for code in event.data["reasons"] if code in SENTENCES["refusals"]]
        return SeatLine(
            player.seat,
            name,
            "",
            ", ".join(translated("refusals", code) for code in codes),
        )
    return SeatLine(player.seat, name, *_did(event))


def _did(event: Event) -> tuple[str, str]:
    """Return two texts about a carried out command: its effect, and what was in the way. The second is empty
    if nothing was."""
    verb = event.data["command"][0]
    if verb in SENTENCES["moved"] and event.data["moved"]:
        return translated("moved", verb), ""
    if verb in SENTENCES["turned"]:
        kept = event.data["blocked_by"] == BLOCKED_BY_SEAT
        return translated("turned", verb), gettext("the other cook is in the way") if kept else ""
    if verb == "interact":
        deed = SENTENCES["done"][event.data["did"]]
        return gettext(deed).format(thing=thing_phrase(event.data["thing"])), ""
    return pgettext("log of a step", "waited"), ""


def delivery_text(points: int, *, own: bool) -> str:
    """Return the sentence about a delivered soup. The placeholders `{player}` and `{points}` are not filled
    in.

    `own` is True if the reader delivered it. Without points, the sentence says that nobody ordered it.
    """
    if own and points:
        return gettext("You have delivered a soup: {points} points.")
    if own:
        return gettext("You have delivered a soup that nobody ordered.")
    if points:
        return gettext("{player} has delivered a soup: {points} points.")
    return gettext("{player} has delivered a soup that nobody ordered.")


def _news(step: StepView, view: SeatView) -> Iterator[tuple[str, str]]:
    """Yield the deliveries with their points, and the soups that became ready, as texts."""
    for event in step.events:
        if event.kind == "delivered" and event.seat is not None:
            player, points = view.players[event.seat], event.data["points"]
            said = delivery_text(points, own=player.is_you)
            yield "completed" if points else "failed", said.format(player=player.name, points=points)
        elif event.kind == "ready":
            yield "ready", gettext("A soup is ready.")


_TEMPLATES = "worlds/overcooked"


class PartnerIntent(NamedTuple):
    """Another cook, and the sentence about what it will do next; empty if it has announced nothing."""

    seat: int
    name: str
    text: str
    item: str = ""
    """The thing of its next action; empty if it has none."""


class IntentList(NamedTuple):
    """All other cooks, in the order of seats."""

    partners: tuple[PartnerIntent, ...]


def intents_panel(view: SeatView) -> Panel:
    """Return the panel that says what the other cooks will do next."""
    others = [(each, view.plans.intents.get(each.seat, {})) for each in view.players if not each.is_you]
    partners = tuple(
        PartnerIntent(each.seat, each.name, intent_text(intent, view.seat), intent.get("item", ""))
        for each, intent in others
    )
    return Panel("intents", f"{_TEMPLATES}/intents.jinja", IntentList(partners))


def intent_text(intent: Intent, seat: int) -> str:
    """Return a cook's intent and its prediction about this seat as text, such as `Next: take an onion`.

    Return an empty string if the intent has neither.
    """
    at = SENTENCES["next"].get(_code(intent, "do", "item"), "")
    expects = ""
    if intent.get("of") == str(seat):
        expects = SENTENCES["expected"].get(_code(intent, "foresees", "what"), "")
    return ". ".join(gettext(text) for text in (at, expects) if text)


def _code(intent: Intent, *names: str) -> str:
    return " ".join(word for name in names if (word := intent.get(name)))
