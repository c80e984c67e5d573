"""Define the results of mixed models of factorial designs: linear ones, and those of ratings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from study.analysis.statistics.factorial.factorial_results import (
    CovariateEffect,
    MarginalMean,
    Term,
    UntestedEffect,
)
from study.analysis.statistics.observations import NotComputable
from study.analysis.statistics.within.equivalence_results import Equivalence
from study.analysis.statistics.within.result_types import LEVEL, ExcludedParticipant, UncomputedContrast


@dataclass(frozen=True, slots=True)
class MixedEffect:
    """The F test of one effect in a linear mixed model, with Satterthwaite's degrees of freedom.

    `lost` counts the contrasts of the effect that cannot be estimated, because cells have no values.
    """

    term: Term
    f: float
    df: int
    df_error: float
    p: float
    lost: int = 0
    computable: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class RandomIntercept:
    """One variance component of a mixed model: the random intercepts of participants (`factor` is empty), or
    of participants at each level of a factor.

    `dropped` says why the component is not in the model: its estimate is 0 (`zero`), the data do not separate
    it from the others (`unidentified`), or its estimate did not converge (`no_convergence`). It is empty for
    a component in the model.
    """

    factor: str
    variance: float
    dropped: str = ""

    @property
    def words(self) -> str:
        """Return what was done with this component, and why."""
        return DROPPED[self.dropped]


DROPPED = {
    "": "in the model",
    "zero": "left out, because their variance is estimated as 0",
    "unidentified": "left out, because the data do not separate them from the other random terms",
    "no_convergence": "left out, because their estimate did not converge",
}


@dataclass(frozen=True, slots=True)
class MixedContrast:
    """A weighted sum of estimated cell means in a linear mixed model, tested against zero by a t test with
    Satterthwaite's degrees of freedom.

    `estimate` is in the measure's unit. Its 95 % interval is not corrected for several contrasts.
    `p_adjusted` is corrected after Holm over the family. `equivalence` is the test whether the estimate is
    equivalent to 0, if a margin is planned.
    """

    name: str
    estimate: float
    se: float
    t: float
    df: float
    p: float
    p_adjusted: float
    ci_low: float
    ci_high: float
    equivalence: Equivalence | NotComputable | None = None
    computable: ClassVar[bool] = True

    @property
    def significant(self) -> bool:
        """Return True if the adjusted p value is below .05."""
        return self.p_adjusted < LEVEL


@dataclass(frozen=True, slots=True)
class FactorialMixedModel:
    """A linear mixed model of a factorial design, fitted by restricted maximum likelihood (REML).

    `means` are the estimated marginal means of every effect, at the mean of each covariate. `left_out` are
    participants without any value that the model can use. `missing_cells` are the cells without a value: one
    level of each factor.
    """

    n: int
    observations: int
    effects: tuple[MixedEffect | UntestedEffect, ...]
    covariates: tuple[CovariateEffect | UntestedEffect, ...]
    random: tuple[RandomIntercept, ...]
    variance_error: float
    log_likelihood: float
    means: dict[Term, tuple[MarginalMean, ...]]
    contrasts: tuple[MixedContrast | UncomputedContrast, ...] = ()
    left_out: tuple[ExcludedParticipant, ...] = ()
    missing_cells: tuple[tuple[str, ...], ...] = ()
    computable: ClassVar[bool] = True

    @property
    def tested(self) -> tuple[MixedEffect, ...]:
        """Return the effects that could be tested."""
        return tuple(one for one in self.effects if isinstance(one, MixedEffect))

    def effect(self, *term: str) -> MixedEffect | None:
        """Return the test of the effect of these factors, in any order. Return None if it could not be
        tested."""
        return next((one for one in self.tested if set(one.term) == set(term)), None)


@dataclass(frozen=True, slots=True)
class OrdinalEffect:
    """The likelihood-ratio test of one effect, or of one covariate, on ordinal ratings."""

    term: Term
    chi_squared: float
    df: int
    p: float
    computable: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class LatentMean:
    """How much higher ratings are at some levels than on average over all cells, in log odds, with a 95 %
    interval (normal approximation). `levels` are pairs of a factor's key and its level."""

    levels: tuple[tuple[str, str], ...]
    log_odds: float
    se: float
    ci_low: float
    ci_high: float


@dataclass(frozen=True, slots=True)
class OrdinalMixedModel:
    """A cumulative-link mixed model (logit, one threshold between every two ratings) of a factorial design.

    `sd_participant` is the standard deviation of the participants' random intercepts, in log odds; 0 if it is
    estimated as 0. `nodes` is the number of quadrature points; 1 is Laplace's approximation. `means` are the
    latent means of every effect.
    """

    n: int
    observations: int
    nodes: int
    effects: tuple[OrdinalEffect | UntestedEffect, ...]
    sd_participant: float
    log_likelihood: float
    thresholds: tuple[float, ...]
    means: dict[Term, tuple[LatentMean, ...]]
    left_out: tuple[ExcludedParticipant, ...] = ()
    computable: ClassVar[bool] = True

    def effect(self, *term: str) -> OrdinalEffect | None:
        """Return the test of the effect of these factors, in any order. Return None if it could not be
        tested."""
        tested = (one for one in self.effects if isinstance(one, OrdinalEffect))
        return next((one for one in tested if set(one.term) == set(term)), None)
