"""The researcher's page before recruiting: how many people a study needs. With or without a study."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from study.design.blueprint import blueprint_of
from study.design.figures import measured
from study.design.models import Study
from study.people.counts import study_counts
from study.planning.power.words import SHORT
from study.planning.sample_size_form import CORRECTION_LABELS, DEFAULTS, MOST_CONDITIONS, SampleSizeForm
from study.researchers.permissions import staff_page, study_page


@study_page("view")
def study_sample_size(request: HttpRequest, study: Study) -> HttpResponse:
    """The form and its answer; it begins with the study's own conditions."""
    return _page(request, study)


@staff_page()
def sample_size(request: HttpRequest) -> HttpResponse:
    """The form and its answer, for no study in particular."""
    return _page(request, None)


def _page(request: HttpRequest, study: Study | None) -> HttpResponse:
    names = list(study.conditions.values_list("name", flat=True)) if study else []
    form = _form(request, names, study.main_test if study else "")
    context: dict[str, Any] = {"form": form, "study": study, "own": len(names), "most": MOST_CONDITIONS}
    if study:
        context["counts"] = study_counts(study)
        context["measured"] = measured(blueprint_of(study))
    if form.is_valid():
        context |= _shown(form, names)
    return render(request, "study/planning/sample_size.html", context)


@staff_page()
def power_figure(request: HttpRequest) -> HttpResponse:
    """The curve for the same question, as SVG."""
    form = _form(request, [], "")
    if not form.is_valid():
        return HttpResponse("not a question that can be answered", status=400, content_type="text/plain")
    from study.planning.power.figure import draw_power  # matplotlib takes a second to import

    return HttpResponse(draw_power(form.found), content_type="image/svg+xml")


def _form(request: HttpRequest, names: list[str], test: str) -> SampleSizeForm:
    """What was asked; what was not said is as the study plans it, or as usual. Of a study with too few or too
    many conditions nothing is computed, rather than what is meant for another one."""
    own: dict[str, Any] = {"conditions": len(names)} if names else {}
    own |= {"test": test} if test else {}
    return SampleSizeForm({**DEFAULTS, **own, **request.GET.dict()})


def _shown(form: SampleSizeForm, names: list[str]) -> dict[str, Any]:
    """The answer with the conditions by name, and the address of its figure."""
    answer, given = form.found, form.cleaned_data
    k = given["conditions"]
    called = names if len(names) == k else [f"Condition {number}" for number in range(1, k + 1)]
    return {
        "found": answer,
        "pairs": [(called[pair.first], called[pair.second], pair) for pair in answer.pairs],
        "asked": {name: form.data[name] for name in form.fields},
        "main_test": SHORT[given["test"]],
        "correction": CORRECTION_LABELS[given["correction"]],
    }
