"""What those who are analysed said about themselves before they played, summed up: no answer of one person
and no text that somebody wrote is told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from kitchen.contract.world import Json
from study.analysis.sample import Sample
from study.analysis.statistics.analyse import Analysis
from study.design.models import SurveyItem
from study.design.questions.fields import DOES_NOT_APPLY
from study.design.questions.numbers import written
from study.people.models import Answer

OTHER = "another answer"
NOT_APPLICABLE = "does not apply"
Line = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Said:
    """One question summed up."""

    question: str
    """As tables call it."""
    answered: int
    """How many of those who are analysed gave an answer, or said that it does not apply."""
    lines: tuple[Line, ...]
    """An option and how many chose it; of numbers their n, median and range."""


def said_about_themselves(sample: Sample, analysis: Analysis) -> tuple[Said, ...]:
    """Every question about the person that somebody analysed answered, in the order of the study; none whose
    answers are free texts, and none that has a right answer."""
    people = sample.people.filter(code__in=analysis.participants)
    answers = Answer.objects.filter(
        participant__in=people.values("pk"), round=None, item__place=SurveyItem.Place.ABOUT
    )
    values: dict[int, list[Json]] = {}
    for item, value in answers.order_by("id").values_list("item_id", "value"):
        values.setdefault(item, []).append(value)
    items = SurveyItem.objects.filter(pk__in=values).order_by("position", "pk")
    return tuple(
        summed_up(one, values[one.pk]) for one in items if one.kind in _LINES and one.correct is None
    )


def summed_up(item: SurveyItem, values: Sequence[Json]) -> Said:
    """The answers to one question with options or numbers."""
    given = [value for value in values if value != DOES_NOT_APPLY]
    lines = [*_LINES[item.kind](item, given)]
    if gone := len(values) - len(given):
        lines.append((NOT_APPLICABLE, str(gone)))
    return Said(item.measure, len(values), tuple(lines))


def _chosen(item: SurveyItem, values: Sequence[Json]) -> Iterator[Line]:
    counted = Counter(one for value in values for one in (value if isinstance(value, list) else [value]))
    for option in item.options:
        yield option, str(counted.pop(option, 0))
    if counted:
        yield OTHER, str(counted.total())


def _numbers(item: SurveyItem, values: Sequence[Json]) -> Iterator[Line]:
    if values:
        yield "numbers", str(len(values))
        yield "median", written(median(values))
        yield "range", f"{written(min(values))} to {written(max(values))}"


_LINES = {"single": _chosen, "multiple": _chosen, "number": _numbers, "likert": _numbers}
