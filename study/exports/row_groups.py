"""Group table rows that share cells, such as the rows of one episode, so that these are encoded once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple


class RowGroup(NamedTuple):
    """Rows with the same first and last cells. All groups of a table share as many cells at either end."""

    before: Sequence[Any]
    """The first cells of each of these rows; empty if they share none."""
    rows: Sequence[Sequence[Any]]
    """The cells of each row between the shared ones."""
    after: Sequence[Any] = ()
    """The last cells of each of these rows."""


class RowBatch(NamedTuple):
    """Groups that are encoded together, with at least one row."""

    groups: Sequence[RowGroup]

    @property
    def before(self) -> list[Sequence[Any]]:
        """Return the first cells, once per group."""
        return [group.before for group in self.groups]

    @property
    def own(self) -> Iterator[Sequence[Any]]:
        """Return the cells in between, row by row."""
        return chain.from_iterable(group.rows for group in self.groups)

    @property
    def after(self) -> list[Sequence[Any]]:
        """Return the last cells, once per group."""
        return [group.after for group in self.groups]

    @property
    def lengths(self) -> list[int]:
        """Return the number of rows of each group."""
        return [len(group.rows) for group in self.groups]

    def split(self, columns: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
        """Split a sequence with one value per column into the parts for `before`, `own` and `after`."""
        own, after = len(self.groups[0].before), len(columns) - len(self.groups[0].after)
        return columns[:own], columns[own:after], columns[after:]


def in_batches(groups: Iterable[RowGroup], size: int) -> Iterator[RowBatch]:
    """Yield all rows in batches of `size`; the last one may be smaller."""
    batch, room = list[RowGroup](), size
    for before, rows, after in groups:
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
