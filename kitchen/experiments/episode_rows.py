"""Define the result row of one played episode, and write and read such rows as CSV.

A row also counts decisions that no language model made although one should have. These came from the stand-in
(an imitation of a model), or from a fallback rule after a failed call. New columns are only added at the end.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from typing import Self

from kitchen.contract.decision_notes import READING_COLUMNS, ReplyReadings
from kitchen.contract.world import Json
from kitchen.experiments.experiment_setup import EpisodeJob, EpisodeKey

PLAYED, FAILED = "played", "failed"
"""Outcomes of an episode."""


class RowsError(Exception):
    """Raised when rows cannot be read or belong to another experiment. The message is one line."""


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """The result of one episode that agents played without people."""

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
    """Number of decisions that somebody other than the co-player made."""
    fallback_codes: str
    """Reasons of the fallbacks: codes with their numbers, `529 x2, timeout x1`."""
    played_by: str
    """The deciding agents, each with its number of decisions."""
    calls: int
    """Number of language model calls."""
    tokens_input: int
    """Input tokens, without those read from or written to a cache."""
    tokens_output: int
    tokens_cache_read: int
    tokens_cache_write: int
    cost: float | None
    """US dollars; None if a price is unknown."""
    model: str
    """Model name as returned by the API."""
    ms_median: float
    """Median milliseconds per decision."""
    ms_max: float
    state_hash: str
    """Hash of the state at the end of the episode."""
    outcome: str = PLAYED
    """FAILED if an error ended the episode: its counts are 0 and enter no result; it can be played again."""
    reason: str = ""
    """The error of a failed episode and its place in the code."""
    log: str = ""
    """SHA-256 of the lines of the log; empty for episodes that were played before logs existed."""
    read_whole: int = 0
    """Decisions for which the model's whole reply could be parsed (`kitchen.contract.decision_notes`)."""
    read_in_part: int = 0
    read_not_at_all: int = 0
    commands_asked: int = 0
    """Number of commands that these replies should have contained."""
    commands_invalid_before: int = 0
    """Number of those commands that were parsed but invalid in the first reply."""
    commands_invalid: int = 0
    """Number of invalid commands after the second attempt, if there was one."""
    predictions_judged: int = 0
    """Predictions about others that turned out right or wrong (`kitchen.contract.decision_notes`)."""
    predictions_right: int = 0
    """Number of judged predictions that came true."""
    figure: float | None = None
    """The compared metric in worlds of partners (`PairingBenchmark.figure`); None in other worlds."""

    goal_steps: int | None = None
    """Steps until the goal of the episode; None if it was not reached, or without a goal."""
    plannings: float | None = None
    """Planning iterations, averaged over the members; None where all choose for each step."""
    second_figure: float | None = None
    """Another metric (`ComparisonBenchmark.second_figure`); None without one."""
    more_figures: str = ""
    """Further metrics (`ComparisonBenchmark.more_figures`) as a JSON object: name to value, or to null if it
    is undefined. Empty without any."""

    @property
    def readings(self) -> ReplyReadings:
        """Return counts of how well the episode's model replies could be parsed."""
        return ReplyReadings(*(getattr(self, name) for name in READING_COLUMNS))

    @property
    def key(self) -> EpisodeKey:
        """Return the key that identifies the episode in its experiment: variant, level, number of agents,
        interval between orders (alpha) and number."""
        return self.variant, self.level, self.agents, self.alpha, self.episode

    def to_json(self) -> dict[str, Json]:
        """Return the row as JSON; `from_json` restores an equal row."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Mapping[str, Json]) -> Self:
        """Restore a row from the output of `to_json`."""
        return cls(**stored)


ROW_COLUMNS = [each.name for each in fields(EpisodeRow)]
REQUIRED_COLUMNS = [each.name for each in fields(EpisodeRow) if each.default is MISSING]
"""Columns that files of earlier versions have, too."""
UNCOUNTED_COLUMNS: Mapping[str, Json] = {"alpha": 1.0, "completed": 0, "failed": 0}
"""Columns without meaning where partners are compared, with the values of such rows.

Files of such experiments leave these columns out; files of earlier versions contain them.
"""
LAST_COLUMNS = (("goal_steps", "plannings"), ("second_figure",), ("more_figures",))
"""The last columns, which few files need: those of experiments with a goal, with a second metric, and with
further metrics. A file that has a group has the groups before it."""
_TYPES = {each.name: str(each.type) for each in fields(EpisodeRow)}


def write_rows_csv(
    rows: Iterable[EpisodeRow],
    *,
    of_partners: bool = False,
    with_goal: bool = False,
    with_second: bool = False,
    with_more: bool = False,
) -> bytes:
    """Return the rows as a CSV file, sorted by key. With `of_partners`, the columns in `UNCOUNTED_COLUMNS`
    are left out. `with_goal`, `with_second` and `with_more` add the last columns (`LAST_COLUMNS`): those of
    experiments with a goal, with a second metric, and with further metrics."""
    columns, ordered = _columns(of_partners), sorted(rows, key=lambda each: each.key)
    used = 3 if with_more else 2 if with_second else int(with_goal)
    unused = {name for group in LAST_COLUMNS[used:] for name in group}
    columns = [name for name in columns if name not in unused]
    return csv_bytes(columns, ([getattr(row, name) for name in columns] for row in ordered))


def csv_bytes(head: Iterable[str], rows: Iterable[Iterable[object]]) -> bytes:
    """Return a CSV file with this header line. None becomes an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(head)
    writer.writerows(["" if value is None else value for value in row] for row in rows)
    return out.getvalue().encode()


def _columns(of_partners: bool) -> list[str]:
    return [name for name in ROW_COLUMNS if not (of_partners and name in UNCOUNTED_COLUMNS)]


def read_rows_csv(data: bytes, name: str = "episodes.csv") -> list[EpisodeRow]:
    """Read the rows of a CSV file. Raises RowsError, which names the file and the line, if a row is
    invalid."""
    try:
        reader = csv.DictReader(io.StringIO(data.decode(), newline=""), strict=True)
        columns = list(reader.fieldnames or ())
        known = _columns("alpha" not in columns)[: len(columns)]  # earlier versions lack the last ones
        if columns != known or not set(REQUIRED_COLUMNS) <= {*columns, *UNCOUNTED_COLUMNS}:
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
    kind, _, may_be_none = kind.partition(" | ")
    if may_be_none and not text:
        return None
    return {"int": int, "float": float, "str": str}[kind](text)


def match_rows_to_jobs(
    rows: Iterable[EpisodeRow], jobs: Iterable[EpisodeJob]
) -> dict[EpisodeKey, EpisodeRow]:
    """Return the rows by key, after checking that each row belongs to one of these jobs. Raises RowsError
    for an unknown key, a different seed, or a duplicate."""
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
    """Numbers of decisions by who made them, over some episodes."""

    decisions: Counter[str] = field(default_factory=Counter)
    """Number of decisions by decision maker: a kind of co-player, `stand-in` or `noop`."""
    fallbacks: Counter[str] = field(default_factory=Counter)
    """Number of decisions that somebody other than the co-player made, by fallback code."""
    models: frozenset[str] = frozenset()
    """Language models, as named by the API; the stand-in is not included."""
    failed: int = 0
    """Number of episodes that an error ended; they count in no result."""
    read: ReplyReadings = field(default_factory=ReplyReadings)
    """Counts of how well the replies of language models were parsed."""

    @classmethod
    def of(cls, rows: Iterable[EpisodeRow]) -> Self:
        """Return how many decisions each decision maker (kind of agent, fallback) made in these episodes."""
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
        """Return the decision makers in one line, for tables and figures."""
        who = [f"{self._named(name)} {number}" for name, number in sorted(self.decisions.items())]
        played = f"Played by (decisions): {', '.join(who)}" if who else "Played by: nobody yet"
        parts = [played, self._fallbacks()]
        if self.read.decisions:
            parts.append(f"replies: {self.read.words}")
        if self.failed:
            parts.append(f"episodes that failed and are not counted: {self.failed}")
        text = "; ".join(parts) + "."
        return f"{text} Warning: {self.read.warning}" if self.read.is_bad else text

    @property
    def share(self) -> str:
        """Return the share of decisions that a fallback made, as text: `3 of 900`."""
        return f"{self.fallbacks.total()} of {self.decisions.total()}"

    @property
    def names(self) -> str:
        """Return the decision makers with their numbers of decisions, such as `planner x3, stand-in x57`."""
        return counts_text(self.decisions)

    def figure_label(self, kind: str) -> str:
        """Return the name of a kind of agent for a figure. `(stand-in)` is added if a program that imitates a
        language model made decisions for it."""
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
    """Return the counts as text: `planner x3, stand-in x57`."""
    return ", ".join(f"{name} x{number}" for name, number in sorted(counts.items()))


def read_counts(text: str) -> Counter[str]:
    """Return the counts that `counts_text` wrote as text."""
    pairs = (part.rpartition(" x") for part in text.split(", ") if part)
    return Counter({name: int(number) for name, _, number in pairs})
