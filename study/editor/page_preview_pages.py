"""Serve the staff page that lists every page of a study, each with a button that shows it at once."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse

from study.design.blueprint import blueprint_of
from study.design.counterbalancing import SchemeError
from study.design.models import Condition, Study
from study.design.study_errors import StudyClosedError
from study.design.translations import language_codes
from study.pilot.page_previews import page_preview, page_previews
from study.researchers.form_and_button_pages import study_context
from study.researchers.permissions import FORM_METHODS, study_page

GONE = "The study no longer has this page or condition. This is the list of now."


@study_page("edit", FORM_METHODS)
def page_list(request: HttpRequest, study: Study) -> HttpResponse:
    """List the pages of a study in one condition. A POST shows the page that its button names, or lists the
    pages of another condition and keeps the language that was chosen."""
    conditions = list(study.conditions.all())
    given = request.POST if request.method == "POST" else request.GET
    key = given.get("condition", "")
    chosen = next((row for row in conditions if row.key == key), None)
    if "list" in request.POST:
        listed = {"condition": request.POST.get("other", ""), "language": request.POST.get("language", "")}
        url = reverse("study:staff-design-previews", args=[study.slug])
        return redirect(f"{url}?{urlencode(listed)}")
    if request.method == "POST":
        return _shown(request, study, chosen)
    chosen = chosen or next(iter(conditions), None)
    codes = language_codes(study.languages)
    context: dict[str, Any] = {
        "conditions": conditions,
        "chosen": chosen,
        "languages": study.languages_offered,
        "language": request.GET.get("language") if request.GET.get("language") in codes else codes[0],
        "pages": _pages(study, chosen) if chosen else [],
    }
    return render(request, "study/editor/previews.html", study_context(study) | context)


def _pages(study: Study, condition: Condition) -> list[Any]:
    design = blueprint_of(study)
    return page_previews(design, design.condition(condition.key))


def _shown(request: HttpRequest, study: Study, condition: Condition | None) -> HttpResponse:
    """Redirect to a preview of the page that the form names."""
    codes, language = language_codes(study.languages), request.POST.get("language", "")
    try:
        if condition is None:
            raise KeyError
        return redirect(
            page_preview(
                condition=condition,
                page=request.POST.get("page", ""),
                language=language if language in codes else codes[0],
                user_id=int(request.user.pk or 0),
            )
        )
    except KeyError:
        messages.error(request, GONE)
    except (StudyClosedError, SchemeError) as error:
        closed = isinstance(error, StudyClosedError)
        messages.error(request, "No group of the study is open." if closed else str(error))
    return redirect("study:staff-design-previews", study.slug)
