"""The planner as a co-player: a situation in, the first step of the best plan out."""

from __future__ import annotations

from random import Random

from kitchen.coplayers.base import CoPlayer, Decision, Situation
from kitchen.coplayers.planner.book import read_book
from kitchen.coplayers.planner.rollout import Style
from kitchen.coplayers.planner.scene import apply, read_scene
from kitchen.coplayers.planner.search import Search

TRIES = 12


class Planner(CoPlayer):
    """Plans for all seats, commands its own."""

    kind = "planner"
    worlds = ("cuisine",)

    def decide(self, situation: Situation) -> Decision:
        """The first step of the best plan found. Same situation, same decision."""
        seat = situation.seats[0]
        book = read_book(situation.briefs[seat])
        scene = read_scene(book, situation.observations[seat])
        for other, command in situation.commanded.items():
            apply(book, scene, other, command)
        idle = [i for i in range(len(scene.agents)) if i not in situation.seats]
        memory = situation.memory or {}
        style = Style(*memory["style"]) if "style" in memory else Style()
        rng = Random(situation.seed)  # noqa: S311
        plan = Search(book, scene, idle).best(memory.get("wishes", ()), style, TRIES, rng)
        served = {dish for dish, step in plan.rollout.served if step == 0}
        wishes = list(plan.wishes)
        for d in served:
            if d in wishes:
                wishes.remove(d)
        commands = {seat: command for seat, command in plan.rollout.first if seat in situation.seats}
        return Decision(
            commands=commands,
            memory={
                "wishes": wishes,
                "style": [plan.style.patience, plan.style.stay, plan.style.guard],
            },
        )
