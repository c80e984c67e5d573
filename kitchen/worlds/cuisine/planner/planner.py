"""The planner as a co-player: a situation in, the first step of the best plan out."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import ClassVar

from kitchen.agents.following import Followed
from kitchen.contract.agent import Advice, Agent, Decision, Situation
from kitchen.contract.world import Json, Setting
from kitchen.worlds.cuisine.planner.book import Book, read_book
from kitchen.worlds.cuisine.planner.fetching import NOOP
from kitchen.worlds.cuisine.planner.heeding import Heeded, heed, left_to_plan
from kitchen.worlds.cuisine.planner.jobs import KEY as JOBS
from kitchen.worlds.cuisine.planner.jobs import take_jobs
from kitchen.worlds.cuisine.planner.listening import KEY as HEEDED
from kitchen.worlds.cuisine.planner.listening import listen
from kitchen.worlds.cuisine.planner.manner import PLAYING, Manner
from kitchen.worlds.cuisine.planner.mates import Seen, forget_the_idle, watch
from kitchen.worlds.cuisine.planner.scene import apply, read_scene
from kitchen.worlds.cuisine.planner.search import Draft, PlayedDraft, Search
from kitchen.worlds.cuisine.planner.telling import aim, goals, intents
from kitchen.worlds.cuisine.planner.trips import Style


class Planner(Agent):
    """Plans for all seats, commands its own."""

    kind = "planner"
    reads_words = True
    instant = True
    manner: ClassVar[Manner] = PLAYING
    worlds = ("cuisine",)
    settings = (
        Setting(
            "tries",
            "int",
            "Plans tried at each step",
            12,
            help="More is a little stronger and takes longer; 0 plays the first plan that comes to mind.",
            minimum=0,
            maximum=1000,
        ),
    )

    def decide(self, situation: Situation) -> Decision:
        """The first step of the best plan found, its commands in the order in which they play together.

        The memory keeps the plan (wishes, style, errands) and how long the others have not moved; the note
        tells each seat's goal, its intent what it does after this step. Same situation, same decision. What
        people ask is done first: in plain words (`heeding`), or as jobs with an aim (`jobs`).
        """
        heard = listen(situation)
        followed = take_jobs(situation, heard)
        if not (heard or followed):
            return self._planning(situation)
        jobs = followed or Followed()
        heeded = heed(situation, heard, jobs.at) if heard else Heeded(situation)
        at_jobs = {seat: jobs.commands.get(seat, NOOP) for seat in sorted(jobs.at)}
        told = {**at_jobs, **heeded.commands}
        decision = self._planning(left_to_plan(heeded.situation, told))
        kept = {HEEDED: heeded.memory, JOBS: jobs.memory}
        return replace(
            decision,
            commands={**told, **decision.commands},
            memory={**(decision.memory or {}), **{key: memory for key, memory in kept.items() if memory}},
            says=(*jobs.says, *heeded.says),
        )

    def _planning(self, situation: Situation) -> Decision:
        return self._decide(situation) if situation.seats else _nothing(situation)

    def _decide(self, situation: Situation) -> Decision:
        book = read_book(situation.briefs[situation.seats[0]])
        if not book.dishes:
            return Decision(
                commands={}, note={"goals": {}, "why": "no dish of this level can be cooked here"}
            )
        plan, seen = self.plan(book, situation)
        return Decision(
            commands={seat: do for seat, do in plan.rollout.first if seat in situation.seats},
            memory={**_memory(plan), "seen": seen},
            note={"goals": goals(book, plan.rollout, situation.seats)},
            intents=intents(book, plan.rollout, situation.seats) if situation.tells else {},
        )

    def plan(self, book: Book, situation: Situation) -> tuple[PlayedDraft, Seen]:
        """The best plan found, and how long the others have not moved."""
        scene = read_scene(book, situation.observations[situation.seats[0]])
        for other, command in situation.commanded.items():
            apply(book, scene, other, command)
        memory = situation.memory or {}
        seen = watch(book, scene, situation.seats, memory.get("seen", []))
        absent = forget_the_idle(scene, seen)
        others = {seat for seat in range(len(scene.agents)) if seat not in situation.seats}
        search = Search(book, scene, others, absent, self.manner)
        best = search.best(_remembered(memory), self.chosen["tries"], Random(situation.seed))  # noqa: S311
        return best, seen


def advise(situation: Situation) -> Advice | None:
    """What the first plan that comes to mind has the (one) seat do; None where no dish can be cooked."""
    book, seat = read_book(situation.briefs[situation.seats[0]]), situation.seats[0]
    if not book.dishes:
        return None
    plan, _ = Planner({"tries": 0}).plan(book, situation)
    return Advice(dict(plan.rollout.first).get(seat, ("noop",)), aim(book, plan.rollout.goals[seat]))


def _remembered(memory: Json) -> Draft | None:
    if "wishes" not in memory:
        return None
    errands = tuple((seat, (what, where)) for seat, what, where in memory["errands"])
    return Draft(
        tuple(memory["wishes"]),
        Style(*memory["style"]),
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


def _nothing(situation: Situation) -> Decision:
    """Nobody is to do anything: what is remembered stays."""
    kept = situation.memory if isinstance(situation.memory, dict) else None
    return Decision(commands={}, memory=kept)
