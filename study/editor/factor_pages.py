"""Serve the pages on which researchers define a study's factors and make the conditions of their cells."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from kitchen.words.english_text import counted_noun
from study.design.factors import Factor, parse_factors
from study.design.models import Condition, Study
from study.editor.factor_forms import (
    ConditionsFactorForm,
    FactorForm,
    FactorNamesForm,
    ValuesFactorForm,
    field_choices,
    path_label,
    value_label,
)
from study.editor.factor_services import (
    base_condition,
    cell_rows,
    cells_save,
    conditions_without_cell,
    factors_save,
)
from study.researchers.form_and_button_pages import (
    CONFIRM_FIELD,
    NOT_CONFIRMED,
    back_to_page,
    form_page,
    service_button,
    study_context,
)
from study.researchers.permissions import FORM_METHODS, study_page

PAGE = "design-factors"
"""The name of the page's address, without `staff-`."""
CONDITIONS = "conditions"
"""The value of `?field=` that asks for a factor of whole conditions."""


@study_page("edit")
def factors_page(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the factors, the cells with their conditions, and the choice of a field for a new factor."""
    base = base_condition(study)
    rows = cell_rows(study)
    missing = [row for row in rows if row.condition is None]
    context: dict[str, Any] = {
        "base": base,
        "factors": [(one, _level_rows(base, one)) for one in parse_factors(study.factors)] if base else [],
        "rows": [(row, [path_label(base, path) for path in row.unplanned]) for row in rows if base],
        "all_chosen": len(missing) == len(rows),
        "leaving": conditions_without_cell(study) if rows else [],
        "fields": field_choices(base) if base else [],
        "conditions_value": CONDITIONS,
        "several": study.conditions.count() > 1,
        "confirm": CONFIRM_FIELD,
    }
    return render(request, "study/editor/factors.html", study_context(study) | context)


def _level_rows(base: Condition, factor: Factor) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return (name, [(label of the field, value)]) of each level, for the table of a factor."""
    return [
        (
            level.name,
            [(path_label(base, path), value_label(base, path, value)) for path, value in level.sets.items()],
        )
        for level in factor.levels
    ]


@study_page("edit", FORM_METHODS)
def factor_new(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the form for a new factor of the field `?field=`, or add the factor."""
    base, path = base_condition(study), request.GET.get("field", "")
    if base is None or not path:
        return redirect(f"study:staff-{PAGE}", study.slug)
    more: dict[str, Any] = {"base": base, "factors": parse_factors(study.factors)}
    form: FactorForm
    if path == CONDITIONS:
        form = ConditionsFactorForm(request.POST or None, **more)
    elif path in {key for _, pairs in field_choices(base) for key, _ in pairs}:
        form = ValuesFactorForm(request.POST or None, path=path, **more)
    else:
        raise Http404(path)
    if request.method == "POST" and form.is_valid():
        factor = form.cleaned_data["factor"]
        factors_save(study_id=study.pk, factors=[*parse_factors(study.factors), factor])
        return back_to_page(request, study, f"The factor {factor.name} was added.", PAGE)
    label = "whole conditions" if path == CONDITIONS else path_label(base, path)
    return form_page(request, study, form, heading=f"A factor of {label}", submit="Add the factor")


@study_page("edit", FORM_METHODS)
def factor_names(request: HttpRequest, study: Study, factor: str) -> HttpResponse:
    """Show the form for the names of a factor and its levels, or save them. `factor` is the factor's key."""
    factors = _with_factor(study, factor)
    form = FactorNamesForm(request.POST or None, factors=factors, key=factor)
    if request.method == "POST" and form.is_valid():
        factors_save(study_id=study.pk, factors=form.cleaned_data["factors"])
        return back_to_page(request, study, "The factor was saved. Make the conditions again.", PAGE)
    return form_page(request, study, form, heading=f"The factor {form.factor.name}")


@study_page("edit", ("POST",))
def factor_remove(request: HttpRequest, study: Study, factor: str) -> HttpResponse:
    """Remove the factor with this key. The conditions stay until the cells are made again."""
    left = [one for one in _with_factor(study, factor) if one.key != factor]
    return service_button(
        request,
        study,
        lambda: factors_save(study_id=study.pk, factors=left),
        "The factor was removed. The conditions are as they were.",
        PAGE,
    )


@study_page("edit", ("POST",))
def cells_made(request: HttpRequest, study: Study) -> HttpResponse:
    """Make the conditions of the chosen cells. If conditions would be deleted, this must be confirmed."""
    chosen = request.POST.getlist("cell")
    rows = cell_rows(study)
    leaving = conditions_without_cell(study) + [
        row.condition for row in rows if row.condition is not None and row.key not in chosen
    ]
    if leaving and CONFIRM_FIELD not in request.POST:
        messages.error(request, NOT_CONFIRMED)
        return redirect(f"study:staff-{PAGE}", study.slug)
    number = len({row.key for row in rows} & set(chosen))
    return service_button(
        request,
        study,
        lambda: cells_save(study_id=study.pk, chosen=chosen),
        f"{counted_noun(number, 'condition')}: made from the factors.",
        PAGE,
    )


def _with_factor(study: Study, key: str) -> tuple[Factor, ...]:
    """Return the study's factors. Raises Http404 if none has this key."""
    factors = parse_factors(study.factors)
    if key not in {one.key for one in factors}:
        raise Http404(key)
    return factors
