"""Compare the marks of a study's raters, code by code.

A unit is a step or an episode, as the study's plan says. Its value for a rater is whether the code holds at
the step, or occurs in the episode. Only episodes with which a rater is done count; others are missing values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.db.models import Q

from study.analysis.statistics.rater_agreement import cohen_kappa, krippendorff_alpha, percent_agreement
from study.design.models import Study
from study.participants.annotations import Annotation, AnnotationCode, AnnotationPlan, EpisodeRating
from study.participants.models import Round

Marked = Mapping[int, frozenset[int]]
"""The units at which a code holds, by rating: step numbers, or 0 for the episode."""


@dataclass(frozen=True, slots=True)
class CodeAgreement:
    """The agreement of the raters on one code."""

    code: str
    units: int
    """Units with the values of at least two raters."""
    shares: tuple[tuple[int, float], ...]
    """The share of units at which each rater uses the code, by the rater's number."""
    percent: float | None
    """Share of pairs of raters with the same value."""
    kappa: float | None
    """Cohen's kappa, with two raters; None otherwise, or if it is not defined."""
    alpha: float | None
    """Krippendorff's alpha for nominal values; None if it is not defined."""


def annotation_agreement(study: Study) -> list[CodeAgreement]:
    """Return the agreement on each code of a study, without excluded people and episodes. The caller checks
    that the marks are revealed (`is_revealed`)."""
    plan = AnnotationPlan.objects.filter(study=study).first()
    if plan is None:
        return []
    by_step = plan.unit == AnnotationPlan.Unit.STEP
    excluded = Q(left_out_at__isnull=False) | Q(participant__excluded_at__isnull=False)
    left_out = Round.objects.filter(excluded, participant__study=study, episode__isnull=False)
    done = EpisodeRating.objects.filter(rater__study=study, done_at__isnull=False)
    done = done.exclude(episode__in=left_out.values("episode"))
    ratings: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for episode, pk, rater, steps in done.order_by("rater__number").values_list(
        "episode_id", "pk", "rater__number", "episode__step"
    ):
        ratings[episode].append((pk, rater, steps))
    doubled = [theirs for theirs in ratings.values() if len(theirs) > 1]
    marked = _marked(study, by_step=by_step)
    codes = AnnotationCode.objects.filter(study=study)
    return [_agreement(code, doubled, marked.get(code.pk, {}), by_step=by_step) for code in codes]


def _marked(study: Study, *, by_step: bool) -> dict[int, dict[int, frozenset[int]]]:
    """Return the marked units of every code and rating."""
    found: dict[int, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    marks = Annotation.objects.filter(rating__rater__study=study)
    for code, rating, first, last in marks.order_by().values_list("code", "rating", "first", "last"):
        found[code][rating].update(range(first, last + 1) if by_step else [0])
    return {code: {pk: frozenset(units) for pk, units in theirs.items()} for code, theirs in found.items()}


def _agreement(
    code: AnnotationCode, doubled: list[list[tuple[int, int, int]]], marked: Marked, *, by_step: bool
) -> CodeAgreement:
    raters = sorted({rater for theirs in doubled for _, rater, _ in theirs})
    units = [unit for theirs in doubled for unit in _units(theirs, marked, by_step=by_step)]
    values = [tuple(unit.values()) for unit in units]
    kappa = cohen_kappa(values) if len(raters) == 2 else None
    shares = []
    for rater in raters:
        own = [unit[rater] for unit in units if rater in unit]
        shares.append((rater, sum(own) / len(own)))
    return CodeAgreement(
        code.name, len(units), tuple(shares), percent_agreement(values), kappa, krippendorff_alpha(values)
    )


def _units(theirs: list[tuple[int, int, int]], marked: Marked, *, by_step: bool) -> Iterator[dict[int, bool]]:
    """Yield the values of the raters of one episode, unit by unit."""
    steps = range(1, theirs[0][2] + 1) if by_step else [0]
    for step in steps:
        yield {rater: step in marked.get(pk, ()) for pk, rater, _ in theirs}
