"""What just happened, in words: one line per seat and step, and one sentence to be spoken. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kitchen.contract.page import PlayerView, SeatView, StepView
from kitchen.contract.world import Command, Event, Json
from kitchen.words.counting import counted
from kitchen.worlds.cuisine.words import Words, brief_words, subject, within

_NEWS = {
    "completed": "{dish} served",
    "failed": "{dish} ran out of time",
    "ordered": "New order: {mid}",
    "all_idle": "Nobody did anything in this step",
}


def story(view: SeatView) -> dict[str, Json]:
    """The context of the panel of what happened: steps, newest first."""
    words = brief_words(view.brief)
    steps = [_step(step, view, words, newest=place == 0) for place, step in enumerate(view.history)]
    return {"steps": steps, "length": view.length}


def _step(step: StepView, view: SeatView, words: Words, *, newest: bool) -> dict[str, Json]:
    return {
        "number": step.number,
        "newest": newest,
        "lines": [_line(player, step, view, words, newest=newest) for player in view.players],
        "news": [news for event in step.events if (news := _news(event, words))],
    }


def _line(
    player: PlayerView, step: StepView, view: SeatView, words: Words, *, newest: bool
) -> dict[str, Json]:
    """What one seat did, wanted to do, or that it did nothing."""
    line = {"seat": player.seat, "who": subject(player.name, player.is_you), "refused": False, "why": ""}
    event = _of_seat(step, player.seat)
    if event is None:
        return line | {"text": "did nothing"}
    command: Command = tuple(event.data.get("command") or ())
    if step.ran_out and player.is_you:
        return line | {"text": "ran out of time and waited"}
    if event.kind == "performed":
        return line | {"text": words.did(command, event.data.get("item"))}
    busy = _busy(command, event, view) if newest else 0
    why = words.refusals(event.data.get("reasons", ()), command, busy)
    return line | {"text": words.tried(command), "refused": True, "why": why}


def _of_seat(step: StepView, seat: int) -> Event | None:
    """The first thing that this seat did or was refused in the step."""
    kinds = ("performed", "refused")
    return next((event for event in step.events if event.seat == seat and event.kind in kinds), None)


def _busy(command: Command, event: Event, view: SeatView) -> int:
    """How long the place of a refused command is busy from now on."""
    if "location_busy" not in event.data.get("reasons", ()) or len(command) < 2:
        return 0
    place: Mapping[str, Any] = view.observation["locations"].get(command[1], {})
    return int(place.get("busy", 0))


def _news(event: Event, words: Words) -> dict[str, Json] | None:
    """What the kitchen itself has to say."""
    if event.kind not in _NEWS:
        return None
    dish = event.data.get("dish", "")
    text = _NEWS[event.kind].format(dish=words.name(dish), mid=words.mid(dish))
    return {"kind": event.kind, "text": text}


def spoken(view: SeatView) -> str:
    """The last step and the state of things in a few short sentences, for a screen reader."""
    words = brief_words(view.brief)
    parts = [f"Step {view.step} of {view.length}." if view.length else f"Step {view.step}."]
    if view.history:
        parts += _recap(_step(view.history[0], view, words, newest=True))
    return " ".join([*parts, _orders(view, words)])


def _recap(step: Mapping[str, Json]) -> list[str]:
    lines = [
        f"{line['who']} {line['text']}{'.' if not line['why'] else ': ' + within(line['why'])}"
        for line in step["lines"]
    ]
    return lines + [f"{news['text']}." for news in step["news"]]


def _orders(view: SeatView, words: Words) -> str:
    orders = view.observation["orders"]
    if not orders:
        return "No open orders."
    first = orders[0]
    left = counted(first["life"], "step")
    standing = counted(len(orders), "order")
    return f"{standing}; the most urgent is {words.mid(first['dish'])}, {left} left."
