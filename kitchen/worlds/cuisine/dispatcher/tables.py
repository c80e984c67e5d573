"""Commands in the rows of a table whose head says which column is what."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from kitchen.worlds.cuisine.dispatcher.names import Names
from kitchen.worlds.cuisine.dispatcher.phrases import role_of
from kitchen.worlds.cuisine.dispatcher.spelled import Found, entry

_ROW = re.compile(r"^[ \t]*\|?([^|\n]{0,200}(?:\|[^|\n]{0,200}){1,11})$", re.MULTILINE)


def rows(text: str, names: Names) -> Iterator[Found]:
    """The commands of all rows, in order. A column counts under the names that a key may have (`role_of`)."""
    columns: Mapping[int, str] = {}
    for match in _ROW.finditer(text):
        cells = [cell.strip(" \t*`_\"'") for cell in match[1].split("|")]
        roles = {place: role_of(cell) for place, cell in enumerate(cells) if role_of(cell)}
        if {"agent", "verb"} <= set(roles.values()):
            columns = roles
            continue
        group = {role: cells[place] for place, role in columns.items() if place < len(cells)}
        given = entry(group, names)
        if given:
            yield Found(given, match.span())
