"""Compute a study's analysis in a worker process, and cache the result until the data change.

Each cache entry stores a hash of the analysed data, so an outdated result is never shown. An entry contains
values of participants. So `forget_analysis` erases it when a participant withdraws. The module also lists the
agents and language models that played in each condition.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import Any, TypeVar

from django.core.cache import cache
from django.db.models import Count, Max, Q, QuerySet
from pydantic import TypeAdapter

from kitchen.charts import chart_drawing
from kitchen.contract.world import canonical_hash
from kitchen.play.models import Decision, Mind, ModelCall
from kitchen.play.turn.decision_records import reply_readings
from study.analysis import analysis_sample
from study.analysis.analysis_covariates import covariate_values
from study.analysis.analysis_measures import measures_of
from study.analysis.analysis_sample import Sample, scale_answers
from study.analysis.read_process_counts import process_counts
from study.analysis.statistics.charts_by_measure import main_chart
from study.analysis.statistics.observations import AnalysisCondition, AnalysisError
from study.analysis.statistics.run_analysis import Analysis, analyse
from study.analysis.statistics.sample_composition import ConditionPlayers, ModelUsage
from study.design.analysis_plan import AnalysisPlan, ContrastError, analysis_plan_of
from study.design.blueprint import blueprint_of
from study.design.condition_seats import NOBODY
from study.design.models import Condition, Study
from study.design.questions.item_fields import FIELD_INFO
from study.design.study_versions import frozen_version
from study.participants.episode_owners_and_outages import outages_of
from study.participants.models import Participant, Round
from study.task_queue import ask_analysis


def coplayers_by_condition(study: Study, sample: Sample | None = None) -> list[ConditionPlayers]:
    """Return the co-players (agents and models) of each condition, in the order of conditions.

    If a sample is given, only the sample's rounds are used, otherwise all rounds of the study that have
    begun. If no round has begun, the configured co-players are returned.
    """
    begun = Round.objects.filter(participant__study=study, episode__isnull=False)
    plain = (sample.rounds if sample else begun).order_by()
    return [_players(condition, plain.filter(condition=condition)) for condition in study.conditions.all()]


def _players(condition: Condition, rounds: QuerySet[Round]) -> ConditionPlayers:
    episodes = rounds.values("episode")
    decisions = Decision.objects.filter(mind__episode__in=episodes, dropped="")
    numbers = _numbers(decisions)
    return ConditionPlayers(
        condition=AnalysisCondition(condition.key, condition.name, condition.position),
        kinds=_kinds(condition, rounds),
        models=_models(ModelCall.objects.filter(decision__in=decisions)),
        decisions=numbers.total(),
        chosen_by=_most_first(numbers, 0),
        fallbacks=tuple(each for each in _most_first(numbers, 1) if each[0]),
        read=reply_readings(decisions),
    )


def _kinds(condition: Condition, rounds: QuerySet[Round]) -> tuple[str, ...]:
    if not rounds.exists():
        return () if condition.coplayer == NOBODY else (condition.coplayer,)
    seated = Mind.objects.filter(episode__in=rounds.values("episode"))
    return tuple(sorted(set(seated.order_by().values_list("kind", flat=True))))


def _numbers(decisions: QuerySet[Any]) -> Counter[tuple[str, str]]:
    """Return the number of decisions for each pair (deciding agent, fallback code), with a single query."""
    rows = decisions.order_by().values_list("played_by", "fallback").annotate(number=Count("pk"))
    return Counter({(played_by, fallback): number for played_by, fallback, number in rows})


def _most_first(numbers: Counter[tuple[str, str]], place: int) -> tuple[tuple[str, int], ...]:
    """Return the totals of `numbers` by one part of the key, largest first. `place` is the index of this part
    in the key."""
    counts: Counter[str] = Counter()
    for key, number in numbers.items():
        counts[key[place]] += number
    return tuple(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


def _models(calls: QuerySet[ModelCall]) -> tuple[ModelUsage, ...]:
    named = calls.order_by().values_list("provider", "model_asked", "model_named")
    models = [ModelUsage(*row) for row in named.annotate(number=Count("pk"))]
    return tuple(sorted(models, key=lambda each: (-each.calls, each.provider, each.asked, each.named)))


VERSION = 22
"""Version of the cache format. Raise it when `CachedAnalysis` or anything in it changes its shape or
computation."""

KEEP_SECONDS = 24 * 3600
ASKED_SECONDS = 60
"""Seconds after which a missing analysis is requested again."""

ITEM_FIELDS = (*(name for name, about in FIELD_INFO.items() if about.analysed), "position", "enabled")
"""Fields of an item that change an analysis."""

CONDITION_FIELDS = ("key", "name", "position", "between_group", "within_level", "levels")
"""Fields of a condition that change an analysis."""

PLAN_FIELDS = (
    "main_test",
    "measures_correction",
    "planned_contrasts",
    "measure_roles",
    "between_groups",
    "factors",
)
"""Fields of a study that define the planned tests."""

log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CachedAnalysis:
    """An analysis with its main figures (SVG by measure key). If it could not be computed, `problem` says
    why."""

    analysis: Analysis | None = None
    figures: dict[str, bytes] = field(default_factory=dict)
    problem: str = ""


def analyse_present_data(
    study: Study, who: str, preregistered: bool = False, untouched: bool = False
) -> Analysis:
    """Analyse the study's present data and return the result. Raises AnalysisError if the data cannot be
    analysed.

    `who` is the selection of participants. `preregistered` uses only data collected as preregistered.
    `untouched` leaves out episodes that an outage affected.
    """
    sample = analysis_sample.Sample(study, who=who, preregistered=preregistered, untouched=untouched)
    scales = analysis_sample.measured_items(sample)
    conditions, plan = analysis_sample.analysis_conditions(sample), _plan(study)
    return analyse(
        list(analysis_sample.observations(sample, scales)),
        conditions,
        measures_of(scales, plan.roles),
        attrition=analysis_sample.attrition(sample),
        players=coplayers_by_condition(study, sample),
        versions=analysis_sample.analysis_versions(study),
        differing=scales.differing,
        preregistered=preregistered,
        plan=plan,
        scales=scale_answers(sample, scales, conditions),
        unused=analysis_sample.outage_observations(sample),
        between=analysis_sample.between_factor(study),
        factors=analysis_sample.study_factors(study),
        process=process_counts(sample),
        covariates=covariate_values(sample, plan.covariates),
    )


def _plan(study: Study) -> AnalysisPlan:
    """Return the study's plan of statistical tests. Use the preregistered plan if a design was frozen,
    otherwise the plan of the current design."""
    frozen = frozen_version(study)
    design = frozen.blueprint if frozen else blueprint_of(study)
    try:
        return analysis_plan_of(design.study)
    except ContrastError as error:
        raise AnalysisError(str(error)) from error


def analysis_ready(
    study: Study, who: str, preregistered: bool = False, untouched: bool = False
) -> CachedAnalysis | None:
    """Return the cached analysis of the present data. If it is not cached, queue its computation and return
    None. The arguments are those of `analyse_present_data`."""
    stamp, key = data_stamp(study, who), analysis_cache_key(study.pk, who, preregistered, untouched)
    finished = cached_result(_adapter(), key, stamp)
    if finished is None and is_first_request(key, stamp):
        ask_analysis(study.pk, who, preregistered, untouched)
    return finished


def compute_and_cache(study: Study, who: str, preregistered: bool = False, untouched: bool = False) -> None:
    """Analyse the data, draw the figures, and cache analysis and figures. The arguments are those of
    `analyse_present_data`. If the data change during the computation, nothing is cached."""
    key = analysis_cache_key(study.pk, who, preregistered, untouched)
    cache_result(
        _adapter(),
        key,
        lambda: data_stamp(study, who),
        lambda: _finish(study, who, preregistered, untouched),
    )


def cached_result(adapter: TypeAdapter[T], key: str, stamp: str) -> T | None:
    """Return the cached result with this key. Return None if there is no such result, if it has another
    format, or if the data have changed. `stamp` is the hash of the present data."""
    match cache.get(key):
        case [kept_stamp, str() as finished] if kept_stamp == stamp:
            with suppress(ValueError):  # another program version wrote it
                return adapter.validate_json(finished)
    return None


def is_first_request(key: str, stamp: str) -> bool:
    """Return True if nobody has requested the result with this key and stamp in the last ASKED_SECONDS
    seconds, else False. Use it to avoid computing a result twice."""
    return bool(cache.add(f"asked:{key}:{stamp}", 1, ASKED_SECONDS))


def cache_result(adapter: TypeAdapter[T], key: str, stamp: Callable[[], str], make: Callable[[], T]) -> None:
    """Compute a result with `make` and cache it under `key`. Do nothing if the result is already cached, or
    if another worker began to compute it in the last ASKED_SECONDS seconds.

    `stamp` returns the hash of the present data. If the data change during the computation, the result is
    not cached.
    """
    before = stamp()
    begun = f"begun:{key}:{before}"
    if cached_result(adapter, key, before) is None and cache.add(begun, 1, ASKED_SECONDS):
        try:
            cache.set(key, [before, adapter.dump_json(make()).decode()], KEEP_SECONDS)
        finally:
            cache.delete(begun)
        if stamp() != before:  # a withdrawal meanwhile: `forget_analysis` came too early
            cache.delete(key)


def forget_analysis(study_id: int, **_: Any) -> None:
    """Erase the cached analyses of a study. The signal `person_erased` calls this function.

    If the cache cannot be reached, the entries expire by themselves.
    """
    from redis.exceptions import RedisError  # takes a second to import

    try:
        cache.delete_many(list(_every_key(study_id)))
    except (RedisError, OSError) as error:
        log.warning("cache away, the analysis of study %s is not erased yet: %s", study_id, error)


def _every_key(study_id: int) -> Iterator[str]:
    """Yield every cache key that an analysis of the study can have. Keys of older program versions are
    included, because their results may still be cached."""
    either = (False, True)
    for version, who, *only in product(range(1, VERSION + 1), analysis_sample.WHO, either, either):
        key = analysis_cache_key(study_id, who, *only, version=version)
        yield from (key, report_cache_key(key))


def analysis_cache_key(
    study_id: int,
    who: str,
    preregistered: bool = False,
    untouched: bool = False,
    *,
    version: int = VERSION,
) -> str:
    """Return the cache key of the analysis with these arguments. `version` is the version of the cache
    format."""
    more = f"{':preregistered' if preregistered else ''}{':untouched' if untouched else ''}"
    return f"analysis:{version}:{study_id}:{who}{more}"


def report_cache_key(key: str) -> str:
    """Return the cache key of the report of the analysis with this cache key."""
    return f"{key}:report"


@lru_cache
def _adapter() -> TypeAdapter[CachedAnalysis]:
    """Return the object that converts analysis results to JSON and back. It is created at its first use."""
    return TypeAdapter(CachedAnalysis)


def _finish(study: Study, who: str, preregistered: bool, untouched: bool) -> CachedAnalysis:
    try:
        analysis = analyse_present_data(study, who, preregistered, untouched)
    except AnalysisError as error:
        return CachedAnalysis(problem=str(error))
    return CachedAnalysis(
        analysis, {one.measure.key: chart_drawing.draw_chart(main_chart(one)) for one in analysis.measures}
    )


def data_stamp(study: Study, who: str) -> str:
    """Return a hash of the analysed data and settings. It changes whenever any of them changes."""
    people = study.participants.filter(status=Participant.Status.COMPLETE).aggregate(
        people=Count("pk", filter=Q(synthetic=False)),
        everybody=Count("pk"),
        last=Max("ended_at"),
        excluded=Count("excluded_at"),
        excluded_last=Max("excluded_at"),
    )
    conditions = list(study.conditions.values_list(*CONDITION_FIELDS))
    items = list(study.items.values_list(*ITEM_FIELDS))
    withdrawn = Study.objects.filter(pk=study.pk).values_list("withdrawn", "withdrawn_synthetic").first()
    counts = [people["people"], people["everybody"], str(people["last"]), *(withdrawn or ())]
    counts += [people["excluded"], str(people["excluded_last"])]
    versions = [[number, str(at)] for number, at in study.versions.values_list("number", "frozen_at")]
    planned = Study.objects.filter(pk=study.pk).values_list(*PLAN_FIELDS).first()
    counts += [outages_of(study).count(), list(planned or ())]
    return canonical_hash([study.pk, who, counts, conditions, items, versions])
