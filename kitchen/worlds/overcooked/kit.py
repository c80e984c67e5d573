"""The Overcooked grids' line in the registry: everything that they have."""

from __future__ import annotations

from kitchen.contract.kit import Practice, WorldKit

KIT = WorldKit(
    rules="kitchen.worlds.overcooked.world:Overcooked",
    page="kitchen.worlds.overcooked.page:PAGE",
    coplayers={
        "greedy": "kitchen.worlds.overcooked.partners.greedy:Greedy",
        "grid_planner": "kitchen.worlds.overcooked.partners.planner:Planner",
        "random_walk": "kitchen.worlds.overcooked.partners.simple:RandomWalk",
        "script": "kitchen.worlds.overcooked.partners.simple:Script",
        "stay": "kitchen.worlds.overcooked.partners.simple:Stay",
    },
    adviser="kitchen.worlds.overcooked.adviser:ADVISER",
    skills="kitchen.worlds.overcooked.skilled.skills:SKILLS",
    practice=Practice(
        settings={"layout": "cramped_room", "ticks": 200}, coplayer="stay", teammates=1, until={"soups": 1}
    ),
    steps="ticks",
    bench="kitchen.worlds.overcooked.bench.pairings:PAIRINGS",
    recordings="kitchen.worlds.overcooked.traces:TRACES",
    canvases={"own_layout": "kitchen.worlds.overcooked.canvas:OWN_LAYOUT"},
)
"""Practice is the smallest grid, beside somebody who leaves all to do, until one soup is delivered."""
