"""Who the many are: how far each comes, and what each answers."""

from __future__ import annotations

from kitchen.contract.world import Json
from study.design.blueprint import Blueprint
from study.design.questions.fields import ItemPlan
from study.design.questions.kinds import kind_of
from study.design.questions.rules import is_right, must_be_answered
from study.trying_out.walk.person import Experience, Person

FAR = {"complete": 0.86, "timed_out": 0.06, "active": 0.03, "no_consent": 0.02, "failed_check": 0.03}
"""Shares of the ways to end: roughly what studies on the web report."""
ATTENTIVE = 0.96
"""Share of attention checks and questions of understanding that are answered rightly."""


def way_of(person: Person, design: Blueprint) -> str:
    """How this one ends: a status of a participant."""
    ways = dict(FAR)
    if not design.has("consent"):
        ways.pop("no_consent")
    if not _can_fail(design):
        ways.pop("failed_check")
    return person.chance("way").choices(list(ways), list(ways.values()))[0]


def _can_fail(design: Blueprint) -> bool:
    """Whether the check of understanding ends anybody's way."""
    check = design.part("check")
    if not check.enabled or check.settings["on_failure"] == "continue":
        return False
    return any(wrong_answer(item) != item.correct for item in design.items_at("check"))


def wrong_answer(item: ItemPlan) -> Json:
    """An answer that is not the right one; the right one where there is no other."""
    others = kind_of(item).some_answers(item)
    return next((one for one in others if is_right(item, one) is False), item.correct)


def answer_of(
    person: Person, item: ItemPlan, experience: Experience, *, episode: int, teams: list[str]
) -> Json:
    """A plausible answer; None for an item that is left out because it need not be answered."""
    rng = person.chance("synthetic", episode, item.key)
    if not must_be_answered(item) and rng.random() < 0.1:
        return None
    if item.correct is not None and rng.random() < ATTENTIVE:
        return item.correct
    if item.kind == "likert":
        points = range(item.points, 0, -1) if item.reversed else range(1, item.points + 1)
        return person.answer(item.key, points, experience, episode=episode)
    return kind_of(item).any_answer(item, rng, teams)
