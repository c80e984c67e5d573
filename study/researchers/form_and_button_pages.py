"""Handle requests to staff pages that have one form, or a button that runs a service function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from study.design.counterbalancing import SchemeError
from study.design.models import Study
from study.design.recruitment_platforms import RECRUITMENT_PLACES
from study.design.study_errors import DesignError, StudyClosedError
from study.participants.participant_counts import study_counts
from study.researchers.permissions import has_right


def study_context(study: Study) -> dict[str, Any]:
    """Return the template context that every page of a study needs."""
    return {"study": study, "counts": study_counts(study)}


def participant_link(request: HttpRequest, study: Study) -> str:
    """Return the study's full link for the recruitment platform, with its placeholders."""
    return RECRUITMENT_PLACES[study.recruitment].link(request.build_absolute_uri(study.get_absolute_url()))


def form_page(
    request: HttpRequest,
    study: Study | None,
    form: Any,
    *,
    heading: str,
    template: str = "study/researchers/form.html",
    to_change: str = "",
    **more: Any,
) -> HttpResponse:
    """Return a page with one form. The status is 422 if the submitted form is invalid.

    With `to_change`, users without this right in the study can read the form, but cannot change it.
    """
    base = study_context(study) if study and study.pk else {}
    read_only = bool(study and to_change and not has_right(request.user, study, to_change))
    context = {**base, "form": form, "heading": heading, "read_only": read_only, **more}
    return render(request, template, context, status=422 if form.errors else 200)


def back_to_page(
    request: HttpRequest, study: Study, words: str, page: str = "design", *, mind: str = ""
) -> HttpResponse:
    """Redirect to a page of the study, which shows the message `words`. `mind` is an additional warning, or
    empty. `page` is the URL name without `staff-`."""
    messages.success(request, words)
    if mind:
        messages.warning(request, f"But mind: {mind}")
    return redirect(f"study:staff-{page}", study.slug)


CONFIRM_FIELD = "sure"
"""Name of the checkbox that confirms a destructive action (`design/ask.html`)."""
NOT_CONFIRMED = "Nothing was done: tick the box to confirm."


def confirmed_service_button(
    request: HttpRequest,
    study: Study,
    act: Callable[[], object],
    words: str,
    page: str = "design",
    **more: str,
) -> HttpResponse:
    """Call `act` and redirect, like `service_button`, if the user ticked the confirmation. Otherwise redirect
    with an error message."""
    if CONFIRM_FIELD in request.POST:
        return service_button(request, study, act, words, page, **more)
    messages.error(request, NOT_CONFIRMED)
    return redirect(f"study:staff-{page}", study.slug)


def service_button(
    request: HttpRequest,
    study: Study,
    act: Callable[[], object],
    words: str,
    page: str = "design",
    *,
    mind: str = "",
) -> HttpResponse:
    """Call the service function `act`, and redirect to `page`. The page shows the message `words` or, if
    `act` was refused, the reason."""
    try:
        act()
    except (DesignError, StudyClosedError, SchemeError) as error:
        messages.error(request, str(error))
        return redirect(f"study:staff-{page}", study.slug)
    return back_to_page(request, study, words, page, mind=mind)
