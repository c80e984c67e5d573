"""Define the row of one played episode, read and write rows as CSV, and count who really decided.

If the stand-in or a fallback decided in place of a language model, every table and figure says so. New
columns are added at the end (RFC 4180, UTF-8).
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import Self

from kitchen.contract.decision_notes import READING_COLUMNS as READ
from kitchen.contract.decision_notes import ReplyReadings
from kitchen.contract.world import Json
from kitchen.experiments.experiment_setup import EpisodeJob, EpisodeKey

PLAYED, FAILED = "played", "failed"
"""Outcomes of an episode."""


class RowsError(Exception):
    """Rows that cannot be read, or that are not those of this experiment; one line."""


@dataclass(frozen=True, slots=True)
class EpisodeRow:
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
    """Decisions for which the model's reply was read whole (`kitchen.contract.decision_notes`)."""
    read_in_part: int = 0
    read_not_at_all: int = 0
    commands_asked: int = 0
    """Commands that these replies were to hold."""
    commands_invalid_before: int = 0
    """Of these, read and refused: in the first reply."""
    commands_invalid: int = 0
    """The same after a second try if there was one."""
    predictions_judged: int = 0
    """What was foreseen of others and turned out right or wrong (`kitchen.contract.decision_notes`)."""
    predictions_right: int = 0
    """Of these, what came true."""
    figure: float | None = None
    """The figure that is compared in worlds of partners (`PairingBenchmark.figure`); blank in others."""

    @property
    def readings(self) -> ReplyReadings:
        """How its replies were read."""
        return ReplyReadings(*(getattr(self, name) for name in READ))

    @property
    def key(self) -> EpisodeKey:
        """The episode's name within its experiment."""
        return self.variant, self.level, self.agents, self.alpha, self.episode

    def to_json(self) -> dict[str, Json]:
        """As JSON; `from_json` gives an equal row."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Json]) -> Self:
        """What `to_json` wrote."""
        return cls(**stored)


ROW_COLUMNS = [each.name for each in fields(EpisodeRow)]
REQUIRED_COLUMNS = [each.name for each in fields(EpisodeRow) if each.default is MISSING]
"""Columns that a file of an earlier version has, too."""
UNCOUNTED_COLUMNS: Mapping[str, Json] = {"alpha": 1.0, "completed": 0, "failed": 0}
"""Columns that mean nothing where partners are compared, and what a row has there: a file of such an
experiment is without them (one of an earlier version has them)."""
_TYPES = {each.name: str(each.type) for each in fields(EpisodeRow)}


def write_rows_csv(rows: Iterable[EpisodeRow], *, of_partners: bool = False) -> bytes:
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
    return [name for name in ROW_COLUMNS if not (of_partners and name in UNCOUNTED_COLUMNS)]


def _are_ours(columns: list[str]) -> bool:
    """Whether these head a file of this version or of an earlier one."""
    whole = _columns("alpha" not in columns)
    return columns == whole[: len(columns)] and set(REQUIRED_COLUMNS) <= {*columns, *UNCOUNTED_COLUMNS}


def read_rows_csv(data: bytes, name: str = "episodes.csv") -> list[EpisodeRow]:
    """The rows of a file; RowsError names file and line."""
    try:
        reader = csv.DictReader(io.StringIO(data.decode(), newline=""), strict=True)
        columns = list(reader.fieldnames or ())
        if not _are_ours(columns):
            raise RowsError(f"{name}: its columns are not those of episodes.csv")
        return [_row(values, f"{name}:{number}") for number, values in enumerate(reader, start=2)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise RowsError(f"{name}: is not CSV: {error}") from error


def _row(values: Mapping[str, str | None], where: str) -> EpisodeRow:
    try:
        read = {column: _read(_TYPES[str(column)], str(text)) for column, text in values.items()}
        return EpisodeRow(**{**UNCOUNTED_COLUMNS, **read})
    except ValueError as error:
        raise RowsError(f"{where}: {error}") from error


def _read(kind: str, text: str) -> Json:
    if kind == "float | None":
        return float(text) if text else None
    return {"int": int, "float": float, "str": str}[kind](text)


def match_rows_to_jobs(
    rows: Iterable[EpisodeRow], jobs: Iterable[EpisodeJob]
) -> dict[EpisodeKey, EpisodeRow]:
    """Rows by name; RowsError for one that these jobs do not have, or with another seed, or there twice."""
    seeds = {job.key: job.seed for job in jobs}
    rows_by_key: dict[EpisodeKey, EpisodeRow] = {}
    for row in rows:
        if seeds.get(row.key) != row.seed or row.key in rows_by_key:
            raise RowsError(f"an episode of another experiment, or one twice: {row.key}")
        rows_by_key[row.key] = row
    return rows_by_key


STAND_IN = "stand-in"
PLAYER_LABELS = {
    STAND_IN: "the stand-in (no language model: its commands come from the planner)",
    "noop": "nobody (the agents waited)",
}


@dataclass(frozen=True, slots=True)
class DecisionMakers:
    """Who decided in some episodes, and how often."""

    decisions: Counter[str] = field(default_factory=Counter)
    """By who chose: a kind of co-player, `stand-in`, `noop`."""
    fallbacks: Counter[str] = field(default_factory=Counter)
    """Decisions that another than the co-player made, by their codes."""
    models: frozenset[str] = frozenset()
    """Language models, as the API named them; the stand-in is none."""
    failed: int = 0
    """Episodes that an error ended; they count nowhere."""
    read: ReplyReadings = field(default_factory=ReplyReadings)
    """How the replies of language models were read."""

    @classmethod
    def of(cls, rows: Iterable[EpisodeRow]) -> Self:
        """Who played these episodes."""
        total = cls()
        for row in rows:
            if row.outcome == FAILED:
                total += cls(failed=1)
            else:
                chose = read_counts(row.played_by)
                is_ours = any(name.endswith(STAND_IN) for name in chose)
                named = frozenset() if is_ours else frozenset(row.model.split(", ")) - {""}
                total += cls(chose, read_counts(row.fallback_codes), named, read=row.readings)
        return total

    def __add__(self, other: DecisionMakers) -> Self:
        return type(self)(
            self.decisions + other.decisions,
            self.fallbacks + other.fallbacks,
            self.models | other.models,
            self.failed + other.failed,
            self.read + other.read,
        )

    def __str__(self) -> str:
        """In one line, for tables and figures."""
        who = [f"{self._named(name)} {number}" for name, number in sorted(self.decisions.items())]
        played = f"Played by (decisions): {', '.join(who)}" if who else "Played by: nobody yet"
        parts = [played, self._fallbacks()]
        if self.read.decisions:
            parts.append(f"replies: {self.read.words}")
        if self.failed:
            parts.append(f"episodes that failed and are not counted: {self.failed}")
        said = "; ".join(parts) + "."
        return f"{said} Warning: {self.read.warning}" if self.read.is_bad else said

    @property
    def share(self) -> str:
        """Fallbacks of all decisions, `3 of 900`."""
        return f"{self.fallbacks.total()} of {self.decisions.total()}"

    @property
    def names(self) -> str:
        """Who chose, with the number of decisions: `planner x3, stand-in x57`."""
        return counts_text(self.decisions)

    def told(self, kind: str) -> str:
        """The name of a kind for a picture: with a mark where a stand-in decided for it."""
        return f"{kind} ({STAND_IN})" if self.decisions[f"{kind}'s {STAND_IN}"] else kind

    def _named(self, kind: str) -> str:
        if kind in PLAYER_LABELS or kind == "planner" or not self.models:
            return PLAYER_LABELS.get(kind, f"the {kind}")
        return f"{', '.join(sorted(self.models))} (by the {kind})"

    def _fallbacks(self) -> str:
        if not self.fallbacks:
            return "no fallbacks"
        codes = counts_text(self.fallbacks)
        return f"fallbacks: {self.share} decisions were made by another than the co-player ({codes})"


def counts_text(counts: Counter[str]) -> str:
    """`planner x3, stand-in x57`."""
    return ", ".join(f"{name} x{number}" for name, number in sorted(counts.items()))


def read_counts(text: str) -> Counter[str]:
    """What `counted` wrote."""
    pairs = (part.rpartition(" x") for part in text.split(", ") if part)
    return Counter({name: int(number) for name, _, number in pairs})
