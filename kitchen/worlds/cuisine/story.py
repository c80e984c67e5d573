"""What just happened, in words: one line per seat and step, and one sentence to be spoken. Plain Python."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from kitchen.contract.page import Panel, PlayerView, SeatView, StepView
from kitchen.contract.world import Command, Event
from kitchen.words.speech import gettext, marked, ngettext, pgettext
from kitchen.worlds.cuisine.known import Known
from kitchen.worlds.cuisine.words import Words, within

_NEWS = {
    "completed": marked("{dish} served"),
    "failed": marked("{dish} ran out of time"),
    "ordered": marked("New order: {item}"),
    "all_idle": marked("Nobody did anything in this step"),
}


class Happened(NamedTuple):
    """The numbers of the steps that are told of, newest first."""

    steps: tuple[int, ...]
    acts: bool = True
    """Who reads has a robot."""


class Line(NamedTuple):
    """What one seat did, wanted to do, or that it did nothing."""

    seat: int
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
        Panel(f"past-{step.number}", "worlds/cuisine/past.jinja", past(view, age, known.words))
        for age, step in enumerate(view.history)
    )
    shows = Happened(tuple(step.number for step in view.history), view.acts)
    return Panel("happened", "worlds/cuisine/happened.jinja", shows, parts=steps)


class News(NamedTuple):
    """What must not be overlooked of the last step, else the one thing most worth a line, as (kind, text)."""

    lines: tuple[tuple[str, str], ...]


def news(view: SeatView, known: Known) -> Panel:
    """The last step in a line, for where there is no room for more."""
    return Panel("news", "worlds/cuisine/news.jinja", News(_headlines(view, known.words)))


def _headlines(view: SeatView, words: Words) -> tuple[tuple[str, str], ...]:
    if not view.history:
        return ()
    last = past(view, 0, words)
    own = [line for line in last.lines if line.seat == view.seat]
    refused = [("refused", line.why) for line in own if line.why]
    missed = [(kind, text) for kind, text in last.news if kind == "failed"]
    others = [(kind, text) for kind, text in last.news if kind != "failed"]
    done = [("did", line.text) for line in own]
    return tuple(refused + missed) or tuple((others + done)[:1])


def past(view: SeatView, age: int, words: Words) -> Past:
    """A step in words, 0 for the newest one, of which it is also told how long what was refused is still
    busy."""
    lines = tuple(_line(player, age, view, words) for player in view.players)
    events = view.history[age].events
    told = tuple(said for event in events if (said := _news(event, words)))
    return Past(view.history[age].number, lines, told)


def _line(player: PlayerView, age: int, view: SeatView, words: Words) -> Line:
    step, robot = view.history[age], "" if player.is_you else player.name
    event = _of_seat(step, player.seat)
    if event is None:
        idle = gettext("{robot} did nothing") if robot else gettext("You did nothing")
        return Line(player.seat, idle.format(robot=robot))
    command: Command = tuple(event.data.get("command") or ())
    if step.ran_out and player.is_you:
        return Line(player.seat, gettext("You ran out of time and waited"))
    if event.kind == "performed":
        stayed = command[:1] == ("goto",) and command[1] == _place_before(player.seat, age, view)
        did = words.did(command, event.data.get("item"), robot=robot, stayed=stayed)
        return Line(player.seat, did)
    busy = _busy(command, event, view) if not age else 0
    why = words.refusals(event.data.get("reasons", ()), command, busy)
    return Line(player.seat, words.tried(command, robot), why)


def _place_before(seat: int, age: int, view: SeatView) -> str:
    """Where this seat was before a step, as far as the steps before it tell: whatever it did with a place, it
    did there, and everybody begins at the serving table."""
    for step in view.history[age + 1 :]:
        event = _of_seat(step, seat)
        if event and event.kind == "performed" and len(event.data["command"]) > 1:
            return str(event.data["command"][1])
    tables = (place for place, kind in view.brief["locations"].items() if kind == "servingtable")
    return next(tables, "") if view.history[-1].number == 1 else ""


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
    text = gettext(_NEWS[event.kind])
    return event.kind, text.format(dish=words.name(dish), item=words.mid(dish))


def happened_to(view: SeatView, kind: str) -> Counter[str]:
    """Dishes that the last step had this event for."""
    events = view.history[0].events if view.history else ()
    return Counter(event.data.get("dish", "") for event in events if event.kind == kind)


def spoken(view: SeatView, words: Words) -> str:
    """The last step and the state of things in a few short sentences, for a screen reader."""
    text = gettext("Step {number} of {length}.") if view.length else gettext("Step {number}.")
    parts = [text.format(number=view.step, length=view.length)]
    if view.history:
        parts += _recap(past(view, 0, words), view.seat)
    return " ".join([*parts, _orders(view, words)])


def _recap(step: Past, seat: int) -> list[str]:
    """One's own first, then what concerns all, then the others: who hears enough moves on."""
    own = [_aloud(line) for line in step.lines if line.seat == seat]
    others = [_aloud(line) for line in step.lines if line.seat != seat]
    return [*own, *(_ended(text) for _, text in step.news), *others]


def _aloud(line: Line) -> str:
    if not line.why:
        return _ended(line.text)
    return gettext("{what}: {why}").format(what=line.text, why=within(line.why))


def _ended(text: str) -> str:
    return text + pgettext("ends a sentence", ".")


def _orders(view: SeatView, words: Words) -> str:
    orders = view.observation["orders"]
    if not orders:
        return gettext("No open orders.")
    first, number = orders[0], len(orders)
    left = ngettext("{number} step left", "{number} steps left", first["life"]).format(number=first["life"])
    return ngettext(
        "{number} order; the most urgent is {dish}, {left}.",
        "{number} orders; the most urgent is {dish}, {left}.",
        number,
    ).format(number=number, dish=words.mid(first["dish"]), left=left)
