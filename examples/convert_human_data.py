"""Convert a pickled table of people's games to CSV, which `manage.py import_episodes` reads.

The cleaned games of people of Overcooked-AI are published as pickles of pandas tables. A pickle can run any
program, so Brigade never reads one. This program reads such a file without running anything of it: classes
are replaced by empty ones, and only those that a table needs. Run it on your own machine:

    .venv/bin/python -m examples.convert_human_data clean_train_trials.pickle games.csv
    .venv/bin/python manage.py import_episodes games.csv --preset 2019

It was tried with the two files of the package overcooked-ai 1.1.0: 76 games, 91,026 steps, no difference.
"""

from __future__ import annotations

import csv
import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy

from brigade.one_line_parser import OneLineParser

TABLE_CLASSES = {
    *("DataFrame", "BlockManager", "_new_Index", "Index", "Int64Index", "RangeIndex"),
    *("_reconstruct", "ndarray", "dtype"),
}
"""The only names that are read, of pandas and numpy. Nothing of them is imported."""
COLUMNS = ("state", "joint_action", "reward", "score", "time_left", "time_elapsed", "layout", "layout_name")
GAME = ("workerid_num", "layout_name", "round_num")
"""The columns that tell games apart."""


class Stub:
    """What a pickle says about an object, without its class."""

    def __init__(self, *given: Any) -> None:
        self.given = given

    def __setstate__(self, state: Any) -> None:
        self.state = state


class TableReader(pickle.Unpickler):
    """A reader of pickles that makes only lists, texts, numbers and stubs."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a stub class. Raises UnpicklingError for anything that a table does not need."""
        if module.partition(".")[0] not in {"numpy", "pandas"} or name not in TABLE_CLASSES:
            raise pickle.UnpicklingError(f"{module}.{name} is not read")
        return type(name, (Stub,), {})


def array_rows(stub: Any) -> list[Any]:
    """Return the rows of a pickled array, or its values if it has one dimension."""
    _, shape, dtype, is_fortran, data = stub.state
    if isinstance(data, bytes):
        plain = numpy.frombuffer(data, str(dtype.given[0]))
        values: list[Any] = plain.reshape(shape, order="F" if is_fortran else "C").tolist()
        return values
    if len(shape) == 1:
        return list(data)
    rows, length = shape
    return [data[row::rows] if is_fortran else data[row * length : (row + 1) * length] for row in range(rows)]


def table_columns(path: Path) -> dict[str, Sequence[Any]]:
    """Return the columns of a pickled table by name. Raises UnpicklingError for another pickle."""
    with path.open("rb") as file:
        table = TableReader(file).load()
    blocks = table.state["_data"].state[3]["0.14.1"]
    names = array_rows(blocks["axes"][0].given[1]["data"])
    columns: dict[str, Sequence[Any]] = {}
    for block in blocks["blocks"]:
        places = block["mgr_locs"]
        numbers = places.indices(len(names)) if isinstance(places, slice) else None
        for place, values in zip(
            range(*numbers) if numbers else array_rows(places), array_rows(block["values"]), strict=True
        ):
            columns[names[place]] = values
    return columns


def csv_rows(columns: dict[str, Sequence[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the CSV file: `COLUMNS`, and a name for each game."""
    yield (*COLUMNS, "trial_id")
    games = zip(*(columns[name] for name in GAME), strict=True)
    for row, game in zip(zip(*(columns[name] for name in COLUMNS), strict=True), games, strict=True):
        yield (*row, "-".join(str(int(part) if isinstance(part, float) else part) for part in game))


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the arguments, and convert the file. A file that is no such table ends the program with one line
    and exit code 2."""
    parser = OneLineParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("pickle", type=Path)
    parser.add_argument("csv", type=Path)
    given = parser.parse_args(arguments)
    try:
        rows = list(csv_rows(table_columns(given.pickle)))
    except (OSError, RecursionError) as error:
        parser.error(f"{given.pickle}: {' '.join(str(error).split())}")
    except Exception as error:  # a damaged pickle may raise any error
        why = " ".join(str(error).split())[:200]
        parser.error(f"{given.pickle} is no pickled table of games ({type(error).__name__}: {why})")
    try:
        with given.csv.open("w", newline="") as out:
            csv.writer(out).writerows(rows)
    except OSError as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
