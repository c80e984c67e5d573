"""Register the parts of Overcooked: rules, page, agents, adviser, practice, benchmark, recordings.

The adviser is a program that gives hints to people.
"""

from __future__ import annotations

from functools import partial

from kitchen.contract.kit import Practice, WorldKit
from kitchen.registry.dotted_paths import load_path

_PARTNERS = "kitchen.worlds.overcooked.partners"
_WRITTEN = "kitchen.worlds.overcooked.written_policy"

KIT = WorldKit(
    rules=partial(load_path, "kitchen.worlds.overcooked.world:Overcooked"),
    page=partial(load_path, "kitchen.worlds.overcooked.page:PAGE"),
    coplayers={
        "fast_and_slow": partial(
            load_path, "kitchen.worlds.overcooked.fast_slow.fast_slow_agent:FastSlowAgent"
        ),
        "greedy": partial(load_path, f"{_PARTNERS}.baseline_agents:GreedyAgent"),
        "grid_planner": partial(load_path, f"{_PARTNERS}.planner_agent:GridPlanner"),
        "random_walk": partial(load_path, f"{_PARTNERS}.baseline_agents:RandomWalkAgent"),
        "script": partial(load_path, f"{_PARTNERS}.baseline_agents:ScriptAgent"),
        "stay": partial(load_path, f"{_PARTNERS}.baseline_agents:StayAgent"),
        "step_aside": partial(load_path, f"{_PARTNERS}.step_aside_agent:StepAsideAgent"),
        "written_policy": partial(load_path, f"{_WRITTEN}.written_policy_agent:WrittenPolicyAgent"),
    },
    adviser=partial(load_path, f"{_PARTNERS}.planner_agent:ADVISER"),
    pursuer=partial(load_path, "kitchen.worlds.overcooked.grid_pursuit:PURSUER"),
    skills=partial(load_path, "kitchen.worlds.overcooked.skills:SKILLS"),
    practice=Practice(
        settings={"layout": "cramped_room", "ticks": 200},
        coplayer="step_aside",
        teammates=1,
        until={"soups": 1},
    ),
    encodings={
        "lossless_26": partial(load_path, "kitchen.worlds.overcooked.lossless_encoding:LOSSLESS_ENCODING")
    },
    reward="points",
    pixels=partial(load_path, "kitchen.worlds.overcooked.grid_pixels:draw_grid"),
    steps="ticks",
    bench=partial(load_path, "kitchen.worlds.overcooked.bench.pairing_benchmark:PAIRING_BENCHMARK"),
    recordings=partial(load_path, "kitchen.worlds.overcooked.reference_traces:TRACES"),
    log_metrics=partial(load_path, "kitchen.worlds.overcooked.agent_log_metrics:AGENT_LOG_METRICS"),
    policy_language=partial(load_path, f"{_WRITTEN}.grid_policy_language:GRID_POLICY_LANGUAGE"),
    trials=partial(load_path, "kitchen.worlds.overcooked.released_trials:RELEASED_TRIALS"),
    canvases={"own_layout": partial(load_path, "kitchen.worlds.overcooked.layout_editor:LAYOUT_EDITOR")},
)
"""The world's registry entry. In the practice episode, one participant plays the smallest grid together with
a partner that keeps out of the way. It ends when one soup is delivered."""
