"""Print measured values beside their targets and beside a bare echo server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number with its target."""

    what: str
    value: float
    unit: str
    aim: float | None = None
    more: bool = False
    """True if a larger value is better."""
    echo: float | None = None
    """The same value for the echo server."""
    note: str = ""

    @property
    def missed(self) -> bool:
        """Return whether there is a target and the value misses it."""
        if self.aim is None:
            return False
        return self.value < self.aim if self.more else self.value > self.aim

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the table cells of this value."""
        aim = "" if self.aim is None else f"{'≥' if self.more else '≤'} {short(self.aim)}"
        echo, ratio = (short(self.echo), short(self.value / self.echo)) if self.echo else ("", "")
        judged = "" if self.aim is None else "missed" if self.missed else "met"
        return self.what, f"{short(self.value)} {self.unit}".strip(), aim, echo, ratio, judged, self.note


HEAD = ("", "value", "aim", "bare echo", "times the echo", "", "")


def short(value: float) -> str:
    """Return the number with three significant digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table with aligned columns."""
    lines = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(head))]
    lines.insert(1, tuple("-" * width for width in widths))
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in lines
    )


def table(figures: Iterable[Figure]) -> str:
    """Return the table of all values."""
    return markdown(HEAD, (figure.cells for figure in figures))
