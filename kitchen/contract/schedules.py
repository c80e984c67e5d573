"""Define the schedules of a team, which say when its members are asked and when their decisions take effect.

In the schedule `together`, each step waits until everybody has decided. In the other schedules, members are
asked at different times, and a decision takes effect some steps later. They come from S-Agents (arXiv
2402.04578).
"""

from __future__ import annotations

from collections.abc import Mapping

from kitchen.contract.declared_settings import Setting

TOGETHER, RELAY, IN_ROUNDS, FREE = "together", "relay", "rounds", "free"
SCHEDULES: Mapping[str, str] = {
    TOGETHER: "All choose for each step, which runs when the last has chosen",
    RELAY: "One member at a time thinks and acts; the next begins when it has finished",
    IN_ROUNDS: "All think at once, then all act; the next round begins when the last has finished",
    FREE: "Each thinks when it has a reason, while the others go on",
}
"""Schedules by name. The text explains to researchers which members a step waits for."""
RECHECK, DROP, TAKE = "recheck", "drop", "take"
"""Rules for a delayed decision if some of its commands are no longer legal when it takes effect."""
MAX_THINK_STEPS = 100
REAL = "real"
"""The value of `think_steps` with which a decision takes effect in the first step that opens after it has
arrived. Agents alone have no clock: each of their decisions arrives in the step in which it is asked for."""

SCHEDULE, THINK_STEPS, STALE = "schedule", "think_steps", "stale"
SCHEDULE_SETTINGS = (
    Setting(SCHEDULE, "choice", "Who waits for whom", TOGETHER, choices=tuple(SCHEDULES.items())),
    Setting(
        THINK_STEPS,
        "int",
        "Steps that a member thinks before its decision takes effect",
        2,
        help="Or real: the decision takes effect in the next step that begins after it was made, and no step "
        "waits for it.",
        minimum=0,
        maximum=MAX_THINK_STEPS,
        choices=((REAL, "as long as it really thinks"),),
    ),
    Setting(
        STALE,
        "choice",
        "If commands of such a decision are no longer possible when it takes effect",
        RECHECK,
        choices=(
            (RECHECK, "they are dropped, and the others are carried out"),
            (DROP, "all its commands and plans are dropped"),
            (TAKE, "they are carried out all the same, and the world refuses them"),
        ),
    ),
)
"""The settings about time. `think_steps` and `stale` apply to all schedules but `together`."""
