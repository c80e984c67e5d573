"""Choose the command of a program that has the habits of a person, in any world with an adviser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from kitchen.agents.human_like.play_habits import OTHER, PAUSE, USEFUL, PlayHabits
from kitchen.contract.agent import Situation
from kitchen.contract.world import UNKNOWN, Aim, Command
from kitchen.registry.agent_registry import get_pursuer
from kitchen.registry.world_registry import get_kit, get_world


@dataclass(frozen=True, slots=True)
class HabitState:
    """The state of a program with habits between two steps."""

    kind: str = USEFUL
    """The kind of the last step."""
    detour: Aim | None = None
    """The aim (goal) of the detour under way; None if there is none."""


def habit_choice(
    situation: Situation,
    advised: Command | None,
    habits: PlayHabits,
    state: HabitState,
    chance: Random,
    offered: Sequence[Command],
) -> tuple[Command, HabitState]:
    """Return a command for the situation's only seat, and the new state.

    `advised` is the recommended command; without one, the program waits, and the state stays as it is.
    `offered` are the commands that can be chosen, at least one.
    """
    idle = get_world(situation.world).idle
    if advised is None or advised == idle:
        return advised or (idle if idle in offered else chance.choice(offered)), state
    kind = habits.next_kind(state.kind, chance)
    if kind == PAUSE and idle in offered:
        return idle, HabitState(PAUSE)
    if kind == OTHER:
        aim = state.detour or _any_aim(situation, chance)
        command, goes_on = _towards(situation, aim)
        if command is None or command in {advised, idle} or command not in offered:
            rest = [one for one in offered if one not in {advised, idle}]
            command = chance.choice(rest) if rest else None
        if command is not None:
            return command, HabitState(OTHER, aim if goes_on else None)
    return advised, HabitState(USEFUL)


def _any_aim(situation: Situation, chance: Random) -> Aim | None:
    """Return a random aim that this seat can have; None if the world has none."""
    if not get_kit(situation.world).pursuer:
        return None
    (seat,) = situation.seats
    aims = get_pursuer(situation.world).aims(situation, seat)
    return chance.choice(aims) if aims else None


def _towards(situation: Situation, aim: Aim | None) -> tuple[Command | None, bool]:
    """Return the next command towards an aim, if there is one, and whether the aim can still be reached."""
    if aim is None:
        return None, False
    (seat,) = situation.seats
    pursuer = get_pursuer(situation.world)
    step = pursuer.pursue(situation, seat, aim, pursuer.mark(situation, seat, aim))
    return step.command, step.status == UNKNOWN
