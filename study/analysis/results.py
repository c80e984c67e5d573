"""The analysis for the researcher's page: computed by a worker, kept until the data change.

Statistics and figures take seconds; in the web process they would hold up everybody who is playing. What a
worker has computed is kept in the cache, one entry for each study and choice of data, with a stamp that
follows from the data: a result that is shown always belongs to the data there are now. An entry holds
participants' values, so a withdrawal erases it (`forget`).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from typing import Any

from django.core.cache import cache
from django.db.models import Count, Max, Q
from pydantic import TypeAdapter

from kitchen.contract.world import canonical_hash
from study.analysis import sample as selectors
from study.analysis.measures import measures_of
from study.analysis.scale_answers import scale_answers
from study.analysis.statistics.analyse import Analysis, analyse
from study.analysis.statistics.rows import AnalysisError
from study.analysis.who_played import players
from study.design.blueprint import blueprint_of
from study.design.models import Study
from study.design.questions.fields import ABOUT
from study.design.testing import AnalysisPlan, ContrastError, plan_of
from study.design.versions import frozen_version
from study.people.models import Participant
from study.people.outages import outages_of
from study.queue import ask_analysis

VERSION = 15
"""Of what is kept; raised whenever `Finished` or anything in it changes its shape, or is computed
otherwise."""

KEEP_SECONDS = 24 * 3600
ASKED_SECONDS = 60
"""After so long an analysis that has not come is asked for again."""

ITEM_FIELDS = (*(name for name, about in ABOUT.items() if about.analysed), "position", "enabled")
"""Of an item, what changes an analysis."""

PLAN_FIELDS = ("main_test", "measures_correction", "planned_contrasts")
"""Of a study, what is planned to be tested."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Finished:
    """An analysis with its figures (SVG by measure key), or the problem that stood in its way."""

    analysis: Analysis | None = None
    figures: dict[str, bytes] = field(default_factory=dict)
    problem: str = ""


def analyse_now(study: Study, who: str, preregistered: bool = False, untouched: bool = False) -> Analysis:
    """The analysis of the present data, or only of what was collected as preregistered, or of episodes that
    no outage touched; AnalysisError if they cannot be analysed."""
    sample = selectors.Sample(study, who=who, preregistered=preregistered, untouched=untouched)
    scales = selectors.rated(sample)
    conditions = selectors.analysis_conditions(sample)
    return analyse(
        list(selectors.observations(sample, scales)),
        conditions,
        measures_of(scales),
        attrition=selectors.attrition(sample),
        players=players(study, sample),
        versions=selectors.analysis_versions(study),
        differing=scales.differing,
        preregistered=preregistered,
        plan=_plan(study),
        scales=scale_answers(sample, scales, conditions),
        unused=selectors.unused(sample),
    )


def _plan(study: Study) -> AnalysisPlan:
    """What was preregistered to be tested, else what the design says now."""
    frozen = frozen_version(study)
    design = frozen.blueprint if frozen else blueprint_of(study)
    try:
        return plan_of(design.study)
    except ContrastError as error:
        raise AnalysisError(str(error)) from error


def analysis_ready(
    study: Study, who: str, preregistered: bool = False, untouched: bool = False
) -> Finished | None:
    """What a worker has computed from the present data; if nothing yet, it is asked for and None returned."""
    stamp, key = stamp_of(study, who), kept_key(study.pk, who, preregistered, untouched)
    finished = _kept(key, stamp)
    if finished is None and cache.add(f"analysis-asked:{key}:{stamp}", 1, ASKED_SECONDS):
        ask_analysis(study.pk, who, preregistered, untouched)
    return finished


def compute(study: Study, who: str, preregistered: bool = False, untouched: bool = False) -> None:
    """What a worker does: analyse, draw, keep. What is out of date by then is not kept."""
    stamp, key = stamp_of(study, who), kept_key(study.pk, who, preregistered, untouched)
    if _kept(key, stamp) is None:
        finished = _adapter().dump_python(_finish(study, who, preregistered, untouched), mode="json")
        cache.set(key, [stamp, finished], KEEP_SECONDS)
        if stamp_of(study, who) != stamp:  # somebody withdrew meanwhile; `forget` may have come too early
            cache.delete(key)


def forget(study_id: int, **_: Any) -> None:
    """Erase what is kept about a study: it hears that somebody was erased (`signals.person_erased`). If the
    cache is away, the entries end when they are due."""
    from redis.exceptions import RedisError  # takes a second to import

    try:
        cache.delete_many(list(_every_key(study_id)))
    except (RedisError, OSError) as error:
        log.warning("cache away, the analysis of study %s is not erased yet: %s", study_id, error)


def _every_key(study_id: int) -> Iterator[str]:
    """Those of older programs, too: what they kept may still be there after an upgrade."""
    either = (False, True)
    for version, who, *only in product(range(1, VERSION + 1), selectors.WHO, either, either):
        key = kept_key(study_id, who, *only, version=version)
        yield from (key, report_key(key))


def kept_key(
    study_id: int,
    who: str,
    preregistered: bool = False,
    untouched: bool = False,
    *,
    version: int = VERSION,
) -> str:
    """Under which an analysis is kept."""
    more = f"{':preregistered' if preregistered else ''}{':untouched' if untouched else ''}"
    return f"analysis:{version}:{study_id}:{who}{more}"


def report_key(key: str) -> str:
    """Under which the report of an analysis is kept."""
    return f"{key}:report"


def _kept(key: str, stamp: str) -> Finished | None:
    """What is kept, if it belongs to these data and is what it should be."""
    match cache.get(key):
        case [kept_stamp, finished] if kept_stamp == stamp:
            with suppress(ValueError):  # somebody else wrote it
                return _adapter().validate_python(finished)
    return None


@lru_cache
def _adapter() -> TypeAdapter[Finished]:
    """Turns what was computed into JSON and back; made when it is first needed."""
    return TypeAdapter(Finished)


def _finish(study: Study, who: str, preregistered: bool, untouched: bool) -> Finished:
    from study.analysis.statistics.figures import draw

    try:
        analysis = analyse_now(study, who, preregistered, untouched)
    except AnalysisError as error:
        return Finished(problem=str(error))
    return Finished(analysis, {result.measure.key: draw(result) for result in analysis.measures})


def stamp_of(study: Study, who: str) -> str:
    """Another one whenever anything that is analysed changes."""
    people = study.participants.filter(status=Participant.Status.COMPLETE).aggregate(
        people=Count("pk", filter=Q(synthetic=False)),
        everybody=Count("pk"),
        last=Max("ended_at"),
        excluded=Count("excluded_at"),
        excluded_last=Max("excluded_at"),
    )
    conditions = list(study.conditions.values_list("key", "name", "position"))
    items = list(study.items.values_list(*ITEM_FIELDS))
    withdrawn = Study.objects.filter(pk=study.pk).values_list("withdrawn", "withdrawn_synthetic").first()
    counts = [people["people"], people["everybody"], str(people["last"]), *(withdrawn or ())]
    counts += [people["excluded"], str(people["excluded_last"])]
    versions = [[number, str(at)] for number, at in study.versions.values_list("number", "frozen_at")]
    planned = Study.objects.filter(pk=study.pk).values_list(*PLAN_FIELDS).first()
    counts += [outages_of(study).count(), list(planned or ())]
    return canonical_hash([study.pk, who, counts, conditions, items, versions])
