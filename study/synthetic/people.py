"""Who the many are: how far each comes, and what each answers."""

from __future__ import annotations

from random import Random

from kitchen.worlds.base import Json
from study.blueprint import Blueprint, ItemPlan
from study.dry_run.person import Experience, Person
from study.items import is_right, must_be_answered, value_problem

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
    return next((one for one in _others(item) if is_right(item, one) is False), item.correct)


def _others(item: ItemPlan) -> list[Json]:
    """Some answers to the item, one of which is wrong if there is such."""
    if item.kind == "likert":
        return list(range(1, item.points + 1))
    if item.kind == "number":
        step = item.step or 1.0
        numbers = [item.correct + step, item.correct - step, item.minimum, item.maximum]
        return [_plain(one) for one in numbers if one is not None and not value_problem(item, one)]
    if item.kind == "multiple":
        return [[one] for one in item.options] + [list(item.options)]
    return list(item.options) if item.kind == "single" else ["I do not know.", "No idea."]


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
    return _other(rng, item, teams)


def _other(rng: Random, item: ItemPlan, teams: list[str]) -> Json:
    if item.kind == "number":
        return _number(rng, item)
    if item.kind == "single":
        return rng.choice(item.options)
    if item.kind == "multiple":
        return [one for one in item.options if rng.random() < 0.5]
    if item.kind == "team":
        return rng.choice(teams)
    return rng.choice(
        ["It was fun.", "I would have liked more time.", "The second team helped the most.", "No."]
    )


def _number(rng: Random, item: ItemPlan) -> float:
    """A number of the item's range, on its steps."""
    low = 0.0 if item.minimum is None else item.minimum
    high = low + 60 if item.maximum is None else item.maximum
    step = item.step or 1.0
    found = low + step * rng.randrange(int((high - low) / step) + 1)
    return _plain(found)


def _plain(number: float) -> float:
    return int(number) if number == int(number) else number
