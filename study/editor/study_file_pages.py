"""Serve the pages on which staff download a whole study as one file, compare designs, and take a file.

A file is sent twice, first to compare it and then to take it. So nothing is stored in between. The hidden
field `seen` has the digest of the compared file: another file is not taken.
"""

from __future__ import annotations

import hashlib
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render

from kitchen.contract.data_files import DataError
from kitchen.contract.data_limits import MAX_FILE_BYTES
from kitchen.infra.file_downloads import as_attachment
from study.design.blueprint import Blueprint, blueprint_of
from study.design.former_translations import unchanged_translations
from study.design.models import Study
from study.design.study_archive import StudyContent, read_study_bytes
from study.design.study_errors import DesignError
from study.design.study_file_writer import study_as_zip, zip_problem
from study.design.translations import describe_text_path
from study.editor.changes_outside_design import outside_changes
from study.editor.describe_changes import Change, compared_designs
from study.editor.design_forms import SLUG_MESSAGES
from study.editor.study_file_services import (
    OutsideDesign,
    design_of_content,
    design_replace,
    outside_design,
    replacement_problem,
    study_create_from_content,
)
from study.researchers.form_and_button_pages import back_to_page, study_context
from study.researchers.permissions import FORM_METHODS, staff_page, studies_for, study_page

LONGEST_FILE_NAME = 80
ANOTHER_FILE = (
    "Nothing was changed: this is not the file that you compared last. Compare it, and then take it."
)


class StudyFileForm(forms.Form):
    """The form for the file of a study. If it is valid, `content`, `design` and `outside` are those of the
    file. `into` is the study that may take it."""

    file: Any = forms.FileField(
        label="File of a study",
        help_text=f"A ZIP of a whole study, or a TOML file. At most {MAX_FILE_BYTES // 2**20} MiB.",
        widget=forms.ClearableFileInput({"accept": ".zip,.toml", "data-most-bytes": MAX_FILE_BYTES}),
    )
    content: StudyContent
    design: Blueprint
    outside: OutsideDesign
    digest = ""

    def __init__(self, *args: Any, into: Study | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.into = into

    def clean_file(self) -> Any:
        """Return the file after checking it completely. Raises ValidationError with the place and the
        reason if it cannot be taken."""
        file = self.cleaned_data["file"]
        if file.size > MAX_FILE_BYTES:
            raise forms.ValidationError(f"It has more than {MAX_FILE_BYTES // 2**20} MiB.")
        data = file.read()
        try:
            self.content = read_study_bytes(data, file.name[-LONGEST_FILE_NAME:])
            self.design, self.outside = design_of_content(self.content, self.into)
        except DataError as error:
            raise forms.ValidationError(f"Nothing was taken. {error}") from None
        self.digest = hashlib.sha256(data).hexdigest()
        return file


class NewFromFileForm(StudyFileForm):
    """The form for a new study from a file. It can have another name in the link than the file says."""

    slug = forms.SlugField(
        label="Name in the link",
        required=False,
        help_text="Part of the participants' link, after /s/. Empty: as in the file.",
        error_messages=SLUG_MESSAGES["slug"],
    )
    against = forms.ChoiceField(label="Compare with", required=False)

    def __init__(self, *args: Any, user: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.studies = {study.slug: study for study in studies_for(user, "copy")}
        field: Any = self.fields["against"]
        field.choices = [("", "nothing"), *((slug, study.title) for slug, study in self.studies.items())]


@study_page("copy", FORM_METHODS)
def study_file(request: HttpRequest, study: Study) -> HttpResponse:
    """Show how to download the study as a file, and compare its design with a version, a study or a file.
    Nothing is changed."""
    form = StudyFileForm(request.POST or None, request.FILES or None, into=study)
    context: dict[str, Any] = {}
    if request.method == "POST" and form.is_valid():
        context = _comparison(study, form, "This study", may_take=True)
    elif chosen := request.GET.get("with"):
        context = _compared_with(request, study, chosen)
    return _file_page(request, study, form, context)


@study_page("edit", ("POST",))
def study_file_taken(request: HttpRequest, study: Study) -> HttpResponse:
    """Replace the study's design by that of the file that the user has compared."""
    form = StudyFileForm(request.POST, request.FILES, into=study)
    if form.is_valid():
        if request.POST.get("seen") != form.digest:
            form.add_error("file", ANOTHER_FILE)
            more = _comparison(study, form, "This study", may_take=True)
            return _file_page(request, study, form, more)
        try:
            design_replace(study_id=study.pk, content=form.content)
        except (DesignError, DataError) as error:
            form.add_error("file", str(error))
        else:
            return back_to_page(request, study, "The study has the design of the file now.")
    return _file_page(request, study, form, {})


@study_page("copy")
def study_file_download(request: HttpRequest, study: Study) -> HttpResponseBase:
    """Send the whole study as a ZIP. If its media do not fit into one, go back to the page, which says so."""
    try:
        data = study_as_zip(study)
    except DesignError as error:
        messages.error(request, str(error))
        return redirect("study:staff-design-file", study.slug)
    response = HttpResponse(data, content_type="application/zip")
    return as_attachment(response, f"{study.slug}.zip")


@staff_page(FORM_METHODS)
def new_from_file(request: HttpRequest) -> HttpResponse:
    """Show the form for a new study from a file, compare the file, or create the study. The user becomes its
    owner."""
    form = NewFromFileForm(request.POST or None, request.FILES or None, user=request.user)
    context: dict[str, Any] = {}
    if request.method == "POST" and form.is_valid():
        if "compare" not in request.POST:
            try:
                slug = form.cleaned_data["slug"]
                made = study_create_from_content(form.content, owner=request.user, slug=slug)
            except DataError as error:
                form.add_error(*_creation_error(form, error))
            else:
                messages.success(request, f"“{made.title}” is now your study. It is closed.")
                return redirect("study:staff-design", made.slug)
        else:
            other = form.studies.get(form.cleaned_data["against"])
            context = _comparison(other, form, other.title if other else "")
    return _answer(request, "study/editor/new_from_file.html", form, context)


def _creation_error(form: NewFromFileForm, error: DataError) -> tuple[str, str]:
    """Return the field that has to change before the study can be created, and what to say at it."""
    slug = form.cleaned_data["slug"] or str(form.content.values.get("slug", "")).strip()
    if Study.objects.filter(slug=slug).exists():
        return "slug", f"Another study has “{slug}” in its link. Give another name."
    return "file", f"Nothing was taken. {error}"


def _comparison(
    old: Study | None, form: StudyFileForm, name: str, *, may_take: bool = False
) -> dict[str, Any]:
    """Return the template context of a report about a file: what is in it, and how it differs from the
    study `old`."""
    changes: list[Change] = []
    unchanged: list[str] = []
    if old:
        design = blueprint_of(old)
        changes += compared_designs(design, form.design)
        unchanged = [
            f"{describe_text_path(path)} ({language})"
            for language, path in unchanged_translations(design, form.design)
        ]
        changes += outside_changes(outside_design(old), form.outside)
    return {
        "design": form.design,
        "seen": form.digest,
        "media": sorted(form.content.media),
        "changes": changes,
        "unchanged": unchanged,
        "compared": old is not None,
        "old_name": name,
        "new_name": "The file",
        "may_take": may_take,
    }


def _compared_with(request: HttpRequest, study: Study, chosen: str) -> dict[str, Any]:
    """Return the template context of a comparison with a version of the study, or with another study. Empty
    if there is none."""
    kind, _, name = chosen.partition(":")
    more: list[Change] = []
    if kind == "version":
        version = study.versions.filter(number=int(name) if name.isdecimal() else 0).first()
        other, words = (version.blueprint, f"Version {version.number}") if version else (None, "")
    else:
        found = studies_for(request.user, "copy").filter(slug=name).first()
        other, words = (blueprint_of(found), found.title) if found else (None, "")
        more = outside_changes(outside_design(found), outside_design(study)) if found else []
    if other is None:
        return {"gone": True}
    changes = compared_designs(other, blueprint_of(study)) + more
    return {"changes": changes, "compared": True, "old_name": words, "new_name": "This study"}


def _choices(request: HttpRequest, study: Study) -> list[tuple[str, str]]:
    versions = study.versions.order_by("-number").values_list("number", "created_at", "frozen_at")
    found = [
        (f"version:{number}", f"Version {number} of {at:%Y-%m-%d}{', frozen' if frozen else ''}")
        for number, at, frozen in versions
    ]
    others = studies_for(request.user, "copy").exclude(pk=study.pk).values_list("slug", "title")
    return [*found, *((f"study:{slug}", title) for slug, title in others)]


def _file_page(
    request: HttpRequest, study: Study, form: StudyFileForm, context: dict[str, Any]
) -> HttpResponse:
    more = {
        "choices": _choices(request, study),
        "chosen": request.GET.get("with", ""),
        "why_not": replacement_problem(study),
        "too_large": zip_problem(study),
    }
    context = {**study_context(study), **more, **context}
    return _answer(request, "study/editor/study_file.html", form, context)


def _answer(request: HttpRequest, template: str, form: forms.Form, context: dict[str, Any]) -> HttpResponse:
    """Return the page, or only its report if the page's script asked for it. The script then keeps the
    chosen file in the form."""
    if request.headers.get("HX-Request"):
        return render(request, "study/editor/file_report.html", {**context, "form": form, "part": True})
    status = 422 if form.errors else 200
    return render(request, template, {**context, "form": form}, status=status)
