"""What an analysis takes of the episodes, and of the surveys after them: ratings, bounded numbers, scores of
sub-scales.

Attention checks, choices and texts are none of these.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from kitchen.contract.world import Json
from kitchen.registry.figures import NamedFigure
from study.analysis.statistics.rows import Measure
from study.design.blueprint import Blueprint
from study.design.models import SurveyItem
from study.design.questions.fields import ItemPlan
from study.design.questions.kinds import kind_of
from study.design.questions.scoring import ends
from study.design.questions.subscales import SubScale, subscales

Asked = ItemPlan | SubScale
Name = tuple[str, str]
"""`item` and its key, or `scale` and its name: what stays the same from version to version."""


@dataclass(frozen=True, slots=True)
class Asking:
    """How one version asks for the measures."""

    fits: Mapping[str, Asked]
    """By the measure's key, what has the ends of its measure."""
    alone: frozenset[str]
    """Keys of the conditions without teammates."""


@dataclass(frozen=True, slots=True)
class Rated:
    """The measures, and where each version's answers to them are found."""

    measures: list[Measure]
    versions: Mapping[int, Asking]
    """By primary key."""
    differing: list[str]
    """Labels of measures that not all versions asked alike."""
    figures: Sequence[NamedFigure] = ()
    """What is measured of play; no key or label of theirs is one of `measures`."""
    of_play: Mapping[str, Collection[str]] = field(default_factory=dict)
    """What else is measured of play (`study.design.of_play`): keys of the conditions, by the measure's."""

    def scored(self, world: str, score: Mapping[str, Json]) -> Iterator[tuple[str, float | None]]:
        """The key and value of each figure after an episode in this world; those of other worlds are no
        measures of it."""
        for named in self.figures:
            if world in named.worlds:
                value = named.value(world, score)
                yield named.name, None if value is None else float(value)

    def measured(
        self,
        version: int,
        condition: str,
        world: str,
        score: Mapping[str, Json],
        answers: Mapping[str, Json],
        beside: Mapping[str, float | None],
    ) -> dict[str, float | None]:
        """Each measure's key and value after an episode with this score: those of play, of the answers by
        item key, and what was measured `beside` the score, where it is."""
        found = dict(self.scored(world, score)) | dict(self.values(version, condition, answers))
        return found | {key: beside.get(key) for key, keys in self.of_play.items() if condition in keys}

    def values(
        self, version: int, condition: str, answers: Mapping[str, Json]
    ) -> Iterator[tuple[str, float | None]]:
        """Each measure's key and value after one episode, from the answers by item key. What is asked with
        teammates only is no measure of an episode played alone."""
        asked = self.versions[version]
        for measure in self.measures:
            question = asked.fits.get(measure.key)
            if not (question and condition in asked.alone and _needs_teammates(question)):
                yield measure.key, _value(question, answers)


def rated_in(designs: Mapping[int, Blueprint], labels: Mapping[str, str], scored: Mapping[str, str]) -> Rated:
    """Of the designs of some versions, by primary key, newest first: each measure as the newest of them has
    it; an answer between other ends is no value of it. `labels` are the names of items, in their order;
    `scored` are the study's `scale_keys`."""
    asked = {pk: _asked(design) for pk, design in designs.items()}
    newest: dict[Name, Asked] = {}
    for by_name in asked.values():
        newest = by_name | newest
    named = [("item", key) for key in labels if ("item", key) in newest]
    names = [*named, *(name for name in newest if name not in named)]
    keys = {(kind, one): scored[one] if kind == "scale" else one for kind, one in names}
    measures = {name: _measure(key, newest[name], labels) for name, key in keys.items()}
    differing = {name for by_name in asked.values() for name, one in by_name.items() if one != newest[name]}
    return Rated(
        [*measures.values()],
        {
            pk: Asking(
                {keys[name]: one for name, one in by_name.items() if _ends(one) == _ends(newest[name])},
                frozenset(one.key for one in designs[pk].conditions if not one.teammates),
            )
            for pk, by_name in asked.items()
        },
        [measure.label for name, measure in measures.items() if name in differing],
    )


def _asked(design: Blueprint) -> dict[Name, Asked]:
    """What one version measures; that something had to be answered is no difference in what was asked."""
    survey = [item.model_copy(update={"required": True}) for item in design.items_at(SurveyItem.Place.SURVEY)]
    items = {("item", item.key): item for item in survey if _is_rating(item)}
    return {**items, **{("scale", one.name): one for one in subscales(survey) if not one.problem}}


def _is_rating(item: ItemPlan) -> bool:
    """Whether its answers are numbers between two ends."""
    return item.correct is None and kind_of(item).ends(item) is not None


def _needs_teammates(question: Asked) -> bool:
    """Whether it, or any item of the sub-scale, is asked after episodes with teammates only."""
    return any(
        item.needs_teammates for item in (question.items if isinstance(question, SubScale) else (question,))
    )


def _measure(key: str, question: Asked, labels: Mapping[str, str]) -> Measure:
    if isinstance(question, SubScale):
        return Measure.score(key, f"{question.name}: {question.label}", *question.ends)
    label = labels.get(question.key, question.measure)
    if question.kind == SurveyItem.Kind.LIKERT:
        return Measure.likert(key, label, question.points, (question.low, question.high))
    return Measure.score(key, label, *ends(question))


def _ends(question: Asked) -> tuple[float, float]:
    return question.ends if isinstance(question, SubScale) else ends(question)


def _value(question: Asked | None, answers: Mapping[str, Json]) -> float | None:
    if isinstance(question, SubScale):
        return question.score(answers)
    value = answers.get(question.key) if question else None
    return None if value is None else float(value)
