"""The table behind a figure, as files."""

from __future__ import annotations

import csv
import io
import json

from kitchen.charts.chart import Cell, Chart


def as_csv(chart: Chart) -> bytes:
    """UTF-8 after RFC 4180: a head, a blank for what is not there, numbers in full precision."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(chart.head)
    writer.writerows(["" if cell is None else cell for cell in row] for row in chart.rows)
    return out.getvalue().encode()


def as_json(chart: Chart) -> bytes:
    """What the figure says and its table as one JSON object; what is not there is null."""
    whole = {
        "figure": chart.key,
        "title": chart.title,
        "synthetic": chart.synthetic,
        "words": chart.words,
        "note": chart.full_note,
        "rows": [dict(zip(chart.head, row, strict=True)) for row in chart.rows],
    }
    return (json.dumps(whole, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def shown(cell: Cell) -> str:
    """A cell for people: three digits behind the point at most, a dash where there is nothing."""
    if cell is None:
        return "\N{EN DASH}"
    return f"{cell:.3f}".rstrip("0").rstrip(".") if isinstance(cell, float) else str(cell)
