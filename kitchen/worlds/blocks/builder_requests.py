"""Hear what people ask of the agent `blocks_planner` and answer them, by fixed rules.

People can ask it to place or remove blocks, to give things, to say what it holds, to stop and to go on.
`request_parser` reads their messages, and `builder_request_steps` carries requests out. Questions about the
plan are answered, too. Help is sent to people who ask for it, or whose request is not understood.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kitchen.contract.agent import Situation
from kitchen.contract.organisation import INFORM
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import Json
from kitchen.worlds.blocks.block_grid import AIR, Cell
from kitchen.worlds.blocks.blueprint_pieces import wanted_blocks
from kitchen.worlds.blocks.blueprints import DIRT, NO_BLOCK, TOOLS
from kitchen.worlds.blocks.builder_words import planner_words
from kitchen.worlds.blocks.dispatcher.player_requests import request_words
from kitchen.worlds.blocks.item_recipes import Inventory, add_items
from kitchen.worlds.blocks.open_requests import HALT, BegunCommand, BuilderRequest, with_request
from kitchen.worlds.blocks.parsed_requests import (
    AMOUNT,
    DOING,
    GIVE,
    GREETING,
    HELD,
    NEEDED,
    NOTED,
    PLACE,
    PLAN,
    REMOVE,
    RESUME,
    SMALL_TALK,
    STOP,
    THANKS,
    UNCLEAR,
    UNDO,
    UNREAD,
    YES,
    ParsedRequest,
)
from kitchen.worlds.blocks.people_messages import answers_to, unread_messages
from kitchen.worlds.blocks.plan_answers import plan_answer
from kitchen.worlds.blocks.planner_messages import (
    ALL_RIGHT,
    BLOCKS_REMOVED,
    BLOCKS_STAY,
    DIFFERS,
    GIVES,
    HELLO,
    HELP,
    HOLDS,
    HOW_MANY,
    LACKS,
    NO_CELL,
    NONE_MISSING,
    NOT_READ,
    NOTHING,
    NOTHING_TO_GO_ON,
    OCCUPIED_CELLS,
    PLACES,
    REMOVES,
    REMOVES_THERE,
    SAY_AGAIN,
    SAY_YES,
    SHORT_HELP,
    SHORT_OF,
    UNCLEAR_WORDS,
    WELCOME,
    WHICH,
    WHICH_REQUEST,
    planner_message,
)
from kitchen.worlds.blocks.progress_answers import progress_answer
from kitchen.worlds.blocks.request_context import completed_request
from kitchen.worlds.blocks.request_parser import parse_requests
from kitchen.worlds.blocks.requested_blocks import meant_items, named_cells, site_size, with_last
from kitchen.worlds.blocks.undone_requests import (
    settle_commands,
    undo_answer,
    undoing_requests,
    with_progress,
)
from kitchen.worlds.blocks.withdrawn_requests import LastRequests, Part, take_back

NOBODY = -1
"""In place of the member who sent a message without a sender."""
SITE_WORK = (PLACE, REMOVE, UNCLEAR)
"""Kinds of request of which nothing is done if a part of the message is not understood."""
MOST_LISTS = 2
"""Maximum number of answers in a row that list what the agent understands, unless people ask for help."""


@dataclass(frozen=True, slots=True)
class BuilderRequests:
    """The requests that people have made and that are not done yet, and the answers to new messages."""

    open: tuple[BuilderRequest, ...] = ()
    last: int = 0
    """Number of the newest message that was read."""
    heard_at: int = 0
    """The step in which a request was last understood, or in which the agent began to play."""
    begun: Mapping[int, BegunCommand] = field(default_factory=dict)
    """The last command of each seat on request."""
    tried: Mapping[int, Cell] = field(default_factory=dict)
    """The cell in which a seat last tried to place a block on request, by seat."""
    done: tuple[BuilderRequest, ...] = ()
    """The blocks that were placed or removed on request, as far as they can be undone."""
    asked: Mapping[int, LastRequests] = field(default_factory=dict)
    """What each member asked for last, by the member's number."""
    answers: tuple[MessageDraft, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return what to remember, as JSON for the agent's memory."""
        kept = [each.to_json() for each in self.open]
        tried = {str(seat): list(cell) for seat, cell in self.tried.items()}
        asked = {str(member): each.to_json() for member, each in self.asked.items()}
        begun = {str(seat): each.to_json() for seat, each in self.begun.items()}
        done = [each.to_json() for each in self.done]
        kept_too = {"open": kept, "begun": begun, "done": done, "tried": tried, "asked": asked}
        return {"last": self.last, "heard_at": self.heard_at, **kept_too}


def hear_builder_requests(situation: Situation, memory: Json) -> BuilderRequests:
    """Return all requests of people that are still to be done. `memory` is what `BuilderRequests.to_json`
    returned in an earlier step, or None."""
    began = situation.step if situation.memory is None else 0
    known = memory or {"last": 0, "heard_at": began, "open": []}
    last, heard_at = max(int(known["last"]), situation.talk.taken_over), int(known["heard_at"])
    stored = {int(seat): BegunCommand.read(each) for seat, each in known.get("begun", {}).items()}
    begun, done = settle_commands(situation, stored, list(map(BuilderRequest.read, known.get("done", ()))))
    kept = with_progress(situation, map(BuilderRequest.read, known["open"]), begun)
    answers = list[MessageDraft]()
    asked = {int(member): LastRequests.read(each) for member, each in known.get("asked", {}).items()}
    for message in unread_messages(situation, last):
        found = _requests_of(situation, message)
        sender = NOBODY if message.sender is None else message.sender
        before = asked.get(sender, LastRequests())
        found = [completed_request(one, before.requests) for one in found]
        heard = _heard(situation, message, found, kept, before, done)
        if any(code in (UNCLEAR_WORDS, SAY_YES) for code, *_ in heard.parts):
            site = [replace(one, do=UNCLEAR) for one in found if one.do in SITE_WORK]
            keeps = len(site) == 1 and (site[0] in found or not site[0].places[0])
            unclear = site[0] if keeps else ParsedRequest(UNCLEAR)
            found = [*(one for one in found if one.do not in SITE_WORK), unclear]
            heard = _heard(situation, message, found, kept, before, done)
        kept = heard.kept
        heard_at = situation.step if any(one.do not in SMALL_TALK for one in found) else heard_at
        lists_help = any(code in (HELP, SHORT_HELP) for code, *_ in heard.parts)
        if (
            lists_help
            and before.helped >= MOST_LISTS
            and not planner_words().says("help", message.text.lower())
        ):
            heard = heard._replace(parts=[(NOT_READ,)])
        answers += _answer(situation, message, heard.parts)
        asks_back = any(code == WHICH for code, *_ in heard.parts)
        after = before.after(message.number, found, heard.done, asks_back=asks_back)
        asked[sender] = replace(after, helped=before.helped + 1 if lists_help else 0)
        last = message.number
    tried = {int(seat): (x, y, z) for seat, (x, y, z) in known.get("tried", {}).items()}
    return BuilderRequests(tuple(kept), last, heard_at, begun, tried, done, asked, tuple(answers))


class _HeardMessage(NamedTuple):
    """What one message leads to."""

    kept: list[BuilderRequest]
    """The open requests after it."""
    parts: list[Part]
    """The sentences of the answer."""
    done: list[ParsedRequest]
    """The requests that were carried out, with their corrections."""


def _heard(
    situation: Situation,
    message: TeamMessage,
    found: Sequence[ParsedRequest],
    kept: list[BuilderRequest],
    before: LastRequests,
    blocks: Sequence[BuilderRequest],
) -> _HeardMessage:
    """Return what the requests `found` in a message lead to. `kept` are the open requests, and `blocks` what
    can be undone."""
    parts, done = list[Part](), list[ParsedRequest]()
    requests: Sequence[BuilderRequest]
    for parsed in found:
        wanted, kept, said = take_back(situation, message.number, parsed, kept, before)
        parts += said
        if parsed.do == UNDO and wanted:
            mine = BuilderRequest(message.number, UNDO, _seats_of(situation, parsed))
            undoing = undoing_requests(mine, blocks, before.number, parsed.undoes)
            knows = any("blueprint" in situation.briefs[seat] for seat in situation.seats)
            requests, said = undo_answer(undoing, dropped=bool(parts), knows=knows)
            parts = [one for one in parts if one[0] not in (BLOCKS_STAY, BLOCKS_REMOVED) or not requests]
        else:
            requests, said = _understood(situation, message, wanted, kept) if wanted else ((), ())
        for request in requests:
            kept = with_request(kept, request)
        parts += said
        done += [wanted] if wanted else []
    return _HeardMessage(kept, parts, done)


def _requests_of(situation: Situation, message: TeamMessage) -> list[ParsedRequest]:
    """Return the requests of a message that are for seats of this agent. Small talk counts only if there is
    nothing else."""
    held = _held(situation, situation.seats).keys() - TOOLS.keys() | {DIRT}
    brief = situation.briefs[situation.seats[0]]
    read = [with_last(brief, one) for one in parse_requests(message.text, sorted(held))]
    found = [one for one in read if _is_meant(situation, one)]
    if not read and message.kind != INFORM:
        players = tuple(
            int(number) - 1 for number in re.findall(request_words().numbers, message.text.lower())
        )
        words = planner_words()
        polite = all(words.says("polite", clause) for clause in words.clauses(message.text))
        one = ParsedRequest(NOTED if polite else UNREAD, players=players)
        found = [one] if _is_meant(situation, one) else []
    return [one for one in found if one.do not in SMALL_TALK] or found[:1]


def _is_meant(situation: Situation, parsed: ParsedRequest) -> bool:
    """Return whether a request is for this agent: it addresses one of its players, or nobody by number."""
    return not parsed.players or bool(set(parsed.players) & set(situation.seats))


def _held(situation: Situation, seats: Sequence[int]) -> Inventory:
    held: Inventory = {}
    for seat in seats:
        add_items(held, situation.observations[seat]["inventory"])
    return held


def _understood(
    situation: Situation, message: TeamMessage, parsed: ParsedRequest, kept: Sequence[BuilderRequest]
) -> tuple[Sequence[BuilderRequest], Sequence[Part]]:
    """Return the requests to do and the sentences of the answer. `kept` are the open requests."""
    seats = _seats_of(situation, parsed)
    mine = BuilderRequest(message.number, parsed.do, seats)
    held = _held(situation, seats)
    match parsed.do:
        case do if do in SMALL_TALK:
            return (), [_talk_part(situation, do)]
        case do if do in (NEEDED, PLAN):
            return (), plan_answer(situation, parsed) or [_help_part(situation)]
        case do if do == STOP:
            return [mine], [(do,)]
        case do if do == RESUME:
            return [mine], [(do if _can_go_on(situation, mine, kept) else NOTHING_TO_GO_ON,)]
        case do if do == DOING:
            return (), progress_answer(situation, kept)
        case do if do in (HELD, AMOUNT):
            return (), [_stock_part(situation, parsed, held)]
        case do if do == GIVE:
            return _gift(situation, message, parsed, mine)
    return _site_work(situation, parsed, mine, kept)


def _stock_part(situation: Situation, parsed: ParsedRequest, held: Inventory) -> Part:
    """Return the sentence about what the builder holds, or the question how many of it a person wants."""
    if parsed.do == AMOUNT:
        return HOW_MANY, parsed.thing if parsed.thing in held else _help_part(situation)[1]
    return (HOLDS, dict(sorted(held.items()))) if held else (NOTHING,)


def _seats_of(situation: Situation, parsed: ParsedRequest) -> tuple[int, ...]:
    return tuple(seat for seat in parsed.players or situation.seats if seat in situation.seats)


def _can_go_on(situation: Situation, mine: BuilderRequest, kept: Sequence[BuilderRequest]) -> bool:
    """Return whether the seats of a request to go on have something to do: a request, a macro in progress, or
    a goal that they pursue without words."""
    brief = situation.briefs[mine.seats[0]] if mine.seats else {}
    waits = any(site_size(brief)) and "blueprint" not in brief
    busy = any(situation.observations[seat]["doing"] for seat in mine.seats)
    left = any(one.do not in (STOP, HALT) and set(one.seats) & set(mine.seats) for one in kept)
    return not waits or busy or left


def _talk_part(situation: Situation, do: str) -> Part:
    short = {GREETING: HELLO, THANKS: WELCOME, NOTED: ALL_RIGHT, YES: ALL_RIGHT, UNREAD: NOT_READ}
    return (short[do],) if do in short else _help_part(situation)


# Blocks to place and to remove


def _site_work(
    situation: Situation, parsed: ParsedRequest, mine: BuilderRequest, kept: Sequence[BuilderRequest]
) -> tuple[Sequence[BuilderRequest], Sequence[Part]]:
    """Return the requests to place or remove blocks, if they are clear, and the sentences of the answer.
    `mine` is the request without its cells.

    A builder who knows the plan builds what the plan has in the named cells, if no material is named. A named
    material is placed only where the plan has it.
    """
    held = _held(situation, mine.seats)
    unclear: Part = (UNCLEAR_WORDS, [item for item in held if item not in TOOLS] or [DIRT])
    cells = tuple(named_cells(situation.briefs[situation.seats[0]], parsed))
    any_level = site_size(situation.briefs[situation.seats[0]])[1] > 1 and not parsed.every_level
    if parsed.do == UNCLEAR or (any_level and not parsed.places[0]):
        is_question = parsed.do == UNCLEAR and parsed.thing and parsed.places[0]
        return (), [(SAY_YES,) if is_question else unclear]
    if not cells:
        return (), [(NO_CELL,)]
    taken, brief = _standing_cells(situation, mine.seats[0]), situation.briefs[mine.seats[0]]
    if parsed.do == REMOVE:
        return _removal(mine, cells, taken if "blueprint" in brief else None)
    plan = wanted_blocks(brief) if "blueprint" in brief else {}
    if plan and not parsed.thing and not parsed.amount:
        wanted = {cell: plan[cell] for cell in cells if cell in plan and cell not in taken}
        return _planned_work(wanted, mine, held, kept)
    meant = meant_items(parsed.thing, held)
    if len(meant) > 1 and parsed.thing:
        return (), [(WHICH, meant)]
    if (len(meant) != 1 and not parsed.thing) or parsed.amount not in (0, len(cells)):
        return (), [unclear]
    if not meant or meant[0] not in held:
        return (), [(LACKS, *(meant or [parsed.thing]))]
    free = tuple(cell for cell in cells if cell not in taken)
    fitting = tuple(cell for cell in free if not plan or plan.get(cell) == meant[0])
    request = replace(mine, item=meant[0], cells=fitting)
    parts = list(_placing_parts(request, held, kept, len(cells) - len(free)))
    parts += [(DIFFERS, differing)] if (differing := len(free) - len(fitting)) else []
    return [request] if fitting else (), parts


def _removal(
    mine: BuilderRequest, cells: Sequence[Cell], taken: set[Cell] | None
) -> tuple[Sequence[BuilderRequest], Sequence[Part]]:
    """Return the request to remove blocks, and the sentence of the answer. `taken` are the cells with a
    block; None if the builder does not see them."""
    if taken is None:
        return [replace(mine, cells=tuple(cells))], [(REMOVES_THERE,)]
    standing = tuple(cell for cell in cells if cell in taken)
    return [replace(mine, cells=standing)] if standing else (), [(REMOVES, len(standing))]


def _planned_work(
    wanted: Mapping[Cell, str], mine: BuilderRequest, held: Inventory, kept: Sequence[BuilderRequest]
) -> tuple[Sequence[BuilderRequest], Sequence[Part]]:
    """Return the requests to build what the plan has in some cells (`wanted`), and the sentences of the
    answer. A block that the builder does not hold is only named as lacking."""
    if not wanted:
        return (), [(NONE_MISSING,)]
    requests, parts = list[BuilderRequest](), list[Part]()
    for item in dict.fromkeys(wanted.values()):
        cells = tuple(cell for cell, block in wanted.items() if block == item)
        request = replace(mine, item=item, cells=cells)
        if item in held:
            requests.append(request)
            parts += _placing_parts(request, held, kept, 0)
        else:
            parts.append((LACKS, item))
    return requests, parts


def _placing_parts(
    request: BuilderRequest, held: Inventory, kept: Sequence[BuilderRequest], occupied: int
) -> Iterator[Part]:
    """Yield the sentences that say into how many cells the builder can put a block, how many blocks it lacks
    for the others, and how many cells have a block already (`occupied`)."""
    open_ones = (one for one in kept if one.do == PLACE and not one.paused)
    promised = sum(len(one.cells) for one in open_ones if one.item == request.item)
    number = max(0, min(len(request.cells), held[request.item] - promised))
    if number:
        yield PLACES, request.item, number
    if lacking := len(request.cells) - number:
        yield SHORT_OF, {request.item: lacking}
    if occupied:
        yield OCCUPIED_CELLS, occupied


def _standing_cells(situation: Situation, seat: int) -> set[Cell]:
    """Return the cells of the site that have a block, as far as the seat sees it. A seat that knows the
    blueprint sees those of the lowest unfinished level and of the levels below."""
    brief, seen = situation.briefs[seat], situation.observations[seat]
    if "blueprint" not in brief:
        return set()
    levels = brief["blueprint"]["levels"]
    level = len(levels) if seen["level"] is None else int(seen["level"])
    wanted = {
        (x, y, z)
        for y, rows in enumerate(levels[: level + 1])
        for z, row in enumerate(rows)
        for x, letter in enumerate(row)
        if letter != NO_BLOCK
    }
    wrong = {(x, level, z): present for x, z, _, present in seen["differences"]}
    return (wanted - wrong.keys()) | {cell for cell, present in wrong.items() if present != AIR}


# Gifts


def _gift(
    situation: Situation, message: TeamMessage, parsed: ParsedRequest, mine: BuilderRequest
) -> tuple[Sequence[BuilderRequest], Sequence[Part]]:
    """Return the requests to give things to the named player or to the sender, and the answer."""
    team = situation.talk.organisation
    own = team.member(message.sender).seats if team and message.sender is not None else ()
    to = next(iter(parsed.to or own), None)
    seats = tuple(seat for seat in mine.seats if seat != to)
    if to is None or not seats:
        return (), [_help_part(situation)]
    held = _held(situation, seats)
    meant = meant_items(parsed.thing, held)
    if not any(item in held for item in meant):
        return (), [(LACKS, *(meant if parsed.thing and meant else [parsed.thing]))]
    if len(meant) > 1 and (parsed.thing or parsed.amount):
        return (), [(WHICH, meant)]
    if parsed.keeps:
        kept = {item: amount for word, amount in parsed.keeps for item in meant_items(word, held)}
        rest = {item: held[item] - (kept.get(item, 0) or held[item] * (item in kept)) for item in meant}
        gifts = {item: amount for item, amount in rest.items() if amount > 0 and item in held}
        made = [replace(mine, seats=seats, item=item, amount=gifts[item], to=to) for item in gifts]
        return made, [(GIVES, item, gifts[item]) for item in gifts] or [(LACKS, "")]
    item = meant[0] if parsed.thing or parsed.amount else ""
    request = replace(mine, seats=seats, item=item, amount=parsed.amount, to=to)
    return [request], [(GIVES, item, min(parsed.amount, held.get(item, 0)))]


# Answers


def _help_part(situation: Situation) -> Part:
    code = HELP if any(site_size(situation.briefs[situation.seats[0]])) else SHORT_HELP
    held = _held(situation, situation.seats)
    return code, next((item for item in [*sorted(held.keys() - TOOLS.keys() - {DIRT}), *held]), DIRT)


def _answer(situation: Situation, message: TeamMessage, parts: Sequence[Part]) -> tuple[MessageDraft, ...]:
    """Return the answer to a message. It says what was understood. A job always gets an answer; other
    messages get none if they need none."""
    if not parts and message.kind != INFORM:
        return ()
    said = list(parts) or [_help_part(situation)]
    not_understood = {WHICH_REQUEST, UNCLEAR_WORDS, HELP, SHORT_HELP, WHICH, SAY_AGAIN, SAY_YES, NOT_READ}
    not_understood |= {HOW_MANY}

    def write(kind: str, to: tuple[int, ...], data: Mapping[str, Json]) -> MessageDraft:
        return planner_message(said, kind, to, data)

    understood = any(code not in not_understood for code, *_ in said)
    return answers_to(situation, message, write, understood=understood)
