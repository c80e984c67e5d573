"""Serve the page with a study's media files, on which researchers upload, describe and delete them."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from study.design.blueprint import Blueprint
from study.design.media.media_errors import MediaError
from study.design.media.media_plans import media_markdown
from study.design.media_html import ShownMedia, size_words
from study.design.media_response import media_response
from study.design.media_storage import delete_media, store_media, versions_that_show, where_shown
from study.design.models import Study, StudyMedia
from study.editor.media_form import MediaTextForm, MediaUploadForm, PageUploadForm
from study.researchers.form_and_button_pages import confirmed_service_button, form_page, study_context
from study.researchers.permissions import FORM_METHODS, study_page


def staff_media(study: Study) -> ShownMedia:
    """Return the study's current files with addresses for staff."""
    rows = study.media.defer("data").filter(replaced_at=None)
    prefix = reverse("study:staff-design-media", args=[study.slug]) + "files/"
    return ShownMedia({row.name: row.plan for row in rows}, prefix)


def design_media(study: Study, design: Blueprint) -> ShownMedia:
    """Return the files that a version of the design shows, with addresses for staff."""
    prefix = reverse("study:staff-design-media", args=[study.slug]) + "files/"
    return ShownMedia({plan.name: plan for plan in design.media}, prefix)


def media_to_insert(study: Study) -> list[dict[str, str]]:
    """Return the study's files for the list beside a text: name, Markdown, and a picture's address."""
    shown = staff_media(study)
    return [
        {
            "name": plan.name,
            "markdown": media_markdown(plan),
            "image": shown.address(plan) if plan.kind == "image" else "",
        }
        for plan in shown.plans.values()
    ]


@study_page("copy", FORM_METHODS, to_send="edit")
def media(request: HttpRequest, study: Study) -> HttpResponse:
    """List the study's files, and store a new one."""
    form = MediaUploadForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid() and (row := stored_upload(request, study, form)):
        messages.success(request, f"{row.name} is stored.")
        return redirect("study:staff-design-media", study.slug)
    used, shown = where_shown(study), staff_media(study)
    rows = [
        {
            "row": row,
            "address": shown.address(row.plan),
            "size": size_words(row.plan),
            "used": used.get(row.name, ()),
            "versions": versions_that_show(row),
            "markdown": media_markdown(row.plan),
        }
        for row in study.media.defer("data").filter(replaced_at=None)
    ]
    context = {**study_context(study), "form": form, "rows": rows}
    return render(request, "study/editor/media.html", context, status=422 if form.errors else 200)


def stored_upload(request: HttpRequest, study: Study, form: MediaUploadForm) -> StudyMedia | None:
    """Store the file of the form. If it is refused, add the reason to the form and return None."""
    given = form.cleaned_data
    try:
        return store_media(
            study,
            given["file"].name,
            given["file"].read(),
            alt=given["alt"],
            transcript=given["transcript"],
            replaces=given["replaces"],
            by=request.user,
        )
    except MediaError as error:
        form.add_error("alt" if "Describe" in str(error) else "file", str(error))
        return None


def _row(study: Study, pk: int) -> StudyMedia:
    return get_object_or_404(study.media.defer("data").filter(replaced_at=None), pk=pk)


@study_page("edit", FORM_METHODS)
def media_texts(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Change the description and the transcript of a file."""
    row = _row(study, pk)
    form = MediaTextForm(request.POST or None, instance=row)
    if request.method == "POST" and form.is_valid():
        StudyMedia.objects.filter(pk=row.pk).update(**form.cleaned_data)
        return redirect("study:staff-design-media", study.slug)
    return form_page(request, study, form, heading=f"File “{row.name}”")


@study_page("edit", ("POST",))
def media_delete(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Delete a file that no text shows."""
    row = _row(study, pk)
    words = f"{row.name} is deleted."
    return confirmed_service_button(request, study, lambda: delete_media(row), words, "design-media")


@study_page("copy")
def media_file(request: HttpRequest, study: Study, sha256: str, media_name: str) -> HttpResponse:
    """Return the bytes of a file, also of one that was replaced."""
    row = get_object_or_404(study.media.defer("data"), sha256=sha256, name=media_name)
    return media_response(request, row)


def insert_context(study: Study) -> dict[str, Any]:
    """Return the template context of a form whose text can show media."""
    return {"files": media_to_insert(study)}


def with_upload(request: HttpRequest, study: Study) -> tuple[PageUploadForm, QueryDict]:
    """Store the file that was uploaded in the form of a text, if there is one. Return its form, and the
    submitted data with the file in the text.

    The file stays stored if the text is refused, so that nobody has to choose it again.
    """
    upload, sent = PageUploadForm(request.POST or None, request.FILES or None), request.POST.copy()
    if upload.is_valid() and upload.cleaned_data["file"] and (row := stored_upload(request, study, upload)):
        messages.success(request, f"{row.name} is stored.")
        text = sent.get("text", "").replace("\r\n", "\n")
        sent["text"] = upload.text_with(text, media_markdown(row.plan))
    return upload, sent
