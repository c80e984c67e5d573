"""Serve the page that shows a study's flow, and the pages on which researchers edit their own pages in it."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from study.design.blueprint import blueprint_of
from study.design.markdown_html import to_html
from study.design.models import OwnPage, Study
from study.design.own_pages import FIRST_ROUND, PLACES_BEFORE, known_names, place_words
from study.editor.condition_and_question_pages import ANOTHER
from study.editor.design_pages import CONDITION_ACTS, PREVIEW
from study.editor.flow_picture import flow_steps
from study.editor.media_pages import insert_context, staff_media, with_upload
from study.editor.next_step import say_saved
from study.editor.own_page_form import PART_WORDS, OwnPageForm, page_places, unused_key
from study.editor.own_page_services import (
    own_page_copy,
    own_page_delete,
    own_page_move,
    own_page_put,
    own_page_save,
    part_put,
)
from study.researchers.form_and_button_pages import (
    confirmed_service_button,
    form_page,
    service_button,
    study_context,
)
from study.researchers.permissions import FORM_METHODS, study_page

QUESTION = "_question"
"""The name of the button that saves a page and shows the form of a new question on it."""


@study_page("copy")
def flow(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the study's flow from the link to the last page, with buttons to add, move, copy and delete own
    pages."""
    design = blueprint_of(study)
    context = {"steps": flow_steps(study, design), "acts": CONDITION_ACTS}
    return render(request, "study/editor/flow.html", study_context(study) | context)


@study_page("edit", FORM_METHODS)
def own_page_edit(request: HttpRequest, study: Study, pk: int | None = None) -> HttpResponse:
    """Show the form for a new or stored page (`pk`), or save it."""
    if pk:
        row = get_object_or_404(study.own_pages, pk=pk)
    else:
        row = OwnPage(study=study, before=request.GET.get("before", FIRST_ROUND))
        row.key = unused_key(row)
    upload, sent = with_upload(request, study)
    form = OwnPageForm(sent or None, instance=row)
    if upload.is_bound and upload.errors:
        form.add_error(None, "The file was not stored. Its field says why. Then choose it again.")
    elif request.method == "POST" and form.is_valid() and PREVIEW not in request.POST:
        own_page_save(page=form.instance)
        if QUESTION in request.POST and not (form.instance.ends or form.instance.plan.is_break):
            there = reverse("study:staff-design-item-new", args=[study.slug])
            return redirect(f"{there}?place={form.instance.plan.page}")
        if ANOTHER in request.POST:
            messages.success(request, f"{form.instance.title}: saved.")
            there = reverse("study:staff-design-own-page-new", args=[study.slug])
            return redirect(f"{there}?before={form.instance.before}")
        say_saved(request, study, f"{form.instance.title}: saved.")
        return redirect("study:staff-design-flow", study.slug)
    text = sent.get("text", row.text)
    heading = f"Page “{row.title}”" if pk else "A new page"
    more: dict[str, Any] = {
        "shown": to_html(text, staff_media(study)),
        "previewed": PREVIEW in request.POST,
        "can_preview": True,
        "another": not pk,
        "upload": upload,
    }
    more |= insert_context(study)
    page = row.plan.page if pk else ""
    more["asked"] = list(study.items.filter(place=page)) if pk else []
    more["asks"] = not pk or not (row.ends or row.plan.is_break)
    more["names"] = [
        ("{team}" if name == "condition" else f"{{{name}}}", words)
        for name, words in known_names(form.design, str(form["before"].value()), page).items()
        if name != "group"
    ]
    return form_page(request, study, form, heading=heading, template="study/editor/own_page.html", **more)


@study_page("edit", ("POST",))
def own_page_action(request: HttpRequest, study: Study, pk: int, act: str) -> HttpResponse:
    """Copy, move or delete a page."""
    row = get_object_or_404(study.own_pages, pk=pk)
    if act == "copy":
        words = f"{row.title} was copied."
        return service_button(request, study, lambda: own_page_copy(page=row), words, "design-flow")
    if act == "delete":
        words = f"{row.title} is deleted."
        return confirmed_service_button(
            request, study, lambda: own_page_delete(page=row), words, "design-flow"
        )
    by = -1 if act == "up" else 1
    words = f"{row.title} was moved {act}."
    return service_button(request, study, lambda: own_page_move(page=row, by=by), words, "design-flow")


@study_page("edit", ("POST",))
def own_page_place(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Move a page to a place, as number `number` (from 0) of the pages there. The flow's picture sends this
    when a page is dragged."""
    row = get_object_or_404(study.own_pages, pk=pk)
    before, number = request.POST.get("before", ""), request.POST.get("number", "")
    if before not in page_places(blueprint_of(study)) or not number.isdecimal() or len(number) > 3:
        return HttpResponseBadRequest()
    words = f"{row.title} was moved {place_words(before, PART_WORDS)}."
    act = partial(own_page_put, page=row, before=before, number=int(number))
    return service_button(request, study, act, words, "design-flow")


@study_page("edit", ("POST",))
def part_place(request: HttpRequest, study: Study, kind: str) -> HttpResponse:
    """Move a part before another one (`before`). The flow's picture and its buttons send this."""
    before = request.POST.get("before", "")
    if kind not in PART_WORDS or before not in PLACES_BEFORE:
        return HttpResponseBadRequest()
    words = f"{PART_WORDS[kind].capitalize()}: moved {place_words(before, PART_WORDS)}."
    act = partial(part_put, study_id=study.pk, kind=kind, before=before)
    return service_button(request, study, act, words, "design-flow")
