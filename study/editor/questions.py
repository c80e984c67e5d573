"""The questions of one study: own ones, attention checks, shipped questionnaires; the buttons of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from study.design.bound import bound, bound_words
from study.design.models import Study, SurveyItem
from study.design.questions.instruments import instrument
from study.design.questions.instruments import instruments as shipped
from study.editor.forms import ConsoleItemForm, InstrumentForm
from study.editor.moving import moved
from study.editor.saving import item_save, item_switch
from study.editor.services import instrument_add, item_delete
from study.researchers.frame import asked, asked_once, done, form_page
from study.researchers.permissions import FORM, study_page

POST = ("POST",)
ATTENTION: Mapping[str, Any] = {
    "key": "attention",
    "measure": "Attention check",
    "text": "To show that you read the questions, please choose 2 here.",
    "correct": 2,
}
"""What an attention check says unless the researcher says otherwise."""


@study_page("edit", FORM)
def item(request: HttpRequest, study: Study, pk: int | None = None) -> HttpResponse:
    """A new item, or one that is there. `?kind=attention` begins with an attention check."""
    row = get_object_or_404(study.items, pk=pk) if pk else SurveyItem(study=study)
    initial = _first_words(request, study) if not pk else {}
    form = ConsoleItemForm(request.POST or None, instance=row, initial=initial)
    if request.method == "POST" and form.is_valid():
        item_save(item=form.instance)
        return done(request, study, f"{form.instance.measure}: saved.")
    heading = f"Question “{row.measure}”" if pk else "A new question"
    return form_page(request, study, form, heading=heading, note=_note(form))


def _first_words(request: HttpRequest, study: Study) -> dict[str, Any]:
    if request.GET.get("kind") != "attention":
        return {"place": request.GET.get("place", SurveyItem.Place.SURVEY)}
    number = study.items.filter(key__startswith="attention").count() + 1
    end = "" if number == 1 else f"_{number}"
    return {**ATTENTION, "key": f"attention{end}", "measure": f"Attention check{end.replace('_', ' ')}"}


def _note(form: ConsoleItemForm) -> str:
    if not form.fixed:
        return f"In part fixed: {form.instance.TRIED}." if form.answered else ""
    if not form.answered:
        return (
            f"What it asks is fixed: {bound_words(bound(form.instance))} and may still be asked it. "
            "It can be switched off, and another one added for those who come from now on."
        )
    return f"There are {form.answered} answers, so what they rest on is fixed. It can be switched off."


@study_page("edit", POST)
def item_act(request: HttpRequest, study: Study, pk: int, act: str) -> HttpResponse:
    """Up, down, off and on, delete."""
    row = get_object_or_404(study.items, pk=pk)
    if act == "delete":
        return asked_once(request, study, lambda: item_delete(item=row), f"{row.measure} is deleted.")
    if act == "switch":
        return done(request, study, f"{row.measure} is {'on' if item_switch(item=row) else 'off'}.")
    return moved(request, study, row, act)


@study_page("edit", FORM)
def instruments(request: HttpRequest, study: Study) -> HttpResponse:
    """A shipped questionnaire is added."""
    form = InstrumentForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        questionnaire = instrument(form.cleaned_data["instrument"])
        words = f"{questionnaire.title}: {len(questionnaire.items)} questions were added."
        return asked(
            request, study, lambda: instrument_add(study_id=study.pk, instrument=questionnaire), words
        )
    more = {"shipped": shipped(), "submit": "Add these questions"}
    return form_page(
        request,
        study,
        form,
        heading="Shipped questions",
        template="study/editor/instruments.html",
        **more,
    )
