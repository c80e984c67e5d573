"""Let two agents play Overcooked layouts without people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import thread_time
from typing import Any

from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import run_without_waiting
from kitchen.contract.world import Command
from kitchen.registry.agent_registry import make_agent
from kitchen.worlds.overcooked.world import Overcooked


@dataclass(frozen=True)
class Played:
    """The result of one episode: its points, and the processor time of the slowest decision in
    milliseconds."""

    points: int
    slowest: float


def play(
    layout: str, kinds: tuple[str, str], seed: int = 0, slow: int | None = None, **settings: Any
) -> Played:
    """Play an episode with two agents; seat 0's agent comes first.

    A `slow` seat acts only in every second tick, with the command that it chose one tick earlier.
    """
    world = Overcooked.create(seats=2, settings={"layout": layout, **settings})
    world.reset(seed)
    minds, memory, slowest = [make_agent(kind, CHOSEN.get(kind, {})) for kind in kinds], [None, None], 0.0
    late: Command | None = None
    while not world.over:
        turn: dict[int, Command] = {}
        for seat, mind in enumerate(minds):
            if seat == slow and late is not None:
                turn[seat], late = late, None
                continue
            begun = thread_time()
            situation = make_situation(
                world, (seat,), memory=memory[seat], seed=1000 * seed + 2 * world.clock + seat
            )
            decision = run_without_waiting(mind.decide(situation))
            slowest = max(slowest, thread_time() - begun)
            memory[seat] = decision.memory
            if seat == slow:
                late = decision.commands[seat]
            else:
                turn |= decision.commands
        world.step(turn)
    return Played(world.score()["points"], 1000 * slowest)


LAYOUTS = (
    "cramped_room",
    "asymmetric_advantages",
    "coordination_ring",
    "forced_coordination",
    "counter_circuit",
)
PLANNER, GREEDY, STAY, PROAGENT = "grid_planner", "greedy", "stay", "proagent"
CHOSEN: Mapping[str, Mapping[str, Any]] = {PROAGENT: {"model": "stand-in"}}
"""The agents' settings by kind."""
LEAST: Mapping[tuple[str, str], tuple[int, ...]] = {
    (PLANNER, PLANNER): (240, 320, 280, 260, 200),
    (PLANNER, GREEDY): (200, 320, 220, 0, 160),
    (GREEDY, PLANNER): (200, 300, 200, 180, 160),
    (GREEDY, GREEDY): (140, 260, 0, 0, 0),
    (PLANNER, STAY): (180, 220, 0, 0, 0),
    (STAY, PLANNER): (0, 180, 0, 0, 100),
}
"""The points of a prototype by pair, in each of the layouts. For a range, the lower end."""
WITH_RULES: Mapping[tuple[str, str], tuple[int, ...]] = {
    (PROAGENT, PROAGENT): (40, 360, 40, 260, 200),
    (PROAGENT, GREEDY): (180, 320, 220, 0, 160),
    (GREEDY, PROAGENT): (180, 280, 220, 180, 160),
}
"""The points of ProAgent's loop with a rule in place of the model, by pair, in each of the layouts."""
