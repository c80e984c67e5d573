"""Write export tables for SPSS (`.sav`) and Stata (`.dta`), with labels of variables and of values.

Every row of a table is in memory while its file is written. So only the tables that people analyse have these
forms (`LABELLED`); logs of steps have CSV and Parquet.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from study.design.models import Study
from study.exports.column_levels import with_levels
from study.exports.csv_encoding import JsonText, compact
from study.exports.export_table import EVERYBODY, Column, ExportSelection, ExportTable

LABELLED = ("participants", "episodes", "answers", "asked", "measures", "team_measures", "page_times")
"""Tables that have labelled files."""
LABELLED_FORMS = ("sav", "dta")

LONGEST_NAME = 32
"""Maximum number of characters of a variable's name in Stata; SPSS takes more."""
LONGEST_LABEL = {"sav": 250, "dta": 80}
"""Maximum number of bytes (SPSS) or characters (Stata) of a variable's label."""
LONGEST_VALUE_LABEL = 120
LONGEST_TEXT = 2000
"""Maximum number of bytes of a text; longer ones are cut."""
RESERVED = frozenset(
    [
        *("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with"),  # SPSS
        *("alias", "byte", "double", "float", "if", "in", "int", "long", "strl", "using"),  # Stata
    ]
)
"""Names that these programs do not take."""
NOT_APPLY = "does not apply"
TEXTS = frozenset({"text", "json"})
PIECE = 256 * 1024


def variable_names(columns: Iterable[str]) -> dict[str, str]:
    """Return a name that SPSS and Stata take for each of these columns, such as `c0_ease` for `c0.ease`. The
    names stay different if capitals do not count."""
    names: dict[str, str] = {}
    used = set[str]()
    for column in columns:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", column)
        plain = plain if plain[:1].isalpha() and plain.lower() not in RESERVED else f"v_{plain}"
        name, number = plain[:LONGEST_NAME], 1
        while name.lower() in used:
            number += 1
            end = f"_{number}"
            name = plain[: LONGEST_NAME - len(end)] + end
        used.add(name.lower())
        names[column] = name
    return names


@dataclass(slots=True)
class _Labels:
    """What a labelled file says about its variables, in the form of `pyreadstat`'s arguments."""

    columns: dict[str, str] = field(default_factory=dict)
    values: dict[str, dict[Any, str]] = field(default_factory=dict)
    missing: dict[str, list[Any]] = field(default_factory=dict)
    levels: dict[str, str] = field(default_factory=dict)
    """The level of measurement of each variable: `nominal`, `ordinal` or `scale`."""


def labelled_pieces(
    form: str,
    table: ExportTable,
    study: Study,
    chosen: ExportSelection = EVERYBODY,
    rows: Counter[str] | None = None,
) -> Iterator[bytes]:
    """Yield a table as a `.sav` or `.dta` file (`form`), in pieces of bytes. The number of rows is added to
    `rows` under the table's name."""
    frame, labels = _frame(form, table, study, chosen)
    if rows is not None:
        rows[table.name] += len(frame)
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{table.name}.{form}"
        _write(form, frame, labels, path)
        with path.open("rb") as file:
            yield from iter(partial(file.read, PIECE), b"")


def _write(form: str, frame: Any, labels: _Labels, path: Path) -> None:
    import pyreadstat  # takes memory and time that only this function needs

    told: dict[str, Any] = {"column_labels": labels.columns, "variable_value_labels": labels.values}
    if form == "sav":
        told |= {"missing_ranges": labels.missing, "variable_measure": labels.levels}
        pyreadstat.write_sav(frame, path, row_compress=True, **told)
    else:
        pyreadstat.write_dta(frame, path, version=15, missing_user_values=labels.missing, **told)


def _frame(form: str, table: ExportTable, study: Study, chosen: ExportSelection) -> tuple[Any, _Labels]:
    """Return the table as a data frame with names for this form, and its labels."""
    import pandas as pd

    columns, batches = table.opened(study, chosen)
    columns = with_levels((column.in_study(study) for column in columns), {})
    cells: dict[str, list[Any]] = {column.name: [] for column in columns}
    for batch in batches:
        for before, rows, after in batch.groups:
            for row in rows:
                for kept, value in zip(cells.values(), (*before, *row, *after), strict=True):
                    kept.append(value)
    names, labels = variable_names(cells), _Labels()
    series = {}
    for column in columns:
        name = names[column.name]
        labels.columns[name] = _cut(f"{column.name}: {column.meaning}", LONGEST_LABEL[form])
        apart = cells.get(f"{column.name}.does_not_apply", ())
        labels.levels[name] = measurement_level(column)
        series[name] = _series(form, name, column, cells[column.name], apart, labels)
    return pd.DataFrame(series), labels


def measurement_level(column: Column) -> str:
    """Return the level of measurement as SPSS calls it. Texts and yes or no are `nominal`. Whole numbers
    whose values have words, such as ranks and points of agreement, are `ordinal`. Other numbers and times
    are `scale`."""
    if column.kind in {*TEXTS, "boolean"}:
        return "nominal"
    return "ordinal" if column.kind == "integer" and column.codes else "scale"


def _series(
    form: str, name: str, column: Column, cells: Sequence[Any], apart: Sequence[Any], labels: _Labels
) -> Any:
    """Return one variable. Store the labels of its values in `labels`. `apart` has for each row whether the
    answer was “does not apply”; it may be empty."""
    import pandas as pd

    codes, values = _value_codes(column, cells), list[Any]()
    if column.kind == "time":
        return pd.to_datetime(pd.Series(cells, dtype=object), utc=True, format="ISO8601").dt.tz_localize(None)
    if column.kind in TEXTS and not codes:
        texts = [None if one is None else _cut(_text(column.kind, one), LONGEST_TEXT) for one in cells]
        return pd.Series(texts, dtype=object)
    if column.kind in TEXTS:
        numbers = {value: number for number, value in enumerate(codes, start=1)}
        words = {number: codes[value] for value, number in numbers.items()}
        values = [None if one is None else float(numbers[one]) for one in cells]
    else:
        words, values = dict(codes), [None if one is None else float(one) for one in cells]
    told: dict[Any, str] = {
        float(value): _cut(label, LONGEST_VALUE_LABEL) for value, label in words.items() if label
    }
    if any(apart):
        mark: Any = "a" if form == "dta" else _free_number([*values, *_numbers(column)])
        values = [mark if other else value for value, other in zip(values, apart, strict=True)]
        told, labels.missing[name] = {**told, mark: NOT_APPLY}, [mark]
    if told:
        whole = form == "dta"  # Stata labels whole numbers only
        labels.values[name] = {
            int(value) if whole and value != "a" else value: label
            for value, label in told.items()
            if not whole or value == "a" or float(value).is_integer()
        }
    return pd.Series(values, dtype=object if form == "dta" and any(apart) else float)


def _value_codes(column: Column, cells: Iterable[Any]) -> dict[Any, str]:
    """Return the values of a coded column with their labels, in the order of the codebook. Values that it
    does not list come after them. Return an empty dictionary for other columns."""
    if not column.codes:
        return {}
    if column.kind not in TEXTS:
        return dict(column.codes)
    if column.kind == "json":
        return {}
    listed = {
        value: value if words in {"", value} else f"{value}: {words}"
        for value, words in ((str(value), words) for value, words in column.codes)
    }
    others = sorted({str(one) for one in cells if one is not None} - listed.keys())
    return {**listed, **{other: other for other in others}}


def _numbers(column: Column) -> list[float]:
    """Return the numbers that the column's list of values or its bounds name, such as a lowest answer that
    nobody has given yet."""
    bounds = map(float, re.findall(r"-?\d+(?:\.\d+)?", column.levels))
    return [*bounds, *(float(value) for value, _ in column.codes if not isinstance(value, str))]


def _free_number(values: Iterable[float | None]) -> float:
    """Return a number that is none of these values: -99, or the next of -999, -9999, …."""
    low = min((value for value in values if value is not None), default=0.0)
    number = -99.0
    while number >= low:
        number = number * 10 - 9
    return number


def _text(kind: str, value: Any) -> str:
    return compact(value) if kind == "json" and not isinstance(value, JsonText) else str(value)


def _cut(text: str, longest: int) -> str:
    """Return the beginning of the text that has at most this number of bytes."""
    return text.encode()[:longest].decode(errors="ignore")
