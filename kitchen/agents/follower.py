"""Does as it is told: for people who lead. It asks no model."""

from __future__ import annotations

from kitchen.agents.following import follow
from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.world import Setting
from kitchen.registry.agents import get_pursuer


class Follower(Agent):
    """Pursues the jobs that it is given with an aim of the world, and does nothing without one."""

    kind = "follower"
    instant = True
    pursues = True
    settings = (
        Setting(
            "patience",
            "int",
            "Steps after which a job is given up",
            30,
            help="It says then that the job was not possible. 0: never.",
            minimum=0,
            maximum=1000,
        ),
    )

    def decide(self, situation: Situation) -> Decision:
        """The next command of each seat on the way to its aim; the memory has the jobs that are open."""
        pursuer, patience = get_pursuer(situation.world), self.chosen["patience"]
        made = follow(situation, pursuer, situation.memory, patience=patience)
        return Decision(made.commands, memory=made.memory, says=made.says)
