"""Commands picked out of free text, wherever the model put them (paper, section 4.1, Action Extraction).

Two spellings, in any case, within sentences, lists, code fences or quotation marks::

    goto_agent1_pot0      get_agent1_storage0_tuna      noop_agent2
    goto(agent1, pot0)    get(agent1, storage0, tuna)   noop(agent2)

Names are matched without regard to case, underscores and blanks (`Serving_Table0` is `servingtable0`), and
the number may be left out where there is only one location of a kind. An item that put or activate names is
left out: they take none. Names that the level does not have are kept, so that validation can say so. What
stands in a `<think>` block, closed or not, is not looked at. Where an agent is commanded in several passages,
those of the last count (`passages`). Any text is taken; the time is linear in its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.dispatcher.moment import Given
from kitchen.worlds.cuisine.dispatcher.passages import Rank, Span, ranks
from kitchen.worlds.cuisine.rules import VERBS

_AGENT = r"(?:agent|robot)?[ _]?(\d{1,3})"
_SPELLED = r"_(?:agent|robot)_?(\d{1,3})((?:_[A-Za-z0-9]{1,40}){0,6})"
_CALLED = (
    r"[ \t]{0,3}\((?=\s{0,3}[\"'`*]{0,2}(?:agent|robot)?[ _]?\d{1,3}[\"'`*]{0,2}\s{0,3}[,)])([^()]{1,160})\)"
)
_COMMAND = re.compile(
    rf"(?<![A-Za-z0-9])(?P<verb>[A-Za-z]{{2,20}})(?:{_SPELLED}|{_CALLED})(?![A-Za-z0-9])", re.IGNORECASE
)
_FIRST = re.compile(rf"{_AGENT}\Z", re.IGNORECASE)
_GO_TO = re.compile(r"(?<![A-Za-z0-9])go[ _]to(?=[_(])", re.IGNORECASE)
_THOUGHTS_BEGIN = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_THOUGHTS_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_NO_NAME = re.compile(r"[^A-Za-z0-9]+")
_STATE_WORDS = frozenset(("at", "hold", "holds", "inside", "occupy", "agent", "location", "orders"))
"""Verbs that only tell what is, in the words of the paper's states: never meant as commands."""


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


def plain(name: str) -> str:
    """A name without case and punctuation."""
    return _NO_NAME.sub("", name).lower()


def extract(text: str, names: Names) -> tuple[Given, ...]:
    """The commands in the text that are meant, in order; an agent may be commanded several times in one
    passage. Never raises.

    A made-up verb (`cook_agent1_pot0`) counts only for an agent that gets no command at all.
    """
    said = _said(text)
    commands = list(_commands(said, names))
    commanded = {seat for (seat, command), _ in commands if command[0] in VERBS}
    real = [(g, span) for g, span in commands if g[1][0] in VERBS or g[0] not in commanded]
    ranked = list(zip(ranks(said, [span for _, span in real]), (g for g, _ in real), strict=True))
    meant: dict[int, Rank] = {}
    for rank, (seat, _) in ranked:
        meant[seat] = max(rank, meant.get(seat, rank))
    return tuple(given for rank, given in ranked if rank == meant[given[0]])


def _said(text: str) -> str:
    """The text without the model's thoughts, with markdown's escapes undone. Thoughts that were cut off go on
    to the end."""
    after = _THOUGHTS_END.split(text)[-1]
    return _GO_TO.sub("goto", _THOUGHTS_BEGIN.split(after)[0].replace("\\_", "_"))


def _commands(text: str, names: Names) -> Iterator[tuple[Given, Span]]:
    for match in _COMMAND.finditer(text):
        verb = match["verb"].lower()
        given = _from_call(verb, match[4], names) if match[4] else _from_spelled(verb, match, names)
        if given and verb not in _STATE_WORDS:
            yield given, match.span()


def _from_call(verb: str, inside: str, names: Names) -> Given | None:
    """`goto(agent1, pot0)`: the first argument has to be an agent."""
    parts = [part.strip(" \t\r\n\"'`*") for part in inside.split(",")]
    agent = _FIRST.match(parts[0])
    sure = verb in VERBS and parts[0][:1].isalpha()
    if not agent or not (sure or len(parts) > 1):
        return None
    place, item = ([part for part in parts[1:] if part] + ["", ""])[:2]
    return int(agent[1]), _as_command(verb, names.place(place), names.item(item))


def _from_spelled(verb: str, match: re.Match[str], names: Names) -> Given:
    """`get_agent1_storage0_tuna`: where the location ends is known by the level's names."""
    parts = match[3].split("_")[1:]
    for end in range(len(parts), 0, -1):
        place = names.places.get(plain("".join(parts[:end])))
        if place:
            return int(match[2]), _as_command(verb, place, names.item("".join(parts[end:])))
    place, item = (*parts, "", "")[0], "_".join(parts[1:])
    return int(match[2]), _as_command(verb, place, names.item(item))


def _as_command(verb: str, place: str, item: str) -> Command:
    """Verb and arguments, without those that this verb does not take."""
    most = VERBS[verb].most if verb in VERBS else 2
    return (verb, *[part for part in (place, item) if part][:most])
