"""The planner as a co-player: a situation in, the first step of the best plan out."""

from __future__ import annotations

from random import Random

from kitchen.coplayers.base import CoPlayer, Decision, Situation
from kitchen.coplayers.planner.book import read_book
from kitchen.coplayers.planner.rollout import Style
from kitchen.coplayers.planner.scene import apply, read_scene
from kitchen.coplayers.planner.search import Draft, Plan, Search
from kitchen.worlds.base import Json

TRIES = 25


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
        rng = Random(situation.seed)  # noqa: S311
        plan = Search(book, scene, idle).best(_remembered(situation.memory), TRIES, rng)
        commands = {seat: command for seat, command in plan.rollout.first if seat in situation.seats}
        return Decision(commands=commands, memory=_memory(plan))


def _remembered(memory: Json) -> Draft | None:
    if not memory:
        return None
    errands = tuple((seat, (what, where)) for seat, what, where in memory["errands"])
    return Draft(tuple(memory["wishes"]), Style(*memory["style"]), errands, tuple(memory["passing"]))


def _memory(plan: Plan) -> Json:
    wishes = list(plan.draft.wishes)
    for dish, step in plan.rollout.served:
        if step == 0 and dish in wishes:
            wishes.remove(dish)
    style = plan.draft.style
    return {
        "wishes": wishes,
        "style": [style.patience, style.stay, style.guard],
        "passing": plan.rollout.still_passing,
        "errands": [[seat, *errand] for seat, errand in plan.rollout.after_first.items()],
    }
