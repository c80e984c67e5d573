"""Define a study's factors for the analysis: their levels, and the cell of each condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from study.analysis.statistics.observations import DefinitionError


@dataclass(frozen=True, slots=True)
class AnalysisFactor:
    """A factor with the names of its levels, in their order. Raises DefinitionError if a name is empty or
    used twice."""

    key: str
    levels: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.key.strip() or not all(level.strip() for level in self.levels):
            raise DefinitionError(f"factor {self.key!r}: a name is empty")
        if not self.levels or len(set(self.levels)) < len(self.levels):
            raise DefinitionError(f"factor {self.key!r}: it has no levels, or one of them twice")


@dataclass(frozen=True, slots=True)
class StudyFactors:
    """The factors of a study with the cells of its conditions. Factors and levels are named by their keys.

    `cells` has each condition's levels, by the condition's key. `names` has the name of each factor, and
    `level_names` the name of each level by (factor, level). `rounds` is the number of conditions that each
    participant plays, or 0 if everybody plays all conditions of their group.
    """

    between: tuple[AnalysisFactor, ...]
    within: tuple[AnalysisFactor, ...]
    cells: Mapping[str, Mapping[str, str]]
    names: Mapping[str, str]
    level_names: Mapping[str, Mapping[str, str]]
    rounds: int = 0

    @property
    def factors(self) -> tuple[AnalysisFactor, ...]:
        """Return all factors: those between participants first."""
        return self.between + self.within

    def term_words(self, term: Sequence[str]) -> str:
        """Return the names of a term's factors: `Partner x Layout`."""
        return " \N{MULTIPLICATION SIGN} ".join(self.names.get(key, key) for key in term)

    def level_words(self, levels: Sequence[tuple[str, str]]) -> str:
        """Return the names of levels, given as (factor, level) pairs: `Planner, Ring`."""
        return ", ".join(self.level_names.get(key, {}).get(level, level) for key, level in levels)


def term_key(term: Sequence[str]) -> str:
    """Return the key of a term in files, written as in R: `partner:layout`."""
    return ":".join(term)
