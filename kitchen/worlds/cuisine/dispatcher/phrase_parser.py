"""Parse the names of a level and the words after a verb: `pot0`, `to the pot 0`, `tuna from storage0`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.command_rules import VERBS
from kitchen.worlds.cuisine.dispatcher.kitchen_snapshot import GivenCommand

_NO_NAME = re.compile(r"[^A-Za-z0-9]+")
_AGENT = re.compile(r"\W{0,3}(?:agent|robot)?[ _-]?(\d{1,3})\W{0,3}\Z", re.IGNORECASE | re.ASCII)
_NOTHING = frozenset(("", "none", "null", "nothing", "nil", "na", "empty"))
MAX_NAME_WORDS = 4
"""Largest number of words in one name, such as `mixed ground meat 0`."""


@dataclass(frozen=True, slots=True)
class LevelNames:
    """The names of one level, without case and punctuation."""

    places: Mapping[str, str]
    items: Mapping[str, str]

    @classmethod
    def of(cls, brief: Mapping[str, Json]) -> LevelNames:
        """Return the names of the kitchen's locations, and of every item in the brief."""
        locations: Mapping[str, str] = brief["locations"]
        kinds = list(locations.values())
        places = {plain_name(kind): id for id, kind in locations.items() if kinds.count(kind) == 1}
        places |= {plain_name(id): id for id in locations}
        tools = {recipe["tool"] for recipe in brief["recipes"].values()}
        items = dict.fromkeys([*brief["names"], *brief["base"], *brief["recipes"]])
        other = {*locations, *kinds, *tools, *VERBS}
        return cls(places, {plain_name(item): item for item in items if item not in other})

    def place(self, written: str) -> str:
        """Return the location with this name; the name as written if there is none."""
        return self.places.get(plain_name(written), written)

    def item(self, written: str) -> str:
        """Return the item with this name; the name as written if there is none."""
        return self.items.get(plain_name(written), written)

    def begins(self, words: Sequence[str]) -> tuple[str, str, int]:
        """Return the longest location or item at the beginning, and its number of words, 0 if none."""
        for length in range(min(MAX_NAME_WORDS, len(words)), 0, -1):
            written = plain_name("".join(words[:length]))
            if written in self.places:
                return self.places[written], "", length
            if written in self.items:
                return "", self.items[written], length
        return "", "", 0

    def command(self, verb: str, place: str, item: str) -> Command:
        """Return a command from its parts, without empty arguments and those that its verb lacks."""
        most = VERBS[verb].most if verb in VERBS else 2
        if plain_name(place) in self.items and plain_name(item) in self.places:
            place, item = item, place
        written = [self.place(written_or_empty(place)), self.item(written_or_empty(item))]
        return (verb, *[part for part in written if part][:most])


def plain_name(name: str) -> str:
    """Return a name without case and punctuation."""
    return _NO_NAME.sub("", name).lower()


def written_or_empty(written: str) -> str:
    """Return the text as written; empty if it says that there is nothing."""
    return "" if plain_name(written) in _NOTHING else written


def seat_named(written: str) -> int | None:
    """Return the seat of `agent1`, `Agent 1`, `robot_1` or `1`; None for anything else."""
    match = _AGENT.match(written)
    return int(match[1]) if match else None


VERB_PATTERN = r"(?:go[ _-]?to|get|put|activate|noop)"
"""A pattern of every verb of the game."""

_KEYS = {
    **dict.fromkeys(("agent", "agentid", "agentname", "robot", "robotid", "seat", "id", "who"), "agent"),
    **dict.fromkeys(("verb", "command", "action", "act", "do", "function", "move", "name"), "verb"),
    **dict.fromkeys(("location", "place", "target", "destination", "where", "tool", "to", "from"), "place"),
    **dict.fromkeys(("item", "object", "ingredient", "what", "food"), "item"),
}
"""The role of a key, by the words that models use for it."""
_BEGINS = re.compile(rf"\W{{0,4}}({VERB_PATTERN})(?![A-Za-z0-9])", re.IGNORECASE)
_TOKEN = re.compile(r"[ \t_,|:\"'`*>\u2192-]{0,6}([A-Za-z]{1,40}\d{0,3}|\d{1,3})")
_CALL = re.compile(r"[ \t]{0,2}\(([^()\n\ue001]{0,160})\)")
_FILLERS = frozenset(("the", "a", "an", "to", "at", "from", "in", "into", "on", "onto", "with", "of", "one"))
END_PATTERN = re.compile(r"[ \t.,;:|)\]}\"'`*_]*(?:\n|$|[(#\u2013\u2014\u2192]|//|- )")
MAX_PHRASE_TOKENS = 10


def parse_phrase(seat: int, text: str, names: LevelNames) -> GivenCommand | None:
    """Return the command of a text that names no agent: `goto pot0`, `goto(pot0)`, `goto_pot0`. Else None."""
    match = _BEGINS.match(text)
    if not match:
        return None
    found = parse_arguments(normal_verb(match[1]), seat, text, match.end(), names, accept_unknown=True)
    return found[0] if found else None


def parse_arguments(
    verb: str, seat: int, text: str, at: int, names: LevelNames, *, accept_unknown: bool = False
) -> tuple[GivenCommand, int] | None:
    """Return the command whose arguments begin at `at`, and their end; None if this is no command.

    A name that the level does not have counts if nothing follows it.
    """
    if not takes_place(verb):
        return (seat, (verb,)), at
    call = _CALL.match(text, at)
    if call:
        given = parse_call_arguments(verb, call[1], names, seat)
        return (given, call.end()) if given else None
    place, item, end = _names_from(text, at, names)
    if place or (item and verb == "get"):
        return (seat, names.command(verb, place, item)), end
    return _unknown(verb, seat, text, at, accept_unknown=accept_unknown)


def _names_from(text: str, at: int, names: LevelNames) -> tuple[str, str, int]:
    """Return the location and the item that are named from here on, and their end."""
    words: list[tuple[str, int]] = []
    end = at
    while len(words) < MAX_PHRASE_TOKENS and (match := _TOKEN.match(text, end)):
        words.append((match[1], match.end()))
        end = match.end()
    place, item, end = "", "", at
    while words and not (place and item):
        if words[0][0].lower() in _FILLERS:
            words = words[1:]
            continue
        where, what, length = names.begins([word for word, _ in words])
        if not length or (where and place) or (what and item):
            break
        place, item, end = place or where, item or what, words[length - 1][1]
        words = words[length:]
    return place, item, end


def _unknown(
    verb: str, seat: int, text: str, at: int, *, accept_unknown: bool
) -> tuple[GivenCommand, int] | None:
    """Return a command with one unknown name, such as `goto stove`, or with none at the end of a line."""
    match = _TOKEN.match(text, at)
    word, end = (match[1], match.end()) if match else ("", at)
    ends = bool(END_PATTERN.match(text, end))
    if ends or accept_unknown or word[-1:].isdigit():
        return (seat, (verb, word) if word else (verb,)), end
    return None


def parse_call_arguments(
    verb: str, inside: str, names: LevelNames, seat: int | None = None
) -> GivenCommand | None:
    """Return the command of a call's arguments; None if they spell none. With a `seat`, the call may leave
    the agent out."""
    keyed, parts = _arguments(inside)
    agent = keyed.get("agent", parts[0] if parts else "")
    named = seat_named(agent)
    if seat is None and named is not None and "agent" not in keyed:
        is_agent = verb in VERBS and (agent.strip()[:1].isalpha() or verb == "noop")
        named = named if is_agent or len(parts) > 1 else None
    if "agent" not in keyed and named is not None:
        parts = parts[1:]
    who = named if seat is None else seat
    place, item = (*[part for part in parts if written_or_empty(part)], "", "")[:2]
    if who is None:
        return None
    return who, names.command(verb, keyed.get("place", place), keyed.get("item", item if place else ""))


def _arguments(inside: str) -> tuple[Mapping[str, str], list[str]]:
    """Return the arguments with keys by role, and the others in their order."""
    keyed: dict[str, str] = {}
    parts: list[str] = []
    for part in inside.split(","):
        key, sign, value = part.replace(":", "=", 1).partition("=")
        role = key_role(key) if sign else ""
        written = (value if role else part).strip(" \t\r\n\"'`*")
        if role:
            keyed[role] = written
        else:
            parts.append(written)
    return keyed, parts


def key_role(key: str) -> str:
    """Return what a key in a model's reply names: `agent`, `verb`, `place` or `item`; empty for other
    keys."""
    return _KEYS.get(plain_name(key), "")


def begins_with_verb(text: str) -> bool:
    """Return whether the text begins with a verb of the game."""
    return bool(_BEGINS.match(text))


def normal_verb(written: str) -> str:
    """Return the verb in its normal form: `go to` is goto."""
    lower = written.lower()
    return "goto" if plain_name(lower) == "goto" else lower


def takes_place(verb: str) -> bool:
    """Return whether the verb needs a place."""
    return verb not in VERBS or VERBS[verb].most > 0
