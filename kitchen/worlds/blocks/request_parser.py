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
from kitchen.worlds.blocks.parsed_requests import (
    AMOUNT,
    CANCEL,
    CANCEL_ALL,
    CORNERS,
    CORRECT,
    DOING,
    EDGE,
    FOLLOW,
    GIVE,
    GREETING,
    HELD,
    HELP_WANTED,
    NEEDED,
    NOTED,
    PLACE,
    PLAN,
    REMOVE,
    RESUME,
    STOP,
    THANKS,
    UNCLEAR,
    UNDO,
    UNREAD,
    YES,
    ParsedRequest,
    add_request,
)
from kitchen.worlds.blocks.request_context import completed_request, following_request


def parse_requests(text: str, held: Iterable[str]) -> Iterator[ParsedRequest]:
    """Yield the requests in a message. `held` are the codes of items that the person may mean. A thing or a
    level that one clause names also holds for later clauses that name none. So do the players addressed."""
    words, items, found = planner_words(), tuple(held), list[ParsedRequest]()
    thing, level, players, denied, axis = "", tuple[int, ...](), tuple[int, ...](), False, ""
    for clause in words.clauses(text):
        for part in _parts_with_things(words, clause, items):
            if exception := _exception(words, part, found):
                found[-1:] = [*found[-1:], *exception] if exception[0].do == CANCEL else exception
                continue
            if request_words().says("everybody", part) and not words.says("everything", part):
                players = ()
            said = _Context(words, items, bool(thing), bool(level), axis)
            axis = words.last_axis(part) or axis
            requests = _corrections(said, part, denied=denied) or list(_clause_requests(said, part))
            denied = _says_no(words, part, requests)
            for each in requests:
                players = each.players or players
                request = replace(each, players=players)
                request = _followed(request, found)
                if _narrows(words, part, request, found):
                    continue
                if request.do in (PLACE, REMOVE):
                    thing, level = request.thing or thing, request.places[0] or level
                    request = replace(request, thing=thing, places=(level, *request.places[1:]))
                add_request(found, request)
    told = [one for one in found if one.do not in (NOTED, UNREAD)]
    yield from told or found[:1]


def _followed(new: ParsedRequest, found: Sequence[ParsedRequest]) -> ParsedRequest:
    """Return a request that only names places with the rest of the request before it in the message."""
    follows = new.do == FOLLOW and found and found[-1].do in (PLACE, REMOVE)
    return completed_request(new, found) if follows else new


def _narrows(words: PlannerWords, clause: str, new: ParsedRequest, found: list[ParsedRequest]) -> bool:
    """Return whether a clause such as *row 4* only says more about the place of the request before it. That
    request then has the place."""
    earlier = [one for one in found if one.do != YES]
    if new.do != PLACE or not earlier or earlier[-1].do != PLACE or words.things_in(clause, ()):
        return False
    last, verbs = earlier[-1], any(words.says(name, clause) for name in ("place", "more"))
    named = [axis for axis, numbers in enumerate(_places(words, clause)) if numbers]
    if verbs or new.amount or not named or any(last.places[axis] for axis in named):
        return False
    places = tuple(now or then for now, then in zip(new.places, last.places, strict=True))
    found[:] = [*earlier[:-1], replace(last, places=places, without=(*last.without, *new.without))]
    return True


def _is_for_part(words: PlannerWords, clause: str, gift: ParsedRequest) -> bool:
    """Return whether a clause such as *but not all of them* limits the gift before it."""
    limits = words.says("share", clause) and request_words().says("negation", clause)
    return limits and not (gift.amount or gift.keeps)


def _says_no(words: PlannerWords, clause: str, requests: Sequence[ParsedRequest]) -> bool:
    """Return whether a clause only says that something was wrong. The next clause may correct it."""
    only_no = re.fullmatch(words.says_no, clause) is not None
    return only_no or ([one.do for one in requests] == [CORRECT] and words.says("wrong", clause))


def _corrections(said: _Context, clause: str, *, denied: bool) -> list[ParsedRequest]:
    """Return the requests of a clause that corrects an earlier request; nothing for other clauses. `denied`
    says whether the clause before it was a *no*."""
    words = said.words
    before, _, rest = re.sub(words.instead, "\n", clause).partition("\n")
    if (
        _names_wrong_thing(said, before)
        and words.things_in(rest, said.items)
        and (found := _changes(said, rest))
    ):
        return found
    if words.says("wrong", clause):
        return _changes(said, rest) or [ParsedRequest(CORRECT)]
    rest = re.sub(words.denies, "", clause)
    is_said = words.says("corrects", rest)
    rest = re.sub(rf"^.*?(?:{words.corrects})[\s,\uff0c]*", "", rest)
    if not (denied or is_said or rest != clause):
        return []
    found = _changes(said, rest)
    if found or not is_said:
        return found
    return [ParsedRequest(CORRECT if said.content(rest) else UNREAD)]


def _names_wrong_thing(said: _Context, text: str) -> bool:
    """Return whether a text is like *not planks*. What follows it is the right thing."""
    things = said.words.things_in(text, said.items)
    left = re.sub(said.words.not_thing, "", text)
    return left != text and len(things) == 1 and said.words.is_understood(left, things[0].item, said.items)


def _changes(said: _Context, text: str) -> list[ParsedRequest]:
    """Return the requests in the text of a correction. A text that only names things and places is one."""
    text = re.sub(r"^[\s\W]*(?:(?:it|that|this).?s\b|it is\b|es\b|是)?\s*(?:(?:the|el|la)\s+)?", "", text)
    text = re.sub(said.words.not_this, "", text)
    if said.axis and said.words.is_range(text):
        text = f"{said.axis} {text}"
    if not text or said.words.says("wrong", text):
        return []
    requests, content = list(_clause_requests(said, text)), said.content(text)
    understood = content and said.words.is_understood(text, content.thing, said.items, content.amount)
    verbs = any(said.words.says(name, text) for name in ("place", "remove", "give", "wants"))
    if content and understood and not verbs:
        return [content]
    if any(one.do in (PLACE, REMOVE, GIVE) for one in requests):
        return [replace(one, corrects=True) for one in requests]
    unclear = (HELP_WANTED, FOLLOW, YES)
    if content is None or any(one.do not in unclear for one in requests):
        return [one for one in requests if one.do not in unclear]
    return [content] if understood else []


@dataclass(frozen=True, slots=True)
class _Context:
    """The words, the items, and what earlier clauses of a message have named: a thing, a level."""

    words: PlannerWords
    items: Sequence[str]
    has_thing: bool
    has_level: bool
    axis: str
    """The axis that was named last; empty: none."""

    def content(self, text: str) -> ParsedRequest | None:
        """Return a correction with the thing, the amount and the places that a text names; None if it names
        none of them, or more than one thing or place."""
        things, places = self.words.things_in(text, self.items), self.words.places_in(text)
        amount, shape = _amount(self.words, text), _shape(self.words, text)
        if len(things) > 1 or len(places) > 1 or not (things or any(places[0]) or amount or shape):
            return None
        players = tuple(int(number) - 1 for number in re.findall(request_words().numbers, text))
        thing = things[0].item if things else ""
        return ParsedRequest(CORRECT, thing, amount, players, (), places[0], shape=shape)


def _shape(words: PlannerWords, clause: str) -> str:
    return CORNERS if words.says("corners", clause) else EDGE if words.says("edge", clause) else ""


def _exception(words: PlannerWords, clause: str, found: Sequence[ParsedRequest]) -> list[ParsedRequest]:
    """Return the last request of `found` without the cells that a clause leaves out, such as *but not at row
    3, column 1*. Nothing for other clauses. Without a request before it, the clause takes cells back."""
    if found and found[-1].do == GIVE and _is_for_part(words, clause, found[-1]):
        return [ParsedRequest(HELP_WANTED, players=found[-1].players)]
    main, left_out = words.split_exception(clause)
    verbs = any(words.says(name, clause) for name in ("place", "remove", "give"))
    if left_out and not re.search(r"\w", re.sub(words.known, " ", main)):
        place = words.excepted_place(left_out, clause)
        if not found:
            return [ParsedRequest(CANCEL, places=place)] if place else []
    elif found and request_words().says("negation", clause) and any(_places(words, clause)) and not verbs:
        left = re.sub(words.acts, " ", re.sub(request_words().negation, " ", clause))
        place = words.excepted_place(left, clause)
    else:
        return []
    last = found[-1]
    if last.do == CORRECT:
        return [last]
    is_clear = place is not None and last.do in (PLACE, REMOVE)
    return [last.leaving_out(place) if place and is_clear else ParsedRequest(UNCLEAR, players=last.players)]


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


def _clause_requests(said: _Context, clause: str) -> Iterator[ParsedRequest]:
    """Yield the requests of one clause."""
    words, places = said.words, _places(said.words, clause)
    players = tuple(int(number) - 1 for number in re.findall(request_words().numbers, clause))
    things = words.things_in(clause, said.items)
    is_site = any(places) or (said.has_level and bool(_shape(words, clause)))
    asked = ParsedRequest(PLAN, things[0].item if things else "", 0, players, (), (places[0], (), ()))
    begins = any(words.begins_with(name, clause) for name in ("give", "place", "remove", "stop"))
    if about_work := _about_work(words, clause, is_site=is_site or bool(things)):
        yield replace(about_work, players=players)
    elif _takes_back(words, clause):
        yield from _cancelled(words, clause, things, players)
    elif words.says("condition", clause) and (things or is_site or words.says("give", clause)):
        yield ParsedRequest(UNCLEAR, players=players)
    elif words.says("question", clause):
        yield ParsedRequest(HELD, players=players)
    elif _is_question(words, clause):
        yield from _question(words, clause, asked)
    elif not _is_statement(words, clause, begins=begins, has_site=bool(things and is_site)):
        yield from _told(said, clause, things, asked, is_site=is_site, looks_asked=begins or is_site)
    elif not words.says("polite", clause):
        tells = words.says("own", clause) and not words.says("proposes", clause)
        yield ParsedRequest(NOTED if tells or words.says("keeps", clause) else UNREAD, players=players)


def _told(
    said: _Context,
    clause: str,
    things: Sequence[NamedThing],
    asked: ParsedRequest,
    *,
    is_site: bool,
    looks_asked: bool,
) -> Iterator[ParsedRequest]:
    """Yield the requests of a clause that is no question and no statement. `asked` has its thing and players,
    and `is_site` says whether it names places of the site."""
    words, usual, players = said.words, request_words(), asked.players
    named = said.has_thing or things or words.says("place", clause) or words.says("remove", clause)
    denied = usual.says("negation", clause)
    if words.begins_with("stop", clause) and not denied:
        yield ParsedRequest(STOP, players=players)
    elif denied:
        yield from _refusal(words, clause, things, players)
    elif _is_gift(words, clause, things, any(_places(words, clause))):
        yield from _gifts(words, clause, things, players)
    elif usual.says("go_on", clause) and not things:
        yield ParsedRequest(RESUME, players=players)
    elif is_site and (added := _added_level(said, clause, things)):
        yield replace(added, players=players)
    elif is_site and named and not words.says("refers", clause):
        yield from _site_requests(words, clause, things, said.items, replace(asked, do=PLACE))
    else:
        yield from _other_requests(said, clause, players, looks_asked=looks_asked or bool(things))


def _added_level(said: _Context, clause: str, things: Sequence[NamedThing]) -> ParsedRequest | None:
    """Return the request of a clause such as *level 3 too*, which only adds a level to the last request. None
    for other clauses."""
    if things or not said.words.says("more", clause) or any(_places(said.words, clause)[1:]):
        return None
    return following_request(said.words, clause, said.content(clause), said.items)


def _about_work(words: PlannerWords, clause: str, *, is_site: bool) -> ParsedRequest | None:
    """Return the question about the present work, or the request to undo the last request, of a clause that
    names nothing else. None for other clauses."""
    if is_site:
        return None
    if re.fullmatch(rf"(?:{words.yes})\W*(?:please|por favor)?\W*", clause):
        return ParsedRequest(YES)
    if words.says("doing", clause):
        return ParsedRequest(DOING)
    if request_words().says("negation", clause) or words.says("asks", clause):
        return None
    for name, only in (("undo", ""), ("put_back", REMOVE), ("take_away", PLACE)):
        if words.says(name, clause):
            return ParsedRequest(UNDO, undoes=only, which=words.says("which", clause))
    return None


def _takes_back(words: PlannerWords, clause: str) -> bool:
    """Return whether a clause takes a request back. *Do not cancel it* does not."""
    denied = request_words().says("negation", re.sub(words.cancels, " ", clause))
    return words.says("cancels", clause) and not denied and not words.says("asks", clause)


def _cancelled(
    words: PlannerWords, clause: str, things: Sequence[NamedThing], players: tuple[int, ...]
) -> Iterator[ParsedRequest]:
    """Yield what a clause takes back: requests for the named things and places, all, or the last one."""
    places = _places(words, clause)
    if not things and not any(places) and words.says("everything", clause):
        yield ParsedRequest(CANCEL_ALL, players=players)
        return
    names = bool(things) or any(places)
    which, resumes = (words.says(name, clause) and not names for name in ("which", "may_resume"))
    for item in dict.fromkeys(thing.item for thing in things) or ("",):
        yield ParsedRequest(CANCEL, item, 0, players, (), places, which=which, may_resume=resumes)


def _is_question(words: PlannerWords, clause: str) -> bool:
    """Return whether a clause asks for words. *Give me all that is there* asks for a gift."""
    if any(words.begins_with(name, clause) for name in ("place", "remove")) and not clause.endswith("?"):
        return False
    gives = words.begins_with("give", clause)
    all_of_it = words.says("everything", clause) and (
        words.says("give", clause) or words.says("wants", clause)
    )
    ends_so = re.search(r"[?吗]\W*$", clause) is not None
    if words.says("own", clause):
        offers = words.says("place", clause) or words.says("needs", clause)
        asks_so = offers and not words.says("wants", clause) and not words.says("give", clause)
    else:
        asks_so = words.says("done", clause) or words.says("states", clause)
    return (words.says("asks", clause) or (ends_so and asks_so)) and not (gives or all_of_it)


def _other_requests(
    said: _Context, clause: str, players: tuple[int, ...], *, looks_asked: bool
) -> Iterator[ParsedRequest]:
    """Yield the request to stop or to go on, or the kind of small talk, of any other clause. The name of a
    thing alone may answer a question."""
    words, usual, content = said.words, request_words(), said.content(clause)
    exception = words.split_exception(clause)
    if usual.says("stop", clause):
        yield ParsedRequest(STOP, players=players)
    elif usual.says("go_on", clause):
        yield ParsedRequest(RESUME, players=players)
    elif following := following_request(words, clause, said.content(exception[0]), said.items):
        yield replace(following, players=players)
    elif words.says("yes", clause) and not any(_places(words, clause)):
        yield ParsedRequest(YES, players=players)
    elif content and content.thing and words.is_understood(clause, content.thing, said.items, content.amount):
        yield replace(content, do=HELP_WANTED)
    elif said.has_thing and said.has_level and words.names_axis(clause):
        yield ParsedRequest(UNCLEAR, players=players)
    else:
        asked = looks_asked or words.begins_with("acts", clause) or words.says("remove", clause)
        yield from _small_talk(words, clause, players, looks_asked=asked)


def _is_gift(words: PlannerWords, clause: str, things: Sequence[NamedThing], has_place: bool) -> bool:
    """Return whether a clause asks for a gift. To need something *on* a level is a request to build; to need
    it *for* a level is not."""
    if words.begins_with("place", clause) or words.begins_with("remove", clause):
        return False
    names = things or words.says("everything", clause) or words.says("some", clause)
    if not (names or _amount(words, clause)):
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
        verbs = verbs or (has_site and not words.says("states", clause) and not words.says("done", clause))
        return not (verbs or usual.says("stop", clause) or usual.says("go_on", clause))
    if words.says("own", clause):
        has_it = words.says("has", clause) or usual.says("negation", clause)
        tells = not words.says("wants", clause) or has_it
        return tells and not words.says("help", clause)
    asks = words.says("wants", clause) or words.says("give", clause)
    asks = asks or usual.says("stop", clause) or usual.says("go_on", clause)
    return not asks and (words.says("done", clause) or (words.says("states", clause) and not has_site))


def _refusal(
    words: PlannerWords, clause: str, things: Sequence[NamedThing], players: tuple[int, ...]
) -> Iterator[ParsedRequest]:
    """Yield the request of a clause with a negation. *Do not go on* means to stop, and vice versa. *Do not
    put stone there* takes a request back."""
    usual = request_words()
    if usual.says("go_on", clause):
        yield ParsedRequest(STOP, players=players)
    elif usual.says("stop", clause):
        goes_on = words.says("not_stop", clause)
        yield ParsedRequest(RESUME if goes_on else STOP, players=players)
    elif words.says("help", clause):
        yield ParsedRequest(HELP_WANTED, players=players)
    elif words.says("remembers", clause):
        return
    elif any(words.says(name, clause) for name in ("give", "place", "remove", "acts")) or (
        (any(_places(words, clause)) and not words.says("perceives", clause))
        or (things and words.says("any_more", clause) and not words.says("wants", clause))
    ):
        refuses = not words.says("give", clause) and not words.says("remove", clause)
        yield from (replace(one, refuses=refuses) for one in _cancelled(words, clause, things, players))
    elif things and words.says("wants", clause):
        yield ParsedRequest(NOTED, players=players)


def _gifts(
    words: PlannerWords, clause: str, things: Sequence[NamedThing], players: tuple[int, ...]
) -> Iterator[ParsedRequest]:
    """Yield a request for each thing that a clause asks for. The players before the verb are addressed. Those
    after it get the gift, unless the sender asks for a gift to the sender."""
    numbers = request_words().numbers
    vague = words.says("some", clause) and not (_amount(words, clause) or words.says("everything", clause))
    if vague or words.says("either", clause):
        yield ParsedRequest(AMOUNT, things[0].item if len(things) == 1 else "", players=players)
        return
    verb = re.search(words.give, clause)
    to: tuple[int, ...] = ()
    if verb and not words.says("me", clause):
        to = tuple(int(one[1]) - 1 for one in re.finditer(numbers, clause) if one.start() > verb.start())
        players = players[: len(players) - len(to)]
    main, left_out = words.split_exception(clause)
    if left_out and not words.says("share", main) and len(to) < 2:
        yield _gift_but(words, things, len(main), left_out, ParsedRequest(GIVE, players=players, to=to))
        return
    if words.says("share", clause) or len(to) > 1:
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


def _gift_but(
    words: PlannerWords, things: Sequence[NamedThing], end: int, left_out: str, gift: ParsedRequest
) -> ParsedRequest:
    """Return the request for a gift that leaves out things. `things` are those of the clause, and `end` is
    where its text about the exception begins."""
    given = [one.item for one in things if one.start < end]
    kept = [one.item for one in things if one.start >= end]
    amount = _amount(words, left_out)
    if len(given) > 1 or len(kept) > 1 or not (kept or (given and amount)):
        return ParsedRequest(HELP_WANTED, players=gift.players)
    return replace(gift, thing=(given or [""])[0], keeps=(((kept or given)[0], amount),))


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


def _site_requests(
    words: PlannerWords,
    clause: str,
    things: Sequence[NamedThing],
    items: Sequence[str],
    request: ParsedRequest,
) -> Iterator[ParsedRequest]:
    """Yield the request of a clause that names places of the site, or several if it names pairs of rows and
    columns. `request` has its thing."""
    clause, left_out = words.split_exception(clause)
    left = words.excepted_place(left_out, clause) if left_out else None
    if left_out and left is None:
        yield ParsedRequest(UNCLEAR, players=request.players)
        return
    do, shape, places = (
        REMOVE if words.says("remove", clause) else PLACE,
        _shape(words, clause),
        words.places_in(clause),
    )
    amount = _amount_of(words, clause, things[0], 0, len(clause))[0] if things else _amount(words, clause)
    open_range = words.says("open_range", clause) and do == PLACE
    edge_of_some = shape == EDGE and any(places[0][1:])
    known = words.is_understood(re.sub(words.marks, " ", clause), request.thing, items, amount)
    if open_range or edge_of_some or not known or words.says("either", clause):
        yield ParsedRequest(UNCLEAR, players=request.players)
        return
    if words.says("marks", clause):
        without = (left,) if left else ()
        request = replace(request, do=UNCLEAR, amount=amount, places=places[0], shape=shape, without=without)
        yield request if len(places) == 1 and do == PLACE else ParsedRequest(UNCLEAR, players=request.players)
        return
    if len(places) > 1 and amount == len(places):
        amount = 0
    every = re.search(words.all_of("level"), clause) is not None
    without = (left,) if left else ()
    for place in places:
        made = replace(request, do=do, amount=amount, places=place, shape=shape)
        yield replace(made, every_level=every, without=without)


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
