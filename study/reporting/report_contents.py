"""Collect everything that a report states about a study, with the software versions used.

It changes no data.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator
from datetime import datetime
from importlib.metadata import version

from kitchen.forms.setting_fields import readable_name
from kitchen.registry.world_registry import get_world
from kitchen.words.english_text import and_list, counted_noun
from study.analysis.analysis_sample import WHO, Sample
from study.analysis.statistics.apa_format import escape_markdown
from study.analysis.statistics.result_files import analysed_rows_digest
from study.analysis.statistics.run_analysis import Analysis
from study.design.analysis_plan import AnalysisPlan
from study.design.blueprint import Blueprint, ConditionPlan, blueprint_of
from study.design.condition_seats import NOBODY
from study.design.counterbalancing import get_scheme
from study.design.metric_and_scale_names import comparison_metrics, exploratory_metrics
from study.design.models import Study, Version
from study.design.preregistration import date_is_hashed, program
from study.design.study_versions import frozen_version
from study.participants.simulated_effects import describe_effects
from study.reporting.consort_diagram import describe_diagram, participant_flow
from study.reporting.preregistration_deviations import deviations_of
from study.reporting.report_text import ReportContents, about_summaries

LIBRARIES = ("numpy", "scipy", "statsmodels", "pandas", "vl-convert-python")
"""Libraries that numbers and figures depend on."""


def software_versions(design: Blueprint) -> list[tuple[str, str]]:
    """Return name and version of the program, Python, the libraries, and the rules of the worlds."""
    ours = program()
    commit = f", commit {ours['commit']}" if ours["commit"] else ""
    worlds = sorted({one.world for one in design.conditions})
    return [
        (ours["name"].capitalize(), f"{ours['version']}{commit}"),
        ("Python", platform.python_version()),
        *((name, version(name)) for name in LIBRARIES),
        *((f"Rules of the world {name}", f"version {get_world(name).version}") for name in worlds),
    ]


PLANNED_TEXTS = {
    "hypotheses": "Hypotheses",
    "exclusions": "Planned exclusions",
    "planned_tests": "Planned tests",
}
"""Texts of the plan that the researchers wrote."""


def collect_report(study: Study, sample: Sample, analysis: Analysis, *, made_at: datetime) -> ReportContents:
    """Collect the report of this analysis of this sample."""
    frozen = frozen_version(study)
    design = frozen.blueprint if frozen else blueprint_of(study)
    flow = participant_flow(sample, analysis)
    sample_words = WHO[sample.who] + (", as preregistered" if sample.preregistered else "")
    return ReportContents(
        title=study.title,
        slug=study.slug,
        sample_words=sample_words,
        known_effects=_known(sample),
        made_at=made_at,
        design=list(_design(design, analysis.plan)),
        conditions=[_condition(one) for one in design.conditions],
        frozen=list(_frozen(frozen)) if frozen else [],
        analysis=analysis,
        flow=flow,
        flow_words=describe_diagram(flow),
        deviations=deviations_of(study, analysis),
        software=software_versions(design),
        rows_sha256=analysed_rows_digest(analysis),
        answer_summaries=about_summaries(sample, analysis),
    )


def _known(sample: Sample) -> str:
    """Return the known effects that simulated participants were given, each once."""
    told = sample.people.exclude(known_effects={}).order_by("number").values_list("known_effects", flat=True)
    return " / ".join(dict.fromkeys(map(describe_effects, told)))


def _condition(one: ConditionPlan) -> list[str]:
    beside = "nobody" if one.coplayer == NOBODY else readable_name(one.coplayer)
    return [one.name, one.label, readable_name(one.world), beside, str(one.teammates)]


def _frozen(version: Version) -> Iterator[tuple[str, str]]:
    bundle = version.bundle or {}
    at = bundle.get("frozen", {}).get("at", "")
    yield "Preregistered", f"version {version.number}, frozen {at}"
    covers = "date, program and design" if bundle and date_is_hashed(bundle) else "the design, not the date"
    yield "SHA-256 of the preregistration", f"{version.bundle_digest} (of {covers})"


def _design(design: Blueprint, plan: AnalysisPlan) -> Iterator[tuple[str, str]]:
    """Yield name and Markdown of the design: orders, sample, measures, contrasts, and the researchers'
    texts."""
    scheme = get_scheme(str(design.study["orders"]))
    conditions = counted_noun(len(design.for_group("").conditions), "condition")
    whose = f" of their group ({and_list(list(design.groups))})" if design.groups else ""
    planned = design.study.get("planned_participants")
    people = (
        f"The plan has {counted_noun(planned, 'participant')}" if planned else "No sample size was planned"
    )
    yield (
        "Orders and sample",
        f"Everybody plays {conditions}{escape_markdown(whose)}. {escape_markdown(scheme.meaning)} {people}.",
    )
    yield "Measures", "\n".join(f"- {line}" for line in _measures(design))
    if plan.contrasts:
        yield "Planned contrasts", "\n".join(f"- {line}" for line in _contrasts(design, plan))
    for name, words in PLANNED_TEXTS.items():
        if text := str(design.study.get(name) or "").strip():
            yield words, "\n".join(f"> {line}" for line in text.splitlines())


def _measures(design: Blueprint) -> Iterator[str]:
    for words, figures in comparison_metrics(design):
        yield escape_markdown(f"In {words}: {', '.join(figures)}.")
    for words, figures in exploratory_metrics(design):
        yield escape_markdown(f"Exploratory, in {words}: {', '.join(figures)}.")
    if asked := [item.measure for item in design.items_at("survey")]:
        yield escape_markdown(f"After each episode, asked: {', '.join(asked)}.")


def _contrasts(design: Blueprint, plan: AnalysisPlan) -> Iterator[str]:
    names = {one.key: one.name for one in design.conditions}
    for one in plan.contrasts:
        weights = ", ".join(f"{names.get(key, key)} {weight:+.3g}" for key, weight in one.weights.items())
        yield escape_markdown(f"{one.name}: {weights}")
