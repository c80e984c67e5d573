"""Partners as tables: a grid for each level, seat 0 down and seat 1 across; then everybody over all others,
in each seat, beside what was published, as printed."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from kitchen.contract.bench import Pairings, Printed
from kitchen.experiments.grids import Grid
from kitchen.experiments.pairings import Mean, Pairing, levels_of, over_others, pairings_of, seated
from kitchen.experiments.results import CellResult, players_of
from kitchen.registry.worlds import get_pairings

CSV_COLUMNS = ("level", "seat", "who", "beside", "episodes", "mean", "error", "source")
OURS, PRINTED, OTHERS = "ours", "as printed", "the others"
EXPLAINED = (
    "Mean \N{PLUS-MINUS SIGN} standard error over the episodes. Down: who sits in seat 0. Across: who sits "
    "in seat 1. Under “over the others”: everybody in one seat, over all partners of another kind."
)


def ground_of(results: Sequence[CellResult]) -> Pairings:
    """Whose pairings these are."""
    return get_pairings(results[0].column.world)


def pairing_grids(results: Sequence[CellResult]) -> list[Grid]:
    """A table for each level, and two of everybody over all others."""
    pairings, ground = pairings_of(results), ground_of(results)
    grids = [_beside(pairings, level, results) for level in levels_of(pairings)]
    seats = [_over(pairings, seat, ground) for seat in (0, 1)]
    return [*grids, *(grid for grid in seats if len(grid.rows))]


def _beside(pairings: Sequence[Pairing], level: str, results: Sequence[CellResult]) -> Grid:
    across = seated(pairings, 1)
    mine = {each.kinds: str(each.mean) for each in pairings if each.level == level}
    rows = [(one, *(mine.get((one, other), "") for other in across)) for one in seated(pairings, 0)]
    who = players_of([each for each in results if each.column.level == level])
    return Grid(level, ("seat 0", *across), tuple(rows), played_by=str(who))


def _over(pairings: Sequence[Pairing], seat: int, ground: Pairings) -> Grid:
    levels = levels_of(pairings)
    ours = {level: dict(over_others(pairings, level, seat)) for level in levels}
    theirs = {level: ground.printed(level, seat) for level in levels}
    rows = [
        (name, *(str(ours[level].get(name, Mean.of(()))) for level in levels))
        for name in dict.fromkeys(name for level in levels for name in ours[level])
    ]
    printed = [
        (f"{name}, {PRINTED}", *(_printed(theirs[level].get(name)) for level in levels))
        for name in dict.fromkeys(name for level in levels for name in theirs[level])
    ]
    notes = (ground.source,) if printed else ()
    return Grid(f"Seat {seat}, over the others", ("", *levels), (*rows, *printed), notes)


def _printed(cell: Printed | None) -> str:
    return f"{cell.mean:g} \N{PLUS-MINUS SIGN} {cell.spread:g}" if cell else ""


def pairing_csv(results: Sequence[CellResult]) -> bytes:
    """One row for each pair and level, then everybody over all others, then what was published."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(CSV_COLUMNS)
    for row in _rows(pairings_of(results), ground_of(results)):
        writer.writerow(["" if value is None else value for value in row])
    return out.getvalue().encode()


def _rows(pairings: Sequence[Pairing], ground: Pairings) -> Iterator[tuple[object, ...]]:
    for each in pairings:
        mean = each.mean
        yield each.level, 0, *each.kinds, mean.number, mean.mean, mean.error, OURS
    for level in levels_of(pairings):
        for seat in (0, 1):
            for name, over in over_others(pairings, level, seat):
                yield level, seat, name, OTHERS, over.number, over.mean, over.error, OURS
            for name, cell in ground.printed(level, seat).items():
                yield level, seat, name, OTHERS, None, cell.mean, cell.spread, PRINTED


def pairing_line(results: Sequence[CellResult]) -> str:
    """The experiment in one line: the mean of the best pair and of all."""
    means = [(each.mean.mean, each) for each in pairings_of(results) if each.mean.mean is not None]
    if not means:
        return "nothing was played yet"
    best, pair = max(means, key=lambda each: each[0])
    over = sum(mean for mean, _ in means) / len(means)
    return (
        f"mean {ground_of(results).figure} {over:.1f} over {len(means)} of {len(results)} pairings; "
        f"most {best:.1f}: {' + '.join(pair.kinds)} in {pair.level}"
    )
