"""Reports for the console: made by a worker, kept beside the analysis that they tell, and erased with it."""

from __future__ import annotations

import base64
from contextlib import suppress
from dataclasses import asdict

from django.core.cache import cache
from django.db.models import Count
from django.utils import timezone

from kitchen.contract.world import canonical_hash
from study.analysis.results import (
    ASKED_SECONDS,
    KEEP_SECONDS,
    analyse_now,
    kept_key,
    report_key,
    stamp_of,
)
from study.analysis.sample import Sample
from study.analysis.statistics.rows import AnalysisError
from study.design.blueprint import blueprint_of
from study.design.models import Study
from study.design.preregistration import program
from study.design.versions import frozen_version
from study.people.models import Participant
from study.queue import ask_report
from study.reporting.report import Report
from study.reporting.telling import told_of

LAYOUT = 1
"""Of what is kept and of how a report is told; raised when either changes."""


def report_ready(
    study: Study, who: str, preregistered: bool = False, untouched: bool = False
) -> Report | None:
    """What a worker has made of the present data and design; if nothing yet, it is asked for and None
    returned. People who come meanwhile stand in the next one."""
    stamp, key = _stamp(study, who), report_key(kept_key(study.pk, who, preregistered, untouched))
    report = _kept(key, stamp)
    if report is None and cache.add(f"asked:{key}:{stamp}", 1, ASKED_SECONDS):
        ask_report(study.pk, who, preregistered, untouched)
    return report


def make_report(study: Study, who: str, preregistered: bool = False, untouched: bool = False) -> None:
    """What a worker does: analyse, tell, render, keep. What is out of date by then is not kept."""
    stamp, key = _stamp(study, who), report_key(kept_key(study.pk, who, preregistered, untouched))
    if _kept(key, stamp) is None:
        report = _made(Sample(study, who=who, preregistered=preregistered, untouched=untouched))
        kept = {**asdict(report), "pdf": base64.b64encode(report.pdf).decode()}
        cache.set(key, [stamp, kept], KEEP_SECONDS)
        if _stamp(study, who) != stamp:  # somebody withdrew meanwhile; `forget` may have come too early
            cache.delete(key)


def _made(sample: Sample) -> Report:
    from study.reporting.rendering import rendered  # what draws and sets is slow to import

    study = sample.study
    try:
        analysis = analyse_now(study, sample.who, sample.preregistered, sample.untouched)
    except AnalysisError as error:
        return Report(study.title, problem=str(error))
    if not analysis.participants:
        return Report(study.title, problem="Nobody in this choice of data is analysed.")
    return rendered(told_of(study, sample, analysis, made_at=timezone.now()))


def _kept(key: str, stamp: str) -> Report | None:
    """What is kept, if it belongs to these data and is what it should be."""
    match cache.get(key):
        case [kept_stamp, dict() as kept] if kept_stamp == stamp:
            with suppress(KeyError, ValueError, TypeError):  # somebody else wrote it
                return Report(**{**kept, "pdf": base64.b64decode(kept["pdf"])})
    return None


def _stamp(study: Study, who: str) -> str:
    """Another one whenever anything that a report tells changes; who is just taking part does not count."""
    ended = study.participants.filter(preview=False).exclude(status=Participant.Status.ACTIVE).order_by()
    counted = ended.values_list("status", "synthetic").annotate(n=Count("pk"))
    frozen = frozen_version(study)
    now = [study.title, blueprint_of(study).digest, frozen.pk if frozen else None, program()]
    return canonical_hash([LAYOUT, stamp_of(study, who), sorted(map(list, counted)), now])
