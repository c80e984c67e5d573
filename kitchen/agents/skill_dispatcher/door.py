"""What the stand-in says in the place of the dispatcher's model."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from kitchen.agents.skill_dispatcher.prompt import Sights, answer
from kitchen.agents.skilled.door import Door, MadeStandIn
from kitchen.contract.skills import Manner, Skills
from kitchen.llm.providers.stand_in import StandInAdvice
from kitchen.llm.providers.stand_in_text import Written


def planning(
    door: Door, skills: Skills, sights: Sights, seats: Sequence[int], manner: Manner, analysis: bool
) -> MadeStandIn:
    """The stand-in that plans for these seats, by the rule of the world."""
    right = {seat: skills.rule(sights[seat], seat, manner) for seat in seats}
    possible = {
        seat: [one for one in skills.offered(sights[seat], seat) if one != right[seat]] for seat in seats
    }

    def write(commands: Sequence[Written], rng: Random) -> str:
        return answer(skills, dict(commands), "These are due." if analysis else "")

    return door.stand_in(min(seats), StandInAdvice(right, others=possible), write)
