"""The researcher's pages: studies, one study, its data, its analysis. Staff only."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from asgiref.sync import sync_to_async
from django.contrib.admin.views.decorators import staff_member_required
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from kitchen.registry import UnknownNameError
from study import selectors
from study.analysis.analyse import Analysis, analyse
from study.analysis.rows import AnalysisError
from study.exports.registry import get_table, tables
from study.exports.writing import csv_pieces
from study.models import Study


@never_cache
@staff_member_required
@require_GET
def index(request: HttpRequest) -> HttpResponse:
    """Every study with how far it is."""
    studies = [{"study": study, "counts": selectors.study_counts(study)} for study in Study.objects.all()]
    return render(request, "study/staff/index.html", {"studies": studies})


@never_cache
@staff_member_required
@require_GET
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    """One study: its link, conditions, participants."""
    study = get_object_or_404(Study, slug=slug)
    context = {
        "study": study,
        "participant_link": request.build_absolute_uri(study.get_absolute_url()),
        "conditions": study.conditions.all(),
        "items": study.items.all(),
        "counts": selectors.study_counts(study),
        "participants": selectors.participants_with_progress(study),
    }
    return render(request, "study/staff/study.html", context)


@never_cache
@staff_member_required
@require_GET
def data(request: HttpRequest, slug: str) -> HttpResponse:
    """The files of the export, and what every column means."""
    study = get_object_or_404(Study, slug=slug)
    context = {"study": study, "tables": tables(), "counts": selectors.study_counts(study)}
    return render(request, "study/staff/data.html", context)


@never_cache
@staff_member_required
@require_GET
def data_file(request: HttpRequest, slug: str, name: str) -> StreamingHttpResponse:
    """One file of the export, streamed."""
    study = get_object_or_404(Study, slug=slug)
    try:
        table = get_table(name)
    except UnknownNameError as error:
        raise Http404(str(error)) from error
    response = StreamingHttpResponse(
        _in_pieces(csv_pieces(table, study)), content_type="text/csv; charset=utf-8"
    )
    response["Content-Disposition"] = f'attachment; filename="{study.slug}_{table.name}.csv"'
    return response


async def _in_pieces(pieces: Iterator[str]) -> AsyncIterator[str]:
    """The pieces one by one, each made in the thread of the database when it is asked for."""
    next_piece = sync_to_async(next)
    while (piece := await next_piece(pieces, None)) is not None:
        yield piece


def _analysis(study: Study, who: str) -> Analysis:
    return analyse(
        list(selectors.observations(study, who=who)),
        selectors.analysis_conditions(study),
        selectors.analysis_measures(study),
    )


def _who(request: HttpRequest, study: Study) -> str:
    asked = request.GET.get("who", "")
    return asked if asked in selectors.WHO else selectors.whose_data(study)


@never_cache
@staff_member_required
@require_GET
def analysis(request: HttpRequest, slug: str) -> HttpResponse:
    """Per measure: means, ANOVA, Tukey HSD, the figure."""
    study = get_object_or_404(Study, slug=slug)
    who = _who(request, study)
    context = {"study": study, "who": who, "choices": selectors.WHO, "counts": selectors.study_counts(study)}
    try:
        found = _analysis(study, who)
    except AnalysisError as error:
        return render(request, "study/staff/analysis.html", {**context, "problem": str(error)})
    figures = {
        result.measure.key: f"{reverse('study:figure', args=[slug, result.measure.key])}?who={who}"
        for result in found.measures
    }
    return render(request, "study/staff/analysis.html", {**context, "analysis": found, "figures": figures})


@never_cache
@staff_member_required
@require_GET
def figure(request: HttpRequest, slug: str, measure: str) -> HttpResponse:
    """One measure's bar chart as SVG."""
    from study.analysis.figures import draw

    study = get_object_or_404(Study, slug=slug)
    try:
        found = _analysis(study, _who(request, study))
    except AnalysisError as error:
        raise Http404(str(error)) from error
    for result in found.measures:
        if result.measure.key == measure:
            return HttpResponse(draw(result), content_type="image/svg+xml")
    raise Http404(measure)
