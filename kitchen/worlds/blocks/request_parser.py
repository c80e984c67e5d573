"""Read requests that people write to the agent `blocks_planner`, in English, Spanish or Chinese.

Examples: *Stone on level 1, row 2, columns 1 to 3. Give me the planks. What do you have? Stop. Go on.*
The module only reads; `builder_requests` carries requests out. A question is never a request to build, and
neither is what people tell about themselves or about what is done. A request to build with a word that is not
known is `UNCLEAR`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from kitchen.worlds.blocks.builder_words import AXES, NamedThing, PlannerWords, planner_words
from kitchen.worlds.blocks.dispatcher.player_requests import request_words

PLACE, REMOVE, GIVE, HELD, STOP, RESUME = "place", "remove", "give", "held", "stop", "go_on"
NEEDED, PLAN, UNCLEAR = "needed", "plan", "unclear"
GREETING, THANKS, HELP_WANTED = "greeting", "thanks", "help"
"""Kinds of request. `NEEDED` and `PLAN` ask what the builder needs, and what belongs where. `UNCLEAR` is a
request to build that is only understood in part, or that is a question. `HELP_WANTED` asks for help, or looks
like a request and is none."""
SMALL_TALK = frozenset({GREETING, THANKS, HELP_WANTED})
"""Kinds that say nothing about the game."""


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """One request in the words of a person."""

    do: str
    thing: str = ""
    """The code of an item, or `wood`; empty: everything, or what the member holds."""
    amount: int = 0
    """How many to give, or to place; 0: all."""
    players: tuple[int, ...] = ()
    """The seats that the person addresses; empty: nobody by number."""
    to: tuple[int, ...] = ()
    """The seats that shall get a gift; empty: the sender's."""
    places: tuple[tuple[int, ...], ...] = ((), (), ())
    """The named levels, columns and rows, counted from 0. An empty tuple means all of them."""
    corners: bool = False
    """True if only the corners of the levels are meant."""


def parse_requests(text: str, held: Iterable[str]) -> Iterator[ParsedRequest]:
    """Yield the requests in a message. `held` are the codes of items that the person may mean. A thing or a
    level that one clause names also holds for later clauses that name none. So do the players addressed."""
    words, items, found = planner_words(), tuple(held), list[ParsedRequest]()
    thing, level, players = "", tuple[int, ...](), tuple[int, ...]()
    for clause in words.clauses(text):
        for part in _parts_with_things(words, clause, items):
            if found and _is_exception(words, part):
                found[-1] = ParsedRequest(UNCLEAR, players=found[-1].players)
                continue
            if request_words().says("everybody", part) and not words.says("everything", part):
                players = ()
            for each in _clause_requests(words, part, items, bool(thing), bool(level)):
                players = each.players or players
                request = replace(each, players=players)
                if each.do in (PLACE, REMOVE):
                    thing, level = each.thing or thing, each.places[0] or level
                    request = replace(request, thing=thing, places=(level, *each.places[1:]))
                found.append(request)
    yield from found


def _is_exception(words: PlannerWords, clause: str) -> bool:
    """Return whether a clause takes cells away from the request before it: *but not at row 3, column 1*."""
    verbs = any(words.says(name, clause) for name in ("place", "remove", "give"))
    return request_words().says("negation", clause) and any(_places(words, clause)) and not verbs


def _parts_with_things(words: PlannerWords, clause: str, items: Sequence[str]) -> Iterator[str]:
    """Yield the parts of a clause that name both a thing and a place of their own, such as `stone on level 1
    and planks on level 2`. Other clauses are one part."""
    pieces = re.split(f"({words.parts}|{words.lists})", clause)
    part = pieces[0]
    for mark, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        if all(words.things_in(each, items) and any(_places(words, each)) for each in (part, piece)):
            yield part
            part = piece
        else:
            part += mark + piece
    yield part


def _places(words: PlannerWords, clause: str) -> tuple[tuple[int, ...], ...]:
    return tuple(words.numbers_of(axis, clause) for axis in AXES)


def _clause_requests(
    words: PlannerWords, clause: str, items: Sequence[str], has_thing: bool, has_level: bool
) -> Iterator[ParsedRequest]:
    """Yield the requests of one clause. `has_thing` and `has_level` say what an earlier clause has named."""
    usual, places = request_words(), _places(words, clause)
    players = tuple(int(number) - 1 for number in re.findall(usual.numbers, clause))
    things = words.things_in(clause, items)
    is_site = any(places) or (has_level and words.says("corners", clause))
    asked = ParsedRequest(PLAN, things[0].item if things else "", 0, players, (), (places[0], (), ()))
    begins = any(words.begins_with(name, clause) for name in ("give", "place", "remove", "stop"))
    if words.says("condition", clause) and (things or is_site):
        yield ParsedRequest(UNCLEAR, players=players)
    elif words.says("question", clause):
        yield ParsedRequest(HELD, players=players)
    elif _is_question(words, clause):
        yield from _question(words, clause, asked)
    elif _is_statement(words, clause, begins=begins, has_site=bool(things and is_site)):
        return
    elif usual.says("negation", clause):
        yield from _refusal(words, clause, players)
    elif _is_gift(words, clause, things, any(places)):
        yield from _gifts(words, clause, things, players)
    elif is_site and (has_thing or things or words.says("place", clause) or words.says("remove", clause)):
        yield _site_request(words, clause, things, items, replace(asked, do=PLACE, places=places))
    else:
        yield from _other_requests(words, clause, players, looks_asked=begins or bool(things) or is_site)


def _is_question(words: PlannerWords, clause: str) -> bool:
    """Return whether a clause asks for words. *Give me all that is there* asks for a gift."""
    gives = words.begins_with("give", clause)
    all_of_it = words.says("everything", clause) and (
        words.says("give", clause) or words.says("wants", clause)
    )
    return words.says("asks", clause) and not (gives or all_of_it)


def _other_requests(
    words: PlannerWords, clause: str, players: tuple[int, ...], *, looks_asked: bool
) -> Iterator[ParsedRequest]:
    """Yield the request to stop or to go on, or the kind of small talk, of a clause without things."""
    usual = request_words()
    if usual.says("stop", clause):
        yield ParsedRequest(STOP, players=players)
    elif usual.says("go_on", clause):
        yield ParsedRequest(RESUME, players=players)
    else:
        yield from _small_talk(words, clause, players, looks_asked=looks_asked)


def _is_gift(words: PlannerWords, clause: str, things: Sequence[NamedThing], has_place: bool) -> bool:
    """Return whether a clause asks for a gift. To need something *on* a level is a request to build; to need
    it *for* a level is not."""
    if words.begins_with("place", clause) or words.begins_with("remove", clause):
        return False
    if not (things or words.says("everything", clause) or _amount(words, clause)):
        return False
    needs = words.says("wants", clause) or (bool(things) and words.says("please", clause))
    return words.says("give", clause) or (needs and (not has_place or words.says("purpose", clause)))


def _is_statement(words: PlannerWords, clause: str, *, begins: bool, has_site: bool) -> bool:
    """Return whether a clause tells about its sender, about what is done, or about how things are. `begins`
    says whether it begins with a verb of a request, and `has_site` whether it names a thing and a place."""
    usual = request_words()
    if begins or words.says("keeps", clause):
        return not begins
    if words.says("you", clause):
        verbs = any(words.says(name, clause) for name in ("place", "give", "remove", "wants"))
        return not (verbs or usual.says("stop", clause) or usual.says("go_on", clause))
    if words.says("own", clause):
        has_it = words.says("has", clause) or usual.says("negation", clause)
        tells = not words.says("wants", clause) or has_it
        return tells and not words.says("help", clause)
    asks = words.says("wants", clause) or words.says("give", clause)
    return not asks and (words.says("done", clause) or (words.says("states", clause) and not has_site))


def _refusal(words: PlannerWords, clause: str, players: tuple[int, ...]) -> Iterator[ParsedRequest]:
    """Yield the request of a clause with a negation. *Do not go on* means to stop, and vice versa."""
    usual = request_words()
    if usual.says("go_on", clause):
        yield ParsedRequest(STOP, players=players)
    elif usual.says("stop", clause):
        yield ParsedRequest(RESUME, players=players)
    elif any(words.says(name, clause) for name in ("give", "place", "remove", "help")):
        yield ParsedRequest(HELP_WANTED, players=players)


def _gifts(
    words: PlannerWords, clause: str, things: Sequence[NamedThing], players: tuple[int, ...]
) -> Iterator[ParsedRequest]:
    """Yield a request for each thing that a clause asks for. The players before the verb are addressed. Those
    after it get the gift, unless the sender asks for a gift to the sender."""
    numbers = request_words().numbers
    verb = re.search(words.give, clause)
    to: tuple[int, ...] = ()
    if verb and not words.says("me", clause):
        to = tuple(int(one[1]) - 1 for one in re.finditer(numbers, clause) if one.start() > verb.start())
        players = players[: len(players) - len(to)]
    if words.says("share", clause):
        yield ParsedRequest(HELP_WANTED, players=players)
        return
    if not things:
        amount = 0 if words.says("everything", clause) else _amount(words, clause)
        yield ParsedRequest(GIVE, "", amount, players, to)
        return
    start = 0
    for thing, after in zip(things, [*(one.start for one in things[1:]), len(clause)], strict=True):
        amount, start = _amount_of(words, clause, thing, start, after)
        yield ParsedRequest(GIVE, thing.item, amount, players, to)


def _amount_of(
    words: PlannerWords, clause: str, thing: NamedThing, start: int, after: int
) -> tuple[int, int]:
    """Return how many of a thing are meant, and where the text about the next thing begins. The number is
    before the thing (from `start` on), or directly after it (up to `after`)."""
    before, behind = clause[start : thing.start], clause[thing.end : after]
    if re.search(r"(?:^|\s)(?:an?|una?)\s+(?:(?:block|bloque|pieza|piece) (?:of|de) )?$", before):
        return 1, thing.end
    if amount := _amount(words, before):
        return amount, thing.end
    if follows := re.match(r"\s*[:x×：]?\s*(\d{1,4})", words.without_places(behind)):  # noqa: RUF001
        return int(follows[1]), after
    return 0, thing.end


def _amount(words: PlannerWords, clause: str) -> int:
    """Return the first number of a clause that is no player's and no place's; 0 if there is none."""
    left = re.search(r"\d{1,4}", words.without_places(re.sub(request_words().numbers, " ", clause)))
    return int(left[0]) if left else 0


def _site_request(
    words: PlannerWords,
    clause: str,
    things: Sequence[NamedThing],
    items: Sequence[str],
    request: ParsedRequest,
) -> ParsedRequest:
    """Return the request of a clause that names places of the site. `request` has its thing and places."""
    if words.says("marks", clause) or not words.is_understood(clause, request.thing, items):
        return ParsedRequest(UNCLEAR, players=request.players)
    do, corners = REMOVE if words.says("remove", clause) else PLACE, words.says("corners", clause)
    amount = _amount_of(words, clause, things[0], 0, len(clause))[0] if things else _amount(words, clause)
    return replace(request, do=do, amount=amount, corners=corners)


def _question(words: PlannerWords, clause: str, asked: ParsedRequest) -> Iterator[ParsedRequest]:
    """Yield the question of a clause about the plan or about what the builder needs."""
    if words.says("needs", clause):
        yield replace(asked, do=NEEDED)
    elif words.says("help", clause):
        yield ParsedRequest(HELP_WANTED, players=asked.players)
    elif asked.thing or any(asked.places) or words.says("plan", clause):
        yield asked
    else:
        yield from _small_talk(words, clause, asked.players, looks_asked=True)


def _small_talk(
    words: PlannerWords, clause: str, players: tuple[int, ...], *, looks_asked: bool
) -> Iterator[ParsedRequest]:
    """Yield the kind of a clause that is no request. Nothing for words that need no answer."""
    asks_for_help = words.says("help", clause)
    for name, do in (("greeting", GREETING), ("thanks", THANKS)):
        if words.says(name, clause) and not asks_for_help:
            yield ParsedRequest(do, players=players)
            return
    if asks_for_help or looks_asked or clause.endswith("?"):
        yield ParsedRequest(HELP_WANTED, players=players)
