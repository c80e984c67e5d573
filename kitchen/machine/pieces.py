"""Much writing in pieces: each is a transaction of its own, so that nobody else waits for all of it.

SQLite lets one transaction write at a time: whoever plays waits for a step while others write. So no
transaction of the product writes more than `MOST_ROWS` rows; who writes more says what is left if it is
stopped in the middle, and goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

from django.db import models

Item = TypeVar("Item")
Row = TypeVar("Row", bound=models.Model)

PIECE = 200
"""Rows that are written together: about 3 ms."""
MOST_ROWS = 2000
"""Rows that any transaction writes at most, those that belong together among them."""


def pieces(items: Iterable[Item], size: int = PIECE) -> Iterator[list[Item]]:
    """The items in order, so many at once."""
    left = iter(items)
    while piece := list(islice(left, size)):
        yield piece


def write_in_pieces(model: type[Row], rows: Iterable[Row], *, leave_those_there: bool = False) -> None:
    """Insert rows, each piece committed before the next one; those that are there already are left alone, or
    are an IntegrityError."""
    for piece in pieces(rows):
        model._default_manager.bulk_create(piece, ignore_conflicts=leave_those_there)
