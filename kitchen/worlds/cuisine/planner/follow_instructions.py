"""Follow requests that people write to robots in plain sentences, without a language model.

The module gives the commands, answers the messages, and reports progress. A robot with a task gets no command
from the planner's plan. The plan leaves out orders, items and tools that people have reserved for themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kitchen.agents.plain_sentences.sentence_clauses import DOING, HELP, QUESTION, TALK, UNCLEAR
from kitchen.contract.agent import Situation
from kitchen.contract.organisation import ACCEPT, ANSWER, DECLINE, INFORM, REPORT
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import Command, Intent, Json
from kitchen.worlds.cuisine.planner import instruction_answers as answers
from kitchen.worlds.cuisine.planner.instructed_tasks import (
    TaskProgress,
    assigned_wishes,
    is_offer_done,
    item_source,
    orders_without,
    product_exists,
    task_progress,
)
from kitchen.worlds.cuisine.planner.instruction_parser import (
    FETCH,
    FIRST,
    GO_ON,
    LEAVE_DISH,
    LEAVE_ITEM,
    LEAVE_PRODUCT,
    LEAVE_SERVING,
    LEAVE_TOOL,
    LEAVE_WISHES,
    MAKE,
    SERVE,
    STOP,
    TASKS,
    WHICH,
    CurrentWishes,
    OpenPoint,
    ParsedMessage,
    Wish,
    current_wishes,
    is_first_addressee,
    is_for_member,
    open_wishes,
    parse_message,
    people_messages,
    person_members,
    withdrawn_jobs,
)

HEARD_KEY = "heeded"
"""Key of the requests in the planner's memory; absent while nothing was asked."""


@dataclass(frozen=True, slots=True)
class HeardInstructions:
    """All requests of people that may still apply. It also marks which of them are new."""

    before: Mapping[str, Json]
    """The remembered state: the number of the `last` message, and `wishes`."""
    news: tuple[TeamMessage, ...]
    parsed: Mapping[int, ParsedMessage]
    """What the new messages say, by number."""
    fresh: tuple[Wish, ...]
    """The new wishes that are addressed to this agent."""
    wishes: tuple[Wish, ...]
    """The earlier wishes and the fresh ones, in order."""

    @property
    def last(self) -> int:
        """Return the number of the newest message."""
        return max([int(self.before["last"]), *(one.number for one in self.news)])

    @property
    def asks_doing(self) -> bool:
        """Return whether a new message asks what the robots do, or another question."""
        points = (point for parsed in self.parsed.values() for point in parsed.points)
        return any(point.kind in (DOING, QUESTION) for point in points)

    def stops(self, mine: Iterable[int]) -> dict[int, int]:
        """Return the robots among `mine` that a new message asks to stop, each with the number of this
        message."""
        stops = [wish for wish in self.fresh if wish.do == STOP]
        return {seat: wish.number for wish in stops for seat in wish.meant(mine)}


def hear_instructions(situation: Situation) -> HeardInstructions | None:
    """Return all requests that people have written so far; None if they have written nothing."""
    known = situation.memory.get(HEARD_KEY) if isinstance(situation.memory, dict) else None
    before = known or {"last": 0, "wishes": []}
    said = people_messages(
        situation.talk.messages, situation.talk.organisation, after=situation.talk.taken_over
    )
    news = tuple(one for one in said if one.number > before["last"])
    if not (news or before["last"]):
        return None
    parsed = {one.number: _parsed(situation, one) for one in news}
    fresh = tuple(_for_us(situation, news, parsed))
    gone, people = withdrawn_jobs(situation.talk.messages), person_members(situation.talk.organisation)
    wishes = tuple(
        one
        for one in (*map(Wish.read, before["wishes"]), *fresh)
        if not (one.is_job and one.number in gone) and (one.do not in LEAVE_WISHES or one.sender in people)
    )
    return HeardInstructions(before, news, parsed, fresh, wishes)


def _parsed(situation: Situation, message: TeamMessage) -> ParsedMessage:
    team, sender = situation.talk.organisation, message.sender
    seats = team.member(sender).seats if team and sender in team.numbers else ()
    brief = next(iter(situation.briefs.values()))
    return parse_message(message, brief, _ordered(situation), seats)


def _ordered(situation: Situation) -> list[str]:
    """Return the ordered dishes, the most urgent first."""
    seen = next(iter(situation.observations.values()))
    return [str(order["dish"]) for order in seen["orders"]]


def _for_us(
    situation: Situation, news: Sequence[TeamMessage], parsed: Mapping[int, ParsedMessage]
) -> Iterator[Wish]:
    """Yield the new wishes that are addressed to this agent. `news` are the new messages."""
    team, member = situation.talk.organisation, situation.talk.member
    for said in news:
        wishes = parsed[said.number].wishes
        yield from (wish for wish in wishes if team and is_for_member(wish, said, team, member))


# Answers


@dataclass(frozen=True, slots=True)
class OpenAnswer:
    """The answer to new messages, in which the questions for the robots' present work are still open."""

    parts: Sequence[answers.Part] = ()
    """Sentences. An entry with the code DOING and seats stands for what these robots do."""
    to: tuple[int, ...] = ()

    def draft(self, brief: Mapping[str, Json], intents: Mapping[int, Intent]) -> tuple[MessageDraft, ...]:
        """Return the message, with what each robot will do next (`intents`)."""
        parts = list[answers.Part]()
        for part in self.parts:
            if part[0] == DOING:
                parts += [[DOING, seat, dict(intents.get(seat, {"do": "wait"}))] for seat in part[1]]
            else:
                parts.append(part)
        unique = [part for place, part in enumerate(parts) if part not in parts[:place]]
        return (answers.answer_message(unique, brief, ANSWER, self.to),) if unique and self.to else ()


def open_answer(situation: Situation, instructions: HeardInstructions, fresh: Sequence[Wish]) -> OpenAnswer:
    """Return the answer to new messages in words. It says what was understood, before anything is done.
    `fresh` are the new wishes, with the robots that do them."""
    team = situation.talk.organisation
    if team is None:
        return OpenAnswer()
    said = [one for one in instructions.news if one.kind != INFORM]
    parts = [part for one in said for part in _answer(situation, instructions, one, fresh)]
    senders = {one.sender for one in said if one.sender is not None}
    return OpenAnswer(parts, tuple(sorted(senders & set(team.to(situation.talk.member, ANSWER)))))


def _answer(
    situation: Situation, instructions: HeardInstructions, message: TeamMessage, fresh: Sequence[Wish]
) -> Iterator[answers.Part]:
    """Yield the sentences of the answer to one message. Only the addressed robots answer: those that it names
    or, if it names none, those of the first agent that received it."""
    parsed, team = instructions.parsed[message.number], situation.talk.organisation
    seats = [*(wish.seats for wish in parsed.wishes), *(point.seats for point in parsed.points)]
    named = {seat for each in seats for seat in each}
    first = team is not None and is_first_addressee(message, team, situation.talk.member)
    unknown = sorted(named - set(range(len(next(iter(situation.observations.values()))["agents"]))))
    if first and unknown:
        yield [answers.NO_ROBOT, unknown, ""]
    answers_all = bool(named & set(situation.seats)) or (first and not named)
    mine = [one for one in fresh if one.number == message.number and one.meant(situation.seats)]
    told = [one for one in mine if answers_all or (one.do in (STOP, GO_ON) and not one.seats)]
    yield from _understood(situation, told)
    for point in parsed.points:
        is_all = point.kind == DOING and not point.seats
        if is_all or (answers_all and (not point.seats or set(point.seats) & set(situation.seats))):
            yield from _point_parts(situation, point)


def _understood(situation: Situation, wishes: Sequence[Wish]) -> Iterator[answers.Part]:
    """Yield the sentences about wishes: what was understood, and what is there already or not at all."""
    parts = [_wish_part(situation, wish) for wish in wishes]
    told = [part for part in parts if part[0] not in (answers.EXISTS, answers.MISSING)]
    if told:
        yield [answers.UNDERSTOOD, *told]
    if any(_holds_on(wish) for wish in wishes):
        yield [answers.UNTIL]
    yield from (part for part in parts if part not in told)


def _holds_on(wish: Wish) -> bool:
    """Return whether a wish applies until somebody takes it back."""
    return wish.do == STOP or (wish.do in LEAVE_WISHES and not wish.ends_when_done)


def _wish_part(situation: Situation, wish: Wish) -> answers.Part:
    """Return the sentence about one wish."""
    brief, seen = next(iter(situation.briefs.values())), next(iter(situation.observations.values()))
    mine = list(wish.meant(situation.seats))
    if wish.do in TASKS and wish.when:
        state, what = wish.when
        return [answers.WHEN[state], what, list(_task_part(replace(wish, when=None), brief, seen, mine[0]))]
    if wish.do in TASKS:
        return _task_part(wish, brief, seen, mine[0])
    if wish.do == FIRST:
        return [FIRST, wish.what]
    if wish.do in (STOP, GO_ON):
        return [wish.do, mine, ""]
    return [_left_code(wish, brief), mine, wish.what] if wish.forbids else _own_part(wish, brief)


def _task_part(wish: Wish, brief: Mapping[str, Json], seen: Mapping[str, Json], seat: int) -> answers.Part:
    if wish.do == MAKE and product_exists(seen, wish.what):
        return [answers.EXISTS, wish.what]
    is_held = seen["agents"][seat]["holds"] == wish.what
    if wish.do == FETCH and not (is_held or item_source(seen, brief, wish.what)):
        return [answers.MISSING, seat, wish.what]
    if wish.do != MAKE:
        return [wish.do, seat, wish.what]
    verb, item = answers.work_words(brief, wish.what)
    return [verb, seat, item]


def _left_code(wish: Wish, brief: Mapping[str, Json]) -> str:
    """Return the code of the sentence about what robots shall not do."""
    if wish.do == LEAVE_SERVING:
        return "not_serve" if wish.what else "not_serve_all"
    return {LEAVE_TOOL: "not_use", LEAVE_ITEM: "not_take"}.get(wish.do, "not_make")


def _own_part(wish: Wish, brief: Mapping[str, Json]) -> answers.Part:
    """Return the sentence about what the sender does."""
    if wish.do in (LEAVE_PRODUCT, LEAVE_DISH):
        verb, item = answers.work_words(brief, wish.what)
        return [f"you_{verb}", item]
    if wish.do == LEAVE_SERVING:
        return ["you_serve", wish.what] if wish.what else ["you_serve_all"]
    return ["you_use" if wish.do == LEAVE_TOOL else "you_fetch", wish.what]


def _point_parts(situation: Situation, point: OpenPoint) -> Iterator[answers.Part]:
    """Yield the sentences about a part of a message that is no wish."""
    mine = [seat for seat in situation.seats if not point.seats or seat in point.seats]
    if point.kind == TALK:
        yield [answers.ALL_RIGHT]
    elif point.kind == WHICH:
        yield [answers.WHICH_ONE, *point.products]
    elif point.kind in (UNCLEAR, HELP):
        brief = next(iter(situation.briefs.values()))
        yield [point.kind, *answers.example_sentences(brief, _ordered(situation), mine[0] if mine else 0)]
    else:
        if point.kind == QUESTION:
            yield [QUESTION]
        yield [DOING, mine]


def job_answers(
    situation: Situation, instructions: HeardInstructions, fresh: Sequence[Wish]
) -> tuple[MessageDraft, ...]:
    """Return the answer to each new job in plain text. The agent accepts a job that it understands, and
    otherwise declines it."""
    brief, jobs = next(iter(situation.briefs.values())), list[MessageDraft]()
    for job in (one for one in instructions.news if one.kind == INFORM):
        mine = [one for one in fresh if one.number == job.number and one.meant(situation.seats)]
        to, data = (job.sender or 0,), {"job": job.number}
        unclear = list(_point_parts(situation, OpenPoint(UNCLEAR)))
        parts = list(_understood(situation, mine)) or unclear
        jobs.append(answers.answer_message(parts, brief, ACCEPT if mine else DECLINE, to, data))
    return tuple(jobs)


def report_messages(
    situation: Situation, wishes: Sequence[Wish], left: Collection[Wish], done: Collection[Wish]
) -> tuple[MessageDraft, ...]:
    """Return reports about finished jobs, and about tasks that could not be done in time.

    `wishes` are all requests, `left` those that remain, and `done` those that were fulfilled. A job with
    several tasks is reported once, after the last one.
    """
    ours = [wish for wish in wishes if wish.do in TASKS and wish.meant(situation.seats)]
    ended = [wish for wish in ours if wish not in left]
    open_jobs = {wish.number for wish in left if wish.do in TASKS}
    by_job = {wish.number: wish for wish in ended if wish.is_job and wish.number not in open_jobs}
    late = [one for one in ended if not one.is_job and one not in done and one.is_over(situation.step + 1)]
    talk, brief = situation.talk, next(iter(situation.briefs.values()))
    receivers = talk.organisation.to(talk.member, ANSWER) if talk.organisation else ()
    sorry = (
        answers.answer_message([_ended_part(one, is_done=False)], brief, ANSWER, (one.sender,))
        for one in late
        if one.sender in receivers
    )
    return (*(_report(wish, brief, is_done=wish in done) for wish in by_job.values()), *sorry)


def _ended_part(wish: Wish, *, is_done: bool) -> answers.Part:
    return [answers.DONE, wish.what] if is_done else [answers.LATE, wish.seats[0], wish.what]


def _report(wish: Wish, brief: Mapping[str, Json], *, is_done: bool) -> MessageDraft:
    data = {"job": wish.number, "status": "done" if is_done else "failed"}
    return answers.answer_message([_ended_part(wish, is_done=is_done)], brief, REPORT, (wish.sender,), data)


# Commands


@dataclass(slots=True)
class FollowedInstructions:
    """The commands of robots with a request, the situation of all other robots, the memory, and the
    answers to people."""

    situation: Situation
    tasks: TaskProgress = field(default_factory=TaskProgress)
    memory: dict[str, Json] = field(default_factory=dict)
    says: tuple[MessageDraft, ...] = ()
    answer: OpenAnswer = field(default_factory=OpenAnswer)


def follow_instructions(
    situation: Situation, instructions: HeardInstructions, at_jobs: Mapping[int, int]
) -> FollowedInstructions:
    """Carry out people's requests as far as they apply now. Return commands, answers, and the situation of
    the robots without a request.

    `at_jobs` maps each robot with a job to the number of the job's message. Older requests do not apply to
    this robot.
    """
    step = situation.step + 1
    wishes = assigned_wishes(situation, instructions.wishes, at_jobs)
    fresh = wishes[len(wishes) - len(_kept_fresh(instructions)) :]
    tool_of = _tools(next(iter(situation.briefs.values())))
    kept = [wish for wish in wishes if not is_offer_done(situation, wish)]
    now = current_wishes(kept, situation.seats, step=step, tool_of=tool_of)
    if begun := tuple(sorted(now.stopped & at_jobs.keys())):
        goes_on = Wish(instructions.last, 0, step, GO_ON, "", begun)
        wishes, kept = [*wishes, goes_on], [*kept, goes_on]
        now = current_wishes(kept, situation.seats, step=step, tool_of=tool_of)
    made = task_progress(situation, now, at_jobs)
    asked = [wish for wish in wishes if wish.do in TASKS and not wish.when and wish.meant(situation.seats)]
    still = current_wishes(wishes, situation.seats, step=0, tool_of=tool_of).tasks
    ended = [*made.done, *(wish for wish in asked if wish not in still)]  # somebody asked for something else
    left = open_wishes(kept, step=step, done=ended)
    memory = {"last": instructions.last, "wishes": [one.to_json() for one in left]}
    reports = report_messages(situation, wishes, left, made.done)
    rest = situation_of_rest(situation, made.commands)
    seen = {
        seat: _seen(situation.observations[seat], situation.briefs[seat], now.of_seat(seat))
        for seat in rest.seats
    }
    return FollowedInstructions(
        replace(rest, observations=seen),
        made,
        memory,
        (*job_answers(situation, instructions, fresh), *reports),
        open_answer(situation, instructions, fresh),
    )


def _tools(brief: Mapping[str, Json]) -> dict[str, str]:
    """Return the kind of tool of each product and place."""
    return {**brief["locations"], **{item: str(one["tool"]) for item, one in brief["recipes"].items()}}


def _kept_fresh(instructions: HeardInstructions) -> list[Wish]:
    """Return the new wishes that still apply."""
    return [wish for wish in instructions.fresh if wish in instructions.wishes]


def situation_of_rest(situation: Situation, commands: Mapping[int, Command]) -> Situation:
    """Return the situation of the seats without a command in `commands`. In it, `commands` count as already
    given in this step."""
    seats = tuple(seat for seat in situation.seats if seat not in commands)
    return situation_of_seats(situation, seats, commands)


def situation_of_seats(
    situation: Situation, seats: tuple[int, ...], commands: Mapping[int, Command]
) -> Situation:
    """Return the situation of some seats. In it, `commands` count as already given in this step."""
    commanded, memory = {**situation.commanded, **commands}, _memory_of(situation.memory, seats)
    return replace(situation, seats=seats, commanded=commanded, memory=memory)


def seats_by_reservations(situation: Situation) -> list[tuple[int, ...]]:
    """Return the seats in groups that leave the same things alone (see `follow_instructions`). Groups that
    leave fewer things alone come first."""
    groups = dict[tuple[frozenset[str], ...], list[int]]()
    for seat in situation.seats:
        seen = situation.observations[seat]
        dishes = [order["dish"] for order in seen["orders"]]
        left = tuple(frozenset(one) for one in (seen.get("theirs", ()), seen.get("unmade", ()), dishes))
        groups.setdefault(left, []).append(seat)
    return [tuple(groups[left]) for left in sorted(groups, key=lambda one: len(one[0]) + len(one[1]))]


def _seen(observation: Mapping[str, Json], brief: Mapping[str, Json], now: CurrentWishes) -> dict[str, Json]:
    """Return the observation as the planner should see it. Orders that people make themselves, or that a
    robot serves as its task, are removed. `theirs` lists the items that people get, and `unmade` the items
    that must not be made, because somebody else makes them."""
    kept = _unserved(observation, brief, now)
    orders = orders_without(observation["orders"], {*now.dishes, *kept})
    for task in (wish for wish in now.tasks if wish.do == SERVE):
        same = [order for order in orders if order["dish"] == task.what]
        orders = [order for order in orders if not same or order is not same[0]]
    first = [order for order in orders if order["dish"] == now.first]
    made = [item for item, recipe in brief["recipes"].items() if recipe["tool"] in now.tools]
    made += [wish.what for wish in now.tasks if wish.do == MAKE]
    theirs = [*now.items, *now.dishes, *kept]
    return {**observation, "orders": first or orders, "theirs": theirs, "unmade": [*made, *now.products]}


def _unserved(observation: Mapping[str, Json], brief: Mapping[str, Json], now: CurrentWishes) -> list[str]:
    """Return the dishes that are there and that people serve themselves. The robots leave them where they
    are."""
    dishes = [dish for dish in brief["dishes"] if {dish, ""} & now.unserved]
    return [dish for dish in dishes if product_exists(observation, dish)]


def _memory_of(memory: Json, seats: Sequence[int]) -> Json:
    """Return the agent's memory without the entries of robots that are not in `seats`."""
    if not isinstance(memory, dict) or "errands" not in memory:
        return memory
    return {
        **memory,
        "errands": [errand for errand in memory["errands"] if errand[0] in seats],
        "passing": [seat for seat in memory["passing"] if seat in seats],
        "helping": [seat for seat in memory.get("helping", ()) if seat in seats],
    }
