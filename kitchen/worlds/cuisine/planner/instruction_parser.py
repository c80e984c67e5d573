"""Parse instructions that people write in plain English, by rules.

Examples: *Robot 3, fetch rice. Tuna sushi first. Stop. Let me do the chopping. I take the rice. Go on.* A
message may hold several. What people say they will do themselves is a promise. Text that is not understood
changes nothing. An instruction holds until it is done, until *go on*, or until it is replaced.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Self

from kitchen.contract.organisation import ASK, INFORM, SAY, WITHDRAW, Organisation
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Json
from kitchen.worlds.cuisine.display_text import readable_name

FETCH, FIRST, STOP, GO_ON = "fetch", "first", "stop", "go_on"
LEAVE_TOOL, LEAVE_DISH, LEAVE_ITEM = "leave_tool", "leave_dish", "leave_item"
LEAVE_WISHES = frozenset({LEAVE_TOOL, LEAVE_DISH, LEAVE_ITEM})
"""What somebody has for themselves, or does."""
_DO = (
    "tak|get|got|fetch|bring|grab|pick|carry|put|us|hav|handl|do|mak|prepar|serv|deliver|chop|cut|slic|mix|"
    "blend|fry|grind|bak|boil|cook|steam"
)
_OWN = re.compile(
    r"\b(?:let me|i'll|i'm|i've|i)\s+"
    r"(?:(?!not|wait|need|want(?! to)|see|think|know|hope|robot)[a-z]+\s+){0,2}?"
    rf"(?:{_DO})(?:e|es|s|ing|ting|bing|ping)?\b|\bleave\b|\bmyself\b"
)
"""Somebody who says what they do themselves: *I take*, *I am cooking*, *let me just use*."""
_THEIRS = re.compile(rf"\b(?:let me(?! know)|i will|i'll|i do|i'm|i am)\b|{_OWN.pattern}")
"""What somebody does themselves, or speaks of, is asked of nobody."""
_ASKS = re.compile(r"\b(?:should|shall|must|do) i\b")
"""Whoever asks whether they are to do something has not said that they will."""
WISH_PATIENCE_STEPS = 20
"""Steps after which something that could not be fetched is forgotten."""

_ROBOTS = re.compile(r"\brobots?\s+(\d{1,2}(?:\s*(?:,|and|&)\s*\d{1,2})*)")
_NOT = re.compile(r"\b(?:\w+n't|never|not)\b(?! ?mind)")
_SIGNS: Mapping[str, re.Pattern[str]] = {
    GO_ON: re.compile(r"\b(?:go on|carry on|continue|resume|never ?mind|go ahead)\b"),
    LEAVE_DISH: _THEIRS,
    LEAVE_ITEM: _OWN,
    LEAVE_TOOL: _THEIRS,
    FIRST: re.compile(r"\b(?:first|next|most urgent|priority|prioriti[sz]e)\b"),
    FETCH: re.compile(r"\b(?:fetch(?:es)?|(?:get|bring|grab|take)s?|picks? up)\b"),
    STOP: re.compile(r"^(?!i\b)[^?]*\b(?:stop|wait|halt|freeze|hold on|stand still)\b[^?]*$"),
}
"""In the order in which they are looked for."""
_CLAUSES = re.compile(
    r"[.;!?\n,\s]*\b(?:and\s+)?then\b,?\s*|(?<=\?)\s+|[.;!\n]+\s*"
    r"|(?:,\s*|\s)(?:and|but)\s+(?=robots?\s+\d|you\b|i\b|let me\b)|,\s*(?=you\b|i\b|let me\b)"
)
"""Between two things that are asked for in one message."""
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
    is_job: bool = False

    @classmethod
    def read(cls, stored: Mapping[str, Json]) -> Self:
        """As `to_json` wrote it."""
        return cls(**{**stored, "seats": tuple(stored["seats"])})

    def to_json(self) -> dict[str, Json]:
        """As it is remembered."""
        return {**asdict(self), "seats": list(self.seats)}

    def is_over(self, step: int) -> bool:
        """What could not be fetched for so long is forgotten."""
        return self.do == FETCH and step >= self.step + WISH_PATIENCE_STEPS

    def meant(self, mine: Iterable[int]) -> tuple[int, ...]:
        """Those of these robots that it is for."""
        return tuple(seat for seat in mine if not self.seats or seat in self.seats)


@dataclass(slots=True)
class CurrentWishes:
    """What of all that was asked for holds now."""

    stopped: set[int] = field(default_factory=set)
    first: str = ""
    tools: set[str] = field(default_factory=set)
    """Kinds of tools that somebody has for themselves."""
    dishes: set[str] = field(default_factory=set)
    """Dishes that somebody makes themselves."""
    items: set[str] = field(default_factory=set)
    """Anything else that somebody brings or makes themselves."""
    fetches: list[Wish] = field(default_factory=list)

    def fetch(self, wish: Wish) -> None:
        """Something is to be fetched: who is named for it waits no longer, and it is nobody's own."""
        self.stopped -= set(wish.seats)
        self.items.discard(wish.what)
        self.fetches.append(wish)

    def take(self, wish: Wish, seats: set[int], mine: tuple[int, ...]) -> None:
        """Any other wish for these seats of `mine`."""
        if wish.do == GO_ON:
            self.stopped -= seats
            if not wish.seats:
                self.first, self.tools, self.dishes, self.items, self.fetches = "", set(), set(), set(), []
        elif wish.do == STOP:
            self.stopped |= seats
            self.fetches = [each for each in self.fetches if not set(each.meant(mine)) & seats]
        elif wish.do == FIRST:
            self.first = wish.what
        else:
            self._leave(wish)

    def _leave(self, wish: Wish) -> None:
        """It is somebody's own, and fetched for nobody."""
        kept = {LEAVE_TOOL: self.tools, LEAVE_DISH: self.dishes, LEAVE_ITEM: self.items}
        kept[wish.do].add(wish.what)
        self.fetches = [each for each in self.fetches if each.what != wish.what]


def people_messages(
    messages: Iterable[TeamMessage], organisation: Organisation | None, *, after: int = 0
) -> list[TeamMessage]:
    """What people asked in words, of what a mind has heard: not what was said to the person who had its seat,
    up to the message `after`. Jobs in words among it, but for those that were taken back."""
    people = person_members(organisation)
    theirs, gone = [said for said in messages if said.sender in people], withdrawn_jobs(messages)
    asked = [said for said in theirs if said.kind in {SAY, ASK} and said.number > after]
    jobs = [said for said in theirs if said.kind == INFORM and not said.data.get("aim")]
    left = [said for said in jobs if said.number not in gone]
    return sorted([*asked, *left], key=lambda said: said.number)


def person_members(organisation: Organisation | None) -> set[int]:
    """The members who are people."""
    return {one.number for one in organisation.members if one.is_person} if organisation else set()


def withdrawn_jobs(messages: Iterable[TeamMessage]) -> set[Json]:
    """The numbers of jobs that are none any more."""
    return {said.data.get("job") for said in messages if said.kind == WITHDRAW}


def parse_wishes(messages: Iterable[TeamMessage], brief: Mapping[str, Json]) -> list[Wish]:
    """All that is understood of these messages, in order."""
    return [wish for said in messages for wish in _read(said, brief)]


def _read(said: TeamMessage, brief: Mapping[str, Json]) -> Iterator[Wish]:
    named: tuple[int, ...] = ()
    for clause, goes_on in _clauses(" ".join(said.text.lower().replace("\u2019", "'").split(" "))):
        named = _robots(clause) or (named if goes_on else ())
        do, things = _asked(clause, brief)
        for what in things:
            yield Wish(said.number, said.sender or 0, said.step, do, what, named, said.kind == INFORM)


def _clauses(text: str) -> Iterator[tuple[str, bool]]:
    """What is asked for one after the other, and whether *then* leads to it, of the same robots. What asks
    for nothing belongs to what follows: *robot 1 and robot 2 wait*."""
    begun, goes_on = 0, False
    for found in _CLAUSES.finditer(text):
        clause = " ".join(text[begun : found.start()].split())
        if any(sign.search(clause) for sign in _SIGNS.values()):
            yield clause, goes_on
            begun, goes_on = found.end(), "then" in found[0]
    yield " ".join(text[begun:].split()), goes_on


def _robots(text: str) -> tuple[int, ...]:
    return tuple(int(number) - 1 for found in _ROBOTS.findall(text) for number in re.findall(r"\d+", found))


def _asked(text: str, brief: Mapping[str, Json]) -> tuple[str, tuple[str, ...]]:
    """What one clause asks for, and of which things; of none where nothing is understood."""
    own, asks = _THEIRS.search(text), _ASKS.search(text)
    for do, sign in _SIGNS.items():
        if not sign.search(text) or _NOT.search(text):
            continue
        if (own and do in {FIRST, FETCH}) or (asks and do in LEAVE_WISHES):
            continue
        if things := _what(do, text, brief):
            return do, things
    return "", ()


def _what(do: str, text: str, brief: Mapping[str, Json]) -> tuple[str, ...]:
    """What a wish of this kind is about: several things can be fetched; nothing where that is not said."""
    if do in {STOP, GO_ON}:
        return ("",)
    if do == LEAVE_TOOL:
        return _tool(text, brief)
    if do == LEAVE_ITEM and re.search(r"\bus(?:e|ing)\b", text):
        return ()  # the tool is meant, whatever for
    things = brief["dishes"] if do in {FIRST, LEAVE_DISH} else [*brief["base"], *brief["recipes"]]
    named = _named(text, brief, things)
    return named if do in {FETCH, LEAVE_ITEM} else named[:1]


def _named(text: str, brief: Mapping[str, Json], codes: Iterable[str]) -> tuple[str, ...]:
    """The things that are named, in that order; what is a part of a longer name is none."""
    by_name = {name: code for code in codes for name in _names(code, brief)}
    found: dict[str, int] = {}
    for name in sorted(by_name, key=len, reverse=True):
        for one in re.finditer(rf"\b{re.escape(name)}s?\b", text):
            found.setdefault(by_name[name], one.start())
            text = text[: one.start()] + "_" * len(one[0]) + text[one.end() :]
    return tuple(sorted(found, key=lambda code: found[code]))


def _names(code: str, brief: Mapping[str, Json]) -> Iterator[str]:
    yield brief.get("names", {}).get(code, readable_name(code)).lower()
    yield code.lower()


def _tool(text: str, brief: Mapping[str, Json]) -> tuple[str, ...]:
    """The kind of tool that is named, or that the work that is named takes."""
    places: Mapping[str, str] = brief["locations"]
    kinds = sorted(set(places.values()) - {"storage", "servingtable"})
    named = [kind for kind in kinds if re.search(rf"\b{re.escape(kind)}s?\b", text)]
    doing = [kind for begin, tools in _WORK.items() if re.search(rf"\b{begin}", text) for kind in tools]
    return tuple([*named, *(kind for kind in doing if kind in kinds)][:1])


def current_wishes(wishes: Iterable[Wish], mine: tuple[int, ...], *, step: int) -> CurrentWishes:
    """What holds now for these robots, of wishes in their order."""
    now = CurrentWishes()
    for wish in wishes:
        seats = set(wish.meant(mine))
        if seats and wish.do == FETCH:
            if not wish.is_over(step):
                now.fetch(wish)
        elif seats:
            now.take(wish, seats, mine)
    return now


def open_wishes(wishes: Iterable[Wish], *, step: int, done: Iterable[Wish]) -> list[Wish]:
    """Of wishes in their order those that may still mean something: none that is done or forgotten, and of
    the same ones the last."""
    over = set(done)
    left = [wish for wish in wishes if wish not in over and not wish.is_over(step)]
    last = {(wish.do, wish.what, wish.seats, wish.number if wish.do == FETCH else 0): wish for wish in left}
    kept = set(last.values())
    return [wish for wish in left if wish in kept]


def is_for_member(wish: Wish, said: TeamMessage, organisation: Organisation, member: int) -> bool:
    """Whether this is asked of this member. What several minds were told and one can do, with no robot named,
    is for the first of them alone; a job is for each."""
    shared = wish.do == FETCH and not wish.seats and not wish.is_job
    return not shared or is_first_addressee(said, organisation, member)


def is_first_addressee(said: TeamMessage, organisation: Organisation, member: int) -> bool:
    """Whether this member is the first of all minds with a seat that were told this."""
    told = [organisation.member(one) for one in said.to]
    return member == min((one.number for one in told if one.seats and not one.is_person), default=member)
