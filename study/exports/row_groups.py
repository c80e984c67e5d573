"""Group table rows that share cells, such as the rows of one episode, so that the shared cells are encoded
once. Also counts the rows written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple


class RowGroup(NamedTuple):
    """Rows that begin alike and end alike. All stretches of a table share as many cells at either end."""

    before: Sequence[Any]
    """The first cells of each of these rows; none where rows have nothing in common."""
    rows: Sequence[Sequence[Any]]
    """The cells of each row between the common ones."""
    after: Sequence[Any] = ()
    """The last cells of each of these rows."""


class RowBatch(NamedTuple):
    """Stretches that are turned into cells together, with at least one row."""

    stretches: Sequence[RowGroup]

    @property
    def before(self) -> list[Sequence[Any]]:
        """The first cells, once a stretch."""
        return [stretch.before for stretch in self.stretches]

    @property
    def own(self) -> Iterator[Sequence[Any]]:
        """The cells between, row by row."""
        return chain.from_iterable(stretch.rows for stretch in self.stretches)

    @property
    def after(self) -> list[Sequence[Any]]:
        """The last cells, once a stretch."""
        return [stretch.after for stretch in self.stretches]

    @property
    def lengths(self) -> list[int]:
        """Rows of each stretch."""
        return [len(stretch.rows) for stretch in self.stretches]

    def split(self, columns: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
        """What there is for every column, as the columns of `before`, `own` and `after`."""
        own, after = len(self.stretches[0].before), len(columns) - len(self.stretches[0].after)
        return columns[:own], columns[own:after], columns[after:]


def in_batches(stretches: Iterable[RowGroup], size: int) -> Iterator[RowBatch]:
    """All rows, `size` at once; the last batch may have fewer."""
    batch, room = list[RowGroup](), size
    for before, rows, after in stretches:
        first = 0
        while first < len(rows):
            some = rows[first : first + room]
            batch.append(RowGroup(before, some, after))
            first, room = first + len(some), room - len(some)
            if not room:
                yield RowBatch(batch)
                batch, room = [], size
    if batch:
        yield RowBatch(batch)


@dataclass(slots=True)
class RowCounter:
    """Rows written so far, for whoever wants to say so."""

    rows: int = 0
