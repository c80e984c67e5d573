"""The skills of the grids, as agents that think in skills ask for them. Plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from kitchen.contract.skills import Condition, Manner, Primer, Sight, Skill, Skills
from kitchen.contract.world import Command, Intent, Json
from kitchen.worlds.overcooked.partners.greedy import free_directions
from kitchen.worlds.overcooked.skilled.conditions import conditions, status
from kitchen.worlds.overcooked.skilled.controller import command
from kitchen.worlds.overcooked.skilled.moment import Moment
from kitchen.worlds.overcooked.skilled.named import DELIVER, FILL, PICKUP, PLACE, PUT, START, done_by, meant
from kitchen.worlds.overcooked.skilled.primer import primer, usual
from kitchen.worlds.overcooked.skilled.rule import hinted, plan
from kitchen.worlds.overcooked.skilled.words import described, name
from kitchen.worlds.overcooked.things import DISH

PARTED_WAIT = 3
"""Ticks of a wait where one waits for what another one brings."""


class GridSkills(Skills):
    """Those of ProAgent's program, with `start_cooking` where pots do not start by themselves."""

    def seats(self, sight: Sight) -> Sequence[int]:
        """Two."""
        return 0, 1

    def named(self, seat: int) -> str:
        """`Player 0`."""
        return name(seat)

    def manner(self, sight: Sight) -> Manner:
        """As the published prompts of the layout are."""
        return usual(Moment.of(sight))

    def primer(self, sight: Sight, manner: Manner) -> Primer:
        """For the layout and the seat."""
        return primer(Moment.of(sight), sight.brief, manner)

    def scene(self, sight: Sight) -> str:
        """Hands and pots."""
        return described(Moment.of(sight))

    def offered(self, sight: Sight, other: int) -> Sequence[Skill]:
        """All that the layout has, whatever the seat can reach."""
        moment = Moment.of(sight, other)
        starts = [] if moment.scene.starts_itself else [(START,)]
        puts = [(PUT[food],) for food in moment.food]
        return [
            *((PICKUP, each) for each in (*moment.food, DISH)),
            *puts,
            (PLACE,),
            (FILL,),
            (DELIVER,),
            *starts,
        ]

    def meant(self, written: Sequence[str], sight: Sight) -> Skill | None:
        """One that the layout has."""
        skill = meant(written)
        return skill if skill in self.offered(sight, sight.seat) else None

    def conditions(self, sight: Sight, skill: Skill) -> Sequence[Condition]:
        """By the table of the paper's program; what cannot be reached is not there."""
        return list(conditions(Moment.of(sight), skill))

    def mark(self, sight: Sight, skill: Skill) -> Json:
        """Pots that can be started."""
        return [list(cell) for cell in Moment.of(sight).startable_pots()] if skill[0] == START else None

    def status(self, sight: Sight, skill: Skill, since: Json) -> str:
        """By what is in hand. A skill that has nowhere to be done any more is kept."""
        return status(Moment.of(sight), skill, since)

    def finished(self, sight: Sight, other: int) -> Sequence[Skill]:
        """What its interact did."""
        done = (done_by(event) for event in sight.events if event.seat == other)
        return [skill for skill in done if skill]

    def command(self, sight: Sight, skill: Skill, chance: Random) -> Command | None:
        """The way there, the partner a wall."""
        return command(Moment.of(sight), skill, chance)

    def strolls(self, sight: Sight) -> Sequence[Command]:
        """Directions that lead somewhere."""
        moment = Moment.of(sight)
        return free_directions(moment.scene, moment.seat)

    def shortest_wait(self, sight: Sight) -> int:
        """Longer where things go over counters."""
        return PARTED_WAIT if Moment.of(sight).is_parted else 1

    def is_clocked(self, sight: Sight) -> bool:
        """As the setting `clock` says."""
        return bool(sight.brief["clock"] == "tick")

    def rule(self, sight: Sight, other: int, manner: Manner) -> Skill:
        """By hands and pots; the seat is the only difference."""
        return plan(Moment.of(sight, other))

    def errand(self, sight: Sight) -> Skill:
        """By the rule; full hands are not kept waiting."""
        return hinted(Moment.of(sight))

    def intent(self, skill: Skill) -> Intent:
        """The verb, and what it is about."""
        return {"do": skill[0], **({"item": skill[1]} if skill[0] == PICKUP else {})}


SKILLS = GridSkills()
