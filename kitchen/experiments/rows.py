"""Episodes that were played, one row each, as CSV (RFC 4180, UTF-8). New columns go to the end."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from typing import Self

from kitchen.contract.reading import COLUMNS as READ
from kitchen.contract.reading import Readings
from kitchen.contract.world import Json
from kitchen.experiments.plan import Job, Key

PLAYED, FAILED = "played", "failed"
"""Outcomes of an episode."""


class RowsError(Exception):
    """Rows that cannot be read, or that are not those of this experiment; one line."""


@dataclass(frozen=True, slots=True)
class Row:
    """One episode of agents alone."""

    variant: str
    """Empty outside of presets."""
    level: str
    agents: int
    alpha: float
    episode: int
    seed: int
    completed: int
    failed: int
    steps: int
    fallbacks: int
    """Decisions that another than the co-player made."""
    fallback_codes: str
    """Why: codes with their numbers, `529 x2, timeout x1`."""
    played_by: str
    """Who chose, with the number of decisions."""
    calls: int
    """Calls of language models."""
    tokens_input: int
    """Without those read from or written to a cache."""
    tokens_output: int
    tokens_cache_read: int
    tokens_cache_write: int
    cost: float | None
    """US dollars; None where a price is not known."""
    model: str
    """As the API named it."""
    ms_median: float
    """Milliseconds per decision."""
    ms_max: float
    state_hash: str
    """Of the state at the end."""
    outcome: str = PLAYED
    """FAILED where an error ended it: its counts are 0 and go into no result, and it can be played again."""
    reason: str = ""
    """Which error, and where."""
    log: str = ""
    """SHA-256 of the lines of its log; empty for episodes of before there were logs."""
    read_whole: int = 0
    """Decisions for which the model's reply was read whole (`kitchen.contract.reading`)."""
    read_in_part: int = 0
    read_not_at_all: int = 0
    commands_asked: int = 0
    """Commands that these replies were to hold."""
    commands_invalid_before: int = 0
    """Of these, read and refused: in the first reply."""
    commands_invalid: int = 0
    """The same after a second try if there was one."""
    predictions_judged: int = 0
    """What was foreseen of others and turned out right or wrong (`kitchen.contract.foreseeing`)."""
    predictions_right: int = 0
    """Of these, what came true."""
    figure: float | None = None
    """The figure that is compared in worlds of partners (`Pairings.figure`); blank in others."""

    @property
    def readings(self) -> Readings:
        """How its replies were read."""
        return Readings(*(getattr(self, name) for name in READ))

    @property
    def key(self) -> Key:
        """The episode's name within its experiment."""
        return self.variant, self.level, self.agents, self.alpha, self.episode

    def to_json(self) -> dict[str, Json]:
        """As JSON; `from_json` gives an equal row."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Json]) -> Self:
        """What `to_json` wrote."""
        return cls(**stored)


COLUMNS = [each.name for each in fields(Row)]
NEEDED = [each.name for each in fields(Row) if each.default is MISSING]
"""Columns that a file of an earlier version has, too."""
UNCOUNTED: Mapping[str, Json] = {"alpha": 1.0, "completed": 0, "failed": 0}
"""Columns that mean nothing where partners are compared, and what a row has there: a file of such an
experiment is without them (one of an earlier version has them)."""
_TYPES = {each.name: str(each.type) for each in fields(Row)}


def to_csv(rows: Iterable[Row], *, of_partners: bool = False) -> bytes:
    """Rows as a file, sorted by their names; an unknown cost is blank. `of_partners` leaves out UNCOUNTED."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    columns = _columns(of_partners)
    writer.writerow(columns)
    for row in sorted(rows, key=lambda each: each.key):
        values = asdict(row)
        writer.writerow(["" if values[name] is None else values[name] for name in columns])
    return out.getvalue().encode()


def _columns(of_partners: bool) -> list[str]:
    return [name for name in COLUMNS if not (of_partners and name in UNCOUNTED)]


def _are_ours(columns: list[str]) -> bool:
    """Whether these head a file of this version or of an earlier one."""
    whole = _columns("alpha" not in columns)
    return columns == whole[: len(columns)] and set(NEEDED) <= {*columns, *UNCOUNTED}


def from_csv(data: bytes, name: str = "episodes.csv") -> list[Row]:
    """The rows of a file; RowsError names file and line."""
    try:
        reader = csv.DictReader(io.StringIO(data.decode(), newline=""), strict=True)
        columns = list(reader.fieldnames or ())
        if not _are_ours(columns):
            raise RowsError(f"{name}: its columns are not those of episodes.csv")
        return [_row(values, f"{name}:{number}") for number, values in enumerate(reader, start=2)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise RowsError(f"{name}: is not CSV: {error}") from error


def _row(values: Mapping[str, str | None], where: str) -> Row:
    try:
        read = {column: _read(_TYPES[str(column)], str(text)) for column, text in values.items()}
        return Row(**{**UNCOUNTED, **read})
    except ValueError as error:
        raise RowsError(f"{where}: {error}") from error


def _read(kind: str, text: str) -> Json:
    if kind == "float | None":
        return float(text) if text else None
    return {"int": int, "float": float, "str": str}[kind](text)


def matching(rows: Iterable[Row], jobs: Iterable[Job]) -> dict[Key, Row]:
    """Rows by name; RowsError for one that these jobs do not have, or with another seed, or there twice."""
    seeds = {job.key: job.seed for job in jobs}
    rows_by_key: dict[Key, Row] = {}
    for row in rows:
        if seeds.get(row.key) != row.seed or row.key in rows_by_key:
            raise RowsError(f"an episode of another experiment, or one twice: {row.key}")
        rows_by_key[row.key] = row
    return rows_by_key
