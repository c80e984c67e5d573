"""The action menu of one robot: what may be done now, in words, grouped by verb, with keys. Plain Python."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from string import ascii_lowercase

from kitchen.contract.page import SeatView
from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.words import VERB_TITLES, Words, brief_words, within

_FIXED_KEYS = {"put": "p", "activate": "u", "noop": "w"}


def menu(view: SeatView) -> dict[str, Json]:
    """The context of the menu panel."""
    words, me = brief_words(view.brief), view.observation["agents"][view.seat]
    chosen = encode(view.chosen) if view.chosen else ""
    entries = _entries(view, words, chosen)
    return {
        "step": view.step,
        "for_step": view.step + 1,
        "phase": view.phase,
        "enabled": view.phase == "choose",
        "seat": view.seat,
        "robot": view.players[view.seat].name,
        "at": words.name(me["at"]),
        "holds": words.name(me["holds"]) if me["holds"] else "",
        "busy": me["busy"],
        "chosen": words.phrase(view.chosen) if view.chosen else "",
        "groups": [group for verb in VERB_TITLES if (group := _group(verb, entries, view))],
    }


def encode(command: Command) -> str:
    """A command as the value of its radio button: `["get","storage0","rice"]`."""
    return json.dumps(list(command), separators=(",", ":"))


def _entries(view: SeatView, words: Words, chosen: str) -> list[dict[str, Json]]:
    """Every offered command, legal ones first; each once."""
    offered = dict.fromkeys(view.legal, False) | {
        command: True for command in view.anticipated if command not in view.legal
    }
    keys = assign_keys(offered, view.brief)
    return [
        {
            "verb": command[0],
            "value": encode(command),
            "item": command[2] if len(command) > 2 else "",
            "from_storage": _from_storage(command, view.brief),
            "text": _label(command, view, words),
            "full": _label(command, view, words, alone=True),
            "key": keys.get(command, ""),
            "checked": encode(command) == chosen,
            "anticipated": early,
        }
        for command, early in offered.items()
    ]


def _group(verb: str, entries: Sequence[dict[str, Json]], view: SeatView) -> dict[str, Json] | None:
    """One fieldset; base ingredients that no recipe of this level needs go behind a disclosure."""
    mine = [entry for entry in entries if entry["verb"] == verb]
    if not mine:
        return None
    wanted = set(needed_ingredients(view.brief))
    rest = [entry for entry in mine if entry["from_storage"] and entry["item"] not in wanted]
    actions = [entry for entry in mine if entry not in rest]
    order = {item: place for place, item in enumerate(needed_ingredients(view.brief))}
    actions.sort(key=lambda entry: (entry["anticipated"], order.get(entry["item"], 99)))
    return {
        "verb": verb,
        "title": VERB_TITLES[verb],
        "actions": actions,
        "rest": rest,
        "rest_open": any(entry["checked"] for entry in rest),
    }


def _from_storage(command: Command, brief: Mapping[str, Json]) -> bool:
    return command[0] == "get" and len(command) > 2 and brief["locations"].get(command[1]) == "storage"


def needed_ingredients(brief: Mapping[str, Json]) -> list[str]:
    """Base ingredients that the recipes of this level need, in the order of the recipes."""
    used = [item for recipe in brief["recipes"].values() for item in recipe["ingredients"]]
    return [item for item in dict.fromkeys(used) if item not in brief["recipes"]]


def _label(command: Command, view: SeatView, words: Words, *, alone: bool = False) -> str:
    """The command with the thing it is about, as far as this seat can see it; `alone` without its heading."""
    verb, me = command[0], view.observation["agents"][view.seat]
    if verb == "get":
        taken = _take(command, view, words)
        return f"Take {within(taken)}" if alone else taken
    if verb == "put" and me["holds"]:
        return words.phrase(command).replace(" it ", f" {words.mid(me['holds'])} ", 1)
    if verb == "activate":
        return _use(command, view, words)
    if verb == "goto" and command[1] == me["at"]:
        return f"Stay at {words.place(command[1])}"
    return words.phrase(command)


def _take(command: Command, view: SeatView, words: Words) -> str:
    place = command[1]
    if _from_storage(command, view.brief):
        return words.name(command[2])
    lying = view.observation["locations"][place]["items"]
    item = command[2] if len(command) > 2 else (lying[0] if len(lying) == 1 else "")
    return f"{words.name(item) if item else 'What is ready'} from {words.place(place)}"


def _use(command: Command, view: SeatView, words: Words) -> str:
    tool = view.brief["locations"][command[1]]
    product = made_of(view.brief, tool, view.observation["locations"][command[1]]["items"])
    making = f": make {words.mid(product)}" if product else ""
    return f"{words.phrase(command)}{making}"


def made_of(brief: Mapping[str, Json], tool: str, items: Iterable[str]) -> str:
    """What a tool would make of these items in this level; empty if nothing."""
    wanted = sorted(items)
    for product, recipe in brief["recipes"].items():
        if recipe["tool"] == tool and sorted(recipe["ingredients"]) == wanted:
            return str(product)
    return ""


def assign_keys(commands: Iterable[Command], brief: Mapping[str, Json]) -> dict[Command, str]:
    """One key for each command as far as keys go round. Places keep theirs for the whole episode: tools
    1 to 9, 0 and then letters, storage `s`, serving table `v`; ingredients take a letter of their name."""
    places = place_keys(brief)
    keys: dict[Command, str] = {}
    taken = {*places.values(), *_FIXED_KEYS.values(), "t"}
    free = [letter for letter in ascii_lowercase if letter not in taken]
    for command in sorted(commands, key=lambda c: c[0] == "get" and c[-1] not in needed_ingredients(brief)):
        key = _key(command, places, free, brief)
        if key and key not in keys.values():
            keys[command] = key
            free = [letter for letter in free if letter != key]
    return keys


def place_keys(brief: Mapping[str, Json]) -> dict[str, str]:
    """The key of each place."""
    digits = iter("1234567890fhjklxyz")
    named = {"storage": "s", "servingtable": "v"}
    return {place: named.get(kind) or next(digits, "") for place, kind in brief["locations"].items()}


def _key(command: Command, places: Mapping[str, str], free: Sequence[str], brief: Mapping[str, Json]) -> str:
    verb = command[0]
    if verb == "goto":
        return places.get(command[1], "")
    if verb != "get":
        return _FIXED_KEYS.get(verb, "")
    if brief["locations"].get(command[1]) != "storage":
        return "t"
    own = [letter for letter in command[-1].lower() if letter in free]
    return (own or list(free) or [""])[0]
