"""Describe in sentences what just happened in the kitchen, and what other robots will do next."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from kitchen.contract.page import Panel
from kitchen.contract.page_view import PlayerView, SeatView, StepView
from kitchen.contract.world import Command, Event, Intent
from kitchen.pages.default_page import SpokenStep
from kitchen.words.gettext_without_django import gettext, ngettext, pgettext
from kitchen.worlds.cuisine.display_text import (
    SENTENCES,
    BriefLookup,
    KitchenWords,
    join_sentence,
    name_in_sentence,
    translated,
)

_TEMPLATES = "worlds/cuisine"


class StepList(NamedTuple):
    """The numbers of the steps shown, newest first."""

    steps: tuple[int, ...]
    acts: bool = True
    """True if the reader controls a robot."""


class StepLine(NamedTuple):
    """A line of text about one seat's step: its action, its failed attempt, or that it did nothing."""

    seat: int
    text: str
    why: str = ""
    """The reason why a command was refused; empty if it was not."""


class PastStep(NamedTuple):
    """One past step: a line for each seat, and the events of the kitchen as (kind, text), such as a served
    dish."""

    number: int
    lines: tuple[StepLine, ...]
    news: tuple[tuple[str, str], ...]


def history_panel(view: SeatView, lookup: BriefLookup) -> Panel:
    """Return the panel that describes the last steps, newest first."""
    steps = tuple(
        Panel(f"past-{step.number}", f"{_TEMPLATES}/past.jinja", past_step(view, age, lookup.words))
        for age, step in enumerate(view.history)
    )
    shows = StepList(tuple(step.number for step in view.history), view.acts)
    return Panel("happened", f"{_TEMPLATES}/happened.jinja", shows, parts=steps)


class StepNews(NamedTuple):
    """News of the last step as (kind, text): all important events. If there are none, the most relevant
    line."""

    lines: tuple[tuple[str, str], ...]


def step_news(view: SeatView, lookup: BriefLookup) -> Panel:
    """Return the panel with a short summary of the last step, for narrow screens."""
    return Panel("news", f"{_TEMPLATES}/news.jinja", StepNews(_headlines(view, lookup.words)))


def _headlines(view: SeatView, words: KitchenWords) -> tuple[tuple[str, str], ...]:
    if not view.history:
        return ()
    last = newest_step(view, words)
    own = [line for line in last.lines if line.seat == view.seat]
    refused = [("refused", line.why) for line in own if line.why]
    missed = [(kind, text) for kind, text in last.news if kind == "failed"]
    others = [(kind, text) for kind, text in last.news if kind != "failed"]
    done = [("did", line.text) for line in own]
    return tuple(refused + missed) or tuple((others + done)[:1])


def past_step(view: SeatView, age: int, words: KitchenWords) -> PastStep:
    """Return the description of a past step; `age` 0 is the newest step.

    If a command of the newest step was refused because its place was busy, the text says for how long.
    """
    lines = tuple(_line(player, age, view, words) for player in view.players)
    events = view.history[age].events
    news = tuple(said for event in events if (said := _news(event, words)))
    return PastStep(view.history[age].number, lines, news)


def _line(player: PlayerView, age: int, view: SeatView, words: KitchenWords) -> StepLine:
    step, robot = view.history[age], "" if player.is_you else player.name
    event = _of_seat(step, player.seat)
    if event is None:
        idle = gettext("{robot} did nothing") if robot else gettext("You did nothing")
        return StepLine(player.seat, idle.format(robot=robot))
    command: Command = tuple(event.data.get("command") or ())
    if step.ran_out and player.is_you:
        return StepLine(player.seat, gettext("You ran out of time and waited"))
    if event.kind == "performed":
        stayed = command[:1] == ("goto",) and command[1] == _place_before(player.seat, age, view)
        did = words.did(command, event.data.get("item"), robot=robot, stayed=stayed)
        return StepLine(player.seat, did)
    busy = _busy(command, event, view) if not age else 0
    why = words.refusals(event.data.get("reasons", ()), command, busy)
    return StepLine(player.seat, words.attempted(command, robot), why)


def _place_before(seat: int, age: int, view: SeatView) -> str:
    """Return the place where a seat was before a step; `age` 0 is the newest step. Return an empty text if
    the history does not show it."""
    for step in view.history[age + 1 :]:
        event = _of_seat(step, seat)
        if event and event.kind == "performed" and len(event.data["command"]) > 1:
            return str(event.data["command"][1])
    tables = (place for place, kind in view.brief["locations"].items() if kind == "servingtable")
    return next(tables, "") if view.history[-1].number == 1 else ""


def _of_seat(step: StepView, seat: int) -> Event | None:
    """Return the first event that says what this seat did in the step, or why it was refused. Return None if
    there is none."""
    kinds = ("performed", "refused")
    return next((event for event in step.events if event.seat == seat and event.kind in kinds), None)


def _busy(command: Command, event: Event, view: SeatView) -> int:
    """Return the number of further steps for which the place in a refused command is busy. Return 0 if the
    refusal had another reason."""
    if "location_busy" not in event.data.get("reasons", ()) or len(command) < 2:
        return 0
    place: Mapping[str, Any] = view.observation["locations"].get(command[1], {})
    return int(place.get("busy", 0))


def _news(event: Event, words: KitchenWords) -> tuple[str, str] | None:
    """Return an event of the kitchen itself as (kind, text); None for other events."""
    if event.kind not in SENTENCES["news"]:
        return None
    dish = event.data.get("dish", "")
    text = translated("news", event.kind)
    return event.kind, text.format(dish=words.name(dish), item=words.mid(dish))


def newest_step(view: SeatView, words: KitchenWords) -> PastStep:
    """Return the description of the newest step. Unlike those in the history, its news also say who cooked
    and who served a dish."""
    events = [event for event in view.history[0].events if event.kind in SENTENCES["news"]]
    step = past_step(view, 0, words)
    told = (
        (kind, _with_credit(text, event, view)) for (kind, text), event in zip(step.news, events, strict=True)
    )
    return step._replace(news=tuple(told))


def _with_credit(text: str, event: Event, view: SeatView) -> str:
    credit = credit_text(event.data["dish"], view) if event.kind == "completed" else ""
    return gettext("{news}. {credit}").format(news=text, credit=credit) if credit else text


def credit_text(dish: str, view: SeatView) -> str:
    """Return who cooked and who served a dish of the last step, such as `Robot 2 cooked it, you served it`.
    If the reader only put in or made an ingredient, this is added.

    Return an empty string if the history does not show who put it on the table. A cook whom the history does
    not show is left out.
    """
    cooked, served = _last_maker("activate", dish, view), _last_maker("put", dish, view)
    if served is None:
        return ""
    seats = {"cook": cooked, "server": served}
    shown = {part: view.players[seat] for part, seat in seats.items() if seat is not None}
    share = "served" if cooked is None else "alone" if cooked == served else "shared"
    who = {player.seat: "you" if player.is_you else "robot" for player in shown.values()}
    names = {part: player.name for part, player in shown.items()}
    credit = translated("credits", "_".join([share, *who.values()])).format(**names)
    if view.seat in seats.values() or not _has_helped(dish, view):
        return credit
    return gettext("{credit}; you helped").format(credit=credit)


def _has_helped(dish: str, view: SeatView) -> bool:
    """Return whether the history shows that the reader put an ingredient of the dish, or an ingredient of
    that, into a tool or started its tool."""
    return view.seat in _helpers(dish, view)


def celebrating_seats(view: SeatView) -> frozenset[int]:
    """Return the seats that cooked, served or helped with a dish of the last step, as far as the history
    shows it."""
    found = set[int | None]()
    for dish in dishes_with_event(view, "completed"):
        found |= {_last_maker("activate", dish, view), _last_maker("put", dish, view), *_helpers(dish, view)}
    return frozenset(seat for seat in found if seat is not None)


def _helpers(dish: str, view: SeatView) -> frozenset[int | None]:
    """Return the seats that, as the history shows, put an ingredient of the dish, or an ingredient of that,
    into a tool or started its tool."""
    recipes, kinds = view.brief["recipes"], view.brief["locations"]
    parts = list(recipes[dish]["ingredients"]) if dish in recipes else []
    for part in parts:  # grows meanwhile
        parts += recipes.get(part, {}).get("ingredients", ())
    return frozenset(
        event.seat
        for step in view.history
        for event in step.events
        if event.kind == "performed"
        and event.data.get("item") in parts
        and event.data["command"][0] in ("put", "activate")
        and kinds.get(event.data["command"][1]) != "servingtable"
    )


def _last_maker(verb: str, item: str, view: SeatView) -> int | None:
    """Return the seat that last did this with the item. For `put`, only the serving table counts. Return None
    if the history does not show it."""
    kinds = view.brief["locations"]
    for step in view.history:
        for event in step.events:
            if event.kind != "performed" or event.data.get("item") != item:
                continue
            command = event.data["command"]
            if command[0] == verb and (verb != "put" or kinds.get(command[1]) == "servingtable"):
                return event.seat
    return None


def dishes_with_event(view: SeatView, kind: str) -> Counter[str]:
    """Return how many events of this kind, such as `completed` or `failed`, each dish had in the last
    step."""
    events = view.history[0].events if view.history else ()
    return Counter(event.data.get("dish", "") for event in events if event.kind == kind)


def spoken_panel(view: SeatView, lookup: BriefLookup) -> Panel:
    """Return the panel for screen readers. It describes the last step and the open orders in short
    sentences."""
    words = lookup.words
    text = gettext("Step {number} of {length}.") if view.length else gettext("Step {number}.")
    parts = [text.format(number=view.step, length=view.length)]
    if view.history:
        parts += _recap(newest_step(view, words), view.seat)
    shows = SpokenStep(" ".join([*parts, _orders(view, words)]))
    return Panel("spoken", f"{_TEMPLATES}/spoken.jinja", shows)


def _recap(step: PastStep, seat: int) -> list[str]:
    """Return the lines that describe a past step: what the reader did, then what happened in the kitchen,
    then what other robots did."""
    own = [_aloud(line) for line in step.lines if line.seat == seat]
    others = [_aloud(line) for line in step.lines if line.seat != seat]
    return [*own, *(_ended(text) for _, text in step.news), *others]


def _aloud(line: StepLine) -> str:
    if not line.why:
        return _ended(line.text)
    return gettext("{what}: {why}").format(what=line.text, why=name_in_sentence(line.why))


def _ended(text: str) -> str:
    return text + pgettext("ends a sentence", ".")


def _orders(view: SeatView, words: KitchenWords) -> str:
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


_AGENT = re.compile(r"\b[Aa]gent ?(\d{1,2})\b")


class IntentLine(NamedTuple):
    """The line about one robot's next action; empty if the robot has not announced an action."""

    text: str = ""
    said: str = ""
    """The intent in the robot's own words, instead of a sentence of this program."""
    thought: str = ""
    """The model's earlier thoughts, shown in a fold."""


class SharedIntent(NamedTuple):
    """One line of text about the next action, and the (seat, name) pairs of the robots to which it
    applies."""

    robots: tuple[tuple[int, str], ...]
    line: IntentLine


class IntentList(NamedTuple):
    """The lines about the robots' next actions, in the order of seats. A robot that has announced nothing
    has no line."""

    rows: tuple[SharedIntent, ...]


def intents_panel(view: SeatView, lookup: BriefLookup) -> Panel:
    """Return the panel that says what the other robots will do next. Robots with the same text share a
    line."""
    found: dict[IntentLine, list[tuple[int, str]]] = {}
    for player in view.players:
        if not player.is_you and any(line := _intent_line(player.seat, view, lookup)):
            found.setdefault(line, []).append((player.seat, player.name))
    rows = tuple(SharedIntent(tuple(robots), line) for line, robots in found.items())
    return Panel("intents", f"{_TEMPLATES}/intents.jinja", IntentList(rows))


def intent_cells(view: SeatView, lookup: BriefLookup) -> tuple[Panel, ...]:
    """Return the table cells that say what each other robot will do next."""
    return tuple(
        Panel(f"r{player.seat}-next", f"{_TEMPLATES}/intent.jinja", _intent_line(player.seat, view, lookup))
        for player in view.players
        if not player.is_you
    )


def _intent_line(seat: int, view: SeatView, lookup: BriefLookup) -> IntentLine:
    intent = view.plans.intents.get(seat, {})
    if intent.keys() & {"said", "thought"}:
        words = (_named(intent.get(name, ""), view, lookup) for name in ("said", "thought"))
        return IntentLine("", *words)
    text = intent_text(intent, lookup) if intent.get("do") in SENTENCES["intents"] else ""
    expects = prediction_text(intent, view.seat, lookup)
    return IntentLine(". ".join(part for part in (text, expects) if part))


def intent_text(intent: Intent, lookup: BriefLookup) -> str:
    """Return the sentence for a robot's intent (its next action), such as `Next: bring rice to pot 1 for
    salmon sushi`."""
    place, words = intent.get("to", ""), lookup.words
    nowhere = place and place not in lookup.brief["locations"]
    text = translated("intents_anywhere" if nowhere else "intents", intent["do"])
    item, dish = words.mid(intent.get("item", "")), words.mid(intent.get("dish", ""))
    return join_sentence(text.format(place=words.place(place), item=item, dish=dish))


def prediction_text(intent: Intent, seat: int, lookup: BriefLookup) -> str:
    """Return what a robot expects the reader in this seat to do, such as `It expects that you serve salmon
    sushi`.

    Return an empty string if the intent has no prediction for this seat.
    """
    if intent.get("of") != str(seat) or intent.get("foresees") not in SENTENCES["predictions"]:
        return ""
    what, words, text = intent.get("what", ""), lookup.words, translated("predictions", intent["foresees"])
    return join_sentence(text.format(place=words.place(what), item=words.mid(what)))


def _named(said: str, view: SeatView, lookup: BriefLookup) -> str:
    """Return a model's text, with its names of agents, places and items replaced by those that the page
    uses."""
    names = {str(player.seat): player.name for player in view.players}
    text = _AGENT.sub(lambda found: names.get(found[1], found[0]), said)
    place, mid = lookup.words.place, lookup.words.mid
    return _codes(lookup).sub(lambda found: (place if found[0][-1:].isdigit() else mid)(found[0]), text)


def _codes(lookup: BriefLookup) -> re.Pattern[str]:
    brief = lookup.brief
    codes = sorted({*brief["locations"], *brief["base"], *brief["recipes"]}, key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, codes))})\b")
