"""A condition as one alone plays it to try it out."""

from __future__ import annotations

from study.design.blueprint import ConditionPlan
from study.design.plan import NOBODY, is_shared

RANDOM = "random"
"""The kind that plays every world and needs no settings."""


def tried_out(plan: ConditionPlan) -> ConditionPlan:
    """The condition, where players at random have the other people's places if no co-player is named for
    them."""
    if plan.coplayer != NOBODY or not is_shared(plan):
        return plan
    return plan.model_copy(update={"coplayer": RANDOM, "coplayer_settings": {}})
