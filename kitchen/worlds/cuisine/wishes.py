"""What people ask of the robots in plain English words, read by rules: for co-players without a model.

*Robot 3, fetch rice. Tuna sushi first. Stop. Let me do the chopping. Go on.* What is not understood changes
nothing. Wishes stand until they are done, until *go on*, or until somebody wishes otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from kitchen.contract.organisation import ASK, INFORM, SAY, WITHDRAW, Organisation
from kitchen.contract.talk import Said
from kitchen.contract.world import Json
from kitchen.worlds.cuisine.words import readable

FETCH, FIRST, STOP, GO_ON = "fetch", "first", "stop", "go_on"
LEAVE_TOOL, LEAVE_DISH = "leave_tool", "leave_dish"
_THEIRS = re.compile(r"\b(?:let me|leave|i will|i'll|i do|i'm|i am)\b")
"""What somebody does themselves is asked of nobody."""
PATIENCE = 20
"""Steps after which something that could not be fetched is forgotten."""

_ROBOTS = re.compile(r"\brobots?\s+(\d{1,2}(?:\s*(?:,|and|&)\s*\d{1,2})*)")
_NOT = re.compile(r"\b(?:don't|do not|never|not)\b(?! ?mind)")
_SIGNS: Mapping[str, re.Pattern[str]] = {
    GO_ON: re.compile(r"\b(?:go on|carry on|continue|resume|never ?mind|go ahead)\b"),
    LEAVE_TOOL: _THEIRS,
    LEAVE_DISH: _THEIRS,
    FIRST: re.compile(r"\b(?:first|next|most urgent|priority|prioriti[sz]e)\b"),
    FETCH: re.compile(r"\b(?:fetch|get|bring|grab|take|pick up)\b"),
    STOP: re.compile(r"^(?!i\b)[^?]*\b(?:stop|wait|halt|freeze|hold on|stand still)\b[^?]*$"),
}
"""In the order in which they are looked for."""
_WORK: Mapping[str, tuple[str, ...]] = {
    "chop": ("chopboard",),
    "cut": ("chopboard",),
    "slic": ("chopboard",),
    "mix": ("mixer",),
    "blend": ("blender",),
    "fry": ("fryer", "pan"),
    "grind": ("grinder",),
    "bak": ("oven",),
    "boil": ("pot",),
    "cook": ("pot", "pan", "oven", "fryer", "steamer"),
    "steam": ("steamer",),
}
"""What is done with which tools, by how the word begins."""


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing that somebody asked for."""

    number: int
    """Of the message."""
    sender: int
    step: int
    do: str
    what: str = ""
    """An item, a dish, or the kind of a tool, in the codes of the world."""
    seats: tuple[int, ...] = ()
    """The robots that were named; nobody where all are meant."""

    def meant(self, mine: Iterable[int]) -> tuple[int, ...]:
        """Those of these robots that it is for."""
        return tuple(seat for seat in mine if not self.seats or seat in self.seats)


@dataclass(slots=True)
class Standing:
    """What of all that was asked for holds now."""

    stopped: set[int] = field(default_factory=set)
    first: str = ""
    tools: set[str] = field(default_factory=set)
    """Kinds of tools that somebody has for themselves."""
    dishes: set[str] = field(default_factory=set)
    """Dishes that somebody makes themselves."""
    fetches: list[Wish] = field(default_factory=list)

    def fetch(self, wish: Wish) -> None:
        """Something is to be fetched; who is named for it waits no longer."""
        self.stopped -= set(wish.seats)
        self.fetches.append(wish)

    def take(self, wish: Wish, seats: set[int], mine: tuple[int, ...]) -> None:
        """Any other wish for these seats of `mine`."""
        if wish.do == GO_ON:
            self.stopped -= seats
            if not wish.seats:
                self.first, self.tools, self.dishes, self.fetches = "", set(), set(), []
        elif wish.do == STOP:
            self.stopped |= seats
            self.fetches = [each for each in self.fetches if not set(each.meant(mine)) & seats]
        elif wish.do == FIRST:
            self.first = wish.what
        else:
            (self.tools if wish.do == LEAVE_TOOL else self.dishes).add(wish.what)


def of_people(messages: Iterable[Said], organisation: Organisation | None) -> list[Said]:
    """What people asked, of what a mind has heard; jobs among it, but for those that were taken back."""
    people = {one.number for one in organisation.members if one.is_person} if organisation else set()
    theirs = [said for said in messages if said.sender in people]
    gone = {said.data.get("job") for said in theirs if said.kind == WITHDRAW}
    return [said for said in theirs if said.kind in {SAY, ASK, INFORM} and said.number not in gone]


def wishes_of(messages: Iterable[Said], brief: Mapping[str, Json]) -> list[Wish]:
    """All that is understood of these messages, in order."""
    return [wish for said in messages if (wish := _read(said, brief)) is not None]


def _read(said: Said, brief: Mapping[str, Json]) -> Wish | None:
    text = " ".join(said.text.lower().replace("\u2019", "'").split())
    if _NOT.search(text):
        return None
    seats = tuple(int(number) - 1 for found in _ROBOTS.findall(text) for number in re.findall(r"\d+", found))
    own = _THEIRS.search(text)
    for do, sign in _SIGNS.items():
        if not sign.search(text) or (own and do in {FIRST, FETCH}):
            continue
        what = _what(do, text, brief)
        if what is not None:
            return Wish(said.number, said.sender or 0, said.step, do, what, seats)
    return None


def _what(do: str, text: str, brief: Mapping[str, Json]) -> str | None:
    """What a wish of this kind is about; empty where it is about nothing, None where that is not said."""
    if do in {STOP, GO_ON}:
        return ""
    if do == LEAVE_TOOL:
        return _tool(text, brief)
    things = brief["dishes"] if do in {FIRST, LEAVE_DISH} else [*brief["base"], *brief["recipes"]]
    return _named(text, brief, things)


def _named(text: str, brief: Mapping[str, Json], codes: Iterable[str]) -> str | None:
    """The thing with the longest name that is named."""
    by_name = {name: code for code in codes for name in _names(code, brief)}
    found = [name for name in by_name if re.search(rf"\b{re.escape(name)}s?\b", text)]
    return by_name[max(found, key=len)] if found else None


def _names(code: str, brief: Mapping[str, Json]) -> Iterator[str]:
    yield brief.get("names", {}).get(code, readable(code)).lower()
    yield code.lower()


def _tool(text: str, brief: Mapping[str, Json]) -> str | None:
    """The kind of tool that is named, or that the work that is named takes."""
    places: Mapping[str, str] = brief["locations"]
    kinds = sorted(set(places.values()) - {"storage", "servingtable"})
    for kind in kinds:
        if re.search(rf"\b{re.escape(kind)}s?\b", text):
            return kind
    doing = [kind for begin, tools in _WORK.items() if re.search(rf"\b{begin}", text) for kind in tools]
    return next((kind for kind in doing if kind in kinds), None)


def standing(wishes: Iterable[Wish], mine: tuple[int, ...], *, step: int, done: Iterable[int]) -> Standing:
    """What holds now for these robots, of wishes in their order; `done` are messages that were seen to."""
    now, over = Standing(), set(done)
    for wish in wishes:
        seats = set(wish.meant(mine))
        if seats and wish.do == FETCH:
            if wish.number not in over and step < wish.step + PATIENCE:
                now.fetch(wish)
        elif seats:
            now.take(wish, seats, mine)
    return now
