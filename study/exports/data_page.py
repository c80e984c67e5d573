"""The researcher's Data page: every file, alone or in one ZIP, and whose rows are in it."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render

from kitchen.registry.names import UnknownNameError
from study.design.models import Study
from study.exports.chosen import KINDS, OUTAGES, Chosen
from study.exports.registry import documents, tables
from study.exports.responses import file_response
from study.exports.tables.touched import touched_count
from study.people.counts import study_counts
from study.researchers.models import SecurityEvent
from study.researchers.permissions import study_page
from study.researchers.security import security_note


@study_page("view")
def data(request: HttpRequest, study: Study) -> HttpResponse:
    """The files of the export, whose data they hold, and what every column means."""
    chosen = _chosen(request)
    context = {
        "study": study,
        "files": [{"table": table, "columns": table.columns_of(study)} for table in tables()],
        "documents": documents(),
        "counts": study_counts(study),
        "rows": chosen.participants(study).count(),
        "kinds": _kinds(study, chosen),
        "outages": _outages(study, chosen),
        "query": _query(chosen),
    }
    return render(request, "study/exports/data.html", context)


@study_page("view")
def data_file(request: HttpRequest, study: Study, name: str) -> HttpResponseBase:
    """One file of the export, streamed; see `file_response` for the names."""
    try:
        answer = file_response(study, name, _chosen(request))
    except UnknownNameError as error:
        raise Http404(str(error)) from error
    kind = SecurityEvent.Kind.DATA_DOWNLOADED
    security_note(kind, user=request.user, study=study, what=name, request=request)
    return answer


def _chosen(request: HttpRequest) -> Chosen:
    """Everybody but those of the address; a kind that is none is no page."""
    try:
        return Chosen.without(request.GET.getlist("without"))
    except ValueError as error:
        raise Http404(str(error)) from error


def _kinds(study: Study, chosen: Chosen) -> list[dict[str, Any]]:
    """Who can be left out, and how many they are."""
    everybody = Chosen().participants(study).count()
    return [
        {
            "name": name,
            "words": words,
            "count": everybody - Chosen.without([name]).participants(study).count(),
            "left_out": name in chosen.left_out,
        }
        for name, words in KINDS.items()
    ]


def _outages(study: Study, chosen: Chosen) -> dict[str, Any]:
    """What outages touched, to be left out; how much that is."""
    count = touched_count(study, chosen)
    numbers = {"outage_steps": count.steps, "outage_episodes": count.episodes}
    return {
        "any": count.episodes,
        "said": count.left_out(chosen),
        "kinds": [
            {"name": name, "words": words, "count": numbers[name], "left_out": name in chosen.left_out}
            for name, words in OUTAGES.items()
        ],
    }


def _query(chosen: Chosen) -> str:
    """What the links of the files carry on."""
    query = QueryDict(mutable=True)
    query.setlist("without", list(chosen.left_out))
    return f"?{query.urlencode()}" if chosen.left_out else ""
