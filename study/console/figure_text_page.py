"""Serve the page with which researchers change the title and the note of a figure, or leave them out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse

from kitchen.charts.chart_data import Chart
from study.analysis.statistics.charts_by_measure import charts_of
from study.analysis.statistics.figure_texts import LONGEST, changed_texts, texts_of
from study.console.analysis_pages import FIGURE_MEANINGS, ready_analysis, requested_sample, waiting_page
from study.design.models import Study
from study.participants.participant_counts import study_counts
from study.researchers.permissions import FORM_METHODS, has_right, study_page

AREA = forms.Textarea(attrs={"rows": 4, "spellcheck": "true"})


class FigureTextForm(forms.Form):
    """The title and the note of a figure. An empty text is the usual one."""

    shows_title = forms.BooleanField(label="Show a title", required=False)
    title = forms.CharField(max_length=LONGEST["title"], required=False)
    shows_note = forms.BooleanField(label="Show a note below the figure", required=False)
    note = forms.CharField(max_length=LONGEST["note"], required=False, widget=AREA)

    def __init__(self, chart: Chart, own: Mapping[str, str], data: QueryDict | None = None) -> None:
        """Take the chart with its usual texts, the texts `own` that the researchers wrote before, and the
        posted `data`."""
        initial: dict[str, Any] = {f"shows_{name}": own.get(name) != "" for name in LONGEST}
        super().__init__(data, initial={**initial, **own})
        for name, usual in (("title", chart.title), ("note", chart.full_note)):
            self.fields[name].widget.attrs.pop("maxlength", None)  # a pasted text is refused, not cut
            most = f"At most {LONGEST[name]} characters."
            self.fields[name].help_text = f"Empty is the usual text: “{usual}”. {most}" if usual else most

    def chosen(self) -> dict[str, str]:
        """Return the texts as they are stored: empty if left out, missing for the usual text."""
        given = self.cleaned_data
        found = {name: given[name].strip() if given[f"shows_{name}"] else "" for name in LONGEST}
        return {name: text for name, text in found.items() if text or not given[f"shows_{name}"]}


@study_page("edit", FORM_METHODS)
def figure_texts(request: HttpRequest, study: Study, measure: str, figure: str) -> HttpResponseBase:
    """Show the form for title and note of one figure, or store them. The figure's usual note can tell
    results, so these must not be concealed from the user."""
    if not has_right(request.user, study, "results"):
        raise PermissionDenied
    sample = requested_sample(request, study)
    finished = ready_analysis(study, sample)
    if finished is None or finished.analysis is None:
        return waiting_page(request, study, "analysis", finished.problem if finished else "")
    chart = charts_of(finished.analysis, measure).get(figure)
    if chart is None:
        raise Http404(figure)
    posted = request.POST if request.method == "POST" else None
    form = FigureTextForm(chart, texts_of(study.figure_texts, measure, figure), posted)
    if form.is_valid():
        store_figure_texts(study, measure, figure, form.chosen())
        messages.success(request, "The texts of the figure are saved.")
        address = reverse("study:figures", args=[study.slug, measure])
        return redirect(f"{address}?{sample.query}#f-{figure}")
    context = {
        "study": study,
        "counts": study_counts(study),
        "form": form,
        "heading": f"Title and note: {chart.title}",
        "meaning": FIGURE_MEANINGS[figure],
        "of": measure,
        "choice": sample.query,
    }
    return render(
        request, "study/console/figure_texts.html", context, status=422 if request.method == "POST" else 200
    )


def store_figure_texts(study: Study, measure: str, figure: str, own: Mapping[str, str]) -> None:
    """Store the texts of one figure. Other figures keep theirs, also if somebody saves them at the same
    time."""
    with transaction.atomic():
        row = Study.objects.select_for_update().get(pk=study.pk)
        row.figure_texts = changed_texts(row.figure_texts, measure, figure, own)
        row.save(update_fields=["figure_texts"])
