"""What an analysis takes of the surveys after the episodes: ratings, bounded numbers, scores of sub-scales.

Attention checks, choices and texts are none of these.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from django.utils.text import slugify

from kitchen.worlds.base import Json
from study.analysis.rows import Measure
from study.blueprint import Blueprint, ItemPlan
from study.items import SCALED
from study.models import SurveyItem
from study.scoring import SCORES, ends
from study.subscales import SubScale, subscales

Asked = ItemPlan | SubScale


@dataclass(frozen=True, slots=True)
class Rated:
    """The measures, and where each version's answers to them are found."""

    measures: list[Measure]
    by_version: dict[int, dict[str, Asked]]
    """What fits its measure, by the version's primary key and the measure's key."""
    differing: list[str]
    """Labels of measures that not all versions asked alike."""

    def values(self, version: int, answers: Mapping[str, Json]) -> dict[str, float | None]:
        """The value of every measure, from the answers of one survey by item key."""
        fits = self.by_version[version]
        return {one.key: _value(fits.get(one.key), answers) for one in self.measures}


def rated_in(designs: Mapping[int, Blueprint], labels: Mapping[str, str]) -> Rated:
    """Of the designs of some versions, by primary key, newest first: each measure as the newest of them has
    it; an answer between other ends is no value of it. `labels` are the names of items, in their order."""
    asked = {pk: _asked(design) for pk, design in designs.items()}
    newest: dict[str, Asked] = {}
    for found in asked.values():
        newest = found | newest
    items = [key for key in labels if key in newest]
    keys = [*items, *(key for key in newest if key not in labels)]
    measures = list(_measures({key: newest[key] for key in keys}, labels))
    differing = {key for found in asked.values() for key, one in found.items() if one != newest[key]}
    return Rated(
        measures,
        {
            pk: {key: one for key, one in found.items() if _ends(one) == _ends(newest[key])}
            for pk, found in asked.items()
        },
        [one.label for one in measures if one.key in differing],
    )


def _asked(design: Blueprint) -> dict[str, Asked]:
    """By the key of the measure; that something had to be answered is no difference in what was asked."""
    survey = [replace(item, required=True) for item in design.items_at(SurveyItem.Place.SURVEY)]
    found: dict[str, Asked] = {item.key: item for item in survey if _is_rating(item)}
    for scale in subscales(survey):
        if not scale.problem:
            found[_key_of(scale, found)] = scale
    return found


def _is_rating(item: ItemPlan) -> bool:
    """Whether its answers are numbers between two ends."""
    bounded = item.kind == SurveyItem.Kind.LIKERT or None not in {item.minimum, item.maximum}
    return item.kind in SCALED and item.correct is None and bounded


def _key_of(scale: SubScale, taken: Collection[str]) -> str:
    """A name for files and columns that no item has."""
    key = f"{slugify(scale.name).replace('-', '_') or 'scale'}_score"
    while key in taken:
        key += "_"
    return key


def _measures(found: Mapping[str, Asked], labels: Mapping[str, str]) -> Iterator[Measure]:
    for key, one in found.items():
        if isinstance(one, SubScale):
            label = f"{one.name}: {SCORES[one.formula].label}"
            yield Measure.score(key, label, *one.ends)
        elif one.kind == SurveyItem.Kind.LIKERT:
            yield Measure.likert(key, labels[key], one.points, (one.low, one.high))
        else:
            yield Measure.score(key, labels[key], *ends(one))


def _ends(one: Asked) -> tuple[float, float]:
    return one.ends if isinstance(one, SubScale) else ends(one)


def _value(one: Asked | None, answers: Mapping[str, Json]) -> float | None:
    if isinstance(one, SubScale):
        return one.score(answers)
    value = answers.get(one.key) if one else None
    return None if value is None else float(value)
