"""The researcher's pages: studies, one study, its data, its analysis. Staff only."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

from asgiref.sync import sync_to_async
from django.contrib.admin.views.decorators import staff_member_required
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from kitchen.registry import UnknownNameError
from study import selectors
from study.analysing import Finished, analysis_ready
from study.exports.registry import get_table, tables
from study.exports.writing import csv_pieces
from study.models import Study

WAIT_SECONDS = 2
"""How often a page that waits for an analysis looks again."""


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
    next_piece = sync_to_async(lambda: next(pieces, None))
    while (piece := await next_piece()) is not None:
        yield piece


def _who(request: HttpRequest, study: Study) -> str:
    asked = request.GET.get("who", "")
    return asked if asked in selectors.WHO else selectors.whose_data(study)


def _ready(study: Study, who: str) -> Finished | None:
    from redis.exceptions import RedisError  # takes a second to import

    try:
        return analysis_ready(study, who)
    except (RedisError, OSError):
        return Finished(
            problem="Redis, which keeps the results, does not answer. Load this page again later."
        )


@never_cache
@staff_member_required
@require_GET
def analysis(request: HttpRequest, slug: str) -> HttpResponse:
    """Per measure: means, ANOVA, Tukey HSD, the figure. A worker computes them; until then the page waits."""
    study = get_object_or_404(Study, slug=slug)
    who = _who(request, study)
    found = _ready(study, who)
    context = {
        "study": study,
        "who": who,
        "choices": selectors.WHO,
        "counts": selectors.study_counts(study),
        "waiting": found is None,
        "analysis": found.analysis if found else None,
        "problem": found.problem if found else "",
    }
    response = render(request, "study/staff/analysis.html", context)
    if found is None:
        response["Refresh"] = str(WAIT_SECONDS)
    return response


@never_cache
@staff_member_required
@require_GET
def figure(request: HttpRequest, slug: str, measure: str) -> HttpResponse:
    """One measure's bar chart as SVG."""
    study = get_object_or_404(Study, slug=slug)
    found = _ready(study, _who(request, study))
    if found is None or found.problem:
        return HttpResponse("not computed yet", status=503, headers={"Retry-After": str(WAIT_SECONDS)})
    if measure not in found.figures:
        raise Http404(measure)
    return HttpResponse(found.figures[measure], content_type="image/svg+xml")
