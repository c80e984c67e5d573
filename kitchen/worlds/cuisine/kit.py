"""CuisineWorld's line in the registry: everything that it has."""

from __future__ import annotations

from kitchen.contract.kit import Practice, WorldKit

KIT = WorldKit(
    rules="kitchen.worlds.cuisine.world:CuisineWorld",
    page="kitchen.worlds.cuisine.page:PAGE",
    coplayers={
        "dispatcher": "kitchen.worlds.cuisine.dispatcher.mind:Dispatcher",
        "planner": "kitchen.worlds.cuisine.planner.planner:Planner",
    },
    adviser="kitchen.worlds.cuisine.adviser:ADVISER",
    pursuer="kitchen.worlds.cuisine.pursuing:PURSUER",
    skills="kitchen.worlds.cuisine.skills:SKILLS",
    practice=Practice(
        settings={"level": "level_0", "alpha": 2.0, "beta": 2.5, "max_steps": 20}, until={"completed": 1}
    ),
    steps="max_steps",
    bench="kitchen.worlds.cuisine.bench.bench:BENCH",
    recordings="kitchen.worlds.cuisine.recordings:TRACES",
)
"""Practice is the easiest level, alone, until one dish is served."""
