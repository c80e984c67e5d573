"""What just happened, in words: one line per seat and step, and one sentence to be spoken. Plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from kitchen.contract.page import Panel, PlayerView, SeatView, StepView
from kitchen.contract.world import Command, Event
from kitchen.words.counting import counted
from kitchen.worlds.cuisine.known import Known
from kitchen.worlds.cuisine.words import Words, subject, within

_NEWS = {
    "completed": "{dish} served",
    "failed": "{dish} ran out of time",
    "ordered": "New order: {mid}",
    "all_idle": "Nobody did anything in this step",
}


class Happened(NamedTuple):
    """The numbers of the steps that are told of, newest first."""

    steps: tuple[int, ...]


class Line(NamedTuple):
    """What one seat did, wanted to do, or that it did nothing."""

    seat: int
    who: str
    text: str
    why: str = ""
    """Of what was refused."""


class Past(NamedTuple):
    """One step of the past: a line for each seat, and (kind, text) of what the kitchen itself has to say."""

    number: int
    lines: tuple[Line, ...]
    news: tuple[tuple[str, str], ...]


def story(view: SeatView, known: Known) -> Panel:
    """What just happened: the last steps, newest first."""
    steps = tuple(
        Panel(f"past-{step.number}", "worlds/cuisine/past.jinja", past(step, view, known.words, newest=not n))
        for n, step in enumerate(view.history)
    )
    shows = Happened(tuple(step.number for step in view.history))
    return Panel("happened", "worlds/cuisine/happened.jinja", shows, parts=steps)


def past(step: StepView, view: SeatView, words: Words, *, newest: bool) -> Past:
    """A step in words; of the newest one it is also told how long what was refused is still busy."""
    lines = tuple(_line(player, step, view, words, newest=newest) for player in view.players)
    return Past(step.number, lines, tuple(news for event in step.events if (news := _news(event, words))))


def _line(player: PlayerView, step: StepView, view: SeatView, words: Words, *, newest: bool) -> Line:
    who, event = subject(player.name, player.is_you), _of_seat(step, player.seat)
    if event is None:
        return Line(player.seat, who, "did nothing")
    command: Command = tuple(event.data.get("command") or ())
    if step.ran_out and player.is_you:
        return Line(player.seat, who, "ran out of time and waited")
    if event.kind == "performed":
        return Line(player.seat, who, words.did(command, event.data.get("item")))
    busy = _busy(command, event, view) if newest else 0
    why = words.refusals(event.data.get("reasons", ()), command, busy)
    return Line(player.seat, who, words.tried(command), why)


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


def _news(event: Event, words: Words) -> tuple[str, str] | None:
    """What the kitchen itself has to say."""
    if event.kind not in _NEWS:
        return None
    dish = event.data.get("dish", "")
    text = _NEWS[event.kind].format(dish=words.name(dish), mid=words.mid(dish))
    return event.kind, text


def happened_to(view: SeatView, kind: str) -> Counter[str]:
    """Dishes that the last step had this event for."""
    events = view.history[0].events if view.history else ()
    return Counter(event.data.get("dish", "") for event in events if event.kind == kind)


def spoken(view: SeatView, words: Words) -> str:
    """The last step and the state of things in a few short sentences, for a screen reader."""
    parts = [f"Step {view.step} of {view.length}." if view.length else f"Step {view.step}."]
    if view.history:
        parts += _recap(past(view.history[0], view, words, newest=True))
    return " ".join([*parts, _orders(view, words)])


def _recap(step: Past) -> list[str]:
    lines = [f"{line.who} {line.text}{': ' + within(line.why) if line.why else '.'}" for line in step.lines]
    return lines + [f"{text}." for _, text in step.news]


def _orders(view: SeatView, words: Words) -> str:
    orders = view.observation["orders"]
    if not orders:
        return "No open orders."
    first = orders[0]
    left = counted(first["life"], "step")
    standing = counted(len(orders), "order")
    return f"{standing}; the most urgent is {words.mid(first['dish'])}, {left} left."
