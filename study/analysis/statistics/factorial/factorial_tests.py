"""Define `FactorialTests`: all tests of one measure in a study with named factors."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Self

from study.analysis.statistics.factorial.factorial_results import (
    Ancova,
    CellContrast,
    FactorialAnova,
    FactorialEffect,
    MarginalMean,
    SimpleEffect,
    UntestedSimpleEffect,
)
from study.analysis.statistics.factorial.mixed_model_results import (
    FactorialMixedModel,
    MixedContrast,
    OrdinalMixedModel,
)
from study.analysis.statistics.factorial.study_factors import StudyFactors, term_key
from study.analysis.statistics.observations import NotComputable
from study.analysis.statistics.within.result_types import Assumption, UncomputedContrast


@dataclass(frozen=True, slots=True)
class SimpleEffects:
    """The simple effects of one factor, at the levels of the other factors of an interaction. `interaction`
    is the key of its term."""

    interaction: str
    factor: str
    effects: tuple[SimpleEffect | UntestedSimpleEffect, ...]


@dataclass(frozen=True, slots=True)
class FactorialTests:
    """The tests of one measure in a study with named factors.

    `means` are the marginal means of the test that decides. `planned` are the planned contrasts of the mixed
    model if it decides, else of the analysis of covariance if there is one, else of the ANOVA. If the ANOVA
    cannot be computed, both are those of the mixed model. `simple` are the simple effects of interactions
    that the deciding test finds.
    """

    factors: StudyFactors
    anova: FactorialAnova | NotComputable
    mixed: FactorialMixedModel | NotComputable
    means: tuple[MarginalMean, ...]
    simple: tuple[SimpleEffects, ...]
    planned: tuple[CellContrast | MixedContrast | UncomputedContrast, ...]
    contrasts_of_mixed: bool = False
    """True if the planned contrasts are those of the mixed model."""
    ancova: Ancova | NotComputable | None = None
    """The analysis of covariance; None without planned covariates, or with factors within participants."""
    ordinal: OrdinalMixedModel | NotComputable | None = None
    """The cumulative-link mixed model; None if the measure is no rating."""
    assumptions: tuple[Assumption, ...] = ()

    def deciding_test(self, main: str) -> str:
        """Return which test decides: `mixed` if it is the main test, else `ancova` if covariates are planned
        for a design without factors within participants, else `anova`."""
        return "mixed" if main == "mixed" else "anova" if self.ancova is None else "ancova"

    def decisive_ps(self, main: str) -> dict[str, float]:
        """Return the p values of the test that decides (`deciding_test`), by the term's key. The result is
        empty if it could not be computed."""
        decides = self.deciding_test(main)
        if decides == "mixed":
            found = () if isinstance(self.mixed, NotComputable) else self.mixed.tested
            return {term_key(one.term): one.p for one in found}
        if decides == "ancova":
            return (
                {term_key(one.term): one.p for one in self.ancova.effects}
                if isinstance(self.ancova, Ancova)
                else {}
            )
        if isinstance(self.anova, NotComputable):
            return {}
        tested = (one for one in self.anova.effects if isinstance(one, FactorialEffect))
        return {term_key(one.term): one.p_corrected for one in tested}

    def with_simple_effects_of(self, terms: Collection[str]) -> Self:
        """Return these tests with the simple effects of these interactions only, given by the term's key."""
        return replace(self, simple=tuple(one for one in self.simple if one.interaction in terms))

    def means_of(self, term: Sequence[str]) -> list[MarginalMean]:
        """Return the marginal means at all levels of a term's factors."""
        wanted = set(term)
        return [one for one in self.means if {key for key, _ in one.levels} == wanted]
