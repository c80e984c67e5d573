"""Write a study's items and their translations as CSV, and read such rows.

A row is an item; its columns are the fields of `ItemPlan`. `text (es)` is the Spanish translation of `text`.
Options stand one on each line of their cell. An empty cell changes nothing, `(empty)` empties the field. Rows
may also come from a spreadsheet, with tabs. If any row is wrong, nothing is stored.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from math import isfinite, nan
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models, transaction

from kitchen.contract.data_files import find_problem
from kitchen.contract.data_limits import DataLimitError, read_json
from kitchen.contract.world import Json
from study.design.models import Study, SurveyItem
from study.design.questions.item_fields import FIELD_INFO, ItemPlan
from study.design.study_errors import DesignError, FrozenError
from study.design.translations import language_codes
from study.editor.place_choices import place_choices
from study.exports.csv_encoding import harmless

TRANSLATED = ("text", "low", "high", "unit", "table", "options")
"""Fields whose texts are translated."""
BOOLEANS = frozenset(name for name, field in ItemPlan.model_fields.items() if field.annotation is bool)
NUMBERS = frozenset(["points", "minimum", "maximum", "step"])
MOST_ROWS = 500
EMPTY = "(empty)"
"""The cell that empties a field, or removes a translation."""


class ItemRowsError(DesignError):
    """Raised if rows cannot be stored. `problems` has a sentence for each wrong row."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = problems


def item_csv(study: Study) -> str:
    """Return the study's items as CSV, in their order, with the translations in every further language."""
    out = io.StringIO()
    writer = csv.writer(out)
    languages = language_codes(study.languages)[1:]
    writer.writerow([*FIELD_INFO, *_translated_names(languages)])
    for item in study.items.order_by("position", "pk"):
        plan = item.plan
        cells = [_cell(name, getattr(plan, name)) for name in FIELD_INFO]
        for language in languages:
            known = study.texts.get(language, {})
            cells += [_translation(known, getattr(plan, name)) for name in TRANSLATED]
        writer.writerow(map(harmless, cells))
    return out.getvalue()


def _translated_names(languages: list[str]) -> Iterator[str]:
    return (f"{name} ({language})" for language in languages for name in TRANSLATED)


def _cell(name: str, value: Json) -> str:
    if name == "correct":
        return "" if value is None else json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "\n".join(map(str, value))
    if isinstance(value, bool):
        return "1" if value else "0"
    return "" if value is None else str(value)


def _translation(known: Mapping[str, str], value: str | list[str]) -> str:
    lines = [known.get(text, "") for text in ([value] if isinstance(value, str) else value)]
    return "\n".join(lines) if any(lines) else ""


@transaction.atomic
def items_store(*, study_id: int, rows: str) -> tuple[int, int]:
    """Store the items of these rows, and their translations. An item whose key the study has is changed;
    columns that are not there and empty cells keep its values. Return how many items were added and changed.

    Raises ItemRowsError with every wrong row. Then nothing is stored.
    """
    study = Study.objects.select_for_update().get(pk=study_id)
    found = _read(rows, language_codes(study.languages)[1:])
    there = {item.key: item for item in study.items.all()}
    last = study.items.aggregate(last=models.Max("position"))["last"] or 0
    problems, added, changed = list[str](), 0, 0
    texts: dict[str, dict[str, str]] = {language: dict(known) for language, known in study.texts.items()}
    for number, row in found:
        key = row.get("key", "").strip()
        item = there.get(key) or SurveyItem(study=study, position=last + added + 1)
        try:
            values = _values(row, {} if item.pk else {"key": key})
            before = item.plan.model_dump() if item.pk else {}
            if wrong := find_problem(ItemPlan, {**before, **values}):
                raise ValueError(wrong)
            plan = ItemPlan.model_validate({**before, **values})
            for name in FIELD_INFO:
                setattr(item, name, getattr(plan, name))
            _check_place(study, plan.place)
            item.full_clean()
            _add_translations(row, plan, texts)
            with transaction.atomic():
                item.save()
        except (ValidationError, ValueError, FrozenError) as error:
            problems.append(f"Row {number} ({key or 'no key'}): {_why(error)}")
            continue
        added, changed = added + (key not in there), changed + (key in there)
    if problems:
        raise ItemRowsError(problems)
    study.texts = texts
    study.save(update_fields=["texts"])
    return added, changed


def _check_place(study: Study, place: str) -> None:
    """Raise ValueError if the place is a page that the study does not have."""
    offered = dict(place_choices(study))
    if place not in offered:
        raise ValueError(f"place is one of {', '.join(offered)}, not “{place}”.")


def _read(rows: str, languages: list[str]) -> list[tuple[int, dict[str, str]]]:
    """Return each row with its number. Raises ItemRowsError if the rows are no table."""
    first = rows.lstrip("\ufeff\r\n").partition("\n")[0]
    reader = csv.reader(io.StringIO(rows.lstrip("\ufeff\r\n")), delimiter="\t" if "\t" in first else ",")
    try:
        filled = [[without_apostrophe(cell) for cell in row] for row in reader if any(map(str.strip, row))]
    except csv.Error as error:
        raise ItemRowsError([f"This is not CSV: {error}."]) from error
    heading, *cells = filled or [[]]
    known = {*FIELD_INFO, *_translated_names(languages)}
    problems = [f"The study has no column {name!r}." for name in heading if name not in known]
    if "key" not in heading:
        problems.append("The first row must name the columns, and one of them must be key.")
    if len(cells) > MOST_ROWS:
        problems.append(f"There are {len(cells)} rows; {MOST_ROWS} is the most.")
    numbered = list(enumerate(cells, start=2))
    problems += [f"Row {number} has too many cells." for number, row in numbered if len(row) > len(heading)]
    keys = [dict(zip(heading, row, strict=False)).get("key", "") for row in cells]
    problems += [f"The key {key!r} is there twice." for key in dict.fromkeys(keys) if keys.count(key) > 1]
    if problems:
        raise ItemRowsError(problems)
    return [(number, dict(zip(heading, row, strict=False))) for number, row in numbered]


def without_apostrophe(cell: str) -> str:
    """Return the cell without the apostrophe that `harmless` puts in front."""
    return cell[1:] if cell.startswith("'") and harmless(cell[1:]) == cell else cell


def _values(row: Mapping[str, str], values: dict[str, Any]) -> dict[str, Any]:
    """Return `values` with the fields that the row has, by name. An empty cell says nothing about its field:
    the field of a known item stays, and that of a new item has its default. `EMPTY` empties the field. Raises
    ValueError for a cell that its field cannot have."""
    for name in FIELD_INFO:
        cell = row.get(name, "").strip()
        if not cell:
            continue
        if cell == EMPTY and name not in BOOLEANS:
            values[name] = [] if name == "options" else None if name in (*NUMBERS, "correct") else ""
        elif name in BOOLEANS:
            if cell.lower() not in _BOOLEANS:
                raise ValueError(f"{name} is 1 or 0, not “{cell}”.")
            values[name] = _BOOLEANS[cell.lower()]
        elif name in NUMBERS:
            values[name] = _number(name, cell)
        elif name == "correct":
            values[name] = _json_or_text(cell)
        else:
            values[name] = cell.splitlines() if name == "options" else cell
    return values


def _number(name: str, cell: str) -> float:
    """Return the number in the cell. Raises ValueError, in words for the researcher, if it has none."""
    try:
        number = float(cell)
    except ValueError:
        number = nan
    if not isfinite(number):
        raise ValueError(f"{name} is a number, not “{cell}”.")
    return int(number) if number.is_integer() else number


_BOOLEANS = {"1": True, "0": False, "true": True, "false": False, "yes": True, "no": False}


def _json_or_text(cell: str) -> Json:
    """Return the value of a cell with JSON, and other cells as text. Raises ValueError for JSON that is too
    large or too deep."""
    try:
        return read_json(cell)
    except DataLimitError as error:
        raise ValueError(f"correct {error}.") from error
    except ValueError:
        return cell


def _add_translations(row: Mapping[str, str], plan: ItemPlan, texts: dict[str, dict[str, str]]) -> None:
    """Add the translations of one row to `texts`. Raises ValueError if options and their translations differ
    in number."""
    for column, cell in row.items():
        name, _, rest = column.partition(" (")
        if not rest or not cell.strip():
            continue
        own, known = getattr(plan, name), texts.setdefault(rest[:-1], {})
        if cell.strip() == EMPTY:
            for text in own if isinstance(own, list) else [own]:
                known.pop(text, None)
            continue
        originals, translations = (own, cell.splitlines()) if isinstance(own, list) else ([own], [cell])
        if len(originals) != len(translations):
            raise ValueError(f"{column} needs a line for each of the {len(originals)} options.")
        known.update(
            {text: told for text, told in zip(originals, translations, strict=True) if text and told}
        )


def _why(error: Exception) -> str:
    if isinstance(error, ValidationError):
        if hasattr(error, "error_dict"):
            return " ".join(f"{name}: {' '.join(said)}" for name, said in error.message_dict.items())
        return " ".join(error.messages)
    return " ".join(str(error).split())
