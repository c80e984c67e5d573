"""Read the covariates of an analysis: answers that participants gave before the rounds.

A covariate is a rating or a number that is asked about the person, before the guide. The plan of the analysis
names the covariates.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean

from study.analysis.analysis_sample import Sample, group_names
from study.design.blueprint import Blueprint
from study.design.models import SurveyItem
from study.design.questions.item_fields import ItemPlan
from study.design.questions.item_kinds import SCALED, numeric_answer
from study.participants.models import Answer


def covariate_items(design: Blueprint) -> list[ItemPlan]:
    """Return the items of a design that can be covariates. Without the page of questions about the person,
    there are none."""
    place = SurveyItem.Place.ABOUT
    asked = design.items_at(place) if design.has(place) else ()
    return [one for one in asked if one.kind in SCALED and one.correct is None]


def covariate_values(sample: Sample, keys: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return the answers to the items `keys`, by the participant's code and the item's key.

    Groups of people who played together have an entry, too: the mean of their members' answers.
    """
    if not keys:
        return {}
    answers = Answer.objects.filter(
        participant__in=sample.people.order_by(), item__key__in=keys, round__isnull=True
    )
    groups = group_names(sample)
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    fields = ("participant_id", "participant__code", "item__key", "value")
    for person, code, key, value in answers.order_by("pk").values_list(*fields):
        number = numeric_answer(value)
        if isinstance(number, int | float):
            for name in filter(None, (code, groups.get(person, ""))):
                found[name][key].append(float(number))
    return {name: {key: fmean(own) for key, own in by_key.items()} for name, by_key in found.items()}
