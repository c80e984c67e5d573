"""The names of sub-scales' scores in tables, files and tests: one each, wherever it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, count

from django.utils.text import slugify

from study.design.blueprint import Blueprint
from study.design.models import SurveyItem
from study.design.questions.subscales import subscales

PLACES = sorted(SurveyItem.Place.values, key=lambda place: place != SurveyItem.Place.SURVEY)
"""Where items are asked, after episodes first."""


def scale_keys(designs: Sequence[Blueprint]) -> dict[str, str]:
    """The key of each sub-scale's score, by the sub-scale's name: its name as far as it is Latin, and
    `_score`. None is another's, nor an item's. `designs` are all of a study, oldest first: a sub-scale that a
    later version adds renames none."""
    taken = {item.key for design in designs for item in design.items}
    keys: dict[str, str] = {}
    for name in _scales(designs):
        if name not in keys:
            word = f"{slugify(name).replace('-', '_') or 'scale'}_score"
            keys[name] = next(key for key in chain([word], _numbered(word)) if key not in taken)
            taken.add(keys[name])
    return keys


def _scales(designs: Sequence[Blueprint]) -> Iterator[str]:
    for place in PLACES:
        for design in designs:
            yield from (scale.name for scale in subscales(design.items_at(place)))


def _numbered(word: str) -> Iterator[str]:
    return (f"{word}_{number}" for number in count(2))
