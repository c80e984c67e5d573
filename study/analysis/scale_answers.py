"""The answers to the items of every sub-scale after each condition, as reliability is told from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from statistics import mean

from kitchen.contract.world import Json
from study.analysis.rated import Rated
from study.analysis.sample import Sample
from study.analysis.statistics.rows import AnalysisCondition
from study.analysis.statistics.scales import ScaleAnswers
from study.design.questions.fields import ItemPlan
from study.design.questions.rules import in_numbers
from study.design.questions.scoring import ScoringError, turned
from study.design.questions.subscales import SubScale

Row = tuple[float | None, ...]
Rows = dict[tuple[str, str], dict[int, Row]]
"""By the keys of scale and condition, and the participant."""


def scale_answers(sample: Sample, rated: Rated, conditions: list[AnalysisCondition]) -> list[ScaleAnswers]:
    """Each sub-scale of several items, in each condition and over all (each participant's means); only of
    versions that have just the items that the newest has. Rows where nothing of a scale was answered are
    none."""
    scales = _newest(rated)
    rows: Rows = {}
    for key, condition, who, row in _rows(sample, rated, scales) if scales else ():
        rows.setdefault((key, condition), {})[who] = row
    return [one for key, scale in scales.items() for one in _places(key, scale, conditions, rows)]


def _newest(rated: Rated) -> dict[str, SubScale]:
    """By the key of the measure, as the newest version has it."""
    found: dict[str, SubScale] = {}
    for version in rated.versions.values():
        for key, asked in version.fits.items():
            if isinstance(asked, SubScale) and len(asked.items) > 1:
                found.setdefault(key, asked)
    return found


def _rows(
    sample: Sample, rated: Rated, scales: Mapping[str, SubScale]
) -> Iterator[tuple[str, str, int, Row]]:
    """Key of the scale, key of the condition, one participant, and their turned answers there."""
    rounds = sample.rounds.select_related("participant", "condition").prefetch_related("answers__item")
    for played in rounds:
        answers = {answer.item.key: in_numbers(answer.value) for answer in played.answers.all()}
        fits = rated.versions[played.participant.version_id].fits
        for key, scale in scales.items():
            asked = fits.get(key)
            if not isinstance(asked, SubScale) or _keys(asked) != _keys(scale):
                continue
            row = tuple(_turned(item, answers) for item in sorted(asked.items, key=lambda one: one.key))
            if any(value is not None for value in row):
                yield key, played.condition.key, played.participant_id, row


def _places(
    key: str,
    scale: SubScale,
    conditions: list[AnalysisCondition],
    rows: Rows,
) -> Iterator[ScaleAnswers]:
    items = tuple(_keys(scale))
    yield ScaleAnswers(
        key, scale.name, "", items, _means([rows.get((key, one.key), {}) for one in conditions])
    )
    for one in conditions:
        if found := rows.get((key, one.key)):
            yield ScaleAnswers(key, scale.name, one.label, items, tuple(found.values()))


def _means(answered: Sequence[Mapping[int, Row]]) -> tuple[Row, ...]:
    """Each participant's mean of each item over the conditions in which they answered it: one row a person,
    for answers of one person are not those of several."""
    people = dict.fromkeys(who for rows in answered for who in rows)
    own = ([rows[who] for rows in answered if who in rows] for who in people)
    return tuple(tuple(map(_mean, zip(*rows, strict=True))) for rows in own)


def _mean(values: Iterable[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return mean(there) if there else None


def _keys(scale: SubScale) -> list[str]:
    return sorted(item.key for item in scale.items)


def _turned(item: ItemPlan, answers: Mapping[str, Json]) -> float | None:
    """The answer, so that more means more of what the scale measures; None without one on its scale."""
    value = answers.get(item.key)
    if value is not None:
        with suppress(ScoringError):
            return turned(item, float(value))
    return None
