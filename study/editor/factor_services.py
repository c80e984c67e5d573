"""Store a study's factors, and create the conditions of their cells from a base condition."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from study.design.factors import (
    Cell,
    Factor,
    all_cells,
    cell_fields,
    cell_key,
    cell_name,
    group_of_cell,
    groups_of,
    level_of_cell,
    parse_factors,
    unplanned_differences,
)
from study.design.models import Condition, Study
from study.design.study_errors import DesignError
from study.editor.design_services import condition_delete, unused_label
from study.editor.factor_forms import condition_values


@dataclass(frozen=True, slots=True)
class CellRow:
    """One cell of the design, with its condition, if there is one."""

    key: str
    name: str
    cell: Cell
    condition: Condition | None
    unplanned: tuple[str, ...] = ()
    """Paths of fields in which the condition differs from what its levels make of the base condition."""


@transaction.atomic
def factors_save(*, study_id: int, factors: Sequence[Factor]) -> None:
    """Store the study's factors. Conditions change only when `cells_save` is called."""
    study = Study.objects.select_for_update().get(pk=study_id)
    study.factors = [one.model_dump(mode="json") for one in factors]
    known = {one.key for one in factors if not one.between}
    study.one_round_per = study.one_round_per if study.one_round_per in known else ""
    study.blocked_by = study.blocked_by if study.blocked_by in known else ""
    study.save(update_fields=["factors", "one_round_per", "blocked_by"])


def base_condition(study: Study) -> Condition | None:
    """Return the base condition, from which the cells are made: the study's first one. None if there is
    none."""
    return study.conditions.first()


def cell_rows(study: Study) -> list[CellRow]:
    """Return all cells of the study's factors, in order. The result is empty without factors."""
    factors, base = parse_factors(study.factors), base_condition(study)
    if base is None:
        return []
    conditions, values = list(study.conditions.all()), condition_values(base)
    rows = []
    for cell in all_cells(factors):
        made = next((one for one in conditions if one.levels == cell), None)
        differing = (
            unplanned_differences(values, factors, cell, condition_values(made)) if made is not None else ()
        )
        rows.append(CellRow(cell_key(factors, cell), cell_name(factors, cell), cell, made, tuple(differing)))
    return rows


def conditions_without_cell(study: Study) -> list[Condition]:
    """Return the conditions that belong to no cell of the study's factors."""
    cells = all_cells(parse_factors(study.factors))
    return [one for one in study.conditions.all() if one.levels not in cells]


@transaction.atomic
def cells_save(*, study_id: int, chosen: Collection[str]) -> int:
    """Make the conditions of the chosen cells, and return their number. `chosen` has the keys of cells.

    Conditions of these cells get the fields of the base condition, changed by their levels. Conditions of
    other cells, and those without a cell, are deleted. Raises DesignError if a cell cannot be played, or if a
    condition cannot be deleted.
    """
    study = Study.objects.select_for_update().get(pk=study_id)
    factors, base = parse_factors(study.factors), base_condition(study)
    cells = [cell for cell in all_cells(factors) if cell_key(factors, cell) in chosen]
    if base is None or len(cells) < 2:
        raise DesignError("Choose two cells or more.")
    values = condition_values(base)
    study.between_groups = " ".join(_played_groups(factors, cells))
    study.save(update_fields=["between_groups"])
    kept: list[Condition] = []
    for position, cell in enumerate(cells, start=1):
        fields = cell_fields(values, factors, cell)
        row = _condition_of(study, factors, cell, fields, taken={one.pk for one in kept})
        row.study, row.position = study, position
        _fill(row, fields, factors, cell)
        kept.append(row)
    for row in study.conditions.exclude(pk__in=[one.pk for one in kept if one.pk]):
        condition_delete(condition=row)
    for row in kept:
        row.label = row.label or unused_label(study)
        _check(row)
        row.save()
    return len(kept)


def _played_groups(factors: Sequence[Factor], cells: Sequence[Cell]) -> list[str]:
    played = {group_of_cell(factors, cell) for cell in cells}
    return [group for group in groups_of(factors) if group in played]


def _condition_of(
    study: Study, factors: Sequence[Factor], cell: Cell, fields: dict[str, Any], taken: Collection[int]
) -> Condition:
    """Return the stored condition of a cell: the one with its levels, or one without a cell that has its
    fields. If there is none, return a new condition without label."""
    rows = [one for one in study.conditions.all() if one.pk not in taken]
    cells = all_cells(factors)
    same = [one for one in rows if one.levels == cell] or [
        one for one in rows if one.levels not in cells and condition_values(one) == fields
    ]
    return same[0] if same else Condition(study=study, label="")


def _fill(row: Condition, fields: dict[str, Any], factors: Sequence[Factor], cell: Cell) -> None:
    """Set the fields of a cell's condition. Its key stays if participants depend on it."""
    for name, value in fields.items():
        setattr(row, name, value)
    row.levels = dict(cell)
    row.name = cell_name(factors, cell)
    if row.pk is None or not row.why_fixed():
        row.key = cell_key(factors, cell)
    row.between_group = group_of_cell(factors, cell)
    row.within_level = level_of_cell(factors, cell) if row.between_group else ""


def _check(row: Condition) -> None:
    """Raise DesignError with the reason if the condition of a cell cannot be played."""
    try:
        row.full_clean()
    except ValidationError as error:
        raise DesignError(f"{row.name} cannot be played: {' '.join(error.messages)}") from error
