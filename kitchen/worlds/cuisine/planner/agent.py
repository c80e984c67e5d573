"""Implement the agent `CuisinePlanner`, which searches for a good plan for all its robots.

It uses no language model. In each step, its robots carry out the plan's first commands. `CuisineAdviser` uses
the planner to advise people. The plan leaves out robots that carry out a person's job (task) or request.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import ClassVar

from kitchen.agents.job_follower import JobProgress, follow_jobs
from kitchen.contract.advisers import Advice, Adviser
from kitchen.contract.agent import Agent, Decision, Situation, TeamTalk, run_without_waiting
from kitchen.contract.declared_settings import Setting
from kitchen.contract.world import Command, Json
from kitchen.worlds.cuisine.aim_pursuit import PURSUER
from kitchen.worlds.cuisine.order_steps import lead_to_dish
from kitchen.worlds.cuisine.planner.follow_instructions import (
    HEARD_KEY,
    FollowedInstructions,
    HeardInstructions,
    follow_instructions,
    hear_instructions,
    seats_by_reservations,
    situation_of_rest,
    situation_of_seats,
)
from kitchen.worlds.cuisine.planner.instructed_tasks import NOOP
from kitchen.worlds.cuisine.planner.plan_search import (
    PLAYING_SETTINGS,
    PlanSearch,
    PlayedDraft,
    SearchSettings,
)
from kitchen.worlds.cuisine.planner.planner_state import (
    KitchenBook,
    SeenOthers,
    forget_idle_others,
    read_book,
    read_scene,
    watch_others,
)
from kitchen.worlds.cuisine.planner.work_batches import ACTIVATE, NOWHERE, Batch, PlanDraft, Trip, TripStyle
from kitchen.worlds.cuisine.simulate_commands import KEYS_OF_LEVEL

JOBS_KEY = "jobs"
"""Key of the jobs in the planner's memory; absent while no job was given."""
JOB_PATIENCE_STEPS = 30
"""Steps after which a job is given up."""


def do_jobs(situation: Situation, instructions: HeardInstructions | None) -> JobProgress | None:
    """Return the commands and messages of robots that carry out jobs with an aim. Return None if there are no
    jobs. If a person asks a robot to stop, the robot gives up its job."""
    before = situation.memory.get(JOBS_KEY) if isinstance(situation.memory, dict) else None
    if not before and not any(said.data.get("aim") for said in situation.talk.messages):
        return None
    stops = instructions.stops(situation.seats) if instructions else {}
    return follow_jobs(situation, PURSUER, before, patience=JOB_PATIENCE_STEPS, words=True, stops=stops)


_GOAL_PHRASES = {
    "wait": "nothing to do: wait near the storage",
    "start": "start {to} for {dish}",
    "bring": "bring {item} to {to} for {dish}",
    "serve": "serve {item}",
    "discard": "throw {item} away: nobody needs it",
}


def goal_phrase(book: KitchenBook, trip: Trip | None) -> str:
    """Return a trip (carrying one item, or starting a tool) as text, such as "bring rice to pot0 for
    salmonSushi".

    Without a trip, the text says that there is nothing to do.
    """
    aim = trip_aim(book, trip)
    return _GOAL_PHRASES[aim["do"]].format(**aim)


def trip_aim(book: KitchenBook, trip: Trip | None) -> dict[str, str]:
    """Return the purpose of a trip (carrying one item, or starting a tool) as codes.

    `do` is `wait`, `start`, `bring`, `serve` or `discard`. `item`, `to` and `dish` are given if they apply.
    Without a trip, `do` is `wait`.
    """
    if trip is None:
        return {"do": "wait"}
    if trip.stage == ACTIVATE and trip.source is not None and not trip.item:
        return {"do": "start", "to": _tool(book, trip.source), "dish": _dish(trip.source)}
    if trip.target is not None:
        return {"do": "bring", "item": trip.item, "to": _tool(book, trip.target), "dish": _dish(trip.target)}
    return {"do": "serve" if trip.to == book.table else "discard", "item": trip.item}


def _tool(book: KitchenBook, batch: Batch) -> str:
    return batch.recipe.tool if batch.tool == NOWHERE else book.places[batch.tool]


def _dish(batch: Batch) -> str:
    while batch.parent is not None:
        batch = batch.parent
    return batch.recipe.product


class CuisinePlanner(Agent):
    """An agent that plans for all robots in the kitchen, and commands the robots in its own seats."""

    kind = "planner"
    reads_words = True
    instant = True
    search_settings: ClassVar[SearchSettings] = PLAYING_SETTINGS
    worlds = ("cuisine",)
    settings = (
        Setting(
            "tries",
            "int",
            "Plans tried at each step",
            12,
            help="More is a little stronger and takes longer; 0 plays the first plan found.",
            minimum=0,
            maximum=1000,
        ),
    )

    async def decide(self, situation: Situation) -> Decision:
        """Return the commands of the first step of the best plan found. The same situation gives the same
        decision.

        People's requests in plain sentences (`follow_instructions`) and jobs with an aim (`do_jobs`) take
        precedence over the plan. The memory keeps the plan, and how long each other robot has not moved. The
        note has the goal of each robot.
        """
        heard = hear_instructions(situation)
        followed = do_jobs(situation, heard)
        if not (heard or followed):
            return self._planning(situation)
        jobs = followed or JobProgress()
        instructed = (
            follow_instructions(situation, heard, jobs.at) if heard else FollowedInstructions(situation)
        )
        at_jobs = {seat: jobs.commands.get(seat, NOOP) for seat in sorted(jobs.at)}
        commands = {**at_jobs, **instructed.tasks.commands}
        tells = situation.request.tells
        rest = situation_of_rest(instructed.situation, commands)
        if heard and heard.asks_doing:
            rest = replace(rest, request=replace(rest.request, tells=True))
        decision = self._planning(rest)
        intents = {**decision.intents, **instructed.tasks.intents}
        brief = next(iter(situation.briefs.values()), {})
        kept = {HEARD_KEY: instructed.memory, JOBS_KEY: jobs.memory}
        return replace(
            decision,
            commands={**commands, **decision.commands},
            memory={**(decision.memory or {}), **{key: memory for key, memory in kept.items() if memory}},
            intents=intents if tells else {},
            says=(*jobs.says, *instructed.answer.draft(brief, intents), *instructed.says),
        )

    def _planning(self, situation: Situation) -> Decision:
        """Return the decision for robots without a task. Robots that leave different things alone are planned
        for one after the other."""
        groups = seats_by_reservations(situation)
        made = [self._plan_group(situation_of_seats(situation, one, {})) for one in groups[:1]]
        for group in groups[1:]:
            given = {seat: command for each in made for seat, command in each.commands.items()}
            made.append(self._plan_group(situation_of_seats(situation, group, given)))
        return _joined(made) if len(made) > 1 else made[0] if made else self._plan_group(situation)

    def _plan_group(self, situation: Situation) -> Decision:
        """Return a decision with the first commands of the best plan. If the agent has no seats, there are no
        commands, and its memory stays the same."""
        if not situation.seats:
            kept = situation.memory if isinstance(situation.memory, dict) else None
            return Decision(commands={}, memory=kept)
        book = self.book(situation)
        if not book.dishes:
            why = "no dish of this level can be cooked here"
            return Decision(commands={}, note={"goals": {}, "why": why})
        plan, seen = self.plan(book, situation)
        seats, goals, ahead = situation.seats, plan.rollout.goals, plan.rollout.ahead
        return Decision(
            commands={seat: do for seat, do in plan.rollout.first if seat in seats},
            memory={**_memory(plan), "seen": seen},
            note={"goals": {str(seat): goal_phrase(book, goals[seat]) for seat in situation.seats}},
            intents={seat: trip_aim(book, ahead[seat]) for seat in situation.seats}
            if situation.request.tells
            else {},
        )

    def book(self, situation: Situation) -> KitchenBook:
        """Return the unchanging facts of the kitchen, with the ingredients in the planner's order."""
        brief = situation.briefs[situation.seats[0]]
        return read_book(brief, shared_first=self.search_settings.shared_first)

    def plan(self, book: KitchenBook, situation: Situation) -> tuple[PlayedDraft, SeenOthers]:
        """Return the best plan found, and what is known about each robot that the planner does not command:
        how long it has not moved."""
        seat = situation.seats[0]
        observation = situation.observations[seat]
        scene = read_scene(book, situation.briefs[seat], observation, situation.commanded)
        memory = situation.memory or {}
        seen = watch_others(book, scene, situation.seats, memory.get("seen", []))
        absent = forget_idle_others(scene, seen)
        others = {seat for seat in range(len(scene.agents)) if seat not in situation.seats}
        search = PlanSearch(book, scene, others, absent, self.search_settings)
        best = search.best(_remembered(memory), self.chosen["tries"], Random(situation.seed))  # noqa: S311
        return best, seen


def advise_command(situation: Situation) -> Advice | None:
    """Return the command of the planner's first plan for this seat, as advice. None if no dish can be cooked.
    Quick, because no better plan is searched."""
    planner, seat = CuisinePlanner({"tries": 0}), situation.seats[0]
    book = planner.book(situation)
    if not book.dishes:
        return None
    plan, _ = planner.plan(book, situation)
    return Advice(dict(plan.rollout.first).get(seat, ("noop",)), trip_aim(book, plan.rollout.goals[seat]))


def _joined(made: Sequence[Decision]) -> Decision:
    """Return one decision for robots that were planned for separately. The first plan is remembered, with the
    trips of all."""
    first = made[0]
    memories = [each.memory or {} for each in made]
    trips = {
        key: [one for memory in memories for one in memory.get(key, ())]
        for key in ("errands", "passing", "helping")
    }
    seen = {entry[0]: entry for memory in memories for entry in memory.get("seen", ())}
    goals = {seat: goal for each in made for seat, goal in each.note["goals"].items()}
    return replace(
        first,
        commands={seat: command for each in made for seat, command in each.commands.items()},
        memory={**memories[0], **trips, "seen": list(seen.values())},
        note={**first.note, "goals": goals},
        intents={seat: intent for each in made for seat, intent in each.intents.items()},
    )


def _remembered(memory: Json) -> PlanDraft | None:
    if "wishes" not in memory:
        return None
    errands = tuple((seat, (what, where)) for seat, what, where in memory["errands"])
    return PlanDraft(
        tuple(memory["wishes"]),
        TripStyle(*memory["style"]),
        errands,
        tuple(memory["passing"]),
        tuple(memory.get("helping", ())),
    )


def _memory(plan: PlayedDraft) -> Json:
    wishes = list(plan.draft.wishes)
    for dish, step in plan.rollout.served:
        if step == 0 and dish in wishes:
            wishes.remove(dish)
    style = plan.draft.style
    return {
        "wishes": wishes,
        "style": list(style),
        "passing": plan.rollout.still_passing,
        "helping": plan.rollout.still_helping,
        "errands": [[seat, *errand] for seat, errand in plan.rollout.after_first.items()],
    }


WAIT_COMMAND: Command = ("noop",)
SENSIBLE_DISHES_PER_STEP = 0.12
"""Dishes per step that count as full output; a good team comes close to it."""


READ_IN_BRIEF = frozenset((*KEYS_OF_LEVEL, "lifetimes", "interval", "max_steps"))
READ_IN_OBSERVATION = frozenset(("step", "agents", "locations", "orders"))
"""Parts of an observation that the planner reads; `READ_IN_BRIEF` lists those of the brief."""


class CuisineAdviser(Adviser):
    """Advises people with the planner. It gives no advice if the planner cannot read the kitchen's data,
    for example data of another version."""

    def advise(self, situation: Situation) -> Advice | None:
        """Return the command of the planner's first plan as advice; None if there is nothing to recommend."""
        return advise_command(situation) if can_read_situation(situation) else None

    def lead(self, situation: Situation) -> Advice | None:
        """Return a beginner's next command towards one dish (`lead_to_dish`); None if there is nothing to
        recommend."""
        return lead_to_dish(situation) if can_read_situation(situation) else None

    def decide(self, situation: Situation) -> Decision:
        """Return the planner's commands as the decision of a sensible person. A robot without work waits."""
        if not can_read_situation(situation):
            return super().decide(situation)
        decision = run_without_waiting(CuisinePlanner({}).decide(situation))
        commands = {seat: decision.commands.get(seat, WAIT_COMMAND) for seat in situation.seats}
        return replace(decision, commands=commands)

    def expected(self, situation: Situation, seats: Sequence[int]) -> Mapping[int, Command]:
        """Return the commands that the planner would give the other `seats`, as a prediction of what they
        will do."""
        if not can_read_situation(situation):
            return super().expected(situation, seats)
        (seat,) = situation.seats
        theirs = replace(
            situation,
            seats=tuple(seats),
            briefs=dict.fromkeys(seats, situation.briefs[seat]),
            observations=dict.fromkeys(seats, situation.observations[seat]),
            memory=None,
            talk=TeamTalk(),  # the seat's messages and jobs are not theirs
        )
        return run_without_waiting(CuisinePlanner({}).decide(theirs)).commands

    def came_true(self, seat: int, command: Command, observation: Mapping[str, Json]) -> bool:
        """Return whether it was right to predict this command for the robot in this seat. `observation` is
        from after the step.

        Only the robot's place, and whether it holds something, are compared.
        """
        agent = observation["agents"][seat]
        if command[0] == "goto":
            return bool(agent["at"] == command[1])
        if command[0] == "get":
            return agent["holds"] is not None
        return agent["holds"] is None

    def success(self, score: Mapping[str, Json]) -> float | None:
        """Return the share of completed orders among all that have ended; None if no order has ended."""
        rate: float | None = score["success_rate"]
        return rate

    def output(self, score: Mapping[str, Json], steps: int) -> float:
        """Return the number of completed orders, divided by the number that a good team completes in this
        number of steps. At most 1."""
        return min(float(score["completed"]) / (SENSIBLE_DISHES_PER_STEP * steps), 1.0)


def can_read_situation(situation: Situation) -> bool:
    """Return whether the planner can read this situation. The brief (unchanging facts) and the observation of
    the first seat must have all entries that it needs."""
    seat = situation.seats[0]
    brief, observation = situation.briefs[seat], situation.observations[seat]
    return brief.keys() >= READ_IN_BRIEF and observation.keys() >= READ_IN_OBSERVATION


ADVISER = CuisineAdviser()
