"""Describe how each seat (player position) worked, by counts such as failed checks and format errors.

A check rejects an invalid command, plan or reply; its code says what was wrong. The counts are summed over
the analysed episodes of a condition. The module returns them as rows of the file process_counts.csv, and as
cells of a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kitchen.contract.episode_log import FAILED_CHECKS
from study.analysis.statistics.observations import AnalysisCondition

PROCESS_WORDS = (
    "Totals over the analysed episodes of each condition, by seat, counted in the log. A code says which "
    "check a command, a plan or a reply failed."
)
"""The explanation under the heading of the table."""
PROCESS_FILE = "process_counts.csv"
PROCESS_COLUMNS = ("condition", "condition_label", "seat", "episodes", "count", "code", "total", "synthetic")


@dataclass(frozen=True, slots=True)
class ProcessCounts:
    """The counts of one seat, summed over the analysed episodes of one condition."""

    condition: AnalysisCondition
    seat: str
    """The name of the seat, such as `chef`."""
    episodes: int
    totals: tuple[tuple[str, int], ...]
    """(name of the count, total) pairs; the same names in each condition of a world."""
    failed_by_code: tuple[tuple[str, int], ...] = ()
    """(code of a check, number of failures) pairs, the most frequent first."""

    @property
    def codes_text(self) -> str:
        """Return the failed checks by code as text, such as `hands_full 3, busy 1`. Return a dash if no
        check failed."""
        return ", ".join(f"{code} {number}" for code, number in self.failed_by_code) or "\N{EN DASH}"


def count_names(counts: Sequence[ProcessCounts]) -> tuple[str, ...]:
    """Return the names of all counts, each once, in their order."""
    return tuple(dict.fromkeys(name for one in counts for name, _ in one.totals))


def process_cells(counts: Sequence[ProcessCounts]) -> list[list[str]]:
    """Return the table of process counts as rows of texts. The first row is the header. Then follows one
    row for each condition and seat."""
    names = count_names(counts)
    rows = [["Condition", "Seat", "Episodes", *names, "Failed checks by code"]]
    for one in counts:
        totals = dict(one.totals)
        numbers = (str(totals[name]) if name in totals else "" for name in names)
        rows.append([one.condition.label, one.seat, str(one.episodes), *numbers, one.codes_text])
    return rows


def process_rows(counts: Sequence[ProcessCounts], *, synthetic: bool) -> list[dict[str, Any]]:
    """Return one row of process_counts.csv per condition, seat and count, and one per code of a failed check.
    `code` is empty in the row of a count's total."""
    return [
        {
            "condition": one.condition.key,
            "condition_label": one.condition.label,
            "seat": one.seat,
            "episodes": one.episodes,
            "count": name,
            "code": code,
            "total": total,
            "synthetic": synthetic,
        }
        for one in counts
        for name, code, total in (
            *((name, "", total) for name, total in one.totals),
            *((FAILED_CHECKS, code, number) for code, number in one.failed_by_code),
        )
    ]
