"""What the stand-in says in the place of ProAgent's model."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from kitchen.agents.proagent.options import Options
from kitchen.agents.proagent.prompt import answer, others
from kitchen.agents.skilled.door import Door, MadeStandIn
from kitchen.contract.agent import Situation
from kitchen.contract.skills import Manner, Sight, Skill, Skills, spelled
from kitchen.llm.providers.stand_in import StandInAdvice
from kitchen.llm.providers.stand_in_text import Written


class ThinkersDoor(Door):
    """That of one seat: to plan, and to explain."""

    def __init__(self, options: Options, situation: Situation, deadline: float) -> None:
        super().__init__(options, situation, deadline)
        self.level = options.level

    def planning(self, skills: Skills, sight: Sight, manner: Manner) -> MadeStandIn:
        """The stand-in that plans: the rule of the world, for its own seat and as what it foresees of the
        others."""
        right = {seat: skills.rule(sight, seat, manner) for seat in skills.seats(sight)}
        possible = [one for one in skills.offered(sight, sight.seat) if one != right[sight.seat]]

        def write(commands: Sequence[Written], rng: Random) -> str:
            plan = next(skill for _, skill in commands)
            foreseen = {seat: right[seat] for seat in others(skills, sight)}
            return "\n".join(
                answer(skills, sight, self.level, f"{spelled(plan)} is what is due.", foreseen, plan)
            )

        advice = StandInAdvice({sight.seat: right[sight.seat]}, others={sight.seat: possible})
        return self.stand_in(sight.seat, advice, write)

    def explaining(self, sight: Sight, skill: Skill, sentence: str) -> MadeStandIn:
        """The stand-in that explains: in the sentence of the rule."""

        def write(commands: Sequence[Written], rng: Random) -> str:
            return sentence

        return self.stand_in(sight.seat, StandInAdvice({sight.seat: skill}), write)
