"""Define a planned factorial design, and read it from text such as `partner 3, pace 2 between`.

The sample-size page and `simulate_studies` use it. `factorial_power` computes the power of its effects. The
module does not import Django or numpy.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import prod

from study.design.round_plans import balanced_subsets, one_per_block
from study.planning.power.power_formulas import NEAR, PowerPlanError

MOST_FACTORS, MOST_CELLS = 4, 48
"""The most factors of a design, and the most combinations of their levels, as in a study's design."""
MOST_LEVELS = 12
CROSS = " \N{MULTIPLICATION SIGN} "
Term = tuple[str, ...]
"""The keys of an effect's factors: one for a main effect, several for an interaction."""
_WRITTEN = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9_-]*)\s+(\d{1,3})(?:\s+(within|between))?\s*")
HOW_TO_WRITE = (
    "Write each factor as a name, its number of levels, and “between” if people differ in it: "
    "“partner 3, pace 2 between”."
)
"""How factors are written, for messages of errors."""


@dataclass(frozen=True, slots=True)
class PlannedFactor:
    """A factor of a planned design: its key, its number of levels, and whether each participant plays all of
    its levels (`is_within`) or one."""

    key: str
    levels: int
    is_within: bool = True


@dataclass(frozen=True, slots=True)
class FactorialDesignPlan:
    """A planned factorial design. Raises PowerPlanError with the field `factors` or `correlation` for values
    out of range.

    `subsets` are the within cells that participants play, as numbers in row-major order; each subset is
    played equally often. Empty if everybody plays all cells.
    """

    factors: tuple[PlannedFactor, ...]
    correlation: float = 0.5
    subsets: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        keys = [one.key for one in self.factors]
        for field, is_wrong, message in (
            ("factors", not 1 <= len(keys) <= MOST_FACTORS, f"A design has one to {MOST_FACTORS} factors."),
            ("factors", len(set(keys)) < len(keys), "Two factors have the same name."),
            (
                "factors",
                any(not 2 <= one.levels <= MOST_LEVELS for one in self.factors),
                f"A factor has 2 to {MOST_LEVELS} levels.",
            ),
            ("factors", self.groups * self.cells > MOST_CELLS, f"There are more than {MOST_CELLS} cells."),
            ("correlation", not self.lowest + NEAR < self.correlation < 1 - NEAR, self._bounds()),
        ):
            if is_wrong:
                raise PowerPlanError(field, message)

    def _bounds(self) -> str:
        return (
            f"For {self.rounds} values of each person the correlation is above {self.lowest:.3g} and below 1."
        )

    @property
    def groups(self) -> int:
        """Return the number of cells of the between factors; 1 without such factors."""
        return prod(one.levels for one in self.factors if not one.is_within)

    @property
    def cells(self) -> int:
        """Return the number of cells of the within factors; 1 without such factors."""
        return prod(one.levels for one in self.factors if one.is_within)

    @property
    def rounds(self) -> int:
        """Return the number of values that each participant gives."""
        return len(self.subsets[0]) if self.subsets else self.cells

    @property
    def lowest(self) -> float:
        """Return the lower bound of the correlation; -1 if there is one value of each participant."""
        return -1 / max(self.rounds - 1, 1)

    @property
    def effects(self) -> tuple[Term, ...]:
        """Return all main effects and interactions, main effects first."""
        keys = [one.key for one in self.factors]
        return tuple(term for size in range(1, len(keys) + 1) for term in combinations(keys, size))

    def contrasts(self, term: Term, *, is_within: bool) -> int:
        """Return the number of contrasts between the levels of those factors of an effect that vary within
        participants or, otherwise, between them."""
        ours = (one for one in self.factors if one.key in term and one.is_within == is_within)
        return prod(one.levels - 1 for one in ours)

    def label(self, term: Term) -> str:
        """Return the name of an effect for tables: `Partner`, or `Partner x pace (interaction)`."""
        if len(term) == 1:
            return f"{term[0].capitalize()} ({'within' if self.is_within(term) else 'between'} people)"
        return f"{CROSS.join(term).capitalize()} (interaction)"

    def is_within(self, term: Term) -> bool:
        """Return whether an effect has a factor that varies within participants."""
        return any(one.is_within for one in self.factors if one.key in term)


ALL_CELLS = "all"
_ONE_PER, _SOME = re.compile(r"one (?:for each )?([\w-]+)"), re.compile(r"\d{1,2}")


def with_subsets(design: FactorialDesignPlan, each_plays: str) -> FactorialDesignPlan:
    """Return the design in which each participant plays a part of the within cells.

    `each_plays` is `all`, a number of cells (balanced subsets), or `one partner`: one cell of each level of
    the factor `partner`. Raises PowerPlanError with the field `each_plays` for anything else.
    """
    text = each_plays.strip().lower()
    if text in ("", ALL_CELLS):
        return design
    within = [one for one in design.factors if one.is_within]
    if found := _ONE_PER.fullmatch(text):
        factor = next((one for one in within if one.key.lower() == found[1]), None)
        if factor is None:
            raise PowerPlanError("each_plays", f"“{found[1]}” is no factor within people.")
        subsets = _one_of_each_level(design, factor)
        return design if len(subsets[0]) == design.cells else replace(design, subsets=subsets)
    if _SOME.fullmatch(text) and 2 <= int(text) <= design.cells:
        many = int(text)
        return (
            design if many == design.cells else replace(design, subsets=balanced_subsets(design.cells, many))
        )
    raise PowerPlanError(
        "each_plays", f"Write “all”, a number from 2 to {design.cells}, or “one” and a factor within people."
    )


def _one_of_each_level(design: FactorialDesignPlan, factor: PlannedFactor) -> tuple[tuple[int, ...], ...]:
    within = [one for one in design.factors if one.is_within]
    place = within.index(factor)
    cells = list(product(*(range(one.levels) for one in within)))
    blocks = [[n for n, cell in enumerate(cells) if cell[place] == level] for level in range(factor.levels)]
    return tuple(
        tuple(block[n] for block, n in zip(blocks, one, strict=True))
        for one in one_per_block(factor.levels, len(blocks[0]))
    )


def read_planned_factors(text: str) -> tuple[PlannedFactor, ...]:
    """Read factors such as `partner 3, pace 2 between`. Raises PowerPlanError with the field `factors`."""
    found = []
    for part in filter(str.strip, re.split("[,;\n]", text)):
        written = _WRITTEN.fullmatch(part)
        if written is None:
            raise PowerPlanError("factors", f"“{part.strip()}” cannot be read. {HOW_TO_WRITE}")
        found.append(PlannedFactor(written[1], int(written[2]), written[3] != "between"))
    return tuple(found)


def written_factors(factors: Sequence[PlannedFactor]) -> str:
    """Return factors in the form that `read_planned_factors` reads."""
    return ", ".join(f"{one.key} {one.levels}" + ("" if one.is_within else " between") for one in factors)
