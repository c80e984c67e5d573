"""Serve the staff page that orders datasets of a study for programs that learn, and sends finished ones.

A worker writes each dataset. The page shows its progress; if a worker dies, another one goes on.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone

from kitchen.infra.file_downloads import streaming_download
from kitchen.opened.dataset_forms import FORMS
from study.design.models import Study
from study.exports.dataset_export import MAX_LICENCE
from study.exports.dataset_jobs import folder_zip_pieces
from study.participants.participant_counts import study_counts
from study.participants.stored_datasets import (
    FINISHED,
    RUNNING,
    WAITING,
    StoredDataset,
    datasets_of,
    order_dataset,
)
from study.researchers.models import SecurityEvent
from study.researchers.permissions import FORM_METHODS, study_page
from study.researchers.security_events import log_security_event
from study.task_queue import ask_dataset

ASK_AGAIN_SECONDS = 60.0
"""Seconds without a worker after which the page asks for one again."""
NO_WORKER = "No worker can write it now. Start one, or use the command export_datasets."


class DatasetOrderForm(forms.Form):
    """The form for a new dataset: its form, its licence, and whether programs are in it."""

    form = forms.ChoiceField(label="Form")
    licence = forms.CharField(
        label="Licence",
        max_length=MAX_LICENCE,
        widget=forms.Textarea({"rows": 4}),
        help_text="Its name with a link, or its whole text. Others may use the data only as it says. Choose "
        "one to which the consent of your participants agrees.",
    )
    synthetic = forms.BooleanField(
        label="With the games of synthetic participants",
        required=False,
        help_text="They are marked. Without this, only games of people are in it.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["form"]
        missing = [form for form in FORMS.values() if form.why_not()]
        field.choices = [(name, form.meaning) for name, form in FORMS.items() if form not in missing]
        field.help_text = " ".join(f"Not offered here: {form.meaning}: {form.why_not()}." for form in missing)


@study_page("results", FORM_METHODS)
def datasets(request: HttpRequest, study: Study) -> HttpResponseBase:
    """Show the study's datasets, and the form that orders one. A POST orders it. While one is written, the
    page asks regularly for the list (`?list`)."""
    if "list" in request.GET:
        return render(request, "study/exports/datasets_list.html", _listed(study))
    form = DatasetOrderForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        made = order_dataset(study.pk, **form.cleaned_data)
        if not ask_dataset(study.pk, made.key):
            messages.warning(request, NO_WORKER)
        return redirect("study:staff-datasets", study.slug)
    context = {"form": form, "counts": study_counts(study), **_listed(study)}
    return render(request, "study/exports/datasets.html", context, status=422 if form.errors else 200)


def _listed(study: Study) -> dict[str, Any]:
    """Return the template context with the datasets. One whose worker has died is asked for again."""
    rows = []
    for each in datasets_of(study.pk):
        facts = each.read()
        is_on = facts.get("state") in {WAITING, RUNNING}
        now = timezone.now().timestamp()
        if (
            is_on
            and each.is_silent()
            and now - facts.get("asked_again", facts["asked_at"]) > ASK_AGAIN_SECONDS
        ):
            each.note(asked_again=now)
            ask_dataset(study.pk, each.key)
        asked_at = datetime.fromtimestamp(facts["asked_at"], UTC)
        rows.append({**facts, "key": each.key, "is_on": is_on, "at": asked_at})
    return {"study": study, "datasets": rows, "is_on": any(row["is_on"] for row in rows)}


@study_page("results")
def dataset_file(request: HttpRequest, study: Study, dataset: str) -> HttpResponseBase:
    """Send a finished dataset as a ZIP file, and log the download."""
    found = StoredDataset(study.pk, dataset)
    facts = found.read() if dataset.isalnum() else {}
    if facts.get("state") != FINISHED:
        raise Http404(dataset)
    kind, what = SecurityEvent.Kind.DATA_DOWNLOADED, f"dataset {facts['form']}"
    log_security_event(kind, user=request.user, study=study, what=what, request=request)
    name = f"{study.slug}-{facts['form']}.zip"
    return streaming_download(folder_zip_pieces(found.files, study.slug), "application/zip", name)
