"""Declare the settings and the metrics of the Collab-Overcooked world."""

from __future__ import annotations

from kitchen.contract.declared_settings import Setting
from kitchen.contract.world import Metric
from kitchen.words.gettext_without_django import ngettext_noop
from kitchen.worlds.collab_overcooked.order_tasks import tasks
from kitchen.worlds.collab_overcooked.room_layout import RELEASED

CHEF_KNOWS, BOTH_KNOW, ASSISTANT_KNOWS = "chef", "both", "assistant"
KNOWING_SEATS = {CHEF_KNOWS: (0,), BOTH_KNOW: (0, 1), ASSISTANT_KNOWS: (1,)}
PLAN_LANES = "plan_lanes"
"""The setting with which a chef plans both cooks' steps in two lanes."""
CHEF_OPENS, BOTH_OPEN = "chef", "both"
SCORED_OPENERS = {CHEF_OPENS: (0,), BOTH_OPEN: (0, 1)}

LAYOUT_LABELS = (
    (RELEASED, "The benchmark's: three shared counters"),
    ("turned", "Three shared counters, everything else moved"),
    ("pillar", "Two shared counters, a wall between them"),
    ("corner", "Two shared counters side by side, far from the serving place"),
)


def task_label(name: str) -> str:
    """Return the label of a task for researchers: `Level 3: baked potato soup`."""
    return f"Level {tasks()[name].level}: {name.replace('_', ' ')}"


SETTINGS = (
    Setting(
        "task",
        "choice",
        "Task",
        "baked_pumpkin_soup",
        help="The dish that is ordered.",
        choices=tuple((name, task_label(name)) for name in tasks()),
    ),
    Setting(
        "gamma",
        "float",
        "Time limit, as a multiple of the recorded optimum",
        1.5,
        help="The benchmark uses 1.5. An episode has floor(gamma x optimum) + 1 steps.",
        minimum=1,
        maximum=10,
    ),
    Setting(
        "knowledge",
        "choice",
        "Who knows the recipe",
        CHEF_KNOWS,
        choices=((CHEF_KNOWS, "The chef"), (BOTH_KNOW, "Both"), (ASSISTANT_KNOWS, "The assistant")),
    ),
    Setting(
        "score_openers",
        "choice",
        "Whose conversations IC and RC count",
        CHEF_OPENS,
        help="The benchmark counts those that the chef opened.",
        choices=((CHEF_OPENS, "The chef's"), (BOTH_OPEN, "Both seats'")),
    ),
    Setting(
        "layout",
        "choice",
        "Rooms",
        RELEASED,
        help="Where the utensils, the dispensers and the counters are. The others are ours.",
        choices=LAYOUT_LABELS,
        later=True,
    ),
    Setting(
        "typed",
        "bool",
        "Participants type their plans and requests",
        False,
        help="Instead of picking them from lists, as in the released pages.",
    ),
    Setting(
        "one_press",
        "bool",
        "One press also does what must follow",
        False,
        help="Such as to take slices, put them into the oven and start it. Needs plans.",
        later=True,
    ),
    Setting(
        "best_run",
        "bool",
        "Tells how the team does beside the best run that is known",
        False,
        help="At each handover, and in all at the end. It never tells how many handovers are to come.",
        later=True,
    ),
    Setting(
        PLAN_LANES,
        "bool",
        "A chef with the recipe plans both cooks' steps in two lanes",
        False,
        help="The page tells the step of the delivery, and plays the plan. Needs plans and messages.",
        later=True,
    ),
)

_TES_MEANING = (
    "Trajectory efficiency score of the {seat} (Collab-Overcooked, ACL 2025): how far its macros follow the "
    "nearest reference trajectory, and how few others it used"
)
METRICS = (
    Metric(
        "success",
        "share",
        "Success rate",
        meaning="1 if the ordered dish was delivered in time, else 0",
        so_far="1 if the ordered dish has been delivered, else 0",
    ),
    Metric(
        "progress_completeness",
        "share",
        "Progress completeness",
        meaning="Mean of both seats' trajectory efficiency scores at the end (PC)",
        so_far="Mean of both seats' trajectory efficiency scores so far (PC)",
    ),
    Metric(
        "tes_chef",
        "share",
        "TES of the chef",
        meaning=_TES_MEANING.format(seat="chef"),
        so_far="TES of the chef so far",
    ),
    Metric(
        "tes_assistant",
        "share",
        "TES of the assistant",
        meaning=_TES_MEANING.format(seat="assistant"),
        so_far="TES of the assistant so far",
    ),
    Metric(
        "steps_used",
        "count",
        "Steps used",
        meaning="Steps until the delivery, or until the episode was cut off",
        so_far="Steps so far",
        unit="steps",
        better="lower",
        words=ngettext_noop("step used", "steps used"),
    ),
)
