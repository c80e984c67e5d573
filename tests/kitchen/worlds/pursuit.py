"""Let one seat of a world pursue an aim (a goal), while the other seats do nothing."""

from __future__ import annotations

from kitchen.agents.make_situation import make_situation
from kitchen.contract.world import SUCCESS, UNKNOWN, World
from kitchen.registry.agent_registry import get_pursuer

LONGEST = 60


def achieve(world: World, seat: int, *aim: str) -> int:
    """Pursue an aim (a goal) until the world reports that it is reached, and return the number of steps. Fail
    if a command is illegal."""
    pursuer, since = get_pursuer(world.kind), world.aim_mark(seat, aim)
    assert aim in world.aims(seat)
    for steps in range(LONGEST):
        if (status := world.aim_status(seat, aim, since)) != UNKNOWN:
            assert status == SUCCESS, (aim, status)
            return steps
        step = pursuer.pursue(make_situation(world, (seat,), seed=steps), seat, aim, since)
        assert step.status == UNKNOWN and (step.command is None or world.allows(seat, step.command))
        world.step({seat: step.command} if step.command else {})
    raise AssertionError(f"{aim} was not reached in {LONGEST} steps")


def status_of_pursuit(world: World, seat: int, *aim: str) -> str:
    """Return the pursuer's status for an aim (a goal) that is requested now."""
    since = world.aim_mark(seat, aim) if aim in world.aims(seat) else None
    return get_pursuer(world.kind).pursue(make_situation(world, (seat,)), seat, aim, since).status
