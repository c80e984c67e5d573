"""Build the input of factorial tests: factors, and the participants who have a value in every cell.

A factor is between participants (each participant has one of its levels) or within them (each participant
plays all levels). A cell is a combination of levels. Errors are those of `observations`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import isfinite, prod
from types import MappingProxyType

import numpy as np

from study.analysis.statistics.factorial.study_factors import AnalysisFactor
from study.analysis.statistics.observations import LARGEST, DefinitionError, NotComputable, RowError
from study.analysis.statistics.within.complete_cases import FEWEST, Array, are_equal
from study.analysis.statistics.within.result_types import ExcludedParticipant
from study.analysis.statistics.within.type_three_sums import Integers

MOST_FACTORS = 4
"""The most factors between participants, and within them."""
FEWEST_PER_CELL = 2
"""Minimum number of participants in each cell between participants."""
CROSS = " \N{MULTIPLICATION SIGN} "


@dataclass(frozen=True, slots=True)
class FactorialRow:
    """One value of a participant. `levels` maps each factor's key to a level. `value` is None if it is
    missing. `covariates` maps names to numbers, such as the position in the order of play."""

    participant: str
    levels: Mapping[str, str]
    value: float | None
    covariates: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))


Cell = tuple[str, ...]
"""One level of each factor, in the order of the factors."""


def cells_of(factors: Sequence[AnalysisFactor]) -> list[Cell]:
    """Return all combinations of levels in row-major order. Without factors, the only cell is empty."""
    return list(product(*(factor.levels for factor in factors)))


@dataclass(frozen=True, slots=True)
class FactorialCases:
    """The participants who have a value in every within-participants cell. No value is missing.

    `members` has shape (participants, between factors): each participant's level numbers. `values` has shape
    (participants, within cells), with the cells in row-major order. `covariates` has shape (participants,
    covariate names). `left_out` lists the other participants, with the cells in which they lack a value.
    """

    participants: tuple[str, ...]
    between: tuple[AnalysisFactor, ...]
    within: tuple[AnalysisFactor, ...]
    members: Integers
    values: Array
    left_out: tuple[ExcludedParticipant, ...] = ()
    covariate_names: tuple[str, ...] = ()
    covariates: Array = field(default_factory=lambda: np.empty((0, 0)))

    @property
    def factors(self) -> tuple[AnalysisFactor, ...]:
        """Return all factors: those between participants first."""
        return self.between + self.within

    @property
    def cell_numbers(self) -> Integers:
        """Return the number of each participant's cell between participants, from 0, in row-major order."""
        counts = [len(factor.levels) for factor in self.between]
        return np.asarray(self.members @ np.array([prod(counts[i + 1 :]) for i in range(len(counts))], int))

    @property
    def cell_sizes(self) -> Integers:
        """Return the number of participants in each cell between participants, in row-major order."""
        return np.bincount(self.cell_numbers, minlength=len(cells_of(self.between)))


def check_rows(
    rows: Iterable[FactorialRow], between: Sequence[AnalysisFactor], within: Sequence[AnalysisFactor]
) -> None:
    """Check the input of a factorial test.

    Raises DefinitionError for too many factors or two with the same key. Raises RowError for an unknown
    level, a number that cannot be used, or a participant with two levels of a between factor.
    """
    factors = [*between, *within]
    if max(len(between), len(within)) > MOST_FACTORS or len({one.key for one in factors}) < len(factors):
        raise DefinitionError(f"there are more than {MOST_FACTORS} factors, or two with the same key")
    own: dict[str, Cell] = {}
    for row in rows:
        for factor in factors:
            if row.levels.get(factor.key) not in factor.levels:
                raise RowError(f"participant {row.participant!r}: unknown level of {factor.key!r}")
        numbers = [*row.covariates.values(), row.value or 0.0]
        if not all(isfinite(one) and abs(one) <= LARGEST for one in numbers):
            raise RowError(f"participant {row.participant!r}: a value is no usable number")
        cell = levels_in(row, between)
        if own.setdefault(row.participant, cell) != cell:
            raise RowError(f"participant {row.participant!r}: two levels of a factor between participants")


def levels_in(row: FactorialRow, factors: Sequence[AnalysisFactor]) -> Cell:
    """Return the row's level of each factor."""
    return tuple(row.levels[factor.key] for factor in factors)


def observed_factors(
    rows: Iterable[FactorialRow], factors: Sequence[AnalysisFactor]
) -> tuple[AnalysisFactor, ...]:
    """Return the factors without the levels that no value has. A factor without any level is left out."""
    cells = [levels_in(row, factors) for row in rows if row.value is not None]
    seen = [{cell[number] for cell in cells} for number in range(len(factors))]
    kept = [tuple(level for level in one.levels if level in seen[i]) for i, one in enumerate(factors)]
    return tuple(AnalysisFactor(one.key, levels) for one, levels in zip(factors, kept, strict=True) if levels)


def factorial_cases(
    rows: Sequence[FactorialRow],
    between: Sequence[AnalysisFactor],
    within: Sequence[AnalysisFactor] = (),
    covariates: Sequence[str] = (),
) -> FactorialCases:
    """Return the participants who have a value in every within-participants cell, and every covariate.

    Several values of a participant in a cell are averaged, and so are the values of a covariate. Levels
    without any value are left out of their factor. Raises the errors of `check_rows`.
    """
    check_rows(rows, between, within)
    between, within = observed_factors(rows, between), observed_factors(rows, within)
    cells = cells_of(within)
    wanted = [_cell_name(cell) for cell in cells] if within else []
    people: dict[str, _Collected] = {}
    for row in rows:
        people.setdefault(row.participant, _Collected(levels_in(row, between))).add(row, within)
    found = {who: people[who] for who in sorted(people)}
    lacking = {who: one.lacking(cells, wanted, covariates) for who, one in found.items()}
    whole = [who for who, names in lacking.items() if not names]
    members = [[f.levels.index(v) for f, v in zip(between, found[who].own, strict=True)] for who in whole]
    values = [[_mean(found[who].values[cell]) for cell in cells] for who in whole]
    known = [[_mean(found[who].covariates[name]) for name in covariates] for who in whole]
    return FactorialCases(
        tuple(whole),
        between,
        within,
        np.array(members, dtype=int).reshape(len(whole), len(between)),
        np.array(values, dtype=float).reshape(len(whole), len(cells)),
        tuple(ExcludedParticipant(who, names) for who, names in lacking.items() if names),
        tuple(covariates),
        np.array(known, dtype=float).reshape(len(whole), len(covariates)),
    )


@dataclass(slots=True)
class _Collected:
    """What one participant gave: values by cell, and covariates by name."""

    own: Cell
    values: dict[Cell, list[float]] = field(default_factory=dict)
    covariates: dict[str, list[float]] = field(default_factory=dict)

    def add(self, row: FactorialRow, within: Sequence[AnalysisFactor]) -> None:
        if row.value is not None:
            self.values.setdefault(levels_in(row, within), []).append(row.value)
        for name, value in row.covariates.items():
            self.covariates.setdefault(name, []).append(value)

    def lacking(self, cells: Sequence[Cell], names: Sequence[str], covariates: Sequence[str]) -> Cell:
        """Return the names of the cells and covariates without a value."""
        labels = names or [_cell_name(self.own)]
        gaps = [name for cell, name in zip(cells, labels, strict=True) if cell not in self.values]
        return (*gaps, *(name for name in covariates if name not in self.covariates))


def _cell_name(cell: Cell) -> str:
    return CROSS.join(cell) or "the only cell"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def select_levels(cases: FactorialCases, at: Mapping[str, str]) -> FactorialCases:
    """Return the cases at fixed levels of some factors, given by key. The fixed factors are left out."""
    chosen = np.ones(len(cases.participants), dtype=bool)
    for number, one in enumerate(cases.between):
        if one.key in at:
            chosen &= cases.members[:, number] == one.levels.index(at[one.key])
    columns = [number for number, cell in enumerate(cells_of(cases.within)) if _matches(cases, cell, at)]
    free = [number for number, one in enumerate(cases.between) if one.key not in at]
    return replace(
        cases,
        participants=tuple(who for who, taken in zip(cases.participants, chosen, strict=True) if taken),
        between=tuple(cases.between[number] for number in free),
        within=tuple(one for one in cases.within if one.key not in at),
        members=cases.members[chosen][:, free],
        values=cases.values[chosen][:, columns],
        covariates=cases.covariates[chosen] if cases.covariate_names else cases.covariates,
    )


def _matches(cases: FactorialCases, cell: tuple[str, ...], at: Mapping[str, str]) -> bool:
    """Return True if a within-participants cell has the levels that `at` fixes."""
    pairs = zip(cases.within, cell, strict=True)
    return all(at.get(factor.key, level) == level for factor, level in pairs)


def why_not_factorial(cases: FactorialCases) -> NotComputable | None:
    """Return why these cases cannot be compared. Return None if they can."""
    return _why_no_factors(cases.factors) or _why_too_few(cases) or _why_all_same(cases)


def _why_no_factors(factors: Sequence[AnalysisFactor]) -> NotComputable | None:
    if not factors:
        return NotComputable("no_data", "no cell of the design has a value")
    for factor in factors:
        if len(factor.levels) < 2:
            return NotComputable("one_condition", f"{factor.key} has values at {factor.levels[0]} only")
    return None


def _why_too_few(cases: FactorialCases) -> NotComputable | None:
    if not cases.between and len(cases.participants) < FEWEST:
        return NotComputable("too_few", "fewer than three participants have a value in every cell")
    for cell, size in zip(cells_of(cases.between), cases.cell_sizes, strict=True):
        if cases.between and size < FEWEST_PER_CELL:
            return NotComputable(
                "too_few", f"fewer than two participants of {_cell_name(cell)} have all their values"
            )
    return None


def _why_all_same(cases: FactorialCases) -> NotComputable | None:
    return NotComputable("no_variance", "all values are the same") if are_equal(cases.values) else None
