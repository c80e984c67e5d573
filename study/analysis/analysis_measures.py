"""Choose the measures (dependent variables) of an analysis, and read their values.

Measures are play metrics, survey ratings, and survey numbers that have a lower and an upper limit. The scores
of sub-scales (groups of survey items) are measures, too. Attention checks, choices between options, and free
texts are not measures.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from kitchen.contract.world import Json
from kitchen.play.episode.log_metrics import SeatConduct, Seated, conduct_by_seat
from kitchen.play.turn.decision_records import prediction_accuracy, predictions_by_episode
from kitchen.registry.world_metrics import NamedMetric
from study.analysis.statistics.observations import Measure
from study.analysis.team_metric_values import NO_TEAM, Values, team_values
from study.design.analysis_plan import EXPLORATORY, PRIMARY, SECONDARY
from study.design.blueprint import Blueprint
from study.design.models import SurveyItem
from study.design.play_metrics import CONDUCT_METRICS, FORESIGHT, PLAY_METRICS, TEAM_METRICS, PlayMetric
from study.design.questions.item_fields import ItemPlan
from study.design.questions.item_kinds import kind_of
from study.design.questions.questionnaires import SubScale, item_range, subscales

ItemOrScale = ItemPlan | SubScale
NO_ROLES: Mapping[str, str] = MappingProxyType({})
Name = tuple[str, str]
"""(`item`, key) or (`scale`, name): identifies a measure in all versions of the study."""


@dataclass(frozen=True, slots=True)
class VersionItems:
    """The survey items and sub-scales that give the values of the measures, in one version of the study."""

    fits: Mapping[str, ItemOrScale]
    """Measure key → item or sub-scale with the same bounds as the measure."""
    alone: frozenset[str]
    """Keys of the conditions without teammates."""


@dataclass(frozen=True, slots=True)
class MeasuredItems:
    """The measures of an analysis, with the survey items that give their values in each version."""

    measures: list[Measure]
    versions: Mapping[int, VersionItems]
    """The survey items of each version, by its primary key."""
    differing: list[str]
    """Labels of measures whose wording or options differ between versions."""
    figures: Sequence[NamedMetric] = ()
    """Metrics of play from the score. Their keys and labels differ from those in `measures`."""
    of_play: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Other play metrics (`study.design.play_metrics`): metric key → keys of the conditions that have it."""

    def items_of_scales(self) -> set[str]:
        """Return the keys of the items that belong to a sub-scale that is a measure itself."""
        asked = (one for version in self.versions.values() for one in version.fits.values())
        return {item.key for one in asked if isinstance(one, SubScale) for item in one.items}

    def scored(self, world: str, score: Mapping[str, Json]) -> Iterator[tuple[str, float | None]]:
        """Yield (measure key, value) for each play metric that this world has, read from the score of an
        episode. Metrics of other worlds are skipped."""
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
        other_metrics: Mapping[str, float | None],
    ) -> dict[str, float | None]:
        """Return the value of each measure after one episode, by measure key. A missing value is None.

        `version` is the primary key of a design version, `condition` a condition's key. `score` is the score
        of the episode, and `answers` the answers by item key. `other_metrics` holds the values of play
        metrics that are not part of the score.
        """
        found = dict(self.scored(world, score)) | dict(self.values(version, condition, answers))
        return found | {
            key: other_metrics.get(key) for key, keys in self.of_play.items() if condition in keys
        }

    def values(
        self, version: int, condition: str, answers: Mapping[str, Json]
    ) -> Iterator[tuple[str, float | None]]:
        """Yield (key, value) for each survey measure after one episode. `answers` holds the answers by item
        key.

        Items about teammates are skipped if the condition has no teammates.
        """
        asked = self.versions[version]
        for measure in self.measures:
            question = asked.fits.get(measure.key)
            if not (question and condition in asked.alone and _needs_teammates(question)):
                yield measure.key, _value(question, answers)


def measured_items_in(
    designs: Mapping[int, Blueprint], labels: Mapping[str, str], scored: Mapping[str, str]
) -> MeasuredItems:
    """Return the measures of several versions of a study. If versions differ, the newest definition of a
    measure counts.

    `designs` are the versions' designs by primary key, newest first. `labels` are the names of items, in
    their order. `scored` is the result of `scale_keys`. Answers from a version in which an item had other
    bounds are not used.
    """
    asked = {pk: _asked(design) for pk, design in designs.items()}
    newest: dict[Name, ItemOrScale] = {}
    for by_name in asked.values():
        newest = by_name | newest
    named = [("item", key) for key in labels if ("item", key) in newest]
    names = [*named, *(name for name in newest if name not in named)]
    keys = {(kind, one): scored[one] if kind == "scale" else one for kind, one in names}
    measures = {name: _measure(key, newest[name], labels) for name, key in keys.items()}
    differing = {name for by_name in asked.values() for name, one in by_name.items() if one != newest[name]}
    return MeasuredItems(
        [*measures.values()],
        {
            pk: VersionItems(
                {keys[name]: one for name, one in by_name.items() if _ends(one) == _ends(newest[name])},
                frozenset(one.key for one in designs[pk].conditions if not one.teammates),
            )
            for pk, by_name in asked.items()
        },
        [measure.label for name, measure in measures.items() if name in differing],
    )


def _asked(design: Blueprint) -> dict[Name, ItemOrScale]:
    """Return the items and sub-scales that one version of the study measures, by name. Whether an answer was
    required is left out, because it does not change the question."""
    survey = [item.model_copy(update={"required": True}) for item in design.items_at(SurveyItem.Place.SURVEY)]
    items = {("item", item.key): item for item in survey if _is_rating(item)}
    return {**items, **{("scale", one.name): one for one in subscales(survey) if not one.problem}}


def _is_rating(item: ItemPlan) -> bool:
    """Return True if the item's answers are numbers between a lowest and a highest answer."""
    return item.correct is None and kind_of(item).ends(item) is not None


def _needs_teammates(question: ItemOrScale) -> bool:
    """Return True if a survey question is asked only after episodes with teammates. A sub-scale counts as
    such a question if one of its items is."""
    return any(
        item.needs_teammates for item in (question.items if isinstance(question, SubScale) else (question,))
    )


def _measure(key: str, question: ItemOrScale, labels: Mapping[str, str]) -> Measure:
    if isinstance(question, SubScale):
        return Measure.score(key, f"{question.name}: {question.label}", *question.ends)
    label = labels.get(question.key, question.measure)
    if question.kind == SurveyItem.Kind.LIKERT:
        return Measure.likert(key, label, question.points, (question.low, question.high))
    return Measure.score(key, label, *item_range(question))


def _ends(question: ItemOrScale) -> tuple[float, float]:
    return question.ends if isinstance(question, SubScale) else item_range(question)


def _value(question: ItemOrScale | None, answers: Mapping[str, Json]) -> float | None:
    if isinstance(question, SubScale):
        return question.score(answers)
    value = answers.get(question.key) if question else None
    return None if value is None else float(value)


def measures_of(scales: MeasuredItems, roles: Mapping[str, str] = NO_ROLES) -> list[Measure]:
    """Return all measures in order: play metrics, then surveys, then exploratory play metrics.

    `roles` has the planned roles by measure key (`AnalysisPlan.roles`). Primary measures come first. If any
    role is planned, items of an analysed scale are marked (`Measure.in_scale`).
    """
    beside = [_of_play(PLAY_METRICS[key]) for key in scales.of_play]
    planned, explored = ([one for one in beside if one.exploratory is each] for each in (False, True))
    found = [*map(measure_of_metric, scales.figures), *planned, *scales.measures, *explored]
    if not roles:
        return found
    inside = scales.items_of_scales()
    told = [_with_role(one, roles.get(one.key, ""), one.key in inside) for one in found]
    return sorted(told, key=lambda one: (not one.primary, one.exploratory))


def _with_role(measure: Measure, role: str, in_scale: bool) -> Measure:
    if role == PRIMARY:
        return replace(measure, primary=True, exploratory=False)
    explored = role == EXPLORATORY or (measure.exploratory and role != SECONDARY)
    return replace(measure, exploratory=explored, in_scale=in_scale and not role)


def _of_play(one: PlayMetric) -> Measure:
    made = {
        "share": Measure.rate(one.key, one.label),
        "count": Measure.count(one.key, one.label),
        "number": Measure.number(one.key, one.label, 0.0, None, unit=one.unit),
    }
    return replace(made[one.kind], exploratory=one.exploratory)


def measure_of_metric(named: NamedMetric) -> Measure:
    """Return the measure that has the key, label and scale of a play metric."""
    if named.figure.kind == "share":
        return Measure.rate(named.name, named.label)
    if named.figure.kind == "count":
        return Measure.count(named.name, named.label)
    return Measure.number(named.name, named.label, *named.figure.ends, unit=named.figure.unit)


Played = tuple[str, int, int]
"""(key of the condition, episode, seat)."""
AT_ONCE = 200
"""Number of episodes whose decision notes are read at once."""


def play_values(played: Iterable[Played], wanted: Mapping[str, Collection[str]]) -> dict[Seated, Values]:
    """Return the values of play metrics that are not part of the score, by (episode, seat).

    `played` are the rounds as (condition key, episode, seat). `wanted` maps each metric to the keys of the
    conditions that measure it; other values are left out.
    """
    rounds = list(played)
    found: dict[Seated, Values] = defaultdict(dict)
    shares = _shares({episode for key, episode, _ in rounds if key in wanted.get(FORESIGHT.key, ())})
    conduct = conduct_by_seat(_episodes_with(CONDUCT_METRICS, rounds, wanted))
    teams = team_values(_episodes_with(TEAM_METRICS, rounds, wanted))
    for key, episode, seat in rounds:
        own = _told(conduct.get((episode, seat), SeatConduct()))
        told = {FORESIGHT.key: shares.get(episode), **own, **teams.get(episode, NO_TEAM)}
        found[episode, seat] = {name: value for name, value in told.items() if key in wanted.get(name, ())}
    return dict(found)


def _episodes_with(
    metrics: Iterable[PlayMetric], rounds: Iterable[Played], wanted: Mapping[str, Collection[str]]
) -> set[int]:
    """Return the ids of the episodes for which at least one of these metrics must be computed. `wanted`
    maps each metric to the keys of the conditions that need it."""
    anywhere = {key for one in metrics for key in wanted.get(one.key, ())}
    return {episode for key, episode, _ in rounds if key in anywhere}


def _told(conduct: SeatConduct) -> Values:
    return {one.key: getattr(conduct, one.key) for one in CONDUCT_METRICS}


def _shares(episodes: Collection[int]) -> dict[int, float | None]:
    """Return the share of predictions that came true in each episode, by episode id."""
    several, found = sorted(episodes), dict[int, float | None]()
    for first in range(0, len(several), AT_ONCE):
        foreseen = predictions_by_episode(several[first : first + AT_ONCE])
        found |= {pk: prediction_accuracy(by_mind).share for pk, by_mind in foreseen.items()}
    return found
