"""Follow requests that people write to robots in plain English, without a language model.

The module gives the commands, answers the messages, and reports progress. A robot with a request gets no
command from the planner's plan. The plan leaves out orders, items and tools that people have reserved for
themselves.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from kitchen.contract.agent import Situation
from kitchen.contract.organisation import ACCEPT, ANSWER, DECLINE, INFORM, REPORT
from kitchen.contract.team_messages import MessageDraft, TeamMessage
from kitchen.contract.world import Command, Json
from kitchen.words.english_text import and_list
from kitchen.worlds.cuisine.planner.instruction_parser import (
    FETCH,
    FIRST,
    GO_ON,
    LEAVE_DISH,
    LEAVE_ITEM,
    LEAVE_TOOL,
    LEAVE_WISHES,
    STOP,
    CurrentWishes,
    Wish,
    current_wishes,
    is_first_addressee,
    is_for_member,
    open_wishes,
    parse_wishes,
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
    """The remembered state: the number of the `last` message, whether somebody was `helped`, and `wishes`."""
    news: tuple[TeamMessage, ...]
    read: tuple[Wish, ...]
    """The wishes understood in the new messages."""
    fresh: tuple[Wish, ...]
    """The new wishes that are addressed to this agent."""
    wishes: tuple[Wish, ...]
    """The earlier wishes and the fresh ones, in order."""

    @property
    def last(self) -> int:
        """Return the number of the newest message."""
        return max([int(self.before["last"]), *(one.number for one in self.news)])

    def stops(self, mine: Iterable[int]) -> dict[int, int]:
        """Return the robots among `mine` that a new message asks to stop, each with the number of this
        message."""
        stops = [wish for wish in self.fresh if wish.do == STOP]
        return {seat: wish.number for wish in stops for seat in wish.meant(mine)}


def hear_instructions(situation: Situation) -> HeardInstructions | None:
    """Return all requests that people have written so far; None if they have written nothing."""
    known = situation.memory.get(HEARD_KEY) if isinstance(situation.memory, dict) else None
    before = known or {"last": 0, "helped": False, "wishes": []}
    said = people_messages(
        situation.talk.messages, situation.talk.organisation, after=situation.talk.taken_over
    )
    news = tuple(one for one in said if one.number > before["last"])
    if not (news or before["last"]):
        return None
    read = tuple(parse_wishes(news, next(iter(situation.briefs.values()))))
    fresh = tuple(_for_us(situation, news, read))
    gone, people = withdrawn_jobs(situation.talk.messages), person_members(situation.talk.organisation)
    wishes = tuple(
        one
        for one in (*map(Wish.read, before["wishes"]), *fresh)
        if not (one.is_job and one.number in gone) and (one.do not in LEAVE_WISHES or one.sender in people)
    )
    return HeardInstructions(before, news, read, fresh, wishes)


def _for_us(situation: Situation, news: Sequence[TeamMessage], read: Sequence[Wish]) -> list[Wish]:
    """Return those wishes in `read` that are addressed to this agent. A wish is a request in a message;
    `news` are the new messages."""
    said, team, member = {one.number: one for one in news}, situation.talk.organisation, situation.talk.member
    return [wish for wish in read if team and is_for_member(wish, said[wish.number], team, member)]


NOOP: Command = ("noop",)


def item_source(situation: Situation, brief: Mapping[str, Json], item: str) -> str:
    """Return the place from which a robot can take the item: the storage, or a tool with only this item
    inside.

    Return an empty string if there is none.
    """
    places: Mapping[str, str] = brief["locations"]
    if item in brief["base"]:
        return next(place for place, kind in places.items() if kind == "storage")
    seen = next(iter(situation.observations.values()))["locations"]
    lies = (place for place in places if list(seen[place]["items"]) == [item])
    return next((place for place in lies if places[place] != "servingtable"), "")


def fetch_command(agent: Mapping[str, Json], source: str, item: str, brief: Mapping[str, Json]) -> Command:
    """Return the next command with which a robot with empty hands fetches the item from the place `source`.

    `agent` is the robot's entry in the observation. A busy robot waits.
    """
    if agent["busy"]:
        return NOOP
    if agent["at"] != source:
        return ("goto", source)
    return ("get", source, item) if brief["locations"][source] == "storage" else ("get", source)


HELP_TEXT = "I understand: robot 2, fetch rice; salmon sushi first; stop; go on; let me do the chopping."
UNCLEAR_TEXT = "I did not understand that."
FAILED_TEXT = "I could not get {}."


def needs_help(situation: Situation, instructions: HeardInstructions) -> bool:
    """Return whether this agent should answer that it did not understand a message.

    Only the first agent that received the message answers. Jobs that are not understood are declined instead.
    """
    understood, team = {wish.number for wish in instructions.read}, situation.talk.organisation
    unclear = [one for one in instructions.news if one.number not in understood and one.kind != INFORM]
    return team is not None and any(is_first_addressee(one, team, situation.talk.member) for one in unclear)


def answer_messages(
    situation: Situation, brief: Mapping[str, Json], instructions: HeardInstructions
) -> tuple[MessageDraft, ...]:
    """Return the answers to new messages: one message that says what was understood, and an answer to each
    new job.

    If something is not understood for the first time, the answer also lists what people can ask.
    """
    organisation = situation.talk.organisation
    if organisation is None:
        return ()
    mine = [wish for wish in instructions.fresh if not wish.is_job and wish.meant(situation.seats)]
    lines = [_answer(wish, situation, brief) for wish in mine]
    if needs_help(situation, instructions):
        lines.append(UNCLEAR_TEXT if instructions.before["helped"] else HELP_TEXT)
    words = {one.sender for one in instructions.news if one.kind != INFORM and one.sender is not None}
    to = tuple(sorted(words & set(organisation.to(situation.talk.member, ANSWER))))
    answer = (MessageDraft(" ".join(dict.fromkeys(lines)), ANSWER, to),) if lines and to else ()
    jobs = [one for one in instructions.news if one.kind == INFORM]
    return (*answer, *(_taken(situation, one, brief, instructions.fresh) for one in jobs))


def _taken(
    situation: Situation, job: TeamMessage, brief: Mapping[str, Json], fresh: Sequence[Wish]
) -> MessageDraft:
    """Return the agent's answer to a job in plain text. The agent accepts the job if it understands the text,
    and otherwise declines it."""
    mine = [wish for wish in fresh if wish.number == job.number and wish.meant(situation.seats)]
    to, data = (job.sender or 0,), {"job": job.number}
    if not mine:
        return MessageDraft(HELP_TEXT, DECLINE, to, data)
    lines = [_answer(wish, situation, brief) for wish in mine]
    return MessageDraft(" ".join(dict.fromkeys(lines)), ACCEPT, to, data)


def report_messages(
    situation: Situation,
    brief: Mapping[str, Json],
    wishes: Sequence[Wish],
    left: Collection[Wish],
    done: Collection[Wish],
) -> tuple[MessageDraft, ...]:
    """Return reports about finished jobs, and about items that could not be fetched in time.

    `wishes` are all requests, `left` those that remain, and `done` those that were fulfilled. A job to fetch
    several items is reported once, after the last item.
    """
    ours = [wish for wish in wishes if wish.do == FETCH and wish.meant(situation.seats)]
    ended = [wish for wish in ours if wish not in left]
    open_jobs = {wish.number for wish in left if wish.do == FETCH}
    by_job = {wish.number: wish for wish in ended if wish.is_job and wish.number not in open_jobs}
    late = [one for one in ended if not one.is_job and one not in done and one.is_over(situation.step + 1)]
    talk = situation.talk
    receivers = talk.organisation.to(talk.member, ANSWER) if talk.organisation else ()
    texts = ((one.sender, FAILED_TEXT.format(_name(one, brief))) for one in late if one.sender in receivers)
    sorry = (MessageDraft(text, ANSWER, (sender,)) for sender, text in texts)
    return (*(_report(wish, brief, is_done=wish in done) for wish in by_job.values()), *sorry)


def _report(wish: Wish, brief: Mapping[str, Json], *, is_done: bool) -> MessageDraft:
    status = "done" if is_done else "failed"
    text = ("Done: {}." if is_done else FAILED_TEXT).format(_name(wish, brief))
    return MessageDraft(text, REPORT, (wish.sender,), {"job": wish.number, "status": status})


def _name(wish: Wish, brief: Mapping[str, Json]) -> str:
    return str(brief["names"].get(wish.what, wish.what)).lower()


def _answer(wish: Wish, situation: Situation, brief: Mapping[str, Json]) -> str:
    mine = wish.meant(situation.seats)
    robots = and_list([f"robot {seat + 1}" for seat in mine]) if wish.seats else "we"
    name = _name(wish, brief)
    held = [situation.observations[seat]["agents"][seat]["holds"] for seat in mine]
    if wish.do == FETCH and wish.what not in held and not item_source(situation, brief, wish.what):
        return f"There is no {name} now; I fetch it if there is some soon."
    said = {
        FETCH: f"{robots}: fetching {name}.",
        FIRST: f"{name} first.",
        STOP: f"{robots}: waiting.",
        GO_ON: f"{robots}: going on.",
        LEAVE_TOOL: f"the {name} is yours.",
        LEAVE_DISH: f"{name} is yours.",
        LEAVE_ITEM: f"the {name} is yours.",
    }[wish.do]
    return said[:1].upper() + said[1:]


@dataclass(slots=True)
class FollowedInstructions:
    """The commands of robots with a request, the situation of all other robots, the memory, and the
    answers to people."""

    situation: Situation
    commands: dict[int, Command] = field(default_factory=dict)
    memory: dict[str, Json] = field(default_factory=dict)
    says: tuple[MessageDraft, ...] = ()


def follow_instructions(
    situation: Situation, instructions: HeardInstructions, at_jobs: Mapping[int, int]
) -> FollowedInstructions:
    """Carry out people's requests as far as they apply now. Return commands, answers, and the situation of
    the robots without a request.

    `at_jobs` maps each robot with a job to the number of the job's message. Older requests do not apply to
    this robot.
    """
    brief, step = next(iter(situation.briefs.values())), situation.step + 1
    wishes = list(instructions.wishes)
    now = current_wishes(wishes, situation.seats, step=step)
    if begun := tuple(sorted(now.stopped & at_jobs.keys())):
        wishes.append(Wish(instructions.last, 0, step, GO_ON, "", begun))
        now = current_wishes(wishes, situation.seats, step=step)
    commands, done = _instructed_commands(situation, brief, now, at_jobs)
    asked = current_wishes((wish for wish in wishes if wish.do == FETCH), situation.seats, step=0).fetches
    still = current_wishes(wishes, situation.seats, step=0).fetches
    ended = [*done, *(wish for wish in asked if wish not in still)]  # somebody asked for something else
    left = open_wishes(wishes, step=step, done=ended)
    helped = instructions.before["helped"] or needs_help(situation, instructions)
    memory = {"last": instructions.last, "helped": helped, "wishes": [one.to_json() for one in left]}
    says = answer_messages(situation, brief, instructions) + report_messages(
        situation, brief, wishes, left, done
    )
    rest = situation_of_rest(situation, commands)
    seen = {seat: _seen(situation.observations[seat], brief, now) for seat in rest.seats}
    return FollowedInstructions(replace(rest, observations=seen), commands, memory, says)


def _instructed_commands(
    situation: Situation, brief: Mapping[str, Json], now: CurrentWishes, at_jobs: Mapping[int, int]
) -> tuple[dict[int, Command], list[Wish]]:
    """Return the commands of the robots that have an instruction, and the requests that are fulfilled now."""
    commands: dict[int, Command] = dict.fromkeys(sorted(now.stopped), NOOP)
    done: list[Wish] = []
    for wish in now.fetches:
        seats = [seat for seat in _asked(wish, situation.seats, at_jobs) if seat not in commands]
        agents = {seat: situation.observations[seat]["agents"][seat] for seat in seats}
        if any(agent["holds"] == wish.what for agent in agents.values()):
            done.append(wish)
            continue
        free = [seat for seat, agent in agents.items() if not agent["holds"]]
        source = item_source(situation, brief, wish.what)
        if free and source:
            commands[free[0]] = fetch_command(agents[free[0]], source, wish.what, brief)
    return commands, done


def _asked(wish: Wish, mine: Sequence[int], at_jobs: Mapping[int, int]) -> list[int]:
    """Return the robots that should carry out a request to fetch something: the addressed robots without a
    job.

    If the request names robots, or if all have jobs, robots with a job older than the request are included.
    """
    meant = wish.meant(mine)
    free = [seat for seat in meant if seat not in at_jobs]
    return free if free and not wish.seats else [s for s in meant if at_jobs.get(s, 0) < wish.number]


def situation_of_rest(situation: Situation, commands: Mapping[int, Command]) -> Situation:
    """Return the situation of the seats without a command in `commands`. In it, `commands` count as already
    given in this step."""
    seats = tuple(seat for seat in situation.seats if seat not in commands)
    commanded, memory = {**situation.commanded, **commands}, _memory_of(situation.memory, seats)
    return replace(situation, seats=seats, commanded=commanded, memory=memory)


def _seen(observation: Mapping[str, Json], brief: Mapping[str, Json], now: CurrentWishes) -> dict[str, Json]:
    """Return the observation as the planner should see it. Orders that people want to serve themselves are
    removed. `theirs` lists the items that people get, and `unmade` the items that must not be made."""
    orders = [order for order in observation["orders"] if order["dish"] not in now.dishes]
    first = [order for order in orders if order["dish"] == now.first]
    made = [item for item, recipe in brief["recipes"].items() if recipe["tool"] in now.tools]
    return {**observation, "orders": first or orders, "theirs": [*now.items, *now.dishes], "unmade": made}


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
