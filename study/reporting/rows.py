"""The rows that an analysis rests on, as one file, and its hash."""

from __future__ import annotations

import hashlib

from study.analysis.statistics.analyse import Analysis
from study.analysis.statistics.files import to_csv

NAME = "analysed.csv"
COLUMNS = ["participant", "condition", "measure", "value", "order_position", "version", "before_freeze"]
COLUMNS += ["synthetic"]


def analysed(analysis: Analysis) -> bytes:
    """One row for each participant, condition and measure, sorted by measure and then by these."""
    rows = [
        {column: getattr(row, column) for column in COLUMNS}
        for result in analysis.measures
        for row in sorted(result.table.observations, key=lambda one: (one.participant, one.order_position))
    ]
    return to_csv(COLUMNS, rows)


def digest_of_rows(analysis: Analysis) -> str:
    """SHA-256 of `analysed`, 64 characters: `sha256sum analysed.csv` says the same."""
    return hashlib.sha256(analysed(analysis)).hexdigest()
