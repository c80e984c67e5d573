"""Define the metrics of CuisineWorld, and the most orders that an episode can have.

Orders that are still open count in none of them.
"""

from __future__ import annotations

from kitchen.contract.metric_definitions import MetricLimits
from kitchen.contract.world import Metric
from kitchen.words.gettext_without_django import ngettext_noop
from kitchen.worlds.cuisine.order_book import Timing

METRICS = (
    Metric(
        "success_rate",
        "share",
        "Success rate",
        undefined="blank where both are 0",
        unit="share",
        of=("completed", "failed"),
    ),
    Metric(
        "completed",
        "count",
        "Dishes completed",
        meaning="Orders completed",
        so_far="Orders completed so far",
        unit="orders",
        words=ngettext_noop("dish served", "dishes served"),
    ),
    Metric(
        "failed",
        "count",
        "Orders that ran out of time",
        so_far="Orders failed so far",
        unit="orders",
        better="lower",
        measured=False,
        words=ngettext_noop("order missed", "orders missed"),
    ),
)


def order_limits(timing: Timing, steps: int) -> MetricLimits:
    """Return the limits of the order counts.

    One order is open at the start. One more comes every `timing.interval` steps, as long as there is room. An
    order fails if its life ends before the episode does.
    """
    shortest, longest = min(timing.lifetimes.values()), max(timing.lifetimes.values())
    coming = range(0, steps, timing.interval)
    stands = f"{shortest} steps" if shortest == longest else f"{shortest} to {longest} steps"
    return MetricLimits(
        things="orders",
        most=len(coming),
        missable=sum(came + shortest < steps for came in coming),
        because=f"Orders stand {stands} and an episode has {steps}",
    )
