"""What just happened, in words: a line for each cook and tick. Plain Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kitchen.contract.page import PlayerView, SeatView, StepView
from kitchen.contract.world import Event
from kitchen.pages.step_history import Line, Past
from kitchen.words.speech import gettext, marked
from kitchen.worlds.overcooked.stands import BY_SEAT
from kitchen.worlds.overcooked.things import FILLED, LAID, POTTED, SERVED, STARTED, TOOK
from kitchen.worlds.overcooked.words import a_thing

WENT: Mapping[str, str] = {
    "north": marked("went up"),
    "south": marked("went down"),
    "east": marked("went right"),
    "west": marked("went left"),
}
TURNED: Mapping[str, str] = {
    "north": marked("turned up"),
    "south": marked("turned down"),
    "east": marked("turned right"),
    "west": marked("turned left"),
}
DID: Mapping[str, str] = {
    TOOK: marked("took {thing}"),
    LAID: marked("put {thing} down"),
    POTTED: marked("put {thing} into the pot"),
    STARTED: marked("started the pot"),
    FILLED: marked("took the soup out of the pot"),
    SERVED: marked("delivered the soup"),
}
WHY: Mapping[str, str] = {
    "nothing_there": marked("there is nothing to use"),
    "place_taken": marked("something lies there already"),
    "hands_full": marked("both hands are full"),
    "hands_empty": marked("the hands are empty"),
    "pot_cooking": marked("the pot is cooking already"),
    "pot_full": marked("the pot is full"),
    "not_ready": marked("the soup is not ready yet"),
    "wrong_item": marked("that does not go in there"),
    "not_a_soup": marked("only soups are delivered"),
}
"""Why an interact changed nothing, by its code."""


def past(step: StepView, view: SeatView) -> Past:
    """One tick: a line for each cook, deliveries, and soups that are ready."""
    lines = tuple(_line(step, player, view) for player in view.players)
    return Past(step.number, lines, tuple(_news(step, view)))


def _line(step: StepView, player: PlayerView, view: SeatView) -> Line:
    name = gettext("You") if player.is_you else player.name
    events = (event for event in step.events if event.seat == player.seat)
    event = next((event for event in events if event.kind in ("performed", "refused")), None)
    if step.ran_out and player.is_you:
        return Line(player.seat, name, gettext("ran out of time"), "")
    if event is None:
        return Line(player.seat, name, gettext("waited"), "")
    if event.kind == "refused":
        codes = [code for code in event.data["reasons"] if code in WHY]
        return Line(
            player.seat, name, gettext("did nothing"), ", ".join(gettext(WHY[code]) for code in codes)
        )
    return Line(player.seat, name, *_did(event))


def _did(event: Event) -> tuple[str, str]:
    """What was done, and who was in the way."""
    verb = event.data["command"][0]
    if verb in WENT and event.data["moved"]:
        return gettext(WENT[verb]), ""
    if verb in TURNED:
        kept = event.data["blocked_by"] == BY_SEAT
        return gettext(TURNED[verb]), gettext("the other cook is in the way") if kept else ""
    if verb == "interact":
        deed = DID[event.data["did"]]
        return gettext(deed).format(thing=a_thing(event.data["thing"])), ""
    return gettext("waited"), ""


def delivery(points: int, *, own: bool) -> str:
    """How a delivery is told, with what is to be filled in between braces."""
    if own and points:
        return gettext("You have delivered a soup: {points} points.")
    if own:
        return gettext("You have delivered a soup that nobody ordered.")
    if points:
        return gettext("{player} has delivered a soup: {points} points.")
    return gettext("{player} has delivered a soup that nobody ordered.")


def _news(step: StepView, view: SeatView) -> Iterator[tuple[str, str]]:
    """Deliveries with their points, and soups that are ready."""
    for event in step.events:
        if event.kind == "delivered" and event.seat is not None:
            player, points = view.players[event.seat], event.data["points"]
            said = delivery(points, own=player.is_you)
            yield "completed" if points else "failed", said.format(player=player.name, points=points)
        elif event.kind == "ready":
            yield "ready", gettext("A soup is ready.")
