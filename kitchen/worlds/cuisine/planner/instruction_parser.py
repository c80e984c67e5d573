"""Parse requests that people write to robots in plain sentences, by fixed rules.

Examples: *Robot 2: chop the salmon, I will cook the rice. Tuna sushi first. Don't cook rice. Stop. Go on.*
Tasks that people announce for themselves are reserved for them. A request applies until it is done or
replaced, or until somebody writes *go on*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from typing import Self

from kitchen.agents.plain_sentences.sentence_clauses import (
    AVOID,
    DOING,
    HALT,
    HELP,
    OFFER,
    ORDER,
    QUESTION,
    RESUME,
    TALK,
    UNCLEAR,
    Clause,
)
from kitchen.agents.plain_sentences.sentence_conditions import FREE as FREE_PLACE
from kitchen.agents.plain_sentences.sentence_conditions import READY, Condition
from kitchen.contract.organisation import ASK, INFORM, SAY, WITHDRAW, Organisation
from kitchen.contract.team_messages import TeamMessage
from kitchen.contract.world import Json
from kitchen.worlds.cuisine.planner.instruction_targets import WORK_TOOLS, Targets
from kitchen.worlds.cuisine.planner.kitchen_sentences import read_sentences

FETCH, MAKE, SERVE, FREE = "fetch", "make", "serve", "free"
FIRST, STOP, GO_ON = "first", "stop", "go_on"
LEAVE_TOOL, LEAVE_DISH, LEAVE_ITEM = "leave_tool", "leave_dish", "leave_item"
LEAVE_PRODUCT, LEAVE_SERVING = "leave_product", "leave_serving"
TASKS = frozenset({FETCH, MAKE, SERVE, FREE})
"""Wishes that one robot carries out."""
LEAVE_WISHES = frozenset({LEAVE_TOOL, LEAVE_DISH, LEAVE_ITEM, LEAVE_PRODUCT, LEAVE_SERVING})
"""Wishes by which people reserve something for themselves, or forbid it."""
WISH_PATIENCE_STEPS: Mapping[str, int] = {FETCH: 20, MAKE: 40, SERVE: 50, FREE: 20}
"""Steps after which a task that could not be done is forgotten."""
CONDITION_PATIENCE_STEPS = 60
"""Steps after which a task is forgotten whose condition was not met."""
OFFER_PATIENCE_STEPS = 60
"""Steps after which a thing is no longer kept for somebody who wanted to make or fetch it."""
NOT_SEEN = -1
WHICH = "which"
"""The kind of an open question for a product that the words do not decide."""


@dataclass(frozen=True, slots=True)
class Wish:
    """One request or announcement in a person's message, such as a request to fetch an item."""

    number: int
    """Number of the message."""
    sender: int
    step: int
    do: str
    what: str = ""
    """An item, a dish, a place, or the kind of a tool, in the codes of the world. Empty for LEAVE_SERVING:
    all dishes."""
    seats: tuple[int, ...] = ()
    """The robots that were named; empty if all are meant. For a task, the robot that does it."""
    is_job: bool = False
    forbids: bool = False
    """True if robots shall not do it, False if the sender does it. For LEAVE_WISHES only."""
    mark: int = 0
    """For the task SERVE: how often the dish was served when it was given. For what the sender makes: how
    many were there. For what the sender fetches: 1 if they held it. NOT_SEEN before this is known."""
    when: tuple[str, str] | None = None
    """For a task with a condition that is not met yet: READY or FREE_PLACE, and a product, a place, or the
    kind of a tool."""

    @classmethod
    def read(cls, stored: Mapping[str, Json]) -> Self:
        """Return the wish (a person's request) that is stored in the planner's memory (see `to_json`)."""
        when = stored.get("when")
        return cls(**{**stored, "seats": tuple(stored["seats"]), "when": tuple(when) if when else None})

    def to_json(self) -> dict[str, Json]:
        """Return the wish (a person's request) as JSON, for the planner's memory."""
        when = {"when": list(self.when)} if self.when else {}
        plain = {name: value for name, value in asdict(self).items() if name != "when"}
        return {**plain, "seats": list(self.seats), **when}

    def is_over(self, step: int) -> bool:
        """Return whether this is a task, or a thing kept for the sender, from too long before `step`."""
        limit = OFFER_PATIENCE_STEPS if self.ends_when_done else WISH_PATIENCE_STEPS.get(self.do)
        limit = CONDITION_PATIENCE_STEPS if self.when else limit
        return limit is not None and step >= self.step + limit

    @property
    def ends_when_done(self) -> bool:
        """Return whether the sender makes or fetches one thing. It is kept for them until they have."""
        return self.do in (LEAVE_PRODUCT, LEAVE_DISH, LEAVE_ITEM) and not self.forbids

    def meant(self, mine: Iterable[int]) -> tuple[int, ...]:
        """Return the robots to which the request applies: those that it names or, if it names none, all of
        `mine` (the robots that the planner controls)."""
        return tuple(seat for seat in mine if not self.seats or seat in self.seats)


@dataclass(frozen=True, slots=True)
class OpenPoint:
    """A part of a message that is no wish: a question, a plea for help, small talk, or unclear words."""

    kind: str
    """DOING, HELP, QUESTION, TALK, UNCLEAR or WHICH."""
    seats: tuple[int, ...] = ()
    """The robots that were named."""
    products: tuple[str, ...] = ()
    """For WHICH: the products between which the words do not decide."""


@dataclass(slots=True)
class ParsedMessage:
    """All that one message says."""

    wishes: list[Wish] = field(default_factory=list)
    points: list[OpenPoint] = field(default_factory=list)


@dataclass(slots=True)
class CurrentWishes:
    """The effect of all wishes that apply now: stopped robots, the preferred dish, reserved things, and
    tasks."""

    stopped: set[int] = field(default_factory=set)
    first: str = ""
    tools: set[str] = field(default_factory=set)
    """Kinds of tools that the robots leave alone."""
    dishes: set[str] = field(default_factory=set)
    """Dishes that the robots do not make."""
    items: set[str] = field(default_factory=set)
    """Items that the robots neither take nor make."""
    products: set[str] = field(default_factory=set)
    """Products that the robots use if they are there, but do not make."""
    unserved: set[str] = field(default_factory=set)
    """Dishes that the robots make but do not serve; with an empty code, all."""
    tasks: list[Wish] = field(default_factory=list)
    of_some: list[Wish] = field(default_factory=list)
    """What only some of the agent's robots leave alone."""
    tool_of: Mapping[str, str] = field(default_factory=dict)
    """The kind of tool of each product and place."""

    def of_seat(self, seat: int) -> CurrentWishes:
        """Return these wishes as they apply to one robot."""
        own = deepcopy(self)
        for wish in self.of_some:
            if seat in wish.seats:
                own.kept(wish.do).add(wish.what)
        return own

    def add_task(self, wish: Wish) -> None:
        """Add a task. Robots that it names no longer wait, and its item is no longer reserved."""
        self.stopped -= set(wish.seats)
        for kept in (self.items, self.products, self.dishes):
            kept.discard(wish.what)
        named = set(wish.seats)
        self.of_some = [
            each for each in self.of_some if each.what != wish.what or not named & set(each.seats)
        ]
        if wish.do == SERVE:
            self.unserved -= {wish.what, ""}
        self.tasks.append(wish)

    def take(self, wish: Wish, seats: set[int], mine: tuple[int, ...]) -> None:
        """Apply a request that is no task. `seats` are the robots that it concerns, and `mine` are all robots
        of the agent."""
        if wish.do == GO_ON:
            self.stopped -= seats
            if wish.seats:
                self._lift(seats, mine)
            else:
                self._forget()
        elif wish.do == STOP:
            self.stopped |= seats
            self.tasks = [each for each in self.tasks if not set(each.meant(mine)) & seats]
        elif wish.do == FIRST:
            self.first = wish.what
            self.dishes.discard(wish.what)
        else:  # something is reserved, and these robots do not do it any more
            if seats == set(mine):
                self.kept(wish.do).add(wish.what)
            else:
                self.of_some.append(replace(wish, seats=tuple(sorted(seats))))
            self.tasks = [
                one for one in self.tasks if not (set(one.meant(mine)) & seats and self._ends(one, wish))
            ]

    def _ends(self, task: Wish, left: Wish) -> bool:
        """Return whether a task cannot be done without what robots shall leave alone."""
        if left.do == LEAVE_SERVING:
            return task.do == SERVE and left.what in ("", task.what)
        if left.do == LEAVE_TOOL:
            return task.do in (MAKE, FREE) and self.tool_of.get(task.what, task.what) == left.what
        return task.what == left.what

    def kept(self, do: str) -> set[str]:
        """Return what all robots leave alone, of one kind of LEAVE_WISHES."""
        found: set[str] = getattr(self, _KEPT[do])
        return found

    def _lift(self, seats: set[int], mine: tuple[int, ...]) -> None:
        """Lift all that these robots leave alone. The agent's other robots still leave it alone."""
        others = tuple(seat for seat in mine if seat not in seats)
        for_all = [(do, what) for do in _KEPT for what in sorted(self.kept(do))]
        for do in _KEPT:
            self.kept(do).clear()
        kept = [replace(one, seats=tuple(set(one.seats) - seats)) for one in self.of_some]
        kept += [Wish(0, 0, 0, do, what, others) for do, what in for_all]
        self.of_some = [one for one in kept if one.seats]

    def _forget(self) -> None:
        self.first, self.tasks, self.of_some = "", [], []
        for do in _KEPT:
            self.kept(do).clear()


_KEPT: Mapping[str, str] = {
    LEAVE_TOOL: "tools",
    LEAVE_DISH: "dishes",
    LEAVE_ITEM: "items",
    LEAVE_PRODUCT: "products",
    LEAVE_SERVING: "unserved",
}
"""The attributes of CurrentWishes with what robots leave alone."""


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


def parse_wishes(
    messages: Iterable[TeamMessage], brief: Mapping[str, Json], orders: Sequence[str] = ()
) -> list[Wish]:
    """Return all wishes (people's requests) that can be understood in these messages, in order."""
    return [wish for said in messages for wish in parse_message(said, brief, orders).wishes]


def parse_message(
    message: TeamMessage,
    brief: Mapping[str, Json],
    orders: Sequence[str] = (),
    senders: Sequence[int] = (),
) -> ParsedMessage:
    """Return what a message says. `orders` are the ordered dishes, the most urgent first. They decide between
    several products that a word can mean. `senders` are the robots of the sender."""
    parsed, targets = ParsedMessage(), Targets(brief, orders)
    for clause in read_sentences(message.text, brief):
        if clause.players and set(clause.players) <= set(senders) and clause.kind == ORDER:
            clause = replace(clause, kind=OFFER, players=())  # they name their own robot
        _add_clause(parsed, clause, targets, message)
    return parsed


def _add_clause(parsed: ParsedMessage, clause: Clause, targets: Targets, message: TeamMessage) -> None:
    if clause.kind in (DOING, HELP, QUESTION, TALK, UNCLEAR):
        parsed.points.append(OpenPoint(clause.kind, clause.players))
        return
    drafts = list(_drafts(clause, targets))
    if clause.has_unknown and all(targets.kind_of(thing) for thing in clause.things):
        drafts = [draft for draft in drafts if draft[0] not in TASKS]  # the thing itself is not known
    when = _condition(clause.when, targets) if clause.when else None
    if clause.when and (when is None or any(draft[0] not in TASKS for draft in drafts)):
        drafts = []
    _, choice = targets.made(clause.verb, clause.things)
    if not drafts:
        point = (
            OpenPoint(WHICH, clause.players, tuple(choice)) if choice else OpenPoint(UNCLEAR, clause.players)
        )
        parsed.points.append(point)
    is_job, forbids = message.kind == INFORM, clause.kind == AVOID
    for do, what in dict.fromkeys(drafts):
        seats = clause.players if clause.kind != OFFER else ()
        wish = Wish(
            message.number, message.sender or 0, message.step, do, what, (), is_job, forbids, when=when
        )
        wish = replace(wish, mark=NOT_SEEN) if wish.ends_when_done else wish
        each = [(seat,) for seat in seats] if do in TASKS and seats else [seats]
        parsed.wishes += [replace(wish, seats=one) for one in each]


def _condition(condition: Condition, targets: Targets) -> tuple[str, str] | None:
    """Return the condition of an order in codes. None if it names nothing that this kitchen has."""
    if condition.state == FREE_PLACE:
        is_place = bool(targets.kinds_in([condition.thing]))
        return (FREE_PLACE, condition.thing.removeprefix("@")) if is_place else None
    products, _ = targets.made(condition.verb, [condition.thing] if condition.thing else [])
    return (READY, products[0]) if len(products) == 1 and not targets.kind_of(condition.thing) else None


Draft = tuple[str, str]
"""What a wish asks to do, and with what."""


def _drafts(clause: Clause, targets: Targets) -> Iterator[Draft]:
    """Yield what a clause asks for, in codes. Nothing if it names nothing that this kitchen has."""
    if clause.kind in (HALT, RESUME):
        yield (STOP if clause.kind == HALT else GO_ON), ""
    elif clause.kind == ORDER:
        yield from _ordered(clause, targets)
    elif not (clause.kind == AVOID and clause.is_first):
        yield from _left(clause, targets)


def _ordered(clause: Clause, targets: Targets) -> Iterator[Draft]:
    """Yield the tasks of an order, or the dishes that come first."""
    verb, things = clause.verb, clause.things
    dishes = targets.named_dishes([one for one in things if not targets.kind_of(one)])
    if verb == "fetch" and any(targets.kind_of(thing) == "servingtable" for thing in things):
        verb = "serve"
    if verb == "serve":
        yield from ((SERVE, dish) for dish in targets.dishes(things))
    elif verb == "free":
        places = [thing.removeprefix("@") for thing in things if targets.kinds_in([thing])]
        yield from ((FREE, place) for place in places)
    elif dishes and (clause.is_first or clause.is_common) and verb != "fetch":
        yield from ((FIRST, dish) for dish in dishes)
    elif verb == "fetch":
        yield from ((FETCH, item) for item in targets.items(things))
    else:
        yield from _work(verb, things, targets)


def _work(verb: str, things: Sequence[str], targets: Targets) -> Iterator[Draft]:
    """Yield the products to make. Ingredients that only stand in a recipe with others are fetched."""
    products, choice = targets.made(verb, things)
    yield from ((MAKE, product) for product in products)
    if not (products or choice or verb in WORK_TOOLS):
        yield from ((FETCH, item) for item in targets.items(things) if item in targets.brief["base"])


def _left(clause: Clause, targets: Targets) -> Iterator[Draft]:
    """Yield what is reserved for the sender, or forbidden."""
    verb, things = clause.verb, clause.things
    items = [thing for thing in things if not targets.kind_of(thing)]
    kinds = targets.kinds_in(things)
    if verb == "serve":
        yield from ((LEAVE_SERVING, dish) for dish in (targets.dishes(things) if items else [""]))
    elif kinds and (verb in ("use", "") or not items):
        yield from ((LEAVE_TOOL, kind) for kind in kinds)
    elif verb in ("fetch", "use"):
        yield from ((LEAVE_ITEM, item) for item in targets.items(items))
    elif not items:
        yield from ((LEAVE_TOOL, kind) for kind in targets.tools_of(verb))
    else:
        for do, what in _work(verb, things, targets):
            is_dish = what in targets.brief["dishes"]
            yield (LEAVE_ITEM if do == FETCH else LEAVE_DISH if is_dish else LEAVE_PRODUCT), what


def current_wishes(
    wishes: Iterable[Wish], mine: tuple[int, ...], *, step: int, tool_of: Mapping[str, str] | None = None
) -> CurrentWishes:
    """Return the combined effect of these requests on the agent's robots (`mine`). Later requests override
    earlier ones. Old requests are ignored. `tool_of` has the kind of tool of each product and place."""
    now = CurrentWishes(tool_of=tool_of or {})
    for wish in wishes:
        seats = set(wish.meant(mine))
        if seats and wish.do in TASKS:
            if not wish.is_over(step) and not wish.when:
                now.add_task(wish)
        elif seats and not wish.is_over(step):
            now.take(wish, seats, mine)
    return now


def open_wishes(wishes: Iterable[Wish], *, step: int, done: Iterable[Wish]) -> list[Wish]:
    """Return the requests to remember, in order. Requests that are too old or in `done` are left out. Of
    equal requests, only the last is returned."""
    over = set(done)
    left = [wish for wish in wishes if wish not in over and not wish.is_over(step)]
    last = {(wish.do, wish.what, wish.seats, wish.number if wish.do in TASKS else 0): wish for wish in left}
    kept = set(last.values())
    return [wish for wish in left if wish in kept]


def is_for_member(
    wish: Wish | OpenPoint, message: TeamMessage, organisation: Organisation, member: int
) -> bool:
    """Return whether the team member `member` has to follow this request.

    A task that names no robot is for the first agent that received the message. A job is for each receiver.
    """
    is_task = isinstance(wish, OpenPoint) or (wish.do in TASKS and not wish.is_job)
    if wish.seats or not is_task:
        return True
    return is_first_addressee(message, organisation, member)


def is_first_addressee(message: TeamMessage, organisation: Organisation, member: int) -> bool:
    """Return whether `member` has the lowest number among the agents with a seat that received this
    message. True if no such agent received it."""
    receivers = [organisation.member(one) for one in message.to]
    return member == min((one.number for one in receivers if one.seats and not one.is_person), default=member)
