"""Whether co-players decide in time where a clock takes the steps, as a dry run has shown it.

Programs play such a world quicker than people will (`BRIGADE_SYNTHETIC_SPEED`), so that more decisions come
too late for their step than will beside people; what is then done is the co-player's fallback.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import suppress

from django.db.models import Count, Q, Subquery

from kitchen.contract.world import WorldError
from kitchen.play.models import Decision
from kitchen.registry.names import UnknownNameError
from kitchen.registry.worlds import get_world
from study.analysis.tried import MOST_ROUNDS, alike_of, tried_rounds
from study.design.blueprint import ConditionPlan, blueprint_of
from study.design.models import Study
from study.design.plan import seats_of

LATE = "timeout"
"""`Decision.fallback` of one that was not there when its step was taken."""


def late_told(study: Study) -> Iterator[str]:
    """Of each condition in which decisions came too late beside programs: how many, how quick the clock was,
    and what to do; a sentence each that begins with its name. Only of conditions that are as they were
    played."""
    for plan in blueprint_of(study).conditions:
        for tick_ms, late, made in _counts(study, plan):
            if late:
                yield f"{plan.name}: {_share(late, made)}; {_pace(tick_ms, _usual(plan))}"


def _share(late: int, made: int) -> str:
    return (
        f"{late:,} of {made:,} decisions of co-players ({late / made:.1%}) came too late for their step, "
        "and the co-player's fallback acted instead"
    )


def _pace(tick_ms: int, usual: int | None) -> str:
    if usual is None or usual <= tick_ms:
        return f"a step took {tick_ms} ms, as for people."
    return (
        f"for programs a step took {tick_ms} ms, for people it takes {usual} ms. At a lower "
        "BRIGADE_SYNTHETIC_SPEED (1 is as quick as for people) fewer come too late."
    )


def _counts(study: Study, plan: ConditionPlan) -> list[tuple[int, int, int]]:
    """By the length of a step under a clock, in ms: how many decisions came too late, and of how many."""
    rounds = tried_rounds(study).filter(condition__key=plan.key, episode__tick_ms__isnull=False)
    rounds = rounds.filter(participant__version_id__in=alike_of(study, plan))
    newest = rounds.order_by("-pk").values("episode_id")[:MOST_ROUNDS]
    made = Decision.objects.filter(mind__episode__in=Subquery(newest), dropped="").order_by()
    counts = {"late": Count("pk", filter=Q(fallback=LATE)), "made": Count("pk")}
    return sorted(made.values_list("mind__episode__tick_ms").annotate(**counts))


def _usual(plan: ConditionPlan) -> int | None:
    """Milliseconds of a step beside people; None where that cannot be said."""
    with suppress(WorldError, UnknownNameError), warnings.catch_warnings(action="ignore"):
        return get_world(plan.world).create(seats=seats_of(plan), settings=plan.settings).tick_ms
    return None
