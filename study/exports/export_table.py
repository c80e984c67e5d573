"""Define `ExportTable`, an export table with columns and rows, and `ExportSelection`, the data to export.

The file `columns.toml` in this folder describes the columns for readers.

By default, all participants are exported. A column shows their kind, such as synthetic (a program). A
selection can leave out kinds of participants, or data that an outage of the app affected.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import compress
from pathlib import Path
from typing import Any, Self

from django.db.models import Q, QuerySet

from kitchen.contract.agent import FALLBACKS
from kitchen.contract.language_model import error_codes
from kitchen.uptime.models import Part
from study.design.models import Study
from study.exports import csv_encoding
from study.exports.csv_encoding import LINE_END
from study.exports.row_groups import RowBatch, RowGroup, in_batches
from study.participants.models import Participant

KINDS: Mapping[str, str] = {
    "people": "people",
    "synthetic": "synthetic participants (programs)",
    "preview": "previews by staff",
    "excluded": "those whom staff excluded",
}
"""Kinds of participants that can be left out. Previews by staff count as neither people nor synthetic."""


OUTAGES: Mapping[str, str] = {
    "outage_steps": "steps that an outage touched",
    "outage_episodes": "episodes that an outage touched",
}
"""Further data that can be left out: steps, commands and decisions with an outage; or episodes and their
answers."""
ALL_KINDS: Mapping[str, str] = {**KINDS, **OUTAGES}


@dataclass(frozen=True, slots=True)
class ExportSelection:
    """The kinds of data that the files contain. The fields are the keys of `ALL_KINDS`; False leaves a
    kind out."""

    people: bool = True
    synthetic: bool = True
    preview: bool = True
    excluded: bool = True
    outage_steps: bool = True
    outage_episodes: bool = True

    @classmethod
    def without(cls, kinds: Iterable[str]) -> Self:
        """Return a selection that leaves out these kinds of data (keys of `ALL_KINDS`), such as
        `synthetic`. Raises ValueError for an unknown kind."""
        left = set(kinds)
        if unknown := left - ALL_KINDS.keys():
            known = ", ".join(ALL_KINDS)
            raise ValueError(f"{', '.join(sorted(unknown))}: cannot be left out; there are {known}")
        return cls(**dict.fromkeys(left, False))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return the kinds of data that are left out of the export files."""
        return tuple(kind for kind, inside in asdict(self).items() if not inside)

    def participants(self, study: Study) -> QuerySet[Participant]:
        """Return the study's participants whose data are exported, ordered by number."""
        real, program = Q(preview=False, synthetic=False), Q(preview=False, synthetic=True)
        participants = study.participants.order_by("number")
        for inside, which in (
            (self.people, real),
            (self.synthetic, program),
            (self.preview, Q(preview=True)),
        ):
            participants = participants if inside else participants.exclude(which)
        return participants if self.excluded else participants.filter(excluded_at=None)


EVERYBODY = ExportSelection()

AT_ONCE = 1000
"""Number of rows that are encoded and held in memory at once."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table, with its description for the codebook.

    `kind` is `text`, `integer`, `number`, `boolean` (1/0), `time` (ISO 8601, UTC) or `json`.
    """

    name: str
    kind: str
    meaning: str
    unit: str = ""
    levels: str = ""
    codes: tuple[tuple[str | int | float, str], ...] = ()
    """Values with their words, if these are known: for value labels of statistics programs."""
    in_words: Callable[[Study], str] | None = None
    """Returns the meaning in one study, if it depends on the study."""

    def in_study(self, study: Study) -> Column:
        """Return the column with a description that fits this study."""
        return replace(self, meaning=self.in_words(study)) if self.in_words else self


@lru_cache
def _column_file() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("columns.toml").read_text(encoding="utf-8"))


def file_columns(group: str, **levels: str | Iterable[str]) -> tuple[Column, ...]:
    """Return the columns that the file columns.toml lists in this group.

    `levels` describes the possible values of single columns, by column name: a text, a list of values, or a
    mapping of values to explanations.
    """
    columns = {name: Column(name, **column) for name, column in _column_file()[group].items()}
    for name, given in levels.items():
        columns[name] = replace(columns[name], levels=_in_words(given), codes=_codes(given))
    return tuple(columns.values())


def _codes(levels: str | Iterable[str]) -> tuple[tuple[str, str], ...]:
    if isinstance(levels, Mapping):
        return tuple(levels.items())
    return () if isinstance(levels, str) else tuple((one, one) for one in levels)


def _in_words(levels: str | Iterable[str]) -> str:
    if isinstance(levels, Mapping):
        return "; ".join(f"{value} ({words})" for value, words in levels.items())
    return levels if isinstance(levels, str) else ", ".join(levels)


@dataclass(frozen=True, slots=True)
class ExportTable:
    """One table of the export. `read` yields the rows in groups. So the rows are never all in memory. The
    cells of a row are in the order of the columns."""

    name: str
    meaning: str
    columns: tuple[Column, ...]
    """The columns of every study."""
    read: Callable[..., Iterable[RowGroup]]
    """Called with the study and the selection and, if there is `more`, with its columns."""
    more: Callable[[Study], tuple[Column, ...]] | None = None
    """Returns columns that follow from the study's design."""
    more_after: str = ""
    """The fixed column after which the columns of `more` come; empty for the end."""
    unused: Callable[[Study], Collection[str]] | None = None
    """Returns the fixed columns that would be blank in every row of this study. They are left out. The groups
    of such a table have no shared cells."""
    in_form: Callable[[str], ExportTable] | None = None
    """Returns the same table for files with this ending, if the table contains file names."""

    def columns_of(self, study: Study) -> tuple[Column, ...]:
        """Return all columns that the table has for this study."""
        columns = self._with(self.more(study) if self.more else ())
        unused = self.unused(study) if self.unused else ()
        return tuple(column.in_study(study) for column in columns if column.name not in unused)

    def _with(self, more: tuple[Column, ...]) -> tuple[Column, ...]:
        names = [column.name for column in self.columns]
        place = names.index(self.more_after) + 1 if self.more_after else len(names)
        return (*self.columns[:place], *more, *self.columns[place:])

    def opened(self, study: Study, chosen: ExportSelection) -> tuple[tuple[Column, ...], Iterator[RowBatch]]:
        """Return two things: all columns of the table, and an iterator over the selected rows as Python
        values.

        Columns and rows match even if the design changes while the rows are read.
        """
        if self.more is None:
            return self.columns, in_batches(self.read(study, chosen), AT_ONCE)
        more = self.more(study)
        columns, groups = self._with(more), self.read(study, chosen, more)
        if self.unused and (unused := self.unused(study)):
            kept = [column.name not in unused for column in columns]
            columns = tuple(compress(columns, kept))
            groups = (RowGroup((), [tuple(compress(row, kept)) for row in group.rows]) for group in groups)
        return columns, in_batches(groups, AT_ONCE)

    def lines(self, study: Study, chosen: ExportSelection = EVERYBODY) -> Iterator[tuple[str, int]]:
        """Yield the table as CSV in pieces. Each piece is a pair: several lines, and their number of rows.
        The first piece is the header, with 0 rows."""
        columns, batches = self.opened(study, chosen)
        kinds, names = [column.kind for column in columns], [column.name for column in columns]
        yield _ended(csv_encoding.lines(["text"] * len(columns), RowBatch([RowGroup((), [names])]))), 0
        for batch in batches:
            yield _ended(csv_encoding.lines(kinds, batch)), sum(batch.lengths)


def _ended(lines: Iterable[str]) -> str:
    return LINE_END.join([*lines, ""])


PARTICIPANT_COLUMNS = file_columns("participant")
"""The first columns of every file about participants."""

EPISODE_COLUMNS = (*PARTICIPANT_COLUMNS, *file_columns("episode"))
"""The first columns of every file about episodes."""

PERSON_MARKS = file_columns("person_marks")
"""The last marks of files about participants."""
EPISODE_MARKS = (*file_columns("episode_marks"), *PERSON_MARKS)
"""The last marks of files about episodes."""

OUTAGE_MARKS = file_columns("outage_marks", outage_parts=Part.values)
"""The columns after the marks, in files about episodes and steps."""

FALLBACK_LEVELS: Mapping[str, str] = error_codes() | FALLBACKS
"""Every possible code, taken from the code that writes it."""
EPISODE_LEVELS = (
    "playing, over (it ended by its rules), cut_off (it was ended from outside), reached (practice reached "
    "what it was to last until), aborted (staff ended it, money was short, or its world failed), "
    "abandoned (a person in it did nothing for too long, or left)"
)


@dataclass(frozen=True, slots=True)
class Document:
    """One file of the export that is not a table. `text` returns its whole content. This content is small,
    even for many participants."""

    name: str
    meaning: str
    content_type: str
    text: Callable[[Study, ExportSelection], str]
    in_form: Callable[[str], Document] | None = None
    """Returns the same file for tables with this ending, if the file lists the tables."""
