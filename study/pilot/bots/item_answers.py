"""Answers of synthetic participants to survey items, for pages and for rows. Plain Python."""

from __future__ import annotations

from collections.abc import Sequence

from kitchen.contract.world import Json
from study.design.questions.item_fields import ItemPlan
from study.design.questions.item_kinds import is_right, kind_of, must_be_answered
from study.pilot.bots.simulated_person import Experience, Person
from study.pilot.bots.walk_plans import PlannedOutcome, WalkPlan

LEFT_OPEN = 0.1
"""Share of the optional items that are left open."""


def item_answer(
    item: ItemPlan,
    person: Person,
    plan: WalkPlan,
    experience: Experience,
    *,
    episode: int,
    teams: Sequence[str] = (),
    known: float | None = None,
) -> Json:
    """Return this person's answer after an episode, as it is stored; None for an item that is left open.

    Scales are answered by experience, or around `known`, a fraction of the scale. Items with a right answer
    are answered as planned. Everything else is drawn at random; `teams` are the answers to compare teams.
    """
    if item.correct is not None:
        return wrong_answer(item) if _fails(item, person, plan, episode) else item.correct
    rng = person.chance("item", episode, item.key)
    if not must_be_answered(item) and rng.random() < LEFT_OPEN:
        return None
    if not (points := kind_of(item).row(item)):
        return kind_of(item).any_answer(item, rng, teams)
    if item.reversed and known is None:
        points = points[::-1]
    value = person.answer(item.key, points, experience, episode=episode, known=known)
    return int(value) if value == int(value) else value


def _fails(item: ItemPlan, person: Person, plan: WalkPlan, episode: int) -> bool:
    """Return whether the plan says to answer wrongly: every attention check has the same probability."""
    if item.place == "check":
        return plan.outcome == PlannedOutcome.FAIL
    return person.chance("attention", episode, item.key).random() < plan.careless


def wrong_answer(item: ItemPlan) -> Json:
    """Return a wrong answer; the right one if there is no other."""
    others = kind_of(item).some_answers(item)
    return next((one for one in others if is_right(item, one) is False), item.correct)
