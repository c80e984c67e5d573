"""Who the many are: how far each comes, and what each answers."""

from __future__ import annotations

from random import Random

from kitchen.worlds.base import Json
from study.blueprint import Blueprint, ItemPlan
from study.dry_run.person import Experience, Person
from study.items import must_be_answered

FAR = {"complete": 0.86, "timed_out": 0.06, "active": 0.03, "no_consent": 0.02, "failed_check": 0.03}
"""Shares of the ways to end: roughly what studies on the web report."""
ATTENTIVE = 0.96
"""Share of attention checks and questions of understanding that are answered rightly."""


def way_of(person: Person, design: Blueprint) -> str:
    """How this one ends: a status of a participant."""
    ways = dict(FAR)
    if not design.has("consent"):
        ways.pop("no_consent")
    if not design.items_at("check") or not design.has("check"):
        ways.pop("failed_check")
    return person.chance("way").choices(list(ways), list(ways.values()))[0]


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
    return int(found) if found == int(found) else found
