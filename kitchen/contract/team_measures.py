"""Measure from the log of an episode how well the members of an organisation (a team) worked together.

The measures TC (section 4.1) and mPT come from S-Agents (arXiv 2402.04578). The module also counts idle
steps, jobs, messages and costs. The same code measures episodes with people and episodes without people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from kitchen.contract.agent import REASON_PLAN_BROKEN
from kitchen.contract.assigned_jobs import (
    ACCEPTED,
    BY_PLATFORM,
    DECLINED,
    DONE,
    FAILED,
    OPEN,
    PASSED_ON,
    WITHDRAWN,
    Job,
    is_same_job,
    job_changes,
)
from kitchen.contract.automatic_commands import BY_WORLD, PLAN_ILLEGAL, PLAN_STALE, THINKING, WAITING
from kitchen.contract.episode_log import EpisodeLog, LoggedCommand, LoggedDecision, is_goal_reached
from kitchen.contract.language_model import total_cost
from kitchen.contract.organisation import ANSWER, ASK, END, SYSTEM, TALK_KINDS
from kitchen.contract.team_messages import CODE_KEY, GONE, TeamMessage
from kitchen.contract.world import Event, Json, World

ACTED, GOES_ON, NOT_ASKED, NOTHING = "acted", "goes_on", "not_asked", "nothing"
"""Codes for a seat's behaviour in a step, besides `thinking` and `waiting`.

`acted`: it was commanded to do something. `goes_on`: it was not asked after such a command, so that a lasting
action probably continues. `not_asked`: it was not asked otherwise. `nothing`: it was asked and did nothing.
"""
FATES = (ACCEPTED, DECLINED, DONE, FAILED, WITHDRAWN, PASSED_ON)
"""States of jobs that are counted: the jobs that were ever in this state."""
MEASURE_COLUMNS = (
    *("member", "is_person", "steps", "steps_to_goal", "seconds_to_goal", "progress"),
    *("plannings", "plannings_a_member"),
    *("steps_acted", "steps_not_asked", "idle_thinking", "idle_waiting", "idle_nothing", "share_together"),
    *("jobs", *(f"jobs_{state}" for state in FATES), "jobs_open", "jobs_reassigned"),
    *("steps_to_accepted", "steps_to_done", "cycles", "longest_cycle"),
    *("messages", "words", "messages_by_kind", "share_by_people", "answers_a_question"),
    *("stale_commands", "plans_dropped", "decisions", "calls", "usd"),
    *("messages_by_pair", "steps_to_answer", "conversations", "messages_a_conversation"),
)
"""The keys of `team_measures`, in their order."""


@dataclass(frozen=True, slots=True)
class Planning:
    """One planning iteration: a decision for which a member thought in a schedule other than `together`."""

    decision: LoggedDecision
    stale: int
    """Number of its commands that were dropped because they were not possible any more."""

    @property
    def due(self) -> int:
        """Return the step in which the decision takes effect."""
        return self.decision.step


def plannings_of(log: EpisodeLog) -> tuple[Planning, ...]:
    """Return every planning iteration (a decision that takes effect after its step), in the order in which
    they began."""
    stale = Counter(
        (_holder(log, event), event.data["planned_in"]) for event in _broken_plans(log, PLAN_STALE)
    )
    planned = [each for each in log.decisions if each.asked_in is not None]
    planned.sort(key=lambda each: (each.asked_in or 0, each.member))
    return tuple(Planning(each, stale[each.member, each.asked_in]) for each in planned)


def _holder(log: EpisodeLog, event: Event) -> int:
    assert log.organisation and event.seat is not None  # noqa: S101 - only seats of members have plans
    return log.organisation.holder(event.seat).number


def _broken_plans(log: EpisodeLog, why: str) -> Iterator[Event]:
    events = (event for step in log.steps for event in step.events)
    return (event for event in events if event.kind == REASON_PLAN_BROKEN and event.data["why"] == why)


@dataclass(frozen=True, slots=True)
class JobCourse:
    """One job, with the step in which it first reached each state."""

    job: Job
    """The job in its last state."""
    reached: Mapping[str, int]

    def steps_to(self, state: str) -> int | None:
        """Return the number of steps from giving the job to this state. None if the job never reached it."""
        return self.reached[state] - self.job.step if state in self.reached else None


def job_courses(messages: Iterable[TeamMessage]) -> tuple[JobCourse, ...]:
    """Return the course of every job in these messages, in the order in which the jobs were given."""
    found: dict[tuple[int, int], JobCourse] = {}
    for message, job in job_changes(messages):
        before = found.get((job.number, job.worker))
        reached = before.reached if before else {}
        found[job.number, job.worker] = JobCourse(job, {job.state: message.step, **reached})
    return tuple(found.values())


def reassigned_jobs(courses: Iterable[JobCourse]) -> frozenset[tuple[int, int]]:
    """Return the failed jobs that their giver assigned again later, as (job number, worker).

    A later job is the same if it has the same aim or, without an aim, the same text. Each later job counts
    for only one failure.
    """
    found, used, given = set[tuple[int, int]](), set[tuple[int, int]](), [*courses]
    for failed in given:
        for later in given if FAILED in failed.reached else ():
            key = later.job.number, later.job.worker
            if key not in used and _gives_again(failed, later.job):
                used.add(key)
                found.add((failed.job.number, failed.job.worker))
                break
    return frozenset(found)


def _gives_again(failed: JobCourse, later: Job) -> bool:
    return is_same_job(failed.job, later) and later.step >= failed.reached[FAILED]


def steps_to_goal(log: EpisodeLog) -> int | None:
    """Return the first step after which every metric of `log.goal` has its value (TC in steps). None without
    a goal, or if it was not reached."""
    return next((step.number for step in log.steps if is_goal_reached(log.goal, step.score)), None)


def activity_by_seat(log: EpisodeLog, world: type[World]) -> dict[int, list[str]]:
    """Return what each seat did in each step: `acted`, `goes_on` (continues an action), `not_asked`,
    `thinking`, `waiting` or `nothing`. A seat without a command did `nothing`."""
    found: dict[int, list[str]] = {seat: [] for seat in range(log.seats)}
    for step in log.steps:
        given = {each.seat: each for each in step.commands}
        for seat, before in found.items():
            last = before[-1] if before else NOTHING
            before.append(_activity(given[seat], world, last) if seat in given else NOTHING)
    return found


def _activity(given: LoggedCommand, world: type[World], before: str) -> str:
    if given.chosen_by in {THINKING, WAITING}:
        return given.chosen_by
    if given.chosen_by == BY_WORLD:
        return GOES_ON if before in {ACTED, GOES_ON} else NOT_ASKED
    return NOTHING if world.is_wait(given.command) else ACTED


def team_measures(log: EpisodeLog, world: type[World]) -> list[dict[str, Json]]:
    """Return a row of measures for the team (`member` is None), then one for each member. Empty without an
    organisation. The keys are:

    - `steps_to_goal`, `seconds_to_goal` (team): time until the goal of the episode (TC); None if it was not
      reached. `progress`: the last values of the goal's metrics.
    - `plannings`: planning iterations. `plannings_a_member` (team): their mean over members (mPT). It is None
      in the schedule `together`, which has no planning iterations.
    - `steps_acted`, `steps_not_asked`, `idle_thinking`, `idle_waiting`, `idle_nothing`: numbers of steps of
      seats, by what the seat did (`activity_by_seat`). `steps_not_asked` counts lasting actions and steps
      with nothing to choose. `share_together` (team): share of steps in which at least two seats acted.
    - `jobs`: jobs of the worker. `jobs_…`: those that ever were in each of `FATES`, that are still open, or
      that were given again after a failure (`jobs_reassigned`). `steps_to_accepted`, `steps_to_done`: means.
    - `cycles`: jobs that came back to an earlier member before anybody started them. `longest_cycle`: the
      number of hops of the longest one.
    - `messages`, `words`, `messages_by_kind`: what members wrote, without the system's messages.
      `share_by_people` (team): share of messages by people. `answers_a_question`: number of answers sent,
      divided by the number of questions received.
    - `stale_commands`: commands that were no longer possible when thinking was over. `plans_dropped`: plans
      that ended because their next command was illegal.
    - `decisions`, `calls`, `usd`: decisions of agents, their model calls, and the cost of these (None if a
      price is unknown).
    - `messages_by_pair`: messages by sender and receiver, such as `{"0>1": 2}`. `steps_to_answer`: the mean
      steps from the newest open question to its answer, which closes all earlier ones of that pair.
      `conversations`, `messages_a_conversation`: see `conversations_in`.
    """
    if log.organisation is None:
        return []
    numbers, conversations = log.organisation.numbers, conversations_in(log)
    members = (_row(log, world, one, (one,), conversations) for one in numbers)
    return [_row(log, world, None, numbers, conversations), *members]


def whole_team_measures(log: EpisodeLog, world: type[World]) -> dict[str, Json]:
    """Return the measures of the team as a whole, the first row of `team_measures`. Raises ValueError without
    an organisation."""
    if log.organisation is None:
        raise ValueError("the episode has no organisation")
    return _row(log, world, None, log.organisation.numbers, conversations_in(log))


def _row(
    log: EpisodeLog,
    world: type[World],
    member: int | None,
    who: Collection[int],
    conversations: Conversations,
) -> dict[str, Json]:
    assert log.organisation  # noqa: S101 - a row is about members
    is_person = None if member is None else log.organisation.member(member).is_person
    return {
        "member": member,
        "is_person": is_person,
        **_time(log, member),
        **_plannings(log, member, who),
        **_activities(log, world, member, who),
        **_jobs(log, who),
        **_messages(log, member, who),
        **_broken(log, who),
        **_money(log, who),
        **_conversations(log, who, conversations),
    }


def _time(log: EpisodeLog, member: int | None) -> dict[str, Json]:
    if member is not None:
        return dict.fromkeys(("steps", "steps_to_goal", "seconds_to_goal", "progress"))
    number, last = steps_to_goal(log), log.steps[-1].score if log.steps else {}
    return {
        "steps": len(log.steps),
        "steps_to_goal": number,
        "seconds_to_goal": log.steps[number - 1].seconds if number else None,
        "progress": {name: last.get(name) for name in log.goal} or None,
    }


def plannings_a_member(log: EpisodeLog) -> float | None:
    """Return the mean number of planning iterations per member (mPT). None if every member chooses in each
    step."""
    if log.organisation is None or not log.organisation.is_timed:
        return None
    return len(plannings_of(log)) / len(log.organisation.members)


def _plannings(log: EpisodeLog, member: int | None, who: Collection[int]) -> dict[str, Json]:
    mean = plannings_a_member(log)
    number = None if mean is None else sum(each.decision.member in who for each in plannings_of(log))
    return {"plannings": number, "plannings_a_member": mean if member is None else None}


def _activities(
    log: EpisodeLog, world: type[World], member: int | None, who: Collection[int]
) -> dict[str, Json]:
    assert log.organisation  # noqa: S101 - a row is about members
    theirs = {seat for number in who for seat in log.organisation.member(number).seats}
    did = [steps for seat, steps in activity_by_seat(log, world).items() if seat in theirs]
    total = Counter(each for steps in did for each in steps)
    acting = [sum(each in {ACTED, GOES_ON} for each in step) for step in zip(*did, strict=True)]
    share = fmean(number > 1 for number in acting) if acting and member is None else None
    idle = {f"idle_{name}": total[name] for name in (THINKING, WAITING, NOTHING)}
    not_asked = total[GOES_ON] + total[NOT_ASKED]
    return {"steps_acted": total[ACTED], "steps_not_asked": not_asked, **idle, "share_together": share}


def _jobs(log: EpisodeLog, who: Collection[int]) -> dict[str, Json]:
    every = job_courses(log.messages)
    again = reassigned_jobs(every)
    mine = [each for each in every if each.job.worker in who]
    cycles = [each.job.cycle for each in mine if each.job.cycle]
    return {
        "jobs": len(mine),
        **{f"jobs_{state}": sum(state in each.reached for each in mine) for state in FATES},
        "jobs_open": sum(each.job.state in OPEN for each in mine),
        "jobs_reassigned": sum((each.job.number, each.job.worker) in again for each in mine),
        "steps_to_accepted": _mean(each.steps_to(ACCEPTED) for each in mine),
        "steps_to_done": _mean(each.steps_to(DONE) for each in mine),
        "cycles": len(cycles),
        "longest_cycle": max(cycles, default=None),
    }


def _mean(values: Iterable[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _messages(log: EpisodeLog, member: int | None, who: Collection[int]) -> dict[str, Json]:
    assert log.organisation  # noqa: S101 - a row is about members
    written = _written(log)
    mine = [one for one in written if one.sender in who]
    people = {one.number for one in log.organisation.members if one.is_person}
    asked = sum(one.kind == ASK for one in written for to in one.to if to in who)
    kinds = Counter(one.kind for one in mine)
    share = fmean(one.sender in people for one in mine) if mine and member is None else None
    return {
        "messages": len(mine),
        "words": sum(len(one.text.split()) for one in mine),
        "messages_by_kind": dict(sorted(kinds.items())),
        "share_by_people": share,
        "answers_a_question": kinds[ANSWER] / asked if asked else None,
    }


def _written(log: EpisodeLog) -> list[TeamMessage]:
    """Return the messages that members wrote, without those that the platform sent for them."""
    return [one for one in log.messages if one.sender is not None and not one.data.get(BY_PLATFORM)]


Conversations = Sequence[tuple[frozenset[int], int]]
"""The two members of each conversation, and the number of its messages."""


def conversations_in(log: EpisodeLog) -> Conversations:
    """Return every conversation: the two members, and the number of its messages.

    A conversation consists of messages between the same two members, each with one addressee. It ends with a
    message of the kind `end`, when one of the two is replaced, or after as many silent steps as the
    organisation has in `silence`. Where members talk within the step, it also ends with the step.
    """
    assert log.organisation  # noqa: S101 - members talk in organisations
    silence = 1 if log.organisation.within else log.organisation.silence
    found: list[tuple[frozenset[int], int]] = []
    running: dict[frozenset[int], tuple[int, int]] = {}  # place in `found`, and step of the last message
    for one in log.messages:
        if one.kind == SYSTEM and one.data.get(CODE_KEY) == GONE:
            running = {pair: last for pair, last in running.items() if one.data["member"] not in pair}
        if one.sender is None or one.kind not in TALK_KINDS or len(one.to) != 1:
            continue
        pair = frozenset((one.sender, *one.to))
        place, step = running.pop(pair, (-1, 0))
        is_open = place >= 0 and one.step - step < silence
        if is_open:
            found[place] = pair, found[place][1] + 1
        elif one.kind != END:
            place = len(found)
            found.append((pair, 1))
        if one.kind != END:
            running[pair] = place, one.step
    return found


def _conversations(log: EpisodeLog, who: Collection[int], conversations: Conversations) -> dict[str, Json]:
    written = _written(log)
    pairs = Counter(f"{one.sender}>{to}" for one in written if one.sender in who for to in one.to)
    waits = [wait for one, wait in _answer_times(written) if one in who]
    sizes = [size for pair, size in conversations if not pair.isdisjoint(who)]
    return {
        "messages_by_pair": dict(sorted(pairs.items())),
        "steps_to_answer": fmean(waits) if waits else None,
        "conversations": len(sizes),
        "messages_a_conversation": fmean(sizes) if sizes else None,
    }


def _answer_times(written: Iterable[TeamMessage]) -> Iterator[tuple[int, int]]:
    """Yield (member, steps) for each answer: who answered, and the steps since the newest open question of
    that pair. The answer closes all their open questions."""
    asked: dict[tuple[int, int], int] = {}
    for one in written:
        sender = one.sender
        if sender is None:
            continue
        for to in one.to:
            if one.kind == ASK:
                asked[sender, to] = one.step
            elif one.kind == ANSWER and (step := asked.pop((to, sender), None)) is not None:
                yield sender, one.step - step


def _broken(log: EpisodeLog, who: Collection[int]) -> dict[str, Json]:
    named = {"stale_commands": PLAN_STALE, "plans_dropped": PLAN_ILLEGAL}
    return {
        name: sum(_holder(log, event) in who for event in _broken_plans(log, why))
        for name, why in named.items()
    }


def _money(log: EpisodeLog, who: Collection[int]) -> dict[str, Json]:
    mine = [each for each in log.decisions if each.member in who]
    return {
        "decisions": len(mine),
        "calls": sum(each.calls for each in mine),
        "usd": total_cost(each.cost for each in mine),
    }
