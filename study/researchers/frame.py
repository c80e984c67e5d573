"""What the console's pages share: a page made of one form, and a button that asks a service."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from study.design.errors import DesignError, StudyClosedError
from study.design.models import Study
from study.design.orders.base import SchemeError
from study.design.recruitment import PLACES
from study.people.counts import study_counts


def context_of(study: Study) -> dict[str, Any]:
    """What every page of a study shows."""
    return {"study": study, "counts": study_counts(study)}


def participant_link(request: HttpRequest, study: Study) -> str:
    """As it is given to the place where participants come from."""
    return PLACES[study.recruitment].link(request.build_absolute_uri(study.get_absolute_url()))


def form_page(
    request: HttpRequest,
    study: Study | None,
    form: Any,
    *,
    heading: str,
    template: str = "study/researchers/form.html",
    **more: Any,
) -> HttpResponse:
    """A page with one form; 422 if what was sent is wrong."""
    base = context_of(study) if study and study.pk else {}
    context = {**base, "form": form, "heading": heading, **more}
    return render(request, template, context, status=422 if form.errors else 200)


def done(
    request: HttpRequest, study: Study, words: str, page: str = "design", *, mind: str = ""
) -> HttpResponse:
    """Back to a page of the design, with a word on what was done, and a warning of what is to be minded."""
    messages.success(request, words)
    if mind:
        messages.warning(request, f"But mind: {mind}")
    return redirect(f"study:staff-{page}", study.slug)


SURE = "sure"
"""Name of the tick with which somebody says that a destructive button is meant (`design/ask.html`)."""
NOT_SURE = "Nothing was done: tick that you mean it."


def asked_once(
    request: HttpRequest,
    study: Study,
    act: Callable[[], object],
    words: str,
    page: str = "design",
    **more: str,
) -> HttpResponse:
    """As `asked`, for what cannot be taken back: nothing is done without the tick."""
    if SURE in request.POST:
        return asked(request, study, act, words, page, **more)
    messages.error(request, NOT_SURE)
    return redirect(f"study:staff-{page}", study.slug)


def asked(
    request: HttpRequest,
    study: Study,
    act: Callable[[], object],
    words: str,
    page: str = "design",
    *,
    mind: str = "",
) -> HttpResponse:
    """A button was pressed: what it asks for is done, or the page says why not."""
    try:
        act()
    except (DesignError, StudyClosedError, SchemeError) as error:
        messages.error(request, str(error))
        return redirect(f"study:staff-{page}", study.slug)
    return done(request, study, words, page, mind=mind)
