"""Register the parts of CuisineWorld: rules, page, agents, adviser, practice, benchmark, recordings.

The adviser is a program that gives hints to people.
"""

from __future__ import annotations

from functools import partial

from kitchen.contract.kit import Practice, WorldKit
from kitchen.registry.dotted_paths import load_path

KIT = WorldKit(
    rules=partial(load_path, "kitchen.worlds.cuisine.world:CuisineWorld"),
    page=partial(load_path, "kitchen.worlds.cuisine.page:PAGE"),
    coplayers={
        "dispatcher": partial(load_path, "kitchen.worlds.cuisine.dispatcher.agent:Dispatcher"),
        "planner": partial(load_path, "kitchen.worlds.cuisine.planner.agent:CuisinePlanner"),
    },
    adviser=partial(load_path, "kitchen.worlds.cuisine.planner.agent:ADVISER"),
    pursuer=partial(load_path, "kitchen.worlds.cuisine.aim_pursuit:PURSUER"),
    skills=partial(load_path, "kitchen.worlds.cuisine.skills:SKILLS"),
    practice=Practice(
        settings={"level": "level_0", "alpha": 2.0, "beta": 2.5, "max_steps": 20}, until={"completed": 1}
    ),
    encodings={"flat": partial(load_path, "kitchen.worlds.cuisine.cuisine_vector:CUISINE_ENCODING")},
    reward="completed",
    steps="max_steps",
    bench=partial(load_path, "kitchen.worlds.cuisine.bench.paper_benchmark:CUISINE_BENCHMARK"),
    recordings=partial(load_path, "kitchen.worlds.cuisine.reference_traces:TRACES"),
)
"""The world's registry entry.

In the practice episode, one participant plays the easiest level until one dish is served.
"""
