"""What would be good to do next, for hints and for programs that take part as people do. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from kitchen.contract.agent import Advice, Adviser, Decision, Situation
from kitchen.contract.world import Json
from kitchen.worlds.overcooked.partners.planner import Planner, beside_a_loner, beside_somebody_still
from kitchen.worlds.overcooked.partners.scene import scene_of
from kitchen.worlds.overcooked.stands import STAY


class OvercookedAdviser(Adviser):
    """Says what the planner would do."""

    def advise(self, situation: Situation) -> Advice | None:
        """The planner's command; nothing where that is to stay. Where the other one has just been in the way,
        it is gone around or gone to by an even chance: it may insist, or give way."""
        (seat,) = situation.seats
        if _is_barred(situation, seat) and Random(situation.seed).random() < 0.5:  # noqa: S311
            situation = replace(situation, memory=beside_a_loner(scene_of(situation), seat))
        elif situation.step and not _moved(situation, 1 - seat):
            situation = replace(situation, memory=beside_somebody_still(scene_of(situation)))
        command = Planner({}).decide(situation).commands[seat]
        return None if command == STAY else Advice(command, {})

    def decide(self, situation: Situation) -> Decision:
        """As the planner, which remembers how the partner plays."""
        return Planner({}).decide(situation)

    def output(self, score: Mapping[str, Json], steps: int) -> float:
        """Twenty points for every twenty ticks would be all."""
        return float(min(1.0, score["points"] / max(1, steps)))


def _moved(situation: Situation, seat: int) -> bool:
    """Whether this seat has turned or moved in the last tick: a page knows no more of the past."""
    return any(event.seat == seat and "moved" in event.data for event in situation.events)


def _is_barred(situation: Situation, seat: int) -> bool:
    """Whether this seat would have moved in the last tick, but for the other one."""
    return any(event.seat == seat and event.data.get("blocked_by") == "seat" for event in situation.events)


ADVISER = OvercookedAdviser()
"""The grids' line in the registry."""
