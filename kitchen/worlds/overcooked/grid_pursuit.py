"""Find an Overcooked cook's next move towards an aim (a goal that somebody asked for).

If the aim needs a thing, the cook fetches the thing first. The move depends only on the current observation
and the situation's seed. Earlier moves do not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from kitchen.contract.advisers import AimPursuer, AimStep
from kitchen.contract.agent import Situation
from kitchen.contract.agent_skills import SeatObservation, Skill
from kitchen.contract.world import FAIL, SUCCESS, UNKNOWN, Aim, Command, Json
from kitchen.worlds.overcooked.game_rules import DISH, STAY
from kitchen.worlds.overcooked.grid_aims import FOOD_OF_PUT, seat_aims
from kitchen.worlds.overcooked.layout import cell_ahead
from kitchen.worlds.overcooked.partners.baseline_agents import free_directions
from kitchen.worlds.overcooked.skill_names import DELIVER, FILL, PICKUP, PLACE, SOUP
from kitchen.worlds.overcooked.skill_snapshot import SkillMoment
from kitchen.worlds.overcooked.skills import SKILLS, next_move, rule_plan

_NEEDED: Mapping[str, str] = {FILL: DISH, **FOOD_OF_PUT}
"""The thing that a cook must hold for a skill, by verb. For other skills the hands must be empty, except for
placing and delivering."""


class GridPursuer(AimPursuer):
    """Pursues an aim of a cook, one skill after the other. A held item that is of no use is put down
    first."""

    def pursue(self, situation: Situation, seat: int, aim: Aim, since: Json) -> AimStep:
        """Return the status of the aim and the cook's next move. The move is None if the aim has ended, or if
        it is not legal now.

        SUCCESS is possible only for a pickup; whether other aims are reached cannot be seen in the
        observation. FAIL means that the seat cannot carry out the aim.
        """
        sight = SeatObservation.of(situation, seat)
        moment = SkillMoment.of(sight)
        if aim not in seat_aims(moment.layout, moment.scene.starts_itself, seat):
            return AimStep(FAIL)
        if aim == (PLACE,) and moment.held is None:
            return AimStep(FAIL)
        if aim == (PICKUP, moment.held):
            return AimStep(SUCCESS)
        move = next_move(moment, next_skill(moment, aim), Random(situation.seed))  # noqa: S311
        if move == STAY:
            move = self.make_way(situation, seat) or STAY
        return AimStep(UNKNOWN, move if move in sight.legal else None)

    def aims(self, situation: Situation, seat: int) -> Sequence[Aim]:
        """Return the skills that the seat could ever carry out on this layout."""
        moment = SkillMoment.of(SeatObservation.of(situation, seat))
        return seat_aims(moment.layout, moment.scene.starts_itself, seat)

    def make_way(self, situation: Situation, seat: int) -> Command | None:
        """Return a step to a free cell if the other cook stands beside this one and faces it. The situation's
        seed decides between several steps."""
        scene = SkillMoment.of(SeatObservation.of(situation, seat)).scene
        if cell_ahead(scene.at[1 - seat], scene.face[1 - seat]) != scene.at[seat]:
            return None
        steps = free_directions(scene, seat)
        return Random(situation.seed).choice(steps) if steps else None  # noqa: S311

    def mark(self, situation: Situation, seat: int, aim: Aim) -> Json:
        """Return the facts about the present moment that `status` needs later (see `Skills.mark`)."""
        return SKILLS.mark(SeatObservation.of(situation, seat), aim)

    def status(self, situation: Situation, seat: int, aim: Aim, since: Json) -> str:
        """Return SUCCESS if the aim that the seat has chosen is reached, else UNKNOWN. `since` is what
        `mark` returned when the seat chose the aim."""
        return SKILLS.status(SeatObservation.of(situation, seat), aim, since)

    def can_suggest(self, brief: Mapping[str, Json]) -> bool:
        """Return True, because a useful aim always follows from the held things and the pots."""
        return True

    def suggest(
        self, brief: Mapping[str, Json], seen: Mapping[str, Json], seat: int, taken: Sequence[Aim]
    ) -> Aim | None:
        """Return the skill that fixed rules choose as the seat's next aim."""
        moment = SkillMoment.of(SeatObservation(seat, brief, seen, ()), seat)
        skill = rule_plan(moment)
        return skill if skill in seat_aims(moment.layout, moment.scene.starts_itself, seat) else None


def next_skill(moment: SkillMoment, aim: Skill) -> Skill:
    """Return the skill that brings the seat closer to the aim: the aim itself, or a skill that must come
    before it."""
    verb, held = aim[0], moment.held
    if verb == PLACE or (verb == DELIVER and isinstance(held, tuple)):
        return aim
    if verb == DELIVER:
        lies_ready = held is None and moment.sources(SOUP)
        return (PICKUP, SOUP) if lies_ready else next_skill(moment, (FILL,))
    needed = _NEEDED.get(verb)
    if held == needed:
        return aim
    return (PICKUP, str(needed)) if held is None else (PLACE,)


PURSUER = GridPursuer()
