"""Serve the pages on which researchers edit, move, copy and delete a study's conditions and questions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse

from kitchen.infra.file_downloads import as_attachment
from kitchen.registry.world_registry import has_3d_scene, known_worlds
from kitchen.words.english_text import counted_noun
from study.analysis.pre_launch_warnings import dry_run_warnings
from study.design.condition_choices import COPLAYER, WORLD, all_kinds, condition_warnings, more_to_install
from study.design.models import Condition, Study, SurveyItem
from study.design.naming_rules import dependent_participants, describe_dependents
from study.design.questions.instruments_elsewhere import instruments_elsewhere, mentions
from study.design.questions.questionnaires import instrument
from study.design.questions.questionnaires import instruments as shipped
from study.design.study_errors import DesignError
from study.editor.condition_and_item_forms import SHOW_BUTTON, SurveyItemForm
from study.editor.condition_form_sections import NAMES, condition_folds, kind_settings, team_sections
from study.editor.condition_presets import presets, with_preset
from study.editor.design_forms import InstrumentForm, ItemRowsForm
from study.editor.design_services import (
    condition_copy,
    condition_delete,
    condition_save,
    instrument_add,
    item_delete,
    item_save,
    item_switch,
    row_move,
    unused_label,
)
from study.editor.form_fields import KIND, is_team_field
from study.editor.item_list import ItemListForm, item_copy, item_sections, items_add, repeated_values
from study.editor.item_rows import ItemRowsError, item_csv, items_store
from study.editor.team_condition_form import ROWS, SHOWN, condition_form, with_rows
from study.editor.team_diagram import Picture, picture_or_why
from study.editor.world_setting_fields import (
    chosen_fields,
    drawing_remarks_page,
    with_default_settings,
    with_earlier_drawing,
    with_needed_teammates,
)
from study.researchers.form_and_button_pages import (
    back_to_page,
    confirmed_service_button,
    form_page,
    service_button,
)
from study.researchers.permissions import FORM_METHODS, study_page


def row_moved(request: HttpRequest, study: Study, row: Condition | SurveyItem, act: str) -> HttpResponse:
    """Move a condition or item up or down (`act` is `up` or `down`), and redirect to the design page."""
    by = -1 if act == "up" else 1
    return service_button(request, study, lambda: row_move(row, by=by), f"{row} was moved {act}.")


POST = ("POST",)


@study_page("edit", FORM_METHODS)
def condition_new(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the form for a new condition, or save it."""
    return _condition(request, study)


@study_page("view", FORM_METHODS, to_send="edit")
def condition(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Show the form for a stored condition, or save it."""
    return _condition(request, study, pk)


def _condition(request: HttpRequest, study: Study, pk: int | None = None) -> HttpResponse:
    row = (
        get_object_or_404(study.conditions, pk=pk)
        if pk
        else Condition(study=study, label=unused_label(study))
    )
    others = study.conditions.exclude(pk=pk or 0).values_list("name", flat=True)
    key, chosen = row.key, with_rows(with_preset(request.POST, ROWS, others))
    kind, sent = condition_form(), with_needed_teammates(with_default_settings(chosen, all_kinds()))
    form = kind(with_earlier_drawing(sent, study) if request.POST else None, instance=row)
    if told := drawing_remarks_page(request, form):
        return told
    if pk and (row.rounds.filter(participant__preview=False).exists() or dependent_participants(row)):
        form.fields["key"].disabled = True
    if request.method == "POST" and form.is_valid():
        condition_save(condition=form.instance, renamed=form.instance.key != key)
        saved = form.instance
        return back_to_page(request, study, f"{saved.name}: saved.", mind=_warnings_text(saved))
    heading = f"Condition “{row.name}”" if pk else "A new condition"
    more = _form_context(request, row, form) | _diagram_context(form, study, pk)
    more["template"] = "study/editor/condition.html"
    return form_page(request, study, form, heading=heading, to_change="edit", **more)


def _form_context(request: HttpRequest, row: Condition, form: Any) -> dict[str, Any]:
    """Return the template context of the condition form: who plays, the settings of each world and co-player,
    the team, and the folds with everything else."""
    chosen = {part: str(form[part].value() or getattr(row, part)) for part in (WORLD, COPLAYER)}
    groups = chosen_fields(form, all_kinds(), chosen, request.POST.getlist(SHOWN))["groups"]
    told = (
        {"cautions": (*row.cautions, *row.unmeasured, *_dry_run_warnings(row)), "remarks": row.remarks}
        if row.pk
        else {}
    )
    kinds = kind_settings(groups)
    return {
        "condition": row,
        "more": more_to_install(),
        "groups": groups,
        "world_settings": kinds[WORLD],
        "coplayer_settings": kinds[COPLAYER],
        "team_fields": team_sections(form),
        "names": [form[name] for name in NAMES],
        "folds": condition_folds(form, _without_scene(form, chosen[WORLD])),
        "presets": presets(chosen[WORLD]),
        **told,
    }


def _without_scene(form: Any, world: str) -> set[str]:
    """Return the names of the fields that the page hides. It hides the 3D field if the world has no 3D scene.
    A field with an error is always shown."""
    field = "three_dimensions"
    return (
        {field} if world in known_worlds() and not has_3d_scene(world) and field not in form.errors else set()
    )


def _dry_run_warnings(row: Condition) -> tuple[str, ...]:
    """Return warnings about what the condition cannot measure. They come from the results of dry runs."""
    return dry_run_warnings(row.study).get(row.key, ())


def _diagram_context(form: Any, study: Study, pk: int | None) -> dict[str, Any]:
    """Return the context of the team diagram for the form as it is filled in now. `said` is the description
    of the picture for screen readers."""
    team, why = _team(form, study, pk)
    label = dict(form.fields[KIND].choices).get(form[KIND].value() or "", "")
    drawn = f"The picture has {counted_noun(len(team.nodes), 'member')}." if team else why
    return {
        "team": team,
        "no_team": why,
        "said": f"{label}: {counted_noun(len(form.team), 'field')}. {drawn}",
    }


def _team(form: Any, study: Study, pk: int | None) -> tuple[Picture | None, str]:
    if not form.is_bound:
        return picture_or_why(form.instance)
    sent = form.data.copy()
    sent.pop(SHOW_BUTTON, None)
    stored = study.conditions.get(pk=pk) if pk else Condition(study=study)
    filled = type(form)(sent, instance=stored)
    filled.full_clean()
    wrong = [str(why) for name, errors in filled.errors.items() if is_team_field(name) for why in errors]
    return (None, wrong[0]) if wrong else picture_or_why(filled.instance)


def _warnings_text(row: Condition) -> str:
    return " ".join([*condition_warnings(row), *row.cautions, *row.unmeasured, *row.remarks])


@study_page("edit", POST)
def condition_action(request: HttpRequest, study: Study, pk: int, act: str) -> HttpResponse:
    """Copy, move or delete a condition."""
    row = get_object_or_404(study.conditions, pk=pk)
    if act == "copy":
        made = condition_copy(row)
        return redirect("study:staff-design-condition", study.slug, made.pk)
    if act == "delete":
        return confirmed_service_button(
            request, study, lambda: condition_delete(condition=row), f"{row.name} is deleted."
        )
    return row_moved(request, study, row, act)


ATTENTION: Mapping[str, Any] = {
    "key": "attention",
    "measure": "Attention check",
    "text": "To show that you read the questions, please choose 2 here.",
    "correct": 2,
}
"""The initial values of a new attention check."""


@study_page("edit", FORM_METHODS)
def item_new(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the form for a new survey item, or save it. With `?kind=attention`, it begins as an attention
    check; with `?after=3`, with the scale of item 3."""
    return _item(request, study)


@study_page("view", FORM_METHODS, to_send="edit")
def item(request: HttpRequest, study: Study, pk: int) -> HttpResponse:
    """Show the form for a stored survey item, or save it."""
    return _item(request, study, pk)


def _item(request: HttpRequest, study: Study, pk: int | None = None) -> HttpResponse:
    row = get_object_or_404(study.items, pk=pk) if pk else SurveyItem(study=study)
    initial = _initial_item(request, study) if not pk else {}
    form = SurveyItemForm(request.POST or None, instance=row, initial=initial)
    if request.method == "POST" and form.is_valid():
        item_save(item=form.instance)
        words = f"{form.instance.measure}: saved."
        return (
            _next_item(request, form.instance, words)
            if ANOTHER in request.POST
            else back_to_page(request, study, words)
        )
    heading = f"Question “{row.measure}”" if pk else "A new question"
    more: dict[str, Any] = {
        "template": "study/editor/item.html",
        "sections": item_sections(form),
        "another": not pk,
    }
    return form_page(request, study, form, heading=heading, note=_note(form), to_change="edit", **more)


ANOTHER = "_another"
"""The name of the button that saves a question and shows the form for the next one."""


def _next_item(request: HttpRequest, after: SurveyItem, words: str) -> HttpResponse:
    messages.success(request, words)
    there = reverse("study:staff-design-item-new", args=[after.study.slug])
    return redirect(f"{there}?after={after.pk}")


def _initial_item(request: HttpRequest, study: Study) -> dict[str, Any]:
    if "after" in request.GET:
        return repeated_values(study, request.GET["after"])
    if request.GET.get("kind") != "attention":
        return {"place": request.GET.get("place", SurveyItem.Place.SURVEY)}
    number = study.items.filter(key__startswith="attention").count() + 1
    end = "" if number == 1 else f"_{number}"
    return {**ATTENTION, "key": f"attention{end}", "measure": f"Attention check{end.replace('_', ' ')}"}


def _note(form: SurveyItemForm) -> str:
    if not form.fixed:
        return f"Partly fixed: {form.instance.TRIED}." if form.answered else ""
    if not form.answered:
        return (
            f"The question cannot change: {describe_dependents(dependent_participants(form.instance))} and "
            "may still be asked it. You can switch it off and add another one for participants who "
            "enter from now on."
        )
    return f"There are {form.answered} answers, so these fields are fixed. You can switch it off."


@study_page("edit", POST)
def item_action(request: HttpRequest, study: Study, pk: int, act: str) -> HttpResponse:
    """Move an item, copy it, enable or disable it, or delete it."""
    row = get_object_or_404(study.items, pk=pk)
    if act == "copy":
        return redirect("study:staff-design-item", study.slug, item_copy(row).pk)
    if act == "delete":
        return confirmed_service_button(
            request, study, lambda: item_delete(item=row), f"{row.measure} is deleted."
        )
    if act == "switch":
        return back_to_page(request, study, f"{row.measure} is {'on' if item_switch(item=row) else 'off'}.")
    return row_moved(request, study, row, act)


@study_page("edit", FORM_METHODS)
def item_rows(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the page to paste many questions and their translations as rows, or store the rows."""
    form = ItemRowsForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            added, changed = items_store(study_id=study.pk, rows=form.cleaned_data["rows"])
        except ItemRowsError as error:
            for problem in error.problems:
                form.add_error("rows", problem)
        else:
            words = f"{counted_noun(added, 'question')} added, {changed} changed."
            return back_to_page(request, study, words)
    more = {"template": "study/editor/item_rows.html", "submit": "Store these rows"}
    return form_page(request, study, form, heading="Questions as rows", **more)


@study_page("edit", FORM_METHODS)
def item_list(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the page to paste questions that share one scale, or store them."""
    form = ItemListForm(request.POST or None, study=study)
    if request.method == "POST" and form.is_valid():
        try:
            items_add(study_id=study.pk, items=form.made)
        except DesignError as error:
            form.add_error(None, str(error))
        else:
            return back_to_page(request, study, f"{counted_noun(len(form.made), 'question')} added.")
    return form_page(request, study, form, heading="Several questions with one scale", submit="Add them")


@study_page("edit")
def item_file(request: HttpRequest, study: Study) -> HttpResponseBase:
    """Send the study's questions and their translations as a CSV file."""
    answer = HttpResponse(item_csv(study), content_type="text/csv; charset=utf-8")
    return as_attachment(answer, f"{study.slug}_items.csv")


@study_page("edit", FORM_METHODS)
def instruments(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the library of questionnaires with all their items, or add one to the study. `?q=trust` searches
    titles, items, scales and sources."""
    form, sought = InstrumentForm(request.POST or None, study=study), request.GET.get("q", "")[:100]
    if request.method == "POST" and form.is_valid():
        questionnaire = instrument(form.cleaned_data["instrument"])
        words = f"{questionnaire.title}: {len(questionnaire.items)} questions were added."
        act = partial(instrument_add, study_id=study.pk, instrument=questionnaire)
        return service_button(request, study, partial(act, place=form.cleaned_data["place"]), words)
    keys, places = set(study.items.values_list("key", flat=True)), dict(SurveyItem.Place.choices)
    shown = [one for one in shipped() if mentions(one, sought)]
    more: dict[str, Any] = {
        "sought": sought,
        "shipped": [(one, places[one.place], bool(keys & {item.key for item in one.items})) for one in shown],
        "elsewhere": [one for one in instruments_elsewhere() if mentions(one, sought)],
    }
    template = "study/editor/instruments.html"
    return form_page(request, study, form, heading="Library of questionnaires", template=template, **more)
