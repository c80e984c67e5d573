"""Define an export table: its columns with their meanings, its rows, and which participants are included.

All participants are exported and marked, unless the caller excludes synthetic participants, previews, or
episodes that an outage touched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Self, TypeVar

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
"""What else can be left out: steps, commands and decisions with an outage; or episodes and their answers."""
ALL_KINDS: Mapping[str, str] = {**KINDS, **OUTAGES}


@dataclass(frozen=True, slots=True)
class ExportSelection:
    """Selects the rows in the files; the fields are keys of `ALL_KINDS`."""

    people: bool = True
    synthetic: bool = True
    preview: bool = True
    excluded: bool = True
    outage_steps: bool = True
    outage_episodes: bool = True

    @classmethod
    def without(cls, kinds: Iterable[str]) -> Self:
        """Return a selection without these kinds. Raises ValueError for an unknown kind."""
        left = set(kinds)
        if unknown := left - ALL_KINDS.keys():
            known = ", ".join(ALL_KINDS)
            raise ValueError(f"{', '.join(sorted(unknown))}: cannot be left out; there are {known}")
        return cls(**dict.fromkeys(left, False))

    @property
    def left_out(self) -> tuple[str, ...]:
        """Return the kinds that are not in the files."""
        return tuple(kind for kind, inside in asdict(self).items() if not inside)

    def participants(self, study: Study) -> QuerySet[Participant]:
        """Return the participants whose rows are in the files, by number."""
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
    """One column.

    `kind` is `text`, `integer`, `number`, `boolean` (1/0), `time` (ISO 8601, UTC) or `json`.
    """

    name: str
    kind: str
    meaning: str
    unit: str = ""
    levels: str = ""
    told: Callable[[Study], str] | None = None
    """Returns the meaning in one study, if it depends on the study."""

    def in_study(self, study: Study) -> Column:
        """Return the column with its meaning in this study, for the codebook."""
        return replace(self, meaning=self.told(study)) if self.told else self


@dataclass(frozen=True, slots=True)
class ExportTable:
    """One file of the export.

    `read` yields groups of rows, never all at once, with the cells in the order of the columns.
    """

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
    among: Callable[[str], ExportTable] | None = None
    """Returns the same table for files with this ending, if the table contains file names."""

    def in_form(self, ending: str) -> ExportTable:
        """Return the table for files with this ending."""
        return self.among(ending) if self.among else self

    def columns_of(self, study: Study) -> tuple[Column, ...]:
        """Return all columns of this study's file."""
        columns = self._with(self.more(study) if self.more else ())
        return tuple(column.in_study(study) for column in columns)

    def _with(self, more: tuple[Column, ...]) -> tuple[Column, ...]:
        names = [column.name for column in self.columns]
        place = names.index(self.more_after) + 1 if self.more_after else len(names)
        return (*self.columns[:place], *more, *self.columns[place:])

    def opened(self, study: Study, chosen: ExportSelection) -> tuple[tuple[Column, ...], Iterator[RowBatch]]:
        """Return all columns, and the rows of the selection as Python values.

        Columns and rows match even if the design changes while the rows are read.
        """
        if self.more is None:
            return self.columns, in_batches(self.read(study, chosen), AT_ONCE)
        more = self.more(study)
        return self._with(more), in_batches(self.read(study, chosen, more), AT_ONCE)

    def lines(self, study: Study, chosen: ExportSelection = EVERYBODY) -> Iterator[tuple[str, int]]:
        """Yield the CSV file in chunks of lines, each with its number of rows."""
        columns, batches = self.opened(study, chosen)
        kinds, names = [column.kind for column in columns], [column.name for column in columns]
        yield _ended(csv_encoding.lines(["text"] * len(columns), RowBatch([RowGroup((), [names])]))), 0
        for batch in batches:
            yield _ended(csv_encoding.lines(kinds, batch)), sum(batch.lengths)


def _ended(lines: Iterable[str]) -> str:
    return LINE_END.join([*lines, ""])


Row = TypeVar("Row")


def in_chunks(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """Yield the rows in lists of `size`; the last one may be shorter."""
    left = iter(rows)
    while chunk := list(islice(left, size)):
        yield chunk


PARTICIPANT_COLUMNS = (
    Column("participant", "text", "The participant's code; the same in every file."),
    Column("synthetic", "boolean", "1 for a program that took part to test the study, 0 for a person."),
)
"""The first columns of every file about participants."""

EPISODE_COLUMNS = (
    *PARTICIPANT_COLUMNS,
    Column(
        "condition", "text", "Key of the condition; blank for the practice episode and outside of episodes."
    ),
    Column(
        "order_position",
        "integer",
        "When the participant played it.",
        levels="1 = first; 0 = outside of the conditions",
    ),
    Column(
        "episode",
        "text",
        "Key of the episode; the same in every file. Where several people play in one, it is there once, "
        "with the first of them; episodes.csv has a row for each.",
    ),
)
"""The first columns of every file about episodes."""

PREVIEW = Column("preview", "boolean", "1 for staff who tried the study out.")
EXCLUDED = Column("excluded", "boolean", "1 for somebody whom staff excluded; participants.csv says why.")
VERSION = Column("version", "integer", "Version of the study that the participant took part in.")
CHANGED = Column(
    "changed_since_freeze",
    "boolean",
    "1 if the study had been preregistered before and was changed since; see design.json.",
)
INVALID_COMMAND_COLUMNS = (
    Column(
        "commands_invalid_before",
        "integer",
        "Of these, those that were read and cannot be done, in the first reply.",
        unit="commands",
    ),
    Column("commands_invalid", "integer", "The same after a second try.", unit="commands"),
)
"""Columns that count the invalid commands in replies of language models."""
PERSON_MARKS = (PREVIEW, EXCLUDED, VERSION, CHANGED)
"""The last marks of files about participants."""
PART = Column("part", "text", "What the episode is part of.", levels="practice, main (one of the conditions)")
EPISODE_MARKS = (PART, *PERSON_MARKS)
"""The last marks of files about episodes."""

OUTAGE_MARKS = (
    Column(
        "outage_ms",
        "integer",
        "For so long something of ours was away while this went on (pages, workers, Redis, the database); "
        "see outages.csv.",
        unit="ms",
    ),
    Column(
        "outage_parts",
        "text",
        "What was away at some time while this went on, with spaces between; `clock`: the server's clock was "
        "set. Blank if nothing was.",
        levels=", ".join(Part.values),
    ),
)
"""The columns after the marks, in files about episodes and steps."""

MODEL_ERRORS = "; ".join(f"{code} ({words})" for code, words in error_codes().items())
FALLBACK_LEVELS = "; ".join(f"{code} ({words})" for code, words in (error_codes() | FALLBACKS).items())
"""Every possible code, taken from the code that writes it."""
EPISODE_LEVELS = (
    "playing, over (it ended by its rules), cut_off (it was ended from outside), reached (practice reached "
    "what it was to last until), aborted (staff ended it), abandoned (a person in it did nothing for too "
    "long, or left)"
)


@dataclass(frozen=True, slots=True)
class Document:
    """One file that is no table; `text` returns all of it, as its size does not grow with the
    participants."""

    name: str
    meaning: str
    content_type: str
    text: Callable[[Study, ExportSelection], str]
