"""Parse requests that people write to robots in plain English, by fixed rules.

Examples: *Robot 3, fetch rice. Tuna sushi first. Stop. Let me do the chopping. I take the rice. Go on.* If
people write that they will do something, it is reserved for them. Text that is not understood is ignored. A
request applies until it is done or replaced, or until somebody writes *go on*.
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
"""Wishes by which people reserve something for themselves."""
_DO = (
    "tak|get|got|fetch|bring|grab|pick|carry|put|us|hav|handl|do|mak|prepar|serv|deliver|chop|cut|slic|mix|"
    "blend|fry|grind|bak|boil|cook|steam"
)
_OWN = re.compile(
    r"\b(?:let me|i'll|i'm|i've|i)\s+"
    r"(?:(?!not|wait|need|want(?! to)|see|think|know|hope|robot)[a-z]+\s+){0,2}?"
    rf"(?:{_DO})(?:e|es|s|ing|ting|bing|ping)?\b|\bleave\b|\bmyself\b"
)
"""People who say what they do themselves: *I take*, *I am cooking*, *let me just use*."""
_THEIRS = re.compile(rf"\b(?:let me(?! know)|i will|i'll|i do|i'm|i am)\b|{_OWN.pattern}")
"""Things that people do themselves or only mention; they are not requests."""
_ASKS = re.compile(r"\b(?:should|shall|must|do) i\b")
"""A question whether to do something is not a promise to do it."""
WISH_PATIENCE_STEPS = 20
"""Steps after which an item that could not be fetched is forgotten."""

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
"""Patterns of each wish, in the order in which they are searched for."""
_CLAUSES = re.compile(
    r"[.;!?\n,\s]*\b(?:and\s+)?then\b,?\s*|(?<=\?)\s+|[.;!\n]+\s*"
    r"|(?:,\s*|\s)(?:and|but)\s+(?=robots?\s+\d|you\b|i\b|let me\b)|,\s*(?=you\b|i\b|let me\b)"
)
"""The text between two requests in one message."""
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
"""Tools by the beginning of the word for the work done with them."""


@dataclass(frozen=True, slots=True)
class Wish:
    """One request or announcement in a person's message, such as a request to fetch an item."""

    number: int
    """Number of the message."""
    sender: int
    step: int
    do: str
    what: str = ""
    """An item, a dish, or the kind of a tool, in the codes of the world."""
    seats: tuple[int, ...] = ()
    """The robots that were named; empty if all are meant."""
    is_job: bool = False

    @classmethod
    def read(cls, stored: Mapping[str, Json]) -> Self:
        """Return the wish (a person's request) that is stored in the planner's memory (see `to_json`)."""
        return cls(**{**stored, "seats": tuple(stored["seats"])})

    def to_json(self) -> dict[str, Json]:
        """Return the wish (a person's request) as JSON, for the planner's memory."""
        return {**asdict(self), "seats": list(self.seats)}

    def is_over(self, step: int) -> bool:
        """Return whether this is a request to fetch an item that was written too many steps before `step`."""
        return self.do == FETCH and step >= self.step + WISH_PATIENCE_STEPS

    def meant(self, mine: Iterable[int]) -> tuple[int, ...]:
        """Return the robots to which the request applies: those that it names or, if it names none, all of
        `mine` (the robots that the planner controls)."""
        return tuple(seat for seat in mine if not self.seats or seat in self.seats)


@dataclass(slots=True)
class CurrentWishes:
    """The effect of all wishes that apply now: stopped robots, the preferred dish, reserved things, and
    items to fetch."""

    stopped: set[int] = field(default_factory=set)
    first: str = ""
    tools: set[str] = field(default_factory=set)
    """Kinds of tools that somebody has reserved."""
    dishes: set[str] = field(default_factory=set)
    """Dishes that people make themselves."""
    items: set[str] = field(default_factory=set)
    """Other items that people bring or make themselves."""
    fetches: list[Wish] = field(default_factory=list)

    def fetch(self, wish: Wish) -> None:
        """Add a request to fetch an item. Robots that it names no longer wait, and the item is no longer
        reserved for people."""
        self.stopped -= set(wish.seats)
        self.items.discard(wish.what)
        self.fetches.append(wish)

    def take(self, wish: Wish, seats: set[int], mine: tuple[int, ...]) -> None:
        """Apply a request that is not about fetching. `seats` are the robots that it concerns, and `mine` are
        all robots of the agent."""
        if wish.do == GO_ON:
            self.stopped -= seats
            if not wish.seats:
                self.first, self.tools, self.dishes, self.items, self.fetches = "", set(), set(), set(), []
        elif wish.do == STOP:
            self.stopped |= seats
            self.fetches = [each for each in self.fetches if not set(each.meant(mine)) & seats]
        elif wish.do == FIRST:
            self.first = wish.what
        else:  # something is reserved for a person, and not fetched any more
            kept = {LEAVE_TOOL: self.tools, LEAVE_DISH: self.dishes, LEAVE_ITEM: self.items}
            kept[wish.do].add(wish.what)
            self.fetches = [each for each in self.fetches if each.what != wish.what]


def people_messages(
    messages: Iterable[TeamMessage], organisation: Organisation | None, *, after: int = 0
) -> list[TeamMessage]:
    """Return people's messages and jobs in plain text that this agent has received, in order. Withdrawn jobs
    are left out.

    Messages with a number up to `after` are left out, too: they were for the person who had the seat
    before the agent.
    """
    people = person_members(organisation)
    theirs, gone = [said for said in messages if said.sender in people], withdrawn_jobs(messages)
    asked = [said for said in theirs if said.kind in {SAY, ASK} and said.number > after]
    jobs = [said for said in theirs if said.kind == INFORM and not said.data.get("aim")]
    left = [said for said in jobs if said.number not in gone]
    return sorted([*asked, *left], key=lambda said: said.number)


def person_members(organisation: Organisation | None) -> set[int]:
    """Return the numbers of the team members who are people."""
    return {one.number for one in organisation.members if one.is_person} if organisation else set()


def withdrawn_jobs(messages: Iterable[TeamMessage]) -> set[Json]:
    """Return the numbers of the jobs that a message of kind WITHDRAW takes back."""
    return {said.data.get("job") for said in messages if said.kind == WITHDRAW}


def parse_wishes(messages: Iterable[TeamMessage], brief: Mapping[str, Json]) -> list[Wish]:
    """Return all wishes (people's requests) that can be understood in these messages, in order."""
    return [wish for said in messages for wish in _read(said, brief)]


def _read(message: TeamMessage, brief: Mapping[str, Json]) -> Iterator[Wish]:
    named: tuple[int, ...] = ()
    for clause, goes_on in _clauses(" ".join(message.text.lower().replace("\u2019", "'").split(" "))):
        numbers = (number for found in _ROBOTS.findall(clause) for number in re.findall(r"\d+", found))
        named = tuple(int(number) - 1 for number in numbers) or (named if goes_on else ())
        do, things = _asked(clause, brief)
        for what in things:
            yield Wish(
                message.number, message.sender or 0, message.step, do, what, named, message.kind == INFORM
            )


def _clauses(text: str) -> Iterator[tuple[str, bool]]:
    """Yield (clause, follows) for each clause of a message. `follows` is True if *then* connects it to the
    clause before it: the same robots are meant.

    A part that requests nothing belongs to the next clause: *robot 1 and robot 2 wait*.
    """
    begun, goes_on = 0, False
    for found in _CLAUSES.finditer(text):
        clause = " ".join(text[begun : found.start()].split())
        if any(sign.search(clause) for sign in _SIGNS.values()):
            yield clause, goes_on
            begun, goes_on = found.end(), "then" in found[0]
    yield " ".join(text[begun:].split()), goes_on


def _asked(text: str, brief: Mapping[str, Json]) -> tuple[str, tuple[str, ...]]:
    """Return what one clause of a message requests, and the things that the request is about. Both are empty
    if the clause is not understood."""
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
    """Return the things that a request is about; empty if none is named. `do` is the kind of request. Only
    some kinds can have several things."""
    if do in {STOP, GO_ON}:
        return ("",)
    if do == LEAVE_TOOL:
        return _tool(text, brief)
    if do == LEAVE_ITEM and re.search(r"\bus(?:e|ing)\b", text):
        return ()  # the tool is meant, whatever it is used for
    things = brief["dishes"] if do in {FIRST, LEAVE_DISH} else [*brief["base"], *brief["recipes"]]
    named = _named(text, brief, things)
    return named if do in {FETCH, LEAVE_ITEM} else named[:1]


def _named(text: str, brief: Mapping[str, Json], codes: Iterable[str]) -> tuple[str, ...]:
    """Return the things that the text names, in order. A name that is only part of a longer name does not
    count."""
    known = brief.get("names", {})
    by_name: dict[str, str] = {}
    for code in codes:
        by_name |= {known.get(code, readable_name(code)).lower(): code, code.lower(): code}
    found: dict[str, int] = {}
    for name in sorted(by_name, key=len, reverse=True):
        for one in re.finditer(rf"\b{re.escape(name)}s?\b", text):
            found.setdefault(by_name[name], one.start())
            text = text[: one.start()] + "_" * len(one[0]) + text[one.end() :]
    return tuple(sorted(found, key=lambda code: found[code]))


def _tool(text: str, brief: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the kind of tool that the text names, or that the work in the text needs, as a tuple of one.
    Empty if there is none."""
    places: Mapping[str, str] = brief["locations"]
    kinds = sorted(set(places.values()) - {"storage", "servingtable"})
    named = [kind for kind in kinds if re.search(rf"\b{re.escape(kind)}s?\b", text)]
    doing = [kind for begin, tools in _WORK.items() if re.search(rf"\b{begin}", text) for kind in tools]
    return tuple([*named, *(kind for kind in doing if kind in kinds)][:1])


def current_wishes(wishes: Iterable[Wish], mine: tuple[int, ...], *, step: int) -> CurrentWishes:
    """Return the combined effect of these requests on the agent's robots (`mine`). Later requests override
    earlier ones. Old requests to fetch an item are ignored."""
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
    """Return the requests to remember, in order. Requests that are too old or in `done` are left out. Of
    equal requests, only the last is returned."""
    over = set(done)
    left = [wish for wish in wishes if wish not in over and not wish.is_over(step)]
    last = {(wish.do, wish.what, wish.seats, wish.number if wish.do == FETCH else 0): wish for wish in left}
    kept = set(last.values())
    return [wish for wish in left if wish in kept]


def is_for_member(wish: Wish, message: TeamMessage, organisation: Organisation, member: int) -> bool:
    """Return whether the team member `member` has to follow this request.

    A request to fetch that names no robot is for the first agent that received the message. A job is for each
    receiver.
    """
    shared = wish.do == FETCH and not wish.seats and not wish.is_job
    return not shared or is_first_addressee(message, organisation, member)


def is_first_addressee(message: TeamMessage, organisation: Organisation, member: int) -> bool:
    """Return whether `member` has the lowest number among the agents with a seat that received this
    message. True if no such agent received it."""
    receivers = [organisation.member(one) for one in message.to]
    return member == min((one.number for one in receivers if one.seats and not one.is_person), default=member)
