"""Gathering all that a report tells of a study. Nothing here changes anything."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from kitchen.forms.setting_fields import readable
from kitchen.words.counting import counted
from study.analysis.sample import WHO, Sample
from study.analysis.statistics.analyse import Analysis
from study.analysis.statistics.markdown import escaped
from study.design.blueprint import Blueprint, ConditionPlan, blueprint_of
from study.design.figures import explored, measured
from study.design.models import Study, Version
from study.design.orders.registry import get_scheme
from study.design.plan import NOBODY
from study.design.preregistration import date_is_hashed
from study.design.testing import AnalysisPlan
from study.design.versions import frozen_version
from study.people.known import in_words as effects_in_words
from study.reporting.about_people import said_about_themselves
from study.reporting.chart import in_words
from study.reporting.deviations import deviations_of
from study.reporting.flow import flow_of
from study.reporting.rows import digest_of_rows
from study.reporting.software import software_of
from study.reporting.text import Told

PLANNED_TEXTS = {
    "hypotheses": "Hypotheses",
    "exclusions": "Planned exclusions",
    "planned_tests": "Planned tests",
}
"""Researchers' own words of the plan."""


def told_of(study: Study, sample: Sample, analysis: Analysis, *, made_at: datetime) -> Told:
    """A report of this analysis of this sample."""
    frozen = frozen_version(study)
    design = frozen.blueprint if frozen else blueprint_of(study)
    flow = flow_of(sample, analysis)
    whose = WHO[sample.who] + (", as preregistered" if sample.preregistered else "")
    return Told(
        title=study.title,
        slug=study.slug,
        whose=whose,
        known=_known(sample),
        made_at=made_at,
        design=list(_design(design, analysis.plan)),
        conditions=[_condition(one) for one in design.conditions],
        frozen=list(_frozen(frozen)) if frozen else [],
        analysis=analysis,
        flow=flow,
        flow_words=in_words(flow),
        deviations=deviations_of(study, analysis),
        software=software_of(design),
        rows_sha256=digest_of_rows(analysis),
        said=said_about_themselves(sample, analysis),
    )


def _known(sample: Sample) -> str:
    """What the programs among those analysed were told, each once."""
    told = sample.people.exclude(known_effects={}).order_by("number").values_list("known_effects", flat=True)
    return " / ".join(dict.fromkeys(map(effects_in_words, told)))


def _condition(one: ConditionPlan) -> list[str]:
    beside = "nobody" if one.coplayer == NOBODY else readable(one.coplayer)
    return [one.name, one.label, readable(one.world), beside, str(one.teammates)]


def _frozen(version: Version) -> Iterator[tuple[str, str]]:
    bundle = version.bundle or {}
    at = bundle.get("frozen", {}).get("at", "")
    yield "Preregistered", f"version {version.number}, frozen {at}"
    covers = "date, program and design" if bundle and date_is_hashed(bundle) else "the design, not the date"
    yield "SHA-256 of the preregistration", f"{version.bundle_digest} (of {covers})"


def _design(design: Blueprint, plan: AnalysisPlan) -> Iterator[tuple[str, str]]:
    """What was designed: orders, sample, measures, contrasts, and the plan in the researchers' words."""
    scheme = get_scheme(str(design.study["orders"]))
    conditions = counted(len(design.conditions), "condition")
    planned = design.study.get("planned_participants")
    people = f"{counted(planned, 'participant')} were planned" if planned else "No sample size was planned"
    yield "Orders and sample", f"Everybody plays {conditions}. {escaped(scheme.meaning)} {people}."
    yield "Measures", "\n".join(f"- {line}" for line in _measures(design))
    if plan.contrasts:
        yield "Planned contrasts", "\n".join(f"- {line}" for line in _contrasts(design, plan))
    for name, words in PLANNED_TEXTS.items():
        if text := str(design.study.get(name) or "").strip():
            yield words, "\n".join(f"> {line}" for line in text.splitlines())


def _measures(design: Blueprint) -> Iterator[str]:
    for words, figures in measured(design):
        yield escaped(f"In {words}: {', '.join(figures)}.")
    for words, figures in explored(design):
        yield escaped(f"Exploratory, in {words}: {', '.join(figures)}.")
    if asked := [item.measure for item in design.items_at("survey")]:
        yield escaped(f"After each episode, asked: {', '.join(asked)}.")


def _contrasts(design: Blueprint, plan: AnalysisPlan) -> Iterator[str]:
    names = {one.key: one.name for one in design.conditions}
    for one in plan.contrasts:
        weights = ", ".join(f"{names.get(key, key)} {weight:+.3g}" for key, weight in one.weights.items())
        yield escaped(f"{one.name}: {weights}")
