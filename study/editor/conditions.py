"""The conditions of one study: a form with a typed field for every setting, and the buttons of each."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect

from kitchen.registry.worlds import has_scene, known_worlds
from kitchen.words.counting import counted
from study.analysis.tried import tried_told
from study.design.bound import bound
from study.design.cautions import condition_warnings
from study.design.free_names import free_label
from study.design.models import Condition, Study
from study.design.offered import COPLAYER, WORLD, all_kinds
from study.editor.chosen import chosen_fields, with_needed, with_usual
from study.editor.copying import condition_copy
from study.editor.drawn import told_page, with_begun
from study.editor.forms import console_condition_form
from study.editor.model_forms import SHOW, asked_kind
from study.editor.moving import moved
from study.editor.saving import condition_save
from study.editor.services import condition_delete
from study.editor.team_form import KIND, is_team_field
from study.editor.team_picture import Picture, picture_or_why
from study.editor.team_rows import SHOWN, with_rows
from study.researchers.frame import asked_once, done, form_page
from study.researchers.permissions import FORM, study_page

POST = ("POST",)


@study_page("edit", FORM)
def condition(request: HttpRequest, study: Study, pk: int | None = None) -> HttpResponse:
    """A new condition, or one that is there, with a typed field for every setting."""
    row = (
        get_object_or_404(study.conditions, pk=pk) if pk else Condition(study=study, label=free_label(study))
    )
    kind, sent = console_condition_form(), with_needed(with_usual(with_rows(request.POST), all_kinds()))
    form = kind(with_begun(sent, study) if request.POST else None, instance=row)
    if told := told_page(request, form):
        return told
    if pk and (row.rounds.filter(participant__preview=False).exists() or bound(row)):
        form.fields["key"].disabled = True
    if request.method == "POST" and form.is_valid():
        condition_save(condition=form.instance, renamed="key" in form.changed_data)
        saved = form.instance
        return done(request, study, f"{saved.name}: saved.", mind=_warned(saved))
    heading = f"Condition “{row.name}”" if pk else "A new condition"
    more = _shown(request, row, form) | _pictured(form, study, pk)
    more["template"] = "study/editor/condition.html"
    return form_page(request, study, form, heading=heading, **more)


def _shown(request: HttpRequest, row: Condition, form: Any) -> dict[str, Any]:
    """The plain fields, and those of every kind in a group of its own, the chosen ones marked."""
    chosen = {part: asked_kind(request, row, part) for part in (WORLD, COPLAYER)}
    shown = chosen_fields(form, all_kinds(), chosen, request.POST.getlist(SHOWN))
    told = (
        {"cautions": (*row.cautions, *row.unmeasured, *_tried(row)), "remarks": row.remarks} if row.pk else {}
    )
    out = _without_scene(form, chosen[WORLD])
    shown["plain"] = [f for f in shown["plain"] if not is_team_field(f.name) and f.name not in out]
    return {"condition": row, **shown, **told}


def _without_scene(form: Any, world: str) -> set[str]:
    """The field of three dimensions, where the world has none; it stays while something is wrong with it."""
    field = "three_dimensions"
    return {field} if world in known_worlds() and not has_scene(world) and field not in form.errors else set()


def _tried(row: Condition) -> tuple[str, ...]:
    """What programs have shown that it cannot measure."""
    return tried_told(row.study).get(row.key, ())


def _pictured(form: Any, study: Study, pk: int | None) -> dict[str, Any]:
    """A picture of who plays, as the form is filled in now; it says what it shows, for those who do not see
    it."""
    team, why = _team(form, study, pk)
    label = dict(form.fields[KIND].choices).get(form[KIND].value() or "", "")
    drawn = f"The picture has {counted(len(team.nodes), 'member')}." if team else why
    return {"team": team, "no_team": why, "said": f"{label}: {counted(len(form.team), 'field')}. {drawn}"}


def _team(form: Any, study: Study, pk: int | None) -> tuple[Picture | None, str]:
    if not form.is_bound:
        return picture_or_why(form.instance)
    sent = form.data.copy()
    sent.pop(SHOW, None)
    stored = study.conditions.get(pk=pk) if pk else Condition(study=study)
    filled = type(form)(sent, instance=stored)
    filled.full_clean()
    wrong = [str(why) for name, errors in filled.errors.items() if is_team_field(name) for why in errors]
    return (None, wrong[0]) if wrong else picture_or_why(filled.instance)


def _warned(row: Condition) -> str:
    return " ".join([*condition_warnings(row), *row.cautions, *row.unmeasured, *row.remarks])


@study_page("edit", POST)
def condition_act(request: HttpRequest, study: Study, pk: int, act: str) -> HttpResponse:
    """Copy, up, down, delete."""
    row = get_object_or_404(study.conditions, pk=pk)
    if act == "copy":
        made = condition_copy(row)
        return redirect("study:staff-design-condition", study.slug, made.pk)
    if act == "delete":
        return asked_once(request, study, lambda: condition_delete(condition=row), f"{row.name} is deleted.")
    return moved(request, study, row, act)
