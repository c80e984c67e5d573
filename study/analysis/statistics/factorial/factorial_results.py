"""Define the results of factorial tests as frozen dataclasses. No number is NaN or infinite."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from study.analysis.statistics.observations import NotComputable
from study.analysis.statistics.within.equivalence_results import Equivalence
from study.analysis.statistics.within.result_types import (
    LEVEL,
    MILD,
    ExcludedParticipant,
    Sphericity,
    UncomputedContrast,
)

Term = tuple[str, ...]
"""The keys of the factors of an effect: one for a main effect, several for an interaction."""


@dataclass(frozen=True, slots=True)
class SphericityCorrection:
    """The corrections of an effect within participants with two or more contrasts.

    `p_gg` is corrected after Greenhouse and Geisser, `p_hf` after Huynh and Feldt (with Lecoutre's formula
    for groups). If `epsilon_hf` is above 1, 1 is used.
    """

    sphericity: Sphericity | NotComputable
    epsilon_gg: float
    p_gg: float
    epsilon_hf: float
    p_hf: float

    @property
    def mild(self) -> bool:
        """Return True if the Huynh-Feldt correction is used, False for the Greenhouse-Geisser correction.

        The rule is that of `RepeatedMeasures.mild`.
        """
        return self.epsilon_gg > MILD

    @property
    def name(self) -> str:
        """Return the name of the correction that is used."""
        return "Huynh\N{EN DASH}Feldt" if self.mild else "Greenhouse\N{EN DASH}Geisser"

    @property
    def epsilon(self) -> float:
        """Return the epsilon of the correction that is used, at most 1."""
        return min(self.epsilon_hf, 1.0) if self.mild else self.epsilon_gg

    @property
    def p(self) -> float:
        """Return the p value after the correction that is used."""
        return self.p_hf if self.mild else self.p_gg


@dataclass(frozen=True, slots=True)
class FactorialEffect:
    """The F test of one effect with type III sums of squares, in the measure's unit squared.

    `correction` is None for effects that need no correction for sphericity.
    """

    term: Term
    ss: float
    ss_error: float
    f: float
    df: int
    df_error: int
    p: float
    partial_eta_squared: float
    generalised_eta_squared: float
    correction: SphericityCorrection | None = None
    computable: ClassVar[bool] = True

    @property
    def p_corrected(self) -> float:
        """Return the p value after the correction for sphericity, if the effect needs one."""
        return self.correction.p if self.correction else self.p

    @property
    def df_corrected(self) -> tuple[float, float]:
        """Return both degrees of freedom after the correction for sphericity, if the effect needs one."""
        epsilon = self.correction.epsilon if self.correction else 1.0
        return self.df * epsilon, self.df_error * epsilon


@dataclass(frozen=True, slots=True)
class UntestedEffect:
    """An effect that could not be tested, with the reason."""

    term: Term
    because: NotComputable
    computable: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class FactorialAnova:
    """The ANOVA of a factorial design: all main effects and interactions.

    `sizes` are pairs: a cell between participants (empty without such factors), and its number of
    participants.
    """

    n: int
    sizes: tuple[tuple[tuple[str, ...], int], ...]
    effects: tuple[FactorialEffect | UntestedEffect, ...]
    left_out: tuple[ExcludedParticipant, ...] = ()
    computable: ClassVar[bool] = True

    def effect(self, *term: str) -> FactorialEffect | None:
        """Return the test of the effect of these factors, in any order. Return None if it could not be
        tested."""
        tested = (one for one in self.effects if isinstance(one, FactorialEffect))
        return find_term(tested, term)


def find_term(effects: Iterable[FactorialEffect], term: Iterable[str]) -> FactorialEffect | None:
    """Return the effect of these factors, in any order. Return None if there is none."""
    wanted = set(term)
    return next((one for one in effects if set(one.term) == wanted), None)


@dataclass(frozen=True, slots=True)
class SimpleEffect:
    """The effect of one factor at fixed levels of other factors, tested with its own error term.

    `at` are pairs of a factor's key and its level. `p_adjusted` is the corrected p value after Holm over
    the family of simple effects.
    """

    at: tuple[tuple[str, str], ...]
    effect: FactorialEffect
    p_adjusted: float
    computable: ClassVar[bool] = True

    @property
    def significant(self) -> bool:
        """Return True if the adjusted p value is below .05."""
        return self.p_adjusted < LEVEL


@dataclass(frozen=True, slots=True)
class UntestedSimpleEffect:
    """A simple effect that could not be tested, with the reason."""

    at: tuple[tuple[str, str], ...]
    because: NotComputable
    computable: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class MarginalMean:
    """The estimated mean at some levels, in the measure's unit, with its 95 % interval. All cells weigh alike
    that these levels share.

    `levels` are pairs of a factor's key and its level.
    """

    levels: tuple[tuple[str, str], ...]
    mean: float
    se: float
    df: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True, slots=True)
class CellContrast:
    """A weighted sum of cell means, tested against zero by a t test.

    `estimate` is the sum with the weights as given, in the measure's unit. Its 95 % interval is not corrected
    for several contrasts. `p_adjusted` is corrected after Holm over the family. `g` is Hedges' g with its
    95 % interval. `bayes_factor` is BF10, in favour of a difference. `equivalence` is the test whether the
    estimate is equivalent to 0, if a margin is planned.
    """

    name: str
    estimate: float
    se: float
    t: float
    df: int
    p: float
    p_adjusted: float
    ci_low: float
    ci_high: float
    g: float
    g_low: float
    g_high: float
    bayes_factor: float
    equivalence: Equivalence | None = None
    computable: ClassVar[bool] = True

    @property
    def significant(self) -> bool:
        """Return True if the adjusted p value is below .05."""
        return self.p_adjusted < LEVEL


@dataclass(frozen=True, slots=True)
class CovariateEffect:
    """The slope of one covariate: the change of the mean, in the measure's unit, for one unit of the
    covariate. Its F test has one degree of freedom in the numerator."""

    name: str
    slope: float
    se: float
    f: float
    df_error: float
    p: float
    computable: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class AncovaEffect:
    """The F test of one effect in an analysis of covariance, with type III sums of squares in the measure's
    unit squared."""

    term: Term
    ss: float
    f: float
    df: int
    df_error: int
    p: float
    partial_eta_squared: float
    computable: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Ancova:
    """An analysis of covariance of a design between participants.

    `means` are the adjusted means of every effect, at the mean of each covariate. `unequal_slopes` tests the
    assumption of the analysis: whether slopes of the covariates differ between cells. `contrasts` are planned
    contrasts of the adjusted means of cells.
    """

    n: int
    effects: tuple[AncovaEffect, ...]
    covariates: tuple[CovariateEffect | UntestedEffect, ...]
    unequal_slopes: AncovaEffect | UntestedEffect
    ss_error: float
    df_error: int
    means: dict[Term, tuple[MarginalMean, ...]]
    left_out: tuple[ExcludedParticipant, ...] = ()
    contrasts: tuple[CellContrast | UncomputedContrast, ...] = ()
    computable: ClassVar[bool] = True

    def effect(self, *term: str) -> AncovaEffect | None:
        """Return the test of the effect of these factors, in any order. Return None if there is none."""
        return next((one for one in self.effects if set(one.term) == set(term)), None)
