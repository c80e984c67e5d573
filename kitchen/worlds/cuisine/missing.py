"""How many orders can come, and be missed, in an episode: by its timing alone. Plain Python."""

from __future__ import annotations

from kitchen.contract.chances import Chances
from kitchen.worlds.cuisine.timing import Timing


def order_chances(timing: Timing, steps: int) -> Chances:
    """One order stands at the start, one more comes every `timing.interval` steps, as long as there is room.
    One that comes at a step is missed if its life is over at the beginning of a later one."""
    shortest, longest = min(timing.lifetimes.values()), max(timing.lifetimes.values())
    coming = range(0, steps, timing.interval)
    stands = f"{shortest} steps" if shortest == longest else f"{shortest} to {longest} steps"
    return Chances(
        things="orders",
        most=len(coming),
        missable=sum(came + shortest < steps for came in coming),
        because=f"Orders stand {stands} and an episode has {steps}",
    )
