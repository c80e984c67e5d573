"""What the planner answers to what people ask (`kitchen.worlds.cuisine.wishes`), and reports of jobs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from kitchen.contract.agent import Situation
from kitchen.contract.organisation import ACCEPT, ANSWER, DECLINE, INFORM, REPORT
from kitchen.contract.talk import Said, Say
from kitchen.contract.world import Json
from kitchen.words.counting import and_list
from kitchen.worlds.cuisine.planner.fetching import source_of
from kitchen.worlds.cuisine.planner.listening import Heard
from kitchen.worlds.cuisine.wishes import (
    FETCH,
    FIRST,
    GO_ON,
    LEAVE_DISH,
    LEAVE_ITEM,
    LEAVE_TOOL,
    STOP,
    Wish,
    is_first,
)

HELP = "I understand: robot 2, fetch rice; salmon sushi first; stop; go on; let me do the chopping."
UNCLEAR = "I did not understand that."


def needs_help(situation: Situation, heard: Heard) -> bool:
    """Whether nothing was understood of some of what is new, and it is for this mind to say so: of several
    the first. Jobs are declined instead."""
    understood, organisation = {wish.number for wish in heard.read}, situation.organisation
    unclear = [one for one in heard.news if one.number not in understood and one.kind != INFORM]
    return organisation is not None and any(is_first(one, organisation, situation.member) for one in unclear)


def answers(situation: Situation, brief: Mapping[str, Json], heard: Heard) -> tuple[Say, ...]:
    """One line to those who said something new: what was understood of it, as far as it is for us, and
    whether something was not; the first time with what can be said. Each job is answered."""
    organisation = situation.organisation
    if organisation is None:
        return ()
    mine = [wish for wish in heard.fresh if not wish.is_job and wish.meant(situation.seats)]
    lines = [_answer(wish, situation, brief) for wish in mine]
    if needs_help(situation, heard):
        lines.append(UNCLEAR if heard.before["helped"] else HELP)
    words = {one.sender for one in heard.news if one.kind != INFORM and one.sender is not None}
    to = tuple(sorted(words & set(organisation.to(situation.member, ANSWER))))
    answer = (Say(" ".join(dict.fromkeys(lines)), ANSWER, to),) if lines and to else ()
    jobs = [one for one in heard.news if one.kind == INFORM]
    return (*answer, *(_taken(situation, one, brief, heard.fresh) for one in jobs))


def _taken(situation: Situation, job: Said, brief: Mapping[str, Json], fresh: Sequence[Wish]) -> Say:
    """The answer to a job: what is understood is accepted."""
    mine = [wish for wish in fresh if wish.number == job.number and wish.meant(situation.seats)]
    to, data = (job.sender or 0,), {"job": job.number}
    if not mine:
        return Say(HELP, DECLINE, to, data)
    lines = [_answer(wish, situation, brief) for wish in mine]
    return Say(" ".join(dict.fromkeys(lines)), ACCEPT, to, data)


def reports(
    situation: Situation,
    brief: Mapping[str, Json],
    wishes: Sequence[Wish],
    left: Collection[Wish],
    done: Collection[Wish],
) -> tuple[Say, ...]:
    """Of jobs all that is fetched now, and what will not be: of several things in one job once nothing of it
    is left. Of what was asked in words what could not be got for so long."""
    ours = [wish for wish in wishes if wish.do == FETCH and wish.meant(situation.seats)]
    ended = [wish for wish in ours if wish not in left]
    open_jobs = {wish.number for wish in left if wish.do == FETCH}
    by_job = {wish.number: wish for wish in ended if wish.is_job and wish.number not in open_jobs}
    late = [one for one in ended if not one.is_job and one not in done and one.is_over(situation.step + 1)]
    told = situation.organisation.to(situation.member, ANSWER) if situation.organisation else ()
    sorry = (Say(_failed(one, brief), ANSWER, (one.sender,)) for one in late if one.sender in told)
    return (*(_report(wish, brief, is_done=wish in done) for wish in by_job.values()), *sorry)


def _report(wish: Wish, brief: Mapping[str, Json], *, is_done: bool) -> Say:
    status = "done" if is_done else "failed"
    text = f"Done: {_name(wish, brief)}." if is_done else _failed(wish, brief)
    return Say(text, REPORT, (wish.sender,), {"job": wish.number, "status": status})


def _failed(wish: Wish, brief: Mapping[str, Json]) -> str:
    return f"I could not get {_name(wish, brief)}."


def _name(wish: Wish, brief: Mapping[str, Json]) -> str:
    return str(brief["names"].get(wish.what, wish.what)).lower()


def _answer(wish: Wish, situation: Situation, brief: Mapping[str, Json]) -> str:
    mine = wish.meant(situation.seats)
    robots = and_list([f"robot {seat + 1}" for seat in mine]) if wish.seats else "we"
    name = _name(wish, brief)
    if wish.do == FETCH and not _is_there(situation, brief, wish, mine):
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


def _is_there(situation: Situation, brief: Mapping[str, Json], wish: Wish, mine: Sequence[int]) -> bool:
    """It can be taken somewhere, or one of them holds it."""
    held = (situation.observations[seat]["agents"][seat]["holds"] == wish.what for seat in mine)
    return any(held) or bool(source_of(situation, brief, wish.what))
