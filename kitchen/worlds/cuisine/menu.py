"""The action menu of one robot: what may be done now, in words, grouped by verb, with keys. Plain Python."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from string import ascii_lowercase
from typing import NamedTuple

from kitchen.contract.page import Panel, SeatView
from kitchen.contract.world import Command, Json
from kitchen.words.counting import counted
from kitchen.worlds.cuisine.known import Known
from kitchen.worlds.cuisine.words import VERB_TITLES, within

_TEMPLATES = "worlds/cuisine"
_FIXED_KEYS = {"put": "p", "activate": "u", "noop": "w"}
_MENUS = 1024
"""Menus that are kept, some six kilobytes each. Where a level is played, 997 of 1,000 are found here, and
no more are found among twice as many."""


class Menu(NamedTuple):
    """The form of one seat."""

    seat: int
    robot: str


class Fact(NamedTuple):
    """Something about the own robot; `item` as a thing that it holds."""

    text: str
    item: bool = False


class ForStep(NamedTuple):
    """The step that is chosen for."""

    step: int


class Actions(NamedTuple):
    """Whether there is something to choose, and what has been chosen, in words."""

    choosing: bool
    chosen: str


class Group(NamedTuple):
    """The actions of one verb, by their ids; `rest` is what no order here needs."""

    title: str
    verb: str
    actions: tuple[str, ...]
    rest: tuple[str, ...]


class Action(NamedTuple):
    """One radio button: its command, in words under its heading (`text`) and alone, its key if it has one."""

    value: str
    text: str
    alone: str
    key: str
    anticipated: bool


class Site(NamedTuple):
    """What the words of a menu depend on: where the robot is, what it holds, what lies where it may act."""

    at: str
    holds: str | None
    lying: tuple[tuple[str, tuple[str, ...]], ...]


def menu(view: SeatView, known: Known) -> Panel:
    """The form: who one is, what there is to choose, and what it is chosen for."""
    me, name = view.observation["agents"][view.seat], known.words.name
    busy = counted(me["busy"], "more step") if me["busy"] else "no"
    holds = Fact(name(me["holds"]), item=True) if me["holds"] else Fact("nothing")
    parts = (
        Panel("menu-step", f"{_TEMPLATES}/for_step.jinja", ForStep(view.step + 1)),
        _fact("own-at", Fact(name(me["at"]))),
        _fact("own-holds", holds),
        _fact("own-busy", Fact(busy)),
        *_actions(view, known),
    )
    return Panel(
        "menu", f"{_TEMPLATES}/menu.jinja", Menu(view.seat, view.players[view.seat].name), parts=parts
    )


def _fact(name: str, shows: Fact) -> Panel:
    return Panel(name, f"{_TEMPLATES}/fact.jinja", shows)


def _actions(view: SeatView, known: Known) -> tuple[Panel, Panel]:
    """The groups, and the line below them."""
    chosen = known.words.phrase(view.chosen) if view.chosen else ""
    shows = Actions(view.phase == "choose", chosen)
    return (
        Panel("menu-actions", f"{_TEMPLATES}/actions.jinja", shows, parts=groups(view, known)),
        Panel("menu-hint", f"{_TEMPLATES}/menu_hint.jinja", shows),
    )


def groups(view: SeatView, known: Known) -> tuple[Panel, ...]:
    """Every offered command, each once, by its verb."""
    offered = dict.fromkeys(view.legal, False)
    for command in view.anticipated:
        offered.setdefault(command, True)
    return _grouped(known, tuple(offered.items()), _site(offered, view, known))


def _site(offered: Iterable[Command], view: SeatView, known: Known) -> Site:
    me, places = view.observation["agents"][view.seat], view.observation["locations"]
    near = {command[1] for command in offered if command[0] == "activate" or _from_tool(command, known)}
    return Site(
        me["at"], me["holds"], tuple((place, tuple(places[place]["items"])) for place in sorted(near))
    )


@lru_cache(maxsize=_MENUS)
def _grouped(known: Known, offered: tuple[tuple[Command, bool], ...], site: Site) -> tuple[Panel, ...]:
    keys = assign_keys([command for command, _ in offered], known)
    made = {
        command: _action(command, known, site, keys.get(command, ""), early) for command, early in offered
    }
    return tuple(
        _group(verb, mine, known)
        for verb in VERB_TITLES
        if (mine := {command: panel for command, panel in made.items() if command[0] == verb})
    )


def _action(command: Command, known: Known, site: Site, key: str, early: bool) -> Panel:
    text, alone = _label(command, known, site), _label(command, known, site, alone=True)
    shows = Action(encode(command), text, alone, key, early)
    return Panel(f"do-{'-'.join(command)}", f"{_TEMPLATES}/action.jinja", shows)


def encode(command: Command) -> str:
    """A command as the value of its radio button: `["get","storage0","rice"]`."""
    return json.dumps(list(command), separators=(",", ":"))


def _group(verb: str, mine: Mapping[Command, Panel], known: Known) -> Panel:
    """One fieldset; base ingredients that no recipe of this level needs go behind a disclosure."""
    rest = [command for command in mine if _from_storage(command, known) and command[2] not in known.wanted]
    actions = sorted(
        (command for command in mine if command not in rest), key=lambda one: _rank(one, mine, known)
    )
    panels = tuple(mine[command] for command in (*actions, *rest))
    names = tuple(panel.id for panel in panels)
    shows = Group(VERB_TITLES[verb], verb, names[: len(actions)], names[len(actions) :])
    return Panel(f"verb-{verb}", f"{_TEMPLATES}/group.jinja", shows, parts=panels)


def _rank(command: Command, mine: Mapping[Command, Panel], known: Known) -> tuple[bool, int]:
    item = command[2] if len(command) > 2 else ""
    return mine[command].shows[4], known.wanted.get(item, 99)


def _from_storage(command: Command, known: Known) -> bool:
    return command[0] == "get" and len(command) > 2 and known.brief["locations"].get(command[1]) == "storage"


def _from_tool(command: Command, known: Known) -> bool:
    return command[0] == "get" and not _from_storage(command, known)


def _label(command: Command, known: Known, site: Site, *, alone: bool = False) -> str:
    """The command with the thing it is about, as far as this seat can see it; `alone` without its heading."""
    verb, words = command[0], known.words
    if verb == "get":
        taken = _take(command, known, site)
        return f"Take {within(taken)}" if alone else taken
    if verb == "put" and site.holds:
        return words.phrase(command).replace(" it ", f" {words.mid(site.holds)} ", 1)
    if verb == "activate":
        return _use(command, known, site)
    if verb == "goto" and command[1] == site.at:
        return f"Stay at {words.place(command[1])}"
    return words.phrase(command)


def _take(command: Command, known: Known, site: Site) -> str:
    words, place = known.words, command[1]
    if _from_storage(command, known):
        return words.name(command[2])
    lying = dict(site.lying)[place]
    item = command[2] if len(command) > 2 else (lying[0] if len(lying) == 1 else "")
    return f"{words.name(item) if item else 'What is ready'} from {words.place(place)}"


def _use(command: Command, known: Known, site: Site) -> str:
    tool = known.brief["locations"][command[1]]
    product = made_of(known.brief, tool, dict(site.lying)[command[1]])
    making = f": make {known.words.mid(product)}" if product else ""
    return f"{known.words.phrase(command)}{making}"


def made_of(brief: Mapping[str, Json], tool: str, items: Iterable[str]) -> str:
    """What a tool would make of these items in this level; empty if nothing."""
    wanted = sorted(items)
    for product, recipe in brief["recipes"].items():
        if recipe["tool"] == tool and sorted(recipe["ingredients"]) == wanted:
            return str(product)
    return ""


def assign_keys(commands: Iterable[Command], known: Known) -> dict[Command, str]:
    """One key for each command as far as keys go round. Places keep theirs for the whole episode: tools
    1 to 9, 0 and then letters, storage `s`, serving table `v`; ingredients take a letter of their name."""
    keys: dict[Command, str] = {}
    taken = {*known.keys.values(), *_FIXED_KEYS.values(), "t"}
    free = [letter for letter in ascii_lowercase if letter not in taken]
    for command in sorted(commands, key=lambda c: c[0] == "get" and c[-1] not in known.wanted):
        key = _key(command, free, known)
        if key and key not in keys.values():
            keys[command] = key
            free = [letter for letter in free if letter != key]
    return keys


def _key(command: Command, free: Sequence[str], known: Known) -> str:
    verb = command[0]
    if verb == "goto":
        return known.keys.get(command[1], "")
    if verb != "get":
        return _FIXED_KEYS.get(verb, "")
    if not _from_storage(command, known):
        return "t"
    own = [letter for letter in command[-1].lower() if letter in free]
    return (own or list(free) or [""])[0]
