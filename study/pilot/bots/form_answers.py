"""Fill in forms for a synthetic participant: a valid answer for every kind of item. Plain Python.

The page shows the items and their valid answers. Right answers are known only from the study's design.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from random import Random

from kitchen.contract.world import Json
from study.design.questions.item_kinds import format_number
from study.pilot.bots.http_browser import Field, Form, Sent
from study.pilot.bots.simulated_person import Experience, Person

ASKED = ("radio", "select", "checkbox", "number", "textarea")
"""Kinds of fields that are items."""
APART, BOX = "does-not-apply", ".apart"
"""Value of “does not apply” among radio buttons, and the suffix of its checkbox's name. Synthetic
participants never choose it."""
WIDTH = 100
"""Number of steps from which a number is drawn if the page gives no bounds."""

Fails = Callable[[str], bool]
"""Returns whether to answer the item with this key wrongly, if it has a right answer."""
Levels = Callable[[str], float | None]
"""Returns the mean answer to the item with this key, as a fraction of its scale; None to answer by
experience."""


def by_experience(item: str) -> float | None:
    """Return None: answer by experience."""
    return None


def answers_to(
    form: Form,
    person: Person,
    experience: Experience,
    *,
    episode: int,
    right: Mapping[str, Json],
    fails: Fails,
    known: Levels = by_experience,
) -> dict[str, Sent]:
    """Return an answer to every item of the form, by field name."""
    answers: dict[str, Sent] = {}
    for field in form.of_kind(*ASKED):
        if field.name.endswith(BOX):
            continue
        item = field.name.removeprefix("item_")
        rng = person.chance("answer", episode, item)
        if item in right:
            answers[field.name] = (
                wrong_answer(field, right[item]) if fails(item) else as_form_value(right[item])
            )
        elif points := points_of(field):
            answers[field.name] = str(
                person.answer(item, points, experience, episode=episode, known=known(item))
            )
        else:
            answers[field.name] = any_answer(field, rng, number=person.number)
    return answers


def points_of(field: Field) -> list[int]:
    """Return the points of a scale in rising order; empty if the field is no scale."""
    choices = choices_of(field)
    is_scale = field.kind in {"radio", "select"} and all(choice.isdecimal() for choice in choices)
    return sorted(int(choice) for choice in choices) if is_scale else []


def choices_of(field: Field) -> list[str]:
    """Return the choices without “does not apply”."""
    return [choice for choice in field.choices if choice not in {"", APART}]


def any_answer(field: Field, rng: Random, *, number: int) -> Sent:
    """Return a valid random answer for a field that is no scale."""
    choices = choices_of(field)
    if field.kind == "checkbox":
        return [choice for choice in choices if rng.random() < 0.5] or [rng.choice(choices)]
    if field.kind == "number":
        low, high = steps_of(field)
        return format_number(base_of(field) + rng.randint(low, high) * (field.step or 1))
    if field.kind == "textarea":
        return f"Written by synthetic participant {number}."
    return rng.choice(choices)


def base_of(field: Field) -> float:
    """Return the number from which steps are counted."""
    return field.low if field.low is not None else 0.0


def steps_of(field: Field) -> tuple[int, int]:
    """Return the lowest and highest number of steps from the base within the bounds."""
    step, base = field.step or 1, base_of(field)
    if field.high is None:
        return 0, WIDTH
    most = math.floor((field.high - base) / step + 1e-9)
    return (0 if field.low is not None else min(0, most - WIDTH)), most


def as_form_value(value: Json) -> Sent:
    """Return a stored answer in the form in which a browser sends it."""
    if isinstance(value, list):
        return [str(one) for one in value]
    return format_number(value) if isinstance(value, float) else str(value)


def wrong_answer(field: Field, right: Json) -> Sent:
    """Return a valid answer that is not the right one."""
    told = as_form_value(right)
    if field.kind == "checkbox":
        others = [choice for choice in field.choices if choice not in told]
        return others or list(field.choices)[:1]
    if field.kind == "number":
        low, high = steps_of(field)
        numbers = (format_number(base_of(field) + step * (field.step or 1)) for step in (low, high))
        return next((number for number in numbers if float(number) != float(right)), "")
    if field.kind == "textarea":
        return f"not {told}"
    return next(choice for choice in choices_of(field) if choice != told)
