"""Build the menu of actions that a participant's robot can take.

The menu marks the actions that `order_steps` finds useful, unless the condition hides these marks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import NamedTuple

from kitchen.contract.page import Panel
from kitchen.contract.page_view import SeatView
from kitchen.contract.world import Command
from kitchen.pages.default_page import MenuHint, MenuStep
from kitchen.words.gettext_without_django import gettext, pgettext
from kitchen.worlds.cuisine.display_text import (
    ITEM_KEYS,
    SENTENCES,
    VERB_KEYS,
    BriefLookup,
    join_sentence,
    key_of,
    more_steps_text,
    picture_of,
    product_from,
    translated,
)
from kitchen.worlds.cuisine.onward_acts import (
    OnwardAct,
    all_in_words,
    chained,
    onward_acts,
    onward_text,
)
from kitchen.worlds.cuisine.order_chain_choices import LATE, ChainChoice, chain_choices
from kitchen.worlds.cuisine.order_chains import offers_chains
from kitchen.worlds.cuisine.order_steps import commands_to_mark

_TEMPLATES = "worlds/cuisine"
_MENUS = 1024
"""Number of menus in the cache; each takes some six kilobytes.

In played levels, 997 of 1,000 look-ups hit. Twice as many menus hit no more.
"""


class ActionMenu(NamedTuple):
    """The seat whose actions the form offers, and the name of its robot."""

    seat: int
    robot: str
    by_orders: bool
    """True if what can be done for the orders comes first, and all else is folded (`order_chains`)."""


class GoingOn(NamedTuple):
    """The actions of the reader's robot while it follows a plan. Without `then`, it follows none."""

    now: str = ""
    """The command of the open step, in words."""
    then: tuple[str, ...] = ()
    """The commands that follow without being asked, in words."""


class RobotFact(NamedTuple):
    """A fact about the reader's own robot. `item` is set if the fact is about an item that the robot
    holds."""

    text: str
    item: bool = False


class ActionGroup(NamedTuple):
    """The actions of one verb, by their ids. The area in which they are shown has a constant number of slots.

    `quiet` are the slots without an action; they are empty or show a text. `rest` are actions that no
    order needs, or that come too late.
    """

    title: str
    verb: str
    key: str
    """The key that moves from one action to the next."""
    actions: tuple[str, ...]
    quiet: tuple[str, ...]
    rest: tuple[str, ...]
    spare_row: bool = False
    """True if an empty row keeps the place of what a tool will hold."""


class ActionChoice(NamedTuple):
    """One radio button: its command, its label under the verb's heading (`text`) and without the heading
    (`alone`), and its key."""

    value: str
    """The command as JSON: `["get","storage0","rice"]`. Of several in a row, a list of commands:
    `[["goto","storage0"],["get","storage0","rice"]]`."""
    text: str
    alone: str
    picture: str
    """Picture of the action's item; empty if there is none."""
    key: str
    anticipated: bool
    stays: bool
    """True if it is a goto to the robot's own place."""
    asks: bool
    """True if one click on its place does not send it, because it would waste something useful or do
    nothing."""
    fits: bool
    """True if it is a useful step for the open orders now (`order_steps`)."""
    place: str = ""
    """The place of several commands in a row."""
    onward: bool = False
    """True if a click on that place means this choice, before all others there."""
    does: str = ""
    """All commands of the choice in words, where its text names only what it makes."""
    note: str = ""
    """For which order it is, and how long it takes. Empty for other choices."""
    haste: str = ""
    """`late` or `close` if the order is served too late with it, or just in time."""
    taken: bool = False
    """True if another robot does it already."""


class RobotSite(NamedTuple):
    """The facts that a menu depends on: the robot's place and item, the contents of the places that it can
    use, the commands to mark as useful, and what can be done in a row (`onward_acts`). `plans` is true if the
    page offers to plan."""

    at: str
    holds: str | None
    lying: tuple[tuple[str, tuple[str, ...]], ...]
    fitting: frozenset[Command]
    onward: tuple[OnwardAct, ...] = ()
    plans: bool = False
    by_orders: bool = False
    chain_places: frozenset[str] = frozenset()
    """The places of the drawing where a press means something for an order."""


def menu_panel(view: SeatView, lookup: BriefLookup) -> Panel:
    """Return the panel with the participant's form: facts about the robot, the available actions, and the
    step."""
    me, name = view.observation["agents"][view.seat], lookup.words.name
    holds = RobotFact(name(me["holds"]), item=True) if me["holds"] else RobotFact(empty_hands_text())
    busy = RobotFact(more_steps_text(me["busy"]) if me["busy"] else not_busy_text())
    facts = {"own-at": RobotFact(name(me["at"])), "own-holds": holds, "own-busy": busy}
    parts = (
        Panel("menu-step", f"{_TEMPLATES}/for_step.jinja", MenuStep(view.step + 1)),
        *(Panel(id, f"{_TEMPLATES}/fact.jinja", fact) for id, fact in facts.items()),
        *_actions(view, lookup),
    )
    shows = ActionMenu(view.seat, view.players[view.seat].name, offers_chains(view))
    return Panel("menu", f"{_TEMPLATES}/menu.jinja", shows, parts=parts)


def empty_hands_text() -> str:
    """Return the translated word for a robot that holds nothing: `nothing`."""
    return pgettext("what a robot holds", "nothing")


def not_busy_text() -> str:
    """Return the translated word for a robot that is not busy: `no`."""
    return pgettext("whether a robot is busy", "no")


def _actions(view: SeatView, lookup: BriefLookup) -> tuple[Panel, ...]:
    """Return three panels: what goes on by itself, the groups of actions, and the line of text below."""
    chosen = lookup.words.phrase(view.choice.chosen) if view.choice.chosen else ""
    going_on = _going_on(view, lookup, chosen)
    shows = MenuHint(view.phase == "choose", "" if going_on.then else chosen)
    return (
        Panel("menu-going-on", f"{_TEMPLATES}/going_on.jinja", going_on),
        Panel("menu-actions", f"{_TEMPLATES}/actions.jinja", shows, parts=action_groups(view, lookup)),
        Panel("menu-hint", f"{_TEMPLATES}/menu_hint.jinja", shows),
    )


def _going_on(view: SeatView, lookup: BriefLookup, chosen: str) -> GoingOn:
    then = view.plans.by_seat.get(view.seat, ()) if offers_chains(view) and view.phase != "over" else ()
    if not then or view.phase == "choose":
        return GoingOn()
    return GoingOn(chosen, tuple(map(lookup.words.phrase, then)))


def action_groups(view: SeatView, lookup: BriefLookup) -> tuple[Panel, ...]:
    """Return one panel for each verb, with the offered commands. Commands that become legal only if another
    robot acts first are included.

    A verb without commands has an empty panel. The result is empty if no command is offered at all.
    """
    offered = dict.fromkeys(view.choice.legal, False)
    for command in view.choice.anticipated:
        offered.setdefault(command, True)
    if not offered:
        return ()
    chains = chain_choices(view, lookup)
    groups = _grouped(lookup, tuple(offered.items()), _site(offered, view, lookup, chains))
    return (_chain_group(chains), *groups) if offers_chains(view) else groups


def _site(
    offered: Iterable[Command], view: SeatView, lookup: BriefLookup, chains: Sequence[ChainChoice]
) -> RobotSite:
    me, places = view.observation["agents"][view.seat], view.observation["locations"]
    uses = (command for command in offered if command[0] in ("get", "activate"))
    near = {command[1] for command in uses if not _from_storage(command, lookup)}
    lying = tuple((place, tuple(places[place]["items"])) for place in sorted(near))
    marked = commands_to_mark(view, lookup)
    fitting, onward = marked.intersection(offered), onward_acts(view, lookup)
    meant = frozenset(place for chain in chains for place in chain.places if place in places)
    return RobotSite(
        me["at"], me["holds"], lying, fitting, onward, view.plans.offered, offers_chains(view), meant
    )


@lru_cache(maxsize=_MENUS)
def _grouped(
    lookup: BriefLookup, offered: tuple[tuple[Command, bool], ...], site: RobotSite
) -> tuple[Panel, ...]:
    mine = {verb: [each for each in offered if each[0][0] == verb] for verb in SENTENCES["verb_titles"]}
    groups = {verb: _group(verb, choices, lookup, site) for verb, choices in mine.items()}
    if not site.by_orders:
        return tuple(groups.values())
    return (groups.pop("noop"), *groups.values())


def _chain_group(chains: Sequence[ChainChoice]) -> Panel:
    """Return the group of what can be done for the orders, each with one choice. What comes too late must be
    unfolded."""
    panels = [
        Panel(
            f"chain-{number}",
            f"{_TEMPLATES}/action.jinja",
            ActionChoice(
                json.dumps(chain.commands, separators=(",", ":")),
                chain.text,
                chain.text,
                chain.picture,
                "",
                False,
                False,
                False,
                False,
                " ".join(chain.places),
                True,
                note=chain.note,
                haste=chain.haste,
                taken=chain.taken,
            ),
        )
        for number, chain in enumerate(chains)
    ]
    late = tuple(panel.id for panel, chain in zip(panels, chains, strict=True) if chain.haste == LATE)
    ids = tuple(panel.id for panel in panels if panel.id not in late)
    quiet = () if ids else (gettext("Nothing to do for the orders now"),)
    shows = ActionGroup(gettext("For the orders"), "orders", VERB_KEYS["orders"], ids, quiet, late)
    return Panel("verb-orders", f"{_TEMPLATES}/group.jinja", shows, parts=tuple(panels))


def _action(command: Command, early: bool, lookup: BriefLookup, site: RobotSite, key: str) -> Panel:
    text, alone = _label(command, lookup, site), _label(command, lookup, site, alone=True)
    stays = command == ("goto", site.at)
    wastes = command[0] == "put" and _kind(command, lookup) == "storage"
    picture, fits = _picture(command, lookup, site), command in site.fitting
    value = json.dumps(list(command), separators=(",", ":"))
    asks = stays or (wastes and not fits)
    shows = ActionChoice(value, text, alone, picture, key, early, stays, asks, fits)
    return Panel(f"do-{'-'.join(command)}", f"{_TEMPLATES}/action.jinja", shows)


def _onward(act: OnwardAct, lookup: BriefLookup, site: RobotSite, number: int) -> Panel:
    """Return the choice of several commands in a row. `number` is the number of choices before it."""
    text, place = onward_text(act, lookup.words), act.place
    key = lookup.keys[place] if act.goes else VERB_KEYS["activate"]
    key = ITEM_KEYS[number : number + 1] if act.deed[0] == "get" else key
    value = json.dumps(chained(act), separators=(",", ":"))
    picture = picture_of(act.item) if act.item else ""
    onward, does = act.goes or act.alone, all_in_words(act, lookup.words) if act.puts else ""
    onward = onward and place not in site.chain_places
    shows = ActionChoice(value, text, text, picture, key, False, False, False, act.fits, place, onward, does)
    return Panel(f"onward-{'-'.join(act.deed)}", f"{_TEMPLATES}/action.jinja", shows)


def _picture(command: Command, lookup: BriefLookup, site: RobotSite) -> str:
    """Return the file name of the picture for a command: the item that it takes, puts or makes. Empty if
    there is no item, or if no recipe of the level needs it."""
    if _is_rare(command, lookup):
        return ""
    item = ""
    if command[0] == "get":
        item = _taken(command, site)
    elif command[0] == "put":
        item = site.holds or ""
    elif command[0] == "activate":
        item = _made(command[1], lookup, site)
    return picture_of(item) if item else ""


def _taken(command: Command, site: RobotSite) -> str:
    """Return the item that a `get` command takes. Empty if several items are possible."""
    if len(command) > 2:
        return command[2]
    lying = dict(site.lying)[command[1]]
    return lying[0] if len(lying) == 1 else ""


def _made(place: str, lookup: BriefLookup, site: RobotSite) -> str:
    """Return the product that the tool at this place would make. Return an empty text if it would make
    nothing."""
    return product_from(lookup.brief, lookup.brief["locations"][place], dict(site.lying)[place])


def _group(verb: str, mine: Iterable[tuple[Command, bool]], lookup: BriefLookup, site: RobotSite) -> Panel:
    """Return the menu's group of commands with one verb. Base ingredients that no recipe of the level needs
    are in a part that must be unfolded."""
    ranked = sorted(mine, key=lambda one: _rank(one[0], one[1], lookup))
    acts = [act for act in site.onward if act.deed[0] == verb]
    deeds = [*(command for command, _ in ranked), *(act.deed for act in acts)]
    numbers = _numbers(deeds, lookup, site)
    keys = [
        key_of(command, _kind(command, lookup), number)
        for command, number in zip(deeds, numbers, strict=True)
    ]
    panels = [
        *(_action(*one, lookup, site, key) for one, key in zip(ranked, keys[: len(ranked)], strict=True)),
        *(
            _onward(act, lookup, site, number)
            for act, number in zip(acts, numbers[len(ranked) :], strict=True)
        ),
    ]
    rare = {panel.id for command, panel in zip(deeds, panels, strict=True) if _is_rare(command, lookup)}
    order = sorted(range(len(panels)), key=numbers.__getitem__) if verb == "get" else range(len(panels))
    actions = tuple(panels[place].id for place in order if panels[place].id not in rare)
    key = VERB_KEYS["get"] if verb == "get" else ""
    quiet, spare_row = _quiet(verb, len(actions), lookup, site), False
    if verb == "get" and site.plans and not site.by_orders:
        stored = sum(_from_storage(command, lookup) for command in deeds) - len(rare)
        quiet = ("",) * (lookup.room - stored) if actions else quiet
        spare_row = len(actions) == stored
    rest = tuple(panel.id for panel in panels if panel.id in rare)
    shows = ActionGroup(translated("verb_titles", verb), verb, key, actions, quiet, rest, spare_row)
    return Panel(f"verb-{verb}", f"{_TEMPLATES}/group.jinja", shows, parts=tuple(panels))


def _numbers(deeds: Iterable[Command], lookup: BriefLookup, site: RobotSite) -> list[int]:
    """Return the number of each command of one verb. Where the ingredients of the storage are offered from
    everywhere, each always has the same number, and what a tool holds comes after them."""
    free = count(len(lookup.wanted) if site.plans else 0)
    return [
        lookup.wanted[deed[2]]
        if site.plans and _from_storage(deed, lookup) and deed[2] in lookup.wanted
        else next(free)
        for deed in deeds
    ]


def _quiet(verb: str, offered: int, lookup: BriefLookup, site: RobotSite) -> tuple[str, ...]:
    """Return the texts of the rows that fill up a verb's group in the menu. `offered` is the number of
    commands in it. An empty text leaves a row blank. Where the page offers to plan, there is
    room for two ways to put something down or to use a tool: here, and at another place."""
    if verb == "goto":
        return () if offered else tuple(lookup.words.name(place) for place in lookup.brief["locations"])
    room = lookup.room if verb == "get" else 2 if verb in ("put", "activate") and site.plans else 1
    empty = ("",) * (room - offered)
    if offered or verb not in SENTENCES["quiet"]:
        return empty
    table = "quiet_holding" if site.holds and verb in SENTENCES["quiet_holding"] else "quiet"
    return (translated(table, verb), *empty[1:])


def _rank(command: Command, early: bool, lookup: BriefLookup) -> tuple[bool, bool, int]:
    item = command[2] if len(command) > 2 else ""
    return _is_rare(command, lookup), early, lookup.wanted.get(item, 99)


def _is_rare(command: Command, lookup: BriefLookup) -> bool:
    """Return whether a command takes a base ingredient that no recipe of the level needs."""
    return _from_storage(command, lookup) and command[2] not in lookup.wanted


def _kind(command: Command, lookup: BriefLookup) -> str:
    """Return the kind of the place that a command names. Return an empty text if it names no place."""
    kinds: Mapping[str, str] = lookup.brief["locations"]
    return kinds.get(command[1], "") if len(command) > 1 else ""


def _from_storage(command: Command, lookup: BriefLookup) -> bool:
    return command[0] == "get" and len(command) > 2 and _kind(command, lookup) == "storage"


def _label(command: Command, lookup: BriefLookup, site: RobotSite, *, alone: bool = False) -> str:
    """Return the text of a command in the menu. With `alone`, the text includes the verb. Otherwise it is
    shown below a heading with the verb."""
    verb, words = command[0], lookup.words
    if verb == "get":
        return _take(command, lookup, site, alone=alone)
    if verb == "put":
        return words.phrase(command, site.holds if alone else None)
    if verb == "activate":
        return _use(command, lookup, site, alone=alone)
    if verb == "goto" and not alone:
        return words.name(command[1])
    if verb == "goto" and command[1] == site.at:
        return join_sentence(gettext("Stay at {place}").format(place=words.place(command[1])))
    return words.phrase(command)


def _take(command: Command, lookup: BriefLookup, site: RobotSite, *, alone: bool) -> str:
    words = lookup.words
    if _from_storage(command, lookup):
        return gettext("Take {item}").format(item=words.mid(command[2])) if alone else words.name(command[2])
    item = _taken(command, site)
    text = gettext("Take {item} from {place}") if alone else gettext("{item} from {place}")
    what = words.mid(item) if item else gettext("what is ready")
    what = what if alone else what[:1].upper() + what[1:]
    return join_sentence(text.format(item=what, place=words.place(command[1])))


def _use(command: Command, lookup: BriefLookup, site: RobotSite, *, alone: bool) -> str:
    if not (product := _made(command[1], lookup, site)):
        return lookup.words.phrase(command)
    text = gettext("Use {place}: make {item}") if alone else gettext("Make {item}")
    return join_sentence(text.format(place=lookup.words.place(command[1]), item=lookup.words.mid(product)))
