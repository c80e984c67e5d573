"""What participants left, by participant: the columns that follow from a study's design.

Names are `<condition>.<measure>` for what was played and asked in a condition, `<place>.<item>` for what was
asked elsewhere, and end in `.score` for sub-scales. Their order is that of the first version; what later
versions added stands behind, so that no column ever changes its place.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.utils.text import slugify

from kitchen.worlds.base import Json
from study.blueprint import Blueprint, ConditionPlan, ItemPlan
from study.exports.base import EPISODE_LEVELS, Column
from study.exports.raw import as_text, read_small
from study.exports.versions import blueprints
from study.instruments import instruments
from study.items import is_right
from study.models import Answer, PageVisit, Participant, Round, Study, Version
from study.scoring import ScoringError, scale_score

KINDS = {"likert": "integer", "number": "number", "multiple": "json"}
"""Kind of column by kind of item; all others are texts."""
OUTSIDE = ("about", "check", "final")
"""Places of items outside of the conditions."""
SCORED = ("likert", "number")


def wide_columns(study: Study) -> tuple[Column, ...]:
    """Those that follow from the design, in an order that later versions only add to."""
    found: dict[str, Column] = {}
    for design in blueprints(study):
        for column in _design_columns(design):
            found.setdefault(column.name, column)
    return tuple(found.values())


def _design_columns(design: Blueprint) -> Iterator[Column]:
    for condition in design.conditions:
        yield from _played_columns(condition)
        yield from _item_columns(condition.key, design.items_at("survey"))
    for place in OUTSIDE:
        yield from _item_columns(place, design.items_at(place))


def _played_columns(condition: ConditionPlan) -> Iterator[Column]:
    key, name = condition.key, f"in the condition “{condition.name}”"
    yield Column(f"{key}.order_position", "integer", f"When it was played, {name}.", levels="1 = first")
    yield Column(f"{key}.success_rate", "number", f"completed / (completed + failed) {name}.", unit="share")
    yield Column(f"{key}.completed", "integer", f"Dishes completed {name}.", unit="orders")
    yield Column(f"{key}.failed", "integer", f"Orders that ran out of time {name}.", unit="orders")
    yield Column(f"{key}.steps", "integer", f"Steps taken {name}.", unit="steps")
    yield Column(f"{key}.episode_status", "text", f"How the episode stands {name}.", levels=EPISODE_LEVELS)


def _item_columns(where: str, items: Sequence[ItemPlan]) -> Iterator[Column]:
    for item in items:
        said = f"{item.measure}: {item.text}" + (" Last attempt." if where == "check" else "")
        yield Column(f"{where}.{item.key}", KINDS.get(item.kind, "text"), said, levels=_levels(item))
    for name, scale, scaled in scales(items):
        keys = ", ".join(f"{item.key} (reversed)" if item.reversed else item.key for item in scaled)
        how = "SUS" if formula(scaled) == "sus" else "mean"
        said = f"Score of the scale “{scale}” ({how} of {keys}); blank if an item was not answered."
        yield Column(f"{where}.{name}", "number", said, unit="scale points")


def _levels(item: ItemPlan) -> str:
    if item.kind == "likert":
        return f"1 = {item.low}; {item.points} = {item.high}"
    return "; ".join(item.options) if item.options else ""


def scales(items: Sequence[ItemPlan]) -> list[tuple[str, str, list[ItemPlan]]]:
    """(name of the column, name of the scale, its items) of every sub-scale, in the order of first items."""
    by_scale: dict[str, list[ItemPlan]] = defaultdict(list)
    for item in items:
        if item.scale and item.kind in SCORED and item.correct is None:
            by_scale[item.scale].append(item)
    taken: dict[str, str] = {}
    for scale in by_scale:
        plain = slugify(scale).replace("-", "_") or scale
        taken[scale] = f"{scale if plain in taken.values() else plain}"
    return [(f"{taken[scale]}.score", scale, found) for scale, found in by_scale.items()]


def formula(items: Sequence[ItemPlan]) -> str:
    """How these items become one number: as the instrument says that they come from, else their mean."""
    keys = {item.key for item in items}
    known = (one.score for one in instruments() if keys <= {item.key for item in one.items})
    return next(known, "mean")


@dataclass(slots=True)
class Left:
    """What one participant left."""

    values: dict[str, Json] = field(default_factory=dict)
    """By name of column; see `wide_columns`."""
    order: list[str] = field(default_factory=list)
    """Keys of the conditions as given."""
    answered: int = 0
    """Conditions played and answered."""
    attempts: int = 0
    passed: bool | None = None
    attention: int = 0
    attention_failed: int = 0
    page: str | None = None
    """Opened last."""


class Scored(NamedTuple):
    """One sub-scale of a design, ready to be scored."""

    column: str
    items: list[ItemPlan]
    formula: str


class Sheet:
    """A version's design, as answers are read by it."""

    def __init__(self, design: Blueprint) -> None:
        self.items = {item.key: item for item in design.items}
        self.asked = {place: design.items_at(place) for place in ("survey", *OUTSIDE)}
        self.scored = {
            place: [Scored(name, found, formula(found)) for name, _, found in scales(items)]
            for place, items in self.asked.items()
        }


def left_by(people: Sequence[Participant], versions: Mapping[int, Version]) -> dict[int, Left]:
    """What each of these left, by primary key; a handful of queries for all of them."""
    found = {person.pk: Left() for person in people}
    _read_rounds(found)
    sheets = {pk: Sheet(versions[pk].blueprint) for pk in {person.version_id for person in people}}
    given = _answers(found)
    for person in people:
        _read_answers(sheets[person.version_id], found[person.pk], given.get(person.pk, ()))
    pages = PageVisit.objects.filter(participant__in=found).order_by("opened_at", "pk")
    for pk, page in pages.values_list("participant_id", "page"):
        found[pk].page = page
    return found


def _read_rounds(found: Mapping[int, Left]) -> None:
    rounds = Round.objects.filter(participant__in=found).annotate(score=as_text("episode__score"))
    fields = ("condition__key", "position", "answered_at", "score", "episode__step", "episode__status")
    for pk, key, position, answered, score, steps, status in rounds.order_by("position").values_list(
        "participant_id", *fields
    ):
        left = found[pk]
        left.order.append(key)
        left.answered += answered is not None
        if status is not None:
            left.values |= _played(key, position, read_small(score), steps, status)


def _played(key: str, position: int, score: Json, steps: int, status: str) -> dict[str, Json]:
    return {
        f"{key}.order_position": position,
        f"{key}.success_rate": score.get("success_rate"),
        f"{key}.completed": score.get("completed"),
        f"{key}.failed": score.get("failed"),
        f"{key}.steps": steps,
        f"{key}.episode_status": status,
    }


Given = tuple[str | None, str, str, int, Json]
"""Key of the condition, place, key of the item, attempt, value."""


def _answers(pks: Iterable[int]) -> dict[int, list[Given]]:
    found = Answer.objects.filter(participant__in=pks).order_by("attempt", "pk")
    fields = ("round__condition__key", "item__place", "item__key", "attempt", "value")
    by_person: dict[int, list[Given]] = defaultdict(list)
    for pk, *given in found.values_list("participant_id", *fields):
        by_person[pk].append(tuple(given))
    return by_person


def _read_answers(sheet: Sheet, left: Left, answers: Iterable[Given]) -> None:
    """All of one participant's; of several attempts the last one counts."""
    pages: dict[tuple[str | None, str], dict[str, Json]] = defaultdict(dict)
    for condition, place, key, attempt, value in answers:
        pages[condition, place][key] = value
        if place == "check":
            left.attempts = attempt
        elif key in sheet.items and (right := is_right(sheet.items[key], value)) is not None:
            left.attention += 1
            left.attention_failed += not right
    for (condition, place), values in pages.items():
        where = condition or place
        left.values |= {f"{where}.{key}": value for key, value in values.items()}
        left.values |= {f"{where}.{name}": score for name, score in _scores(sheet.scored[place], values)}
    if left.attempts:
        last = pages[None, "check"]
        left.passed = all(is_right(item, last.get(item.key)) is not False for item in sheet.asked["check"])


def _scores(scored: Iterable[Scored], values: Mapping[str, Json]) -> Iterator[tuple[str, float | None]]:
    for name, items, how in scored:
        try:
            yield name, scale_score(items, values, how).value
        except ScoringError:  # such items make no score: the column stays blank
            continue
