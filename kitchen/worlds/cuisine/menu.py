"""The action menu of one robot: what may be done now, in words, grouped by verb, with keys. Plain Python."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from kitchen.contract.page import Panel, SeatView
from kitchen.contract.world import Command
from kitchen.words.speech import gettext, marked, pgettext
from kitchen.worlds.cuisine.fitting import moment
from kitchen.worlds.cuisine.keys import VERBS, key_of
from kitchen.worlds.cuisine.known import Known, made_of
from kitchen.worlds.cuisine.pictures import icon
from kitchen.worlds.cuisine.words import VERB_TITLES, joined, more_steps

_TEMPLATES = "worlds/cuisine"
_QUIET = {
    "get": marked("Nothing to take now"),
    "put": marked("Nothing to put down now"),
    "activate": marked("Nothing to use now"),
}
"""What stands where a verb has no action."""
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
    """The actions of one verb, by their ids, in a room that is always as large: `quiet` are the slots that
    have none now, empty or with what stands there. `rest` is what no order here needs."""

    title: str
    verb: str
    key: str
    """Leads from one action to the next."""
    actions: tuple[str, ...]
    quiet: tuple[str, ...]
    rest: tuple[str, ...]


class Action(NamedTuple):
    """One radio button: its command, in words under its heading (`text`) and alone, its key if it has one."""

    value: str
    text: str
    alone: str
    picture: str
    """Of what it is about; empty where there is no such thing."""
    key: str
    anticipated: bool
    stays: bool
    """It leads nowhere else: the robot is there already."""
    asks: bool
    """It is not sent by one click on its place: something of use would be thrown away, or nothing done."""
    fits: bool
    """It brings an open order on, or rids the hands of what none needs."""


class Site(NamedTuple):
    """What a menu depends on: where the robot is, what it holds, what lies where it may act; and which
    commands fit the moment."""

    at: str
    holds: str | None
    lying: tuple[tuple[str, tuple[str, ...]], ...]
    fitting: frozenset[Command]


def menu(view: SeatView, known: Known) -> Panel:
    """The form: who one is, what there is to choose, and what it is chosen for."""
    me, name = view.observation["agents"][view.seat], known.words.name
    holds = Fact(name(me["holds"]), item=True) if me["holds"] else Fact(empty_hands())
    parts = (
        Panel("menu-step", f"{_TEMPLATES}/for_step.jinja", ForStep(view.step + 1)),
        _fact("own-at", Fact(name(me["at"]))),
        _fact("own-holds", holds),
        _fact("own-busy", Fact(more_steps(me["busy"]) if me["busy"] else not_busy())),
        *_actions(view, known),
    )
    return Panel(
        "menu", f"{_TEMPLATES}/menu.jinja", Menu(view.seat, view.players[view.seat].name), parts=parts
    )


def empty_hands() -> str:
    """What is said of a robot that holds nothing."""
    return pgettext("what a robot holds", "nothing")


def not_busy() -> str:
    """What is said of a robot whose hands are free."""
    return pgettext("whether a robot is busy", "no")


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
    """Every offered command, each once, by its verb; every verb has its place. Nothing if there is nothing to
    choose."""
    offered = dict.fromkeys(view.legal, False)
    for command in view.anticipated:
        offered.setdefault(command, True)
    return _grouped(known, tuple(offered.items()), _site(offered, view, known)) if offered else ()


def _site(offered: Iterable[Command], view: SeatView, known: Known) -> Site:
    me, places = view.observation["agents"][view.seat], view.observation["locations"]
    near = {command[1] for command in offered if command[0] == "activate" or _from_tool(command, known)}
    lying = tuple((place, tuple(places[place]["items"])) for place in sorted(near))
    fits = moment(view, known).fits
    return Site(me["at"], me["holds"], lying, frozenset(command for command in offered if fits(command)))


@lru_cache(maxsize=_MENUS)
def _grouped(known: Known, offered: tuple[tuple[Command, bool], ...], site: Site) -> tuple[Panel, ...]:
    return tuple(
        _group(verb, [(command, early) for command, early in offered if command[0] == verb], known, site)
        for verb in VERB_TITLES
    )


def _action(command: Command, known: Known, site: Site, key: str, early: bool) -> Panel:
    text, alone = _label(command, known, site), _label(command, known, site, alone=True)
    stays = command == ("goto", site.at)
    wastes = command[0] == "put" and known.brief["locations"].get(command[1]) == "storage"
    picture, fits = _picture(command, known, site), command in site.fitting
    shows = Action(
        encode(command), text, alone, picture, key, early, stays, stays or (wastes and not fits), fits
    )
    return Panel(f"do-{'-'.join(command)}", f"{_TEMPLATES}/action.jinja", shows)


def _picture(command: Command, known: Known, site: Site) -> str:
    """What is taken, put or made; none of what is rarely taken, there are many."""
    if _is_rare(command, known):
        return ""
    lying = dict(site.lying).get(command[1], ()) if len(command) > 1 else ()
    if command[0] == "get":
        item = command[2] if len(command) > 2 else (lying[0] if len(lying) == 1 else "")
    elif command[0] == "put":
        item = site.holds or ""
    elif command[0] == "activate":
        item = made_of(known.brief, known.brief["locations"][command[1]], lying)
    else:
        item = ""
    return icon(item) if item else ""


def encode(command: Command) -> str:
    """A command as the value of its radio button: `["get","storage0","rice"]`."""
    return json.dumps(list(command), separators=(",", ":"))


def _group(verb: str, mine: Iterable[tuple[Command, bool]], known: Known, site: Site) -> Panel:
    """One fieldset; base ingredients that no recipe of this level needs go behind a disclosure."""
    ranked = sorted(mine, key=lambda one: _rank(one[0], one[1], known))
    places = known.brief["locations"]
    panels = {
        command: _action(
            command, known, site, key_of(command, places.get(_place(command), ""), number), early
        )
        for number, (command, early) in enumerate(ranked)
    }
    rest = tuple(panels[command].id for command, _ in ranked if _is_rare(command, known))
    actions = tuple(panel.id for panel in panels.values() if panel.id not in rest)
    key = VERBS["get"] if verb == "get" else ""
    shows = Group(gettext(VERB_TITLES[verb]), verb, key, actions, _quiet(verb, len(actions), known), rest)
    return Panel(f"verb-{verb}", f"{_TEMPLATES}/group.jinja", shows, parts=tuple(panels.values()))


def _quiet(verb: str, offered: int, known: Known) -> tuple[str, ...]:
    """The slots of a verb that have no action now."""
    if verb == "goto":
        return () if offered else tuple(known.words.name(place) for place in known.brief["locations"])
    room = known.room if verb == "get" else 1
    empty = ("",) * (room - offered)
    return empty if offered or verb not in _QUIET else (gettext(_QUIET[verb]), *empty[1:])


def _rank(command: Command, early: bool, known: Known) -> tuple[bool, bool, int]:
    item = command[2] if len(command) > 2 else ""
    return _is_rare(command, known), early, known.wanted.get(item, 99)


def _is_rare(command: Command, known: Known) -> bool:
    """A base ingredient that no recipe of this level needs."""
    return _from_storage(command, known) and command[2] not in known.wanted


def _place(command: Command) -> str:
    return command[1] if len(command) > 1 else ""


def _from_storage(command: Command, known: Known) -> bool:
    return command[0] == "get" and len(command) > 2 and known.brief["locations"].get(command[1]) == "storage"


def _from_tool(command: Command, known: Known) -> bool:
    return command[0] == "get" and not _from_storage(command, known)


def _label(command: Command, known: Known, site: Site, *, alone: bool = False) -> str:
    """The command with the thing it is about, as this seat can see it: under its heading, or `alone`."""
    verb, words = command[0], known.words
    if verb == "get":
        return _take(command, known, site, alone=alone)
    if verb == "put":
        return _put(command, known, site, alone=alone)
    if verb == "activate":
        return _use(command, known, site, alone=alone)
    if verb == "goto" and not alone:
        return words.name(command[1])
    if verb == "goto" and command[1] == site.at:
        return joined(gettext("Stay at {place}").format(place=words.place(command[1])))
    return words.phrase(command)


def _put(command: Command, known: Known, site: Site, *, alone: bool) -> str:
    return known.words.phrase(command, site.holds if alone else None)


def _take(command: Command, known: Known, site: Site, *, alone: bool) -> str:
    words, place = known.words, command[1]
    if _from_storage(command, known):
        return gettext("Take {item}").format(item=words.mid(command[2])) if alone else words.name(command[2])
    lying = dict(site.lying)[place]
    item = command[2] if len(command) > 2 else (lying[0] if len(lying) == 1 else "")
    text = gettext("Take {item} from {place}") if alone else gettext("{item} from {place}")
    what = words.mid(item) if item else gettext("what is ready")
    return joined(text.format(item=what if alone else what[:1].upper() + what[1:], place=words.place(place)))


def _use(command: Command, known: Known, site: Site, *, alone: bool) -> str:
    tool = known.brief["locations"][command[1]]
    product = made_of(known.brief, tool, dict(site.lying)[command[1]])
    if not product:
        return known.words.phrase(command)
    text = gettext("Use {place}: make {item}") if alone else gettext("Make {item}")
    return joined(text.format(place=known.words.place(command[1]), item=known.words.mid(product)))
