"""Implement a baseline agent that chooses each command at random from the legal ones.

MindAgent's paper (arXiv 2309.09971) has the same baseline.
"""

from __future__ import annotations

from random import Random

from kitchen.contract.agent import Agent, Decision, Situation
from kitchen.contract.world import Command


class RandomAgent(Agent):
    """Plays every world: it draws each seat's command from the seat's legal actions.

    The random numbers depend only on the situation's seed. Seats choose in order. If a seat's command
    makes the same command at the same location impossible, later seats do not choose it.
    """

    kind = "random"
    instant = True
    light = True

    async def decide(self, situation: Situation) -> Decision:
        """Return a random legal command for every seat that has one, in the order of seats. The agent has no
        memory."""
        rng = Random(situation.seed)  # noqa: S311
        taken = set(situation.commanded.values())
        commands: dict[int, Command] = {}
        for seat in situation.seats:
            legal = situation.legal[seat]
            free = [command for command in legal if not _taken(command, taken)] or list(legal)
            if free:
                commands[seat] = rng.choice(free)
                taken.add(commands[seat])
        return Decision(commands=commands, note={"chosen": "at random"})


def _taken(command: Command, taken: set[Command]) -> bool:
    """Return whether an earlier seat already has this command, and only one seat can carry it out. Any number
    of seats can take items from storage."""
    if command not in taken:
        return False
    if command[0] == "get":
        return not any(place.startswith("storage") for place in command[1:2])
    return command[0] == "activate"
