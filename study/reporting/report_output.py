"""Render a study's report as Markdown, HTML and PDF, write its files, and cache it for the console.

A worker process makes the cached report. It is stored with the analysis on which it is based, and erased with
this analysis.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache
from importlib.metadata import version
from pathlib import Path

from django.db.models import Count
from django.template.loader import render_to_string
from django.utils import timezone
from pydantic import ConfigDict, TypeAdapter

from kitchen.charts import chart_drawing
from kitchen.contract.world import canonical_hash
from kitchen.forms.setting_fields import readable_name
from kitchen.infra.file_writing import write_atomically
from kitchen.play.policies.policy_storage import copy_to_this_machine
from kitchen.registry.agent_registry import agent_facts
from kitchen.registry.world_registry import get_world
from kitchen.words.english_text import and_list, counted_noun
from study.analysis.analysis_results import (
    analyse_present_data,
    analysis_cache_key,
    cache_result,
    cached_result,
    data_stamp,
    is_first_request,
    report_cache_key,
)
from study.analysis.analysis_sample import WHO, Sample
from study.analysis.statistics.apa_format import escape_markdown
from study.analysis.statistics.charts_by_measure import report_charts
from study.analysis.statistics.observations import AnalysisError
from study.analysis.statistics.result_files import (
    ROWS,
    analysed_rows_digest,
    file_contents,
    to_csv,
)
from study.analysis.statistics.run_analysis import Analysis
from study.design.analysis_plan import AnalysisPlan
from study.design.blueprint import Blueprint, ConditionPlan, blueprint_of
from study.design.condition_seats import NOBODY
from study.design.counterbalancing import get_scheme
from study.design.describe_factors import subset_sentence
from study.design.metric_and_scale_names import comparison_metrics, exploratory_metrics
from study.design.models import Study, Version
from study.design.preregistration import date_is_hashed, program
from study.design.study_versions import frozen_version
from study.participants.models import Participant
from study.participants.simulated_effects import describe_effects
from study.reporting.consort_diagram import (
    FlowDiagram,
    describe_diagram,
    diagram_of,
    participant_flow,
    to_svg,
)
from study.reporting.preregistration_deviations import deviations_of
from study.reporting.report_html import embed_figures, fold_sections, to_html
from study.reporting.report_text import FLOW, ReportContents, about_summaries, report_text
from study.reporting.short_report import APPENDIX_FILE, appendix_text, main_figure_name, short_report_text
from study.task_queue import ask_report

LIBRARIES = ("numpy", "scipy", "statsmodels", "pandas", "vl-convert-python")
"""Libraries that numbers and figures depend on."""


def software_versions(design: Blueprint) -> list[tuple[str, str]]:
    """Return (name, version) pairs of the application, Python, the libraries, and the rules of the
    design's worlds."""
    ours = program()
    commit = f", commit {ours['commit']}" if ours["commit"] else ""
    worlds = sorted({one.world for one in design.conditions})
    return [
        (ours["name"].capitalize(), f"{ours['version']}{commit}"),
        ("Python", platform.python_version()),
        *((name, _version(name)) for name in LIBRARIES),
        *((f"Rules of the world {name}", f"version {get_world(name).version}") for name in worlds),
    ]


@cache
def _version(name: str) -> str:
    """Return the version of an installed library. It is cached, because it is read from a file."""
    return version(name)


PLANNED_TEXTS = {
    "hypotheses": "Hypotheses",
    "exclusions": "Planned exclusions",
    "planned_tests": "Planned tests",
}
"""Texts of the plan that the researchers wrote."""


def collect_report(study: Study, sample: Sample, analysis: Analysis, *, made_at: datetime) -> ReportContents:
    """Collect the contents of the report for this sample and its analysis. `made_at` is the time printed
    in the report."""
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
        figure_texts=study.figure_texts,
    )


def _known(sample: Sample) -> str:
    """Return a text about the effects that were built into the ratings of synthetic participants. Each
    effect is mentioned once."""
    told = sample.people.exclude(known_effects={}).order_by("number").values_list("known_effects", flat=True)
    return " / ".join(dict.fromkeys(map(describe_effects, told)))


def _condition(one: ConditionPlan) -> list[str]:
    beside = "nobody" if one.coplayer == NOBODY else readable_name(one.coplayer)
    copy_to_this_machine([one.coplayer_settings])
    if facts := agent_facts(one.coplayer, one.coplayer_settings):
        known = {**one.coplayer_settings, **facts}
        beside += f" ({'; '.join(f'{name} {value}' for name, value in known.items())})"
    return [one.name, one.label, readable_name(one.world), beside, str(one.teammates)]


def _frozen(version: Version) -> Iterator[tuple[str, str]]:
    bundle = version.bundle or {}
    at = bundle.get("frozen", {}).get("at", "")
    yield "Preregistered", f"version {version.number}, frozen {at}"
    covers = "date, program and design" if bundle and date_is_hashed(bundle) else "the design, not the date"
    yield "SHA-256 of the preregistration", f"{version.bundle_digest} (of {covers})"


def _design(design: Blueprint, plan: AnalysisPlan) -> Iterator[tuple[str, str]]:
    """Yield the report's sections about the design, as pairs of heading and Markdown. They are the orders,
    the sample, the measures, the contrasts, and the researchers' texts."""
    scheme = get_scheme(str(design.study["orders"]))
    conditions = counted_noun(len(design.for_group("").conditions), "condition")
    whose = f" of their group ({and_list(list(design.groups))})" if design.groups else ""
    planned = design.study.get("planned_participants")
    people = (
        f"The plan has {counted_noun(planned, 'participant')}" if planned else "No sample size was planned"
    )
    told = [f"Everybody plays {conditions}{whose}.", scheme.meaning]
    if subset := subset_sentence(design):
        is_part = design.rounds < len(design.for_group("").conditions)
        told = [subset, f"The order: {scheme.meaning}"] if is_part else [*told, subset]
    yield "Orders and sample", f"{escape_markdown(' '.join(told))} {people}."
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


@dataclass(frozen=True, slots=True)
class Report:
    """A rendered report, or the problem that prevented it."""

    __pydantic_config__ = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")
    title: str
    mark: str = ""
    """Text that is shown on every page."""
    fragment: str = ""
    """HTML for the console page, without the title, with embedded figures."""
    pdf: bytes = field(default=b"", repr=False)
    """The short report."""
    appendix: bytes = field(default=b"", repr=False)
    """The appendix as PDF, with everything that the short report leaves out."""
    problem: str = ""

    @property
    def html(self) -> str:
        """Return the report as one HTML file without external resources. What was not planned is folded."""
        context = {"title": self.title, "body": fold_sections(self.fragment), "mark": self.mark}
        return render_to_string("study/reporting/file.html", context)


MARK = "Synthetic data: no findings about people"
"""Mark on every page of a report in which any number comes from a program."""


def rendered(contents: ReportContents, drawn: Mapping[str, bytes] | None = None) -> Report:
    """Render the report as HTML, and as PDF with an appendix, with its figures.

    `drawn` has figures that are already drawn, as SVG by file name. Other figures are drawn now.
    """
    from study.reporting.report_pdf import DPI, to_pdf  # slow to import

    diagram, given, draw = diagram_of(contents.flow), drawn or {}, chart_drawing.draw_chart
    charts = report_charts(contents.analysis.measures, contents.figure_texts)
    svg = {name: given.get(name) or draw(chart) for name, chart in charts.items()}
    png = {name: draw(chart, "png", dpi=DPI) for name, chart in charts.items()}
    text, mark = report_text(contents), MARK if contents.analysis.synthetic else ""
    figures: dict[str, bytes | FlowDiagram] = {**png, FLOW: diagram}
    title, lead = contents.title, main_figure_name(contents)
    return Report(
        title=title,
        mark=mark,
        fragment=to_html(text.partition("\n")[2], embed_figures({**svg, FLOW: to_svg(diagram)})),
        pdf=to_pdf(short_report_text(contents), figures, title=title, mark=mark, small={*charts} - {lead}),
        appendix=to_pdf(
            appendix_text(contents), figures, title=f"Appendix: {title}", mark=mark, small={*charts}
        ),
    )


def report_files(contents: ReportContents) -> Iterator[tuple[str, bytes]]:
    """Yield (name, bytes) of all files of an analysis and its report. The report comes last."""
    drawn = {}
    for name, data in file_contents(contents.analysis, contents.figure_texts):
        yield name, data
        if name.endswith(".svg"):
            drawn[name] = data
    for name, make in ROWS.items():
        yield name, make(contents.analysis)
    yield FLOW, to_svg(diagram_of(contents.flow))
    yield "flow.csv", to_csv(["station", "left_because", "n"], list(_flow_rows(contents)))
    yield "deviations.csv", to_csv(["kind", "deviation"], list(_deviation_rows(contents)))
    report = rendered(contents, drawn)
    yield APPENDIX_FILE, report.appendix
    yield "report.html", report.html.encode()
    yield "report.pdf", report.pdf


def _flow_rows(contents: ReportContents) -> Iterator[dict[str, object]]:
    """Yield the rows of the table of participant flow. There is one row for each stage, and one for each
    reason why participants left at that stage."""
    for one in contents.flow:
        yield {"station": one.words, "n": one.number}
        for words, number in one.left:
            yield {"station": one.words, "left_because": words, "n": number}


def _deviation_rows(contents: ReportContents) -> Iterator[dict[str, object]]:
    for one in contents.deviations:
        yield {"kind": one.kind, "deviation": one.words}


def write_report(contents: ReportContents, directory: Path) -> tuple[Path, ...]:
    """Write all files of the report into the directory, and return their paths. Each file is written
    completely or not at all.

    The directory is created if needed. Raises OSError if a file cannot be written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    return tuple(write_atomically(directory / name, data) for name, data in report_files(contents))


LAYOUT = 4
"""Version of the cache format and of the report's content; raised when either changes."""


def cached_report(
    study: Study, who: str, preregistered: bool = False, untouched: bool = False
) -> Report | None:
    """Return the cached report of the current data and design. If there is none, queue a task that makes it,
    and return None.

    `who` selects the participants. `preregistered` leaves out data that were not collected as
    preregistered. `untouched` leaves out data that outages affected.
    """
    stamp = _stamp(study, who)
    key = report_cache_key(analysis_cache_key(study.pk, who, preregistered, untouched))
    report = cached_result(_adapter(), key, stamp)
    if report is None and is_first_request(key, stamp):
        ask_report(study.pk, who, preregistered, untouched)
    return report


def make_cached_report(study: Study, who: str, preregistered: bool = False, untouched: bool = False) -> None:
    """Analyse the data, render the report, and cache it. If the data changed meanwhile, nothing is cached."""
    sample = Sample(study, who=who, preregistered=preregistered, untouched=untouched)
    key = report_cache_key(analysis_cache_key(study.pk, who, preregistered, untouched))
    cache_result(_adapter(), key, lambda: _stamp(study, who), lambda: _made(sample))


@lru_cache
def _adapter() -> TypeAdapter[Report]:
    """Return the object that converts cached reports to JSON and back. It is created at its first use."""
    return TypeAdapter(Report)


def _made(sample: Sample) -> Report:
    study = sample.study
    try:
        analysis = analyse_present_data(study, sample.who, sample.preregistered, sample.untouched)
    except AnalysisError as error:
        return Report(study.title, problem=str(error))
    if not analysis.participants:
        return Report(study.title, problem="Nobody in this choice of data is analysed.")
    return rendered(collect_report(study, sample, analysis, made_at=timezone.now()))


def _stamp(study: Study, who: str) -> str:
    """Return a hash that changes whenever the contents of the report change. It ignores participants who are
    still playing."""
    ended = study.participants.filter(preview=False).exclude(status=Participant.Status.ACTIVE).order_by()
    counted = ended.values_list("status", "synthetic").annotate(n=Count("pk"))
    frozen = frozen_version(study)
    now = [study.title, blueprint_of(study).digest, frozen.pk if frozen else None, program()]
    now.append(study.figure_texts)
    return canonical_hash([LAYOUT, data_stamp(study, who), sorted(map(list, counted)), now])
