"""What the planner answers to what people ask (`kitchen.worlds.cuisine.wishes`), and reports of jobs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kitchen.contract.agent import Situation
from kitchen.contract.organisation import ACCEPT, ANSWER, DECLINE, INFORM, REPORT
from kitchen.contract.talk import Said, Say
from kitchen.contract.world import Json
from kitchen.words.counting import and_list
from kitchen.worlds.cuisine.wishes import FETCH, FIRST, GO_ON, LEAVE_DISH, LEAVE_TOOL, STOP, Wish

HELP = "I understand: robot 2, fetch rice; salmon sushi first; stop; go on; let me do the chopping."


def needs_help(news: Sequence[Said], read: Sequence[Wish]) -> bool:
    """Whether nothing was understood of some of this; jobs are declined instead."""
    understood = {wish.number for wish in read}
    return any(one.number not in understood for one in news if one.kind != INFORM)


def answers(
    situation: Situation,
    brief: Mapping[str, Json],
    news: Sequence[Said],
    read: Sequence[Wish],
    fresh: Sequence[Wish],
    *,
    helped: bool,
) -> tuple[Say, ...]:
    """One line to those who said something new: of `fresh`, which is what was `read` and is for us, what was
    understood; what can be said, once, where nothing was."""
    organisation = situation.organisation
    if organisation is None:
        return ()
    mine = [wish for wish in fresh if not wish.is_job and wish.meant(situation.seats)]
    lines = [_answer(wish, situation.seats, brief) for wish in mine]
    if not helped and needs_help(news, read):
        lines.append(HELP)
    words = {one.sender for one in news if one.kind != INFORM and one.sender is not None}
    to = tuple(sorted(words & set(organisation.to(situation.member, ANSWER))))
    answer = (Say(" ".join(dict.fromkeys(lines)), ANSWER, to),) if lines and to else ()
    jobs = [one for one in news if one.kind == INFORM]
    return (*answer, *(_taken(situation, one, brief, fresh) for one in jobs))


def _taken(situation: Situation, job: Said, brief: Mapping[str, Json], fresh: Sequence[Wish]) -> Say:
    """The answer to a job: what is understood is accepted."""
    mine = [wish for wish in fresh if wish.number == job.number and wish.meant(situation.seats)]
    to, data = (job.sender or 0,), {"job": job.number}
    if not mine:
        return Say(HELP, DECLINE, to, data)
    lines = [_answer(wish, situation.seats, brief) for wish in mine]
    return Say(" ".join(dict.fromkeys(lines)), ACCEPT, to, data)


def reports(
    brief: Mapping[str, Json], wishes: Sequence[Wish], left: Collection[Wish], done: Collection[Wish]
) -> tuple[Say, ...]:
    """Of jobs all that is fetched now, and of what could not be got for so long: of several things in one job
    once nothing of it is left."""
    ended = [wish for wish in wishes if wish.is_job and wish.do == FETCH and wish not in left]
    open_jobs = {wish.number for wish in left if wish.do == FETCH}
    by_job = {wish.number: wish for wish in ended if wish.number not in open_jobs}
    return tuple(_report(wish, brief, is_done=wish in done) for wish in by_job.values())


def _report(wish: Wish, brief: Mapping[str, Json], *, is_done: bool) -> Say:
    name, status = _name(wish, brief), "done" if is_done else "failed"
    text = f"Done: {name}." if is_done else f"I could not get {name}."
    return Say(text, REPORT, (wish.sender,), {"job": wish.number, "status": status})


def _name(wish: Wish, brief: Mapping[str, Json]) -> str:
    return str(brief["names"].get(wish.what, wish.what)).lower()


def _answer(wish: Wish, mine: Sequence[int], brief: Mapping[str, Json]) -> str:
    robots = and_list([f"robot {seat + 1}" for seat in wish.meant(mine)]) if wish.seats else "we"
    name = _name(wish, brief)
    said = {
        FETCH: f"{robots}: fetching {name}.",
        FIRST: f"{name} first.",
        STOP: f"{robots}: waiting.",
        GO_ON: f"{robots}: going on.",
        LEAVE_TOOL: f"the {name} is yours.",
        LEAVE_DISH: f"{name} is yours.",
    }[wish.do]
    return said[:1].upper() + said[1:]
