"""Follow simple requests that people write or say to the agent `blocks_dispatcher`, by fixed rules.

Examples: *Player 2, get wood. Cook chicken. I get the wood. Stop. Go on.* `data/request_words.toml` holds the
words, in three languages. Two programs that replace the language model use these rules. One is the stand-in,
an imitation of a model. The other is the planner, which decides when a model gives no answer. Text that is
not understood changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import NamedTuple, Self

from pydantic import TypeAdapter

from kitchen.contract.agent import Situation
from kitchen.contract.data_files import Record, read_toml
from kitchen.contract.team_messages import CODE_KEY, MessageDraft, TeamMessage
from kitchen.contract.world import Command, Json
from kitchen.worlds.blocks.item_recipes import DATA
from kitchen.worlds.blocks.kitchen_planner import ANIMAL_OF, kitchen_commands
from kitchen.worlds.blocks.kitchen_world import GO_ON, GOTO, KILL, LOG, MINE, PLACES
from kitchen.worlds.blocks.page_words import ANSWER_CODE, ANSWER_PARTS, numbered, request_answer
from kitchen.worlds.blocks.people_messages import answers_to, unread_messages

GET, LEAVE, STOP, RESUME, HELP = "get", "leave", "stop", "go_on", "help"
AVOID = "avoid"
DELIVER, TOO_FAR, ONE_EACH = "deliver", "too_far", "one_each"
HAVE, HAVE_NONE = "have", "have_none"
"""Kinds of request. AVOID asks some players not to get something. HELP is the answer to words that are not
understood. DELIVER asks to cook or deliver, which players do without words. TOO_FAR and ONE_EACH answer
requests for what no action leads to, and for several things at once. HAVE and HAVE_NONE answer questions
for what is there."""
ANSWERS_ONLY = frozenset({RESUME, DELIVER, TOO_FAR, ONE_EACH, HAVE, HAVE_NONE})
"""Kinds of which nothing is left to do."""
_EXCEPTED = r"~(\d{1,2})~"
PATIENCE_STEPS = 10
"""Steps after which a request to get something is given up."""


class RequestWords(Record):
    """The content of the file of words: regular expressions."""

    clauses: str
    numbers: str
    everybody: str
    own: str
    each: str
    """Words with which every player is meant to get something."""
    negation: str
    not_stop: str
    """Words with which the sender asks not to stop."""
    asks: str
    """Questions for what is there. They ask for nothing to be got."""
    enough: str
    """Words with which the sender says that there is enough of something."""
    excepted: str
    """Words before players who shall not follow a request."""
    only: str
    """Words before the only players who shall follow a request."""
    drops: str
    """Words before what shall not be got any more, if something else is named, too."""
    no_more: str
    """Words with which the sender no longer wants something."""
    says_no: str
    """A clause that only says that what came before it was wrong."""
    deliver: str
    several: str
    stop: str
    go_on: str
    things: Mapping[str, str]

    def says(self, name: str, text: str) -> bool:
        """Return whether the expression with this name occurs in the text."""
        return re.search(getattr(self, name), text) is not None

    def with_marks(self, text: str) -> str:
        """Return the text with `~3~` for *except player 3*, and with *leave sheep* for *instead of sheep*."""
        text = re.sub(rf"(?:{self.only})(?={self.numbers})", " ", text)
        text = re.sub(rf"(?:{self.excepted}){self.numbers}", r" ~\1~ ", text)
        for item, words in self.things.items():
            text = re.sub(rf"(?:{self.drops})(?:{words})", f" , leave {item} , ", text)
        return text

    def thing_in(self, text: str) -> str:
        """Return the first log or raw meat that the text names. Return an empty text if it names none."""
        found = {item: re.search(words, text) for item, words in self.things.items()}
        starts = {item: match.start() for item, match in found.items() if match}
        return min(starts, key=starts.__getitem__, default="")


@cache
def request_words() -> RequestWords:
    """Read `data/request_words.toml`. Raises DataError with file, key and reason if the file is wrong."""
    source, values = read_toml(DATA / "request_words.toml")
    return source.read(TypeAdapter(RequestWords), values)


@dataclass(frozen=True, slots=True)
class PlayerRequest:
    """One request in a person's message."""

    number: int
    """Number of the message."""
    step: int
    do: str
    """GET, LEAVE, AVOID, STOP or RESUME."""
    thing: str = ""
    """The log or raw meat that is meant."""
    seats: tuple[int, ...] = ()
    """The seats that shall follow it. For LEAVE: those of people."""
    had: tuple[int, ...] = ()
    """How many of the thing these seats had when it was asked for."""

    @classmethod
    def read(cls, stored: Mapping[str, Json]) -> Self:
        """Return the request that `to_json` returned."""
        return cls(**{**stored, "seats": tuple(stored["seats"]), "had": tuple(stored["had"])})

    def to_json(self) -> dict[str, Json]:
        """Return the request as JSON for the agent's memory."""
        return {**asdict(self), "seats": list(self.seats), "had": list(self.had)}

    def is_done(self, situation: Situation) -> bool:
        """Return True if one of the request's seats has got the requested item, or if no seat could get it
        for a long time."""
        if self.do not in (GET, LEAVE):
            return False
        now = _amounts(situation, self.thing, self.seats)
        late = self.do == GET and situation.step >= self.step + PATIENCE_STEPS
        return late or any(amount > had for amount, had in zip(now, self.had, strict=True))


@dataclass(frozen=True, slots=True)
class HeardRequests:
    """The requests that apply now, and the answers to new messages."""

    open: tuple[PlayerRequest, ...] = ()
    last: int = 0
    """The number of the newest message that was read."""
    answers: tuple[MessageDraft, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return what to remember, as JSON for the agent's memory."""
        return {"last": self.last, "open": [each.to_json() for each in self.open]}


def hear_requests(situation: Situation, memory: Json) -> HeardRequests:
    """Return all requests of people that apply now. `memory` is what `HeardRequests.to_json` returned in an
    earlier step, or None."""
    known = memory or {"last": 0, "open": []}
    last = max(int(known["last"]), situation.talk.taken_over)
    kept = [each for each in map(PlayerRequest.read, known["open"]) if not each.is_done(situation)]
    answers: list[MessageDraft] = []
    for message in unread_messages(situation, last):
        fresh = list(_requests(situation, message, kept))
        for request in fresh:
            kept = [*_still_open(kept, request), request]
        kept = [each for each in kept if each.do not in ANSWERS_ONLY]
        answers += _answer(situation, message, fresh)
        last = message.number
    return HeardRequests(tuple(kept), last, tuple(answers))


def _requests(
    situation: Situation, message: TeamMessage, kept: Iterable[PlayerRequest]
) -> Iterator[PlayerRequest]:
    """Yield the requests of a message that are for seats of this agent."""
    words = request_words()
    text = words.with_marks(message.text.lower().replace("\u2019", "'"))
    busy = {seat for each in kept if each.do == GET for seat in each.seats}
    named: tuple[int, ...] = ()
    found, denied = list[PlayerRequest](), False
    for each in _addressed_clauses(words, text):
        clause, numbers = each.text, each.seats
        named = () if words.says("everybody", clause) else numbers or named
        everyone = [seat for seat in situation.seats if seat not in each.without]
        seats = tuple(seat for seat in named or everyone if seat in situation.seats)
        do, thing = _wish(words, clause)
        if do == GET and seats:
            seats, denied = (found.pop().seats, False) if denied and found else (seats, denied)
            free = [seat for seat in seats if seat not in busy] or list(seats)
            chosen = seats if numbers or words.says("each", clause) else tuple(free[:1])
            busy |= set(chosen)
            found += _gets(situation, message, clause, thing, chosen)
            without = tuple(seat for seat in each.without if seat in situation.seats and seat not in chosen)
            found += [_made(situation, message, AVOID, thing, without)] if without else []
        elif do == LEAVE:
            found.append(_made(situation, message, do, thing, situation.people))
        elif do == HAVE:
            found.append(_stock(situation, message, thing))
        elif do and seats:
            found.append(_made(situation, message, do, "", seats))
        denied = re.fullmatch(words.says_no, clause) is not None and [one.do for one in found[-1:]] == [GET]
    yield from found


class _Clause(NamedTuple):
    text: str
    seats: tuple[int, ...]
    """The seats that it names."""
    without: tuple[int, ...]
    """The seats that its message leaves out."""


def _addressed_clauses(words: RequestWords, text: str) -> Iterator[_Clause]:
    """Yield each clause of a text. The seats of a clause that only names players are added to the next
    clause."""
    before: tuple[int, ...] = ()
    without = tuple(int(number) - 1 for number in re.findall(_EXCEPTED, text))
    for clause in re.split(words.clauses, re.sub(_EXCEPTED, " ", text)):
        numbers = tuple(int(number) - 1 for number in re.findall(words.numbers, clause))
        if numbers and not re.search(r"\w", re.sub(words.numbers, " ", clause)):
            before += numbers
        if clause.strip():
            yield _Clause(clause, (*before, *numbers) if before != numbers else numbers, without)
        if re.search(r"\w", re.sub(words.numbers, " ", clause)):
            before = ()


def _gets(
    situation: Situation, message: TeamMessage, clause: str, thing: str, seats: tuple[int, ...]
) -> Iterator[PlayerRequest]:
    """Yield the request to get something, or why seats cannot get it. No action leads to some animals."""
    near = tuple(seat for seat in seats if _getting(situation, seat, thing) != GO_ON)
    far = tuple(seat for seat in seats if seat not in near)
    if near:
        yield _made(situation, message, GET, thing, near)
    if far:
        yield _made(situation, message, TOO_FAR, thing, far)
    if near and request_words().says("several", clause):
        yield _made(situation, message, ONE_EACH, "", near)


def _stock(situation: Situation, message: TeamMessage, thing: str) -> PlayerRequest:
    """Return the answer to a question for a thing: the players who have it."""
    players = next(iter(situation.observations.values()))["players"]
    holders = tuple(seat for seat, player in enumerate(players) if player["holds"].get(thing, 0))
    return _made(situation, message, HAVE if holders else HAVE_NONE, thing, holders)


def _wish(words: RequestWords, clause: str) -> tuple[str, str]:
    """Return what a clause of a message asks for: a verb and a thing. Both are empty if the clause is not
    understood."""
    thing, denied = words.thing_in(clause), words.says("negation", clause)
    clause = re.sub(rf"(?:\b(?:el|the)\s+)?{words.numbers}", " ", clause)
    if words.says("go_on", clause):
        return (STOP if denied else RESUME), ""
    if words.says("deliver", clause):
        return ("", "") if denied else (DELIVER, "")
    if thing and words.says("asks", clause):
        return HAVE, thing
    if thing and (words.says("enough", clause) or words.says("no_more", clause)):
        return (GET if denied else LEAVE), thing
    if thing and (denied or words.says("own", clause) or words.says("stop", clause)):
        return LEAVE, thing
    if thing:
        return GET, thing
    if not words.says("stop", clause):
        return "", ""
    return (RESUME if words.says("not_stop", clause) else STOP), ""


def _made(
    situation: Situation, message: TeamMessage, do: str, thing: str, seats: tuple[int, ...]
) -> PlayerRequest:
    had = tuple(_amounts(situation, thing, seats))
    return PlayerRequest(message.number, situation.step, do, thing, seats, had)


def _amounts(situation: Situation, thing: str, seats: Iterable[int]) -> list[int]:
    players = next(iter(situation.observations.values()))["players"]
    return [players[seat]["holds"].get(thing, 0) for seat in seats]


REPLACES = {(GET, STOP), (GET, RESUME), (STOP, GET), (STOP, STOP), (STOP, RESUME), (AVOID, RESUME)}
"""Which earlier request of a seat ends with which new one. Things to get are got one after the other."""


def _still_open(kept: Iterable[PlayerRequest], new: PlayerRequest) -> list[PlayerRequest]:
    """Return the earlier requests (`kept`) without those that the new one replaces. A request to go on
    also ends requests to leave something to people."""
    left = []
    for each in kept:
        opposite = each.thing == new.thing and {each.do, new.do} == {GET, LEAVE}
        frees = new.do == RESUME and each.do == LEAVE
        rest = each
        changes = each.thing == new.thing and (each.do, new.do) in (
            (AVOID, GET),
            (GET, AVOID),
            (AVOID, AVOID),
        )
        if changes or (each.do, new.do) in REPLACES:
            stay = [index for index, seat in enumerate(each.seats) if seat not in new.seats]
            pick = (each.seats, each.had)
            seats, had = (tuple(values[index] for index in stay) for values in pick)
            rest = replace(each, seats=seats, had=had)
        if not (opposite or frees) and (rest.seats or rest.do == LEAVE):
            left.append(rest)
    return left


def requested_commands(
    situation: Situation, heard: HeardRequests, *, only_on_request: bool = False
) -> dict[int, Command]:
    """Return the next action of each of the agent's seats that needs one. Requests come first; then the
    planner decides, unless the players act `only_on_request`."""
    asked = situation.seats if situation.request.asked is None else situation.request.asked
    given: dict[int, Command] = {}
    for request in heard.open:
        for seat in (seat for seat in request.seats if seat in asked):
            if request.do == STOP:
                given.setdefault(seat, GO_ON)
            elif request.do == GET:
                given.setdefault(seat, _getting(situation, seat, request.thing))
    if only_on_request and situation.talk.organisation is not None:
        busy = _holders_of_ordered(situation)
        given = {**{seat: GO_ON for seat in asked if seat not in busy}, **given}
    left = {each.thing for each in heard.open if each.do == LEAVE}
    avoided = {
        seat: {one.thing for one in heard.open if one.do == AVOID and seat in one.seats} for seat in asked
    }
    return kitchen_commands(situation, given, left, avoided)


def _holders_of_ordered(situation: Situation) -> set[int]:
    """Return the agent's seats that hold an item. They were asked to get it, and must still cook and
    deliver it."""
    players = next(iter(situation.observations.values()))["players"]
    return {seat for seat in situation.seats if players[seat]["holds"]}


def _getting(situation: Situation, seat: int, thing: str) -> Command:
    """Return the next action with which a seat gets a log or raw meat. From far away, the seat first walks
    to another place. A cow must already be near, because no command leads to it."""
    target = LOG if thing == LOG else ANIMAL_OF[f"cooked_{thing}"]
    nearer = ((GOTO, place) for place in PLACES if target in PLACES)
    options = ((MINE if thing == LOG else KILL, target), (GOTO, target), *nearer)
    return next((each for each in options if each in situation.legal[seat]), GO_ON)


# Answers


def _answer(
    situation: Situation, message: TeamMessage, fresh: Iterable[PlayerRequest]
) -> tuple[MessageDraft, ...]:
    """Return the answer to a message. It says what was understood, or lists what people can ask for. The
    answer to a job accepts or declines it."""
    told = dict.fromkeys((each.do, tuple(each.seats), each.thing) for each in fresh)
    parts: list[tuple[str, tuple[int, ...], str]] = [*told] or [(HELP, (), "")]
    text = " ".join(_sentence(*part) for part in parts)
    coded: dict[str, Json] = {
        CODE_KEY: ANSWER_CODE,
        ANSWER_PARTS: [[do, list(seats), thing] for do, seats, thing in parts],
    }

    def write(kind: str, to: tuple[int, ...], data: Mapping[str, Json]) -> MessageDraft:
        return MessageDraft(text, kind, to, {**coded, **data})

    return answers_to(situation, message, write, understood=parts[0][0] != HELP)


def _sentence(do: str, seats: Collection[int], thing: str) -> str:
    """Return the sentence that confirms a request, in English."""
    return request_answer(do, seats).format(player=numbered(seats), thing=thing.replace("_", " "))
