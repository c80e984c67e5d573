"""Group table rows that share values, such as the rows of one episode, to encode each shared value once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple


class RowGroup(NamedTuple):
    """Rows with the same first cells (`before`) and last cells (`after`). In all groups of a table,
    `before` has the same length, and so has `after`."""

    before: Sequence[Any]
    """The first cells of each of these rows; empty if they share none."""
    rows: Sequence[Sequence[Any]]
    """The cells of each row between the shared ones."""
    after: Sequence[Any] = ()
    """The last cells of each of these rows."""


class RowBatch(NamedTuple):
    """Several groups of rows, not all empty, that are encoded together."""

    groups: Sequence[RowGroup]

    @property
    def before(self) -> list[Sequence[Any]]:
        """Return, for each group of rows, the cells with which all of its rows begin."""
        return [group.before for group in self.groups]

    @property
    def own(self) -> Iterator[Sequence[Any]]:
        """Return the cells that are not shared within a group, row by row over all groups. In a complete row,
        they are in the middle."""
        return chain.from_iterable(group.rows for group in self.groups)

    @property
    def after(self) -> list[Sequence[Any]]:
        """Return, for each group of rows, the cells with which all of its rows end."""
        return [group.after for group in self.groups]

    @property
    def lengths(self) -> list[int]:
        """Return the number of rows in each group."""
        return [len(group.rows) for group in self.groups]

    def split(self, columns: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any], Sequence[Any]]:
        """Split `columns` (one value for each column) into three parts: the columns that groups share at the
        beginning, the row's own columns, and those shared at the end."""
        own, after = len(self.groups[0].before), len(columns) - len(self.groups[0].after)
        return columns[:own], columns[own:after], columns[after:]


def in_batches(groups: Iterable[RowGroup], size: int) -> Iterator[RowBatch]:
    """Yield all rows in batches of `size` rows. The last batch may be smaller."""
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
