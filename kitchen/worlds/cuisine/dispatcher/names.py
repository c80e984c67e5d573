"""The names of one level as models write them, and commands made of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.rules import VERBS

_NO_NAME = re.compile(r"[^A-Za-z0-9]+")
_AGENT = re.compile(r"\W{0,3}(?:agent|robot)?[ _-]?(\d{1,3})\W{0,3}\Z", re.IGNORECASE | re.ASCII)
_NOTHING = frozenset(("", "none", "null", "nothing", "nil", "na", "empty"))
MOST_WORDS = 4
"""Of one name: `mixed ground meat 0`."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one level, by how they look without case and punctuation."""

    places: Mapping[str, str]
    items: Mapping[str, str]

    @classmethod
    def of(cls, brief: Mapping[str, Json]) -> Names:
        """The locations of the kitchen, and every item that has a name in it."""
        locations: Mapping[str, str] = brief["locations"]
        kinds = list(locations.values())
        places = {plain(kind): id for id, kind in locations.items() if kinds.count(kind) == 1}
        places |= {plain(id): id for id in locations}
        tools = {recipe["tool"] for recipe in brief["recipes"].values()}
        items = dict.fromkeys([*brief["names"], *brief["base"], *brief["recipes"]])
        other = {*locations, *kinds, *tools, *VERBS}
        return cls(places, {plain(item): item for item in items if item not in other})

    def place(self, written: str) -> str:
        """The location that is meant; what was written where there is none."""
        return self.places.get(plain(written), written)

    def item(self, written: str) -> str:
        """The item that is meant; what was written where there is none."""
        return self.items.get(plain(written), written)

    def begins(self, words: Sequence[str]) -> tuple[str, str, int]:
        """The location or the item with which these words begin, the longest, and of how many of them it is
        made; nothing and 0 where they begin with neither."""
        for length in range(min(MOST_WORDS, len(words)), 0, -1):
            written = plain("".join(words[:length]))
            if written in self.places:
                return self.places[written], "", length
            if written in self.items:
                return "", self.items[written], length
        return "", "", 0

    def command(self, verb: str, place: str, item: str) -> Command:
        """A command of what was written, without what its verb does not take and what stands for nothing."""
        most = VERBS[verb].most if verb in VERBS else 2
        if plain(place) in self.items and plain(item) in self.places:
            place, item = item, place
        written = [self.place(shown(place)), self.item(shown(item))]
        return (verb, *[part for part in written if part][:most])


def plain(name: str) -> str:
    """A name without case and punctuation."""
    return _NO_NAME.sub("", name).lower()


def shown(written: str) -> str:
    """What was written, empty where that says that there is nothing."""
    return "" if plain(written) in _NOTHING else written


def agent_of(written: str) -> int | None:
    """The seat of `agent1`, `Agent 1`, `robot_1` or `1`; None for anything else."""
    match = _AGENT.match(written)
    return int(match[1]) if match else None
