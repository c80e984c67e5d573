"""Define the results of within-subject tests and of scale reliability as frozen dataclasses.

Every result states how many participants it uses, and which ones it leaves out. A test that cannot be
computed has the result `NotComputable`. No number is NaN or infinite.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from study.analysis.statistics.observations import AnalysisCondition, NotComputable
from study.analysis.statistics.within.equivalence_results import Equivalence

LEVEL = 0.05
MILD = 0.75


@dataclass(frozen=True, slots=True)
class ExcludedParticipant:
    """A participant whom a test could not use. `lacking` are the labels of the conditions without a value."""

    participant: str
    lacking: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sphericity:
    """The result of Mauchly's test of sphericity: W with its chi-squared approximation.

    With two conditions there is nothing to test, and `RepeatedMeasures.sphericity` is None.
    """

    w: float
    chi_squared: float
    df: int
    p: float


@dataclass(frozen=True, slots=True)
class RepeatedMeasures:
    """The result of a repeated-measures ANOVA over conditions. Sums of squares are in the measure's unit
    squared.

    The p values: `p` is uncorrected, `p_gg` is corrected after Greenhouse and Geisser, `p_hf` after Huynh
    and Feldt. A correction multiplies both degrees of freedom by its epsilon. If `epsilon_hf` is above 1,
    1 is used.
    """

    n: int
    conditions: tuple[AnalysisCondition, ...]
    f: float
    df_condition: int
    df_error: int
    p: float
    ss_condition: float
    ss_participant: float
    ss_error: float
    epsilon_gg: float
    p_gg: float
    epsilon_hf: float
    p_hf: float
    sphericity: Sphericity | NotComputable | None
    partial_eta_squared: float
    generalised_eta_squared: float
    left_out: tuple[ExcludedParticipant, ...] = ()

    @property
    def mild(self) -> bool:
        """Return True if the Huynh-Feldt correction is used, False for the Greenhouse-Geisser correction.

        Huynh-Feldt is used if Greenhouse and Geisser's epsilon is above .75, where their correction is too
        strict (Girden 1992).
        """
        return self.epsilon_gg > MILD

    @property
    def correction(self) -> str:
        """Return the name of the sphericity correction that is used. Return an empty string for two
        conditions, which need no correction."""
        if len(self.conditions) == 2:
            return ""
        return "Huynh\N{EN DASH}Feldt" if self.mild else "Greenhouse\N{EN DASH}Geisser"

    @property
    def epsilon(self) -> float:
        """Return the epsilon of the correction for sphericity that `mild` selects, at most 1."""
        return min(self.epsilon_hf, 1.0) if self.mild else self.epsilon_gg

    @property
    def p_corrected(self) -> float:
        """Return the p value after the correction for sphericity that `mild` selects."""
        return self.p_hf if self.mild else self.p_gg

    @property
    def df_corrected(self) -> tuple[float, float]:
        """Return both degrees of freedom after the correction for sphericity that `mild` selects."""
        return self.df_condition * self.epsilon, self.df_error * self.epsilon


@dataclass(frozen=True, slots=True)
class Contrast:
    """A weighted sum of conditions within participants, tested against zero by a paired t test.

    `difference` is the mean of the sum in the measure's unit. Its 95 % interval is not corrected for
    several contrasts. `p_adjusted` is the p value after Holm's correction over all contrasts of the
    family. `g` is Hedges' g; its denominator is the standard deviation of the participants' sums. The
    interval of `g` uses the noncentral t distribution. `bayes_factor` is BF10, in favour of a difference
    (Jeffreys, Zellner and Siow's prior, scale .707).
    """

    name: str
    weights: tuple[tuple[str, float], ...]
    """(condition key, scaled weight): positive weights sum to 1, negative ones to -1; zeros are dropped."""
    n: int
    difference: float
    sd: float
    ci_low: float
    ci_high: float
    t: float
    df: int
    p: float
    p_adjusted: float
    g: float
    g_low: float
    g_high: float
    bayes_factor: float
    left_out: tuple[ExcludedParticipant, ...] = ()
    equivalence: Equivalence | None = None
    """The test whether the difference is equivalent to 0; None if no margin is planned."""
    computable: ClassVar[bool] = True

    @property
    def significant(self) -> bool:
        """Return True if the adjusted p value is below .05."""
        return self.p_adjusted < LEVEL


@dataclass(frozen=True, slots=True)
class UncomputedContrast:
    """A contrast that could not be computed from the data, with the reason."""

    name: str
    because: NotComputable
    computable: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Family:
    """Contrasts whose p values are corrected together."""

    contrasts: tuple[Contrast | UncomputedContrast, ...]

    @property
    def computed(self) -> tuple[Contrast, ...]:
        """Return the contrasts that could be computed."""
        return tuple(one for one in self.contrasts if isinstance(one, Contrast))


GroupTerm = Literal["group", "level", "interaction"]
"""The tested terms of a design with groups between people: group, level within people, and group x level."""


@dataclass(frozen=True, slots=True)
class SplitPlotEffect:
    """One term (group, level or interaction) of a mixed ANOVA. `p_gg` and `p_hf` are corrected for
    sphericity."""

    term: GroupTerm
    f: float
    df: int
    df_error: int
    p: float
    p_gg: float
    p_hf: float
    partial_eta_squared: float
    generalised_eta_squared: float


@dataclass(frozen=True, slots=True)
class SplitPlot:
    """The result of a mixed ANOVA with between-subjects groups. If everybody plays several levels, level and
    interaction are tested too.

    `sizes` are (group, number of participants) pairs. The sphericity corrections are the same as in
    `RepeatedMeasures`.
    """

    n: int
    sizes: tuple[tuple[str, int], ...]
    levels: tuple[str, ...]
    effects: tuple[SplitPlotEffect, ...]
    epsilon_gg: float
    epsilon_hf: float
    sphericity: Sphericity | NotComputable | None
    left_out: tuple[ExcludedParticipant, ...] = ()

    @property
    def correction(self) -> str:
        """Return the name of the sphericity correction that is used for level and interaction. Empty with two
        levels or one, which need none."""
        if len(self.levels) < 3:
            return ""
        return "Huynh\N{EN DASH}Feldt" if self.epsilon_gg > MILD else "Greenhouse\N{EN DASH}Geisser"

    def epsilon(self, term: str) -> float:
        """Return the epsilon of the sphericity correction that is used for this term, at most 1. It is 1
        for the between-participants factor (`group`)."""
        if term == "group":
            return 1.0
        return min(self.epsilon_hf, 1.0) if self.epsilon_gg > MILD else self.epsilon_gg

    def p_corrected(self, effect: SplitPlotEffect) -> float:
        """Return the p value of this effect after the sphericity correction that is used."""
        return effect.p_hf if self.epsilon_gg > MILD else effect.p_gg


Term = Literal["condition", "position", "carry_over", "group", "level", "interaction"]
ORDER_TERMS = ("position", "carry_over")
"""Terms of a mixed model that are about the order of play, not about conditions."""


@dataclass(frozen=True, slots=True)
class Effect:
    """The F test of one term of a mixed model, with Satterthwaite's degrees of freedom.

    `lost` counts columns of the design matrix that were left out because they are linear combinations of
    others.
    """

    term: Term
    f: float
    df: int
    df_error: float
    p: float
    lost: int = 0

    @property
    def decides(self) -> bool:
        """Return True if the term is about conditions, so that it decides the result. Return False for the
        order of play (position or carry-over)."""
        return self.term not in ORDER_TERMS


@dataclass(frozen=True, slots=True)
class UnidentifiedEffect:
    """A term of a mixed model that cannot be estimated, because the orders of play do not separate it from
    others."""

    term: Term
    because: NotComputable

    @property
    def decides(self) -> bool:
        """Return True if the term is about conditions, so that it decides the result. Return False for the
        order of play (position or carry-over)."""
        return self.term not in ORDER_TERMS


@dataclass(frozen=True, slots=True)
class MixedModel:
    """The result of a linear mixed model with a random intercept per participant, fitted by restricted
    maximum likelihood (REML).

    `effects` are condition, position in the order (a slope) and carry-over (the condition played just
    before), each adjusted for the others. `means` are the conditions' means at the middle position.
    `singular` is true if the estimated variance of participants is 0.
    """

    n: int
    observations: int
    effects: tuple[Effect | UnidentifiedEffect, ...]
    variance_participant: float
    variance_error: float
    log_likelihood: float
    means: tuple[tuple[str, float, float], ...]
    """(condition key, estimated mean, standard error)."""
    singular: bool = False

    def effect(self, term: Term) -> Effect | None:
        """Return the test of one term. Return None if the term could not be estimated."""
        return next((one for one in self.effects if one.term == term and isinstance(one, Effect)), None)


@dataclass(frozen=True, slots=True)
class RankPair:
    """The comparison of two conditions after Friedman's test: the difference of their mean ranks and two p
    values.

    Nemenyi's p value uses the studentised range. Conover's p value uses t, with Holm's correction.
    """

    first: AnalysisCondition
    second: AnalysisCondition
    rank_difference: float
    p_nemenyi: float
    p_conover: float


@dataclass(frozen=True, slots=True)
class Friedman:
    """The result of Friedman's test, corrected for ties, with Kendall's W and the comparisons of all
    pairs."""

    n: int
    chi_squared: float
    df: int
    p: float
    w: float
    mean_ranks: tuple[tuple[str, float], ...]
    pairs: tuple[RankPair, ...]
    left_out: tuple[ExcludedParticipant, ...] = ()


@dataclass(frozen=True, slots=True)
class CumulativeLink:
    """The result of a cumulative-link (proportional odds) model of ratings on condition.

    `chi_squared`, `df` and `p` are Wald's test of all conditions, with a covariance clustered by
    participant. `odds` are odds ratios against the first condition.
    """

    n: int
    observations: int
    chi_squared: float
    df: int
    p: float
    log_likelihood: float
    odds: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class WithinInterval:
    """The 95 % within-participant interval of one condition (Cousineau 2005, Morey 2008).

    `mean` is the mean over the `n` participants with a value in every condition.
    """

    condition: AnalysisCondition
    mean: float
    low: float
    high: float
    n: int


@dataclass(frozen=True, slots=True)
class Assumption:
    """One checked assumption of the tests, with a sentence about it. `holds` is true if nothing speaks
    against the assumption."""

    name: str
    holds: bool
    words: str


@dataclass(frozen=True, slots=True)
class CorrectedP:
    """The p value of a main test, corrected over several measures. `correction` is the label of the
    correction.

    The corrected p value decides whether conditions differ, not the uncorrected one.
    """

    correction: str
    p: float


@dataclass(frozen=True, slots=True)
class WithinResult:
    """All within-subject tests of one measure.

    `main_test` names the main test. `main` holds its p values by term. The term is `condition`; with
    between-subjects groups, the terms are `group`, `level` and `interaction`. With named factors, the terms
    are keys of factors, such as `partner:layout`. `over_measures` holds each
    term's p value after the correction over measures, if the plan has one. A corrected p value, if there
    is one, decides whether conditions differ; else the one in `main`.
    """

    repeated: RepeatedMeasures | NotComputable
    mixed: MixedModel | NotComputable
    pairs: Family
    planned: Family
    friedman: Friedman | NotComputable
    cumulative: CumulativeLink | NotComputable | None
    """None if the measure is no rating."""
    intervals: tuple[WithinInterval, ...]
    assumptions: tuple[Assumption, ...]
    main_test: str = "repeated"
    main: Mapping[str, float] = field(default_factory=dict)
    over_measures: Mapping[str, CorrectedP] = field(default_factory=dict)
    grouped: SplitPlot | NotComputable | None = None
    """The mixed ANOVA of a design with groups between people; None without groups."""

    def corrections(self, test: str) -> Mapping[str, CorrectedP]:
        """Return the p value of each term after correction over all measures. The result is empty if `test`
        is not the main test."""
        return self.over_measures if test == self.main_test else {}

    def over(self, test: str) -> CorrectedP | None:
        """Return the p value of the conditions' effect after correction over all measures. Return None if
        `test` is not the main test, or if there is no such correction."""
        return self.corrections(test).get("condition")

    @property
    def decisive_ps(self) -> dict[str, float]:
        """Return the p values of the main test by term, after the correction over measures. Empty if it could
        not be computed."""
        return {**self.main, **{key: one.p for key, one in self.over_measures.items() if key in self.main}}

    @property
    def found_terms(self) -> set[str]:
        """Return the keys of the terms that the main test finds: p < .05 after the correction over
        measures."""
        return {term for term, p in self.decisive_ps.items() if p < LEVEL}

    @property
    def has_effect(self) -> bool:
        """Return whether the main test found an effect of conditions, groups or factors."""
        return bool(self.found_terms)

    @property
    def cautions(self) -> tuple[str, ...]:
        """Return sentences about the assumptions that do not hold. The result is empty if all hold."""
        return tuple(one.words for one in self.assumptions if not one.holds)


ALL_CONDITIONS = "means over conditions"
"""Label of the place with empty `where`: each row is a participant's mean over conditions."""


@dataclass(frozen=True, slots=True)
class ScaleAnswers:
    """The answers to the items of one scale, one row for each participant. They are recoded so that higher
    means more.

    `where` is the label of a condition. It is empty if the rows are each participant's means over all
    conditions.
    """

    scale: str
    label: str
    where: str
    items: tuple[str, ...]
    rows: tuple[tuple[float | None, ...], ...]


@dataclass(frozen=True, slots=True)
class Reliability:
    """The reliability of a scale: alpha with its 95 % interval, omega, and item-rest correlations.

    `omega` is None for two items, or if no factor can be fitted. `incomplete` counts rows that lack an
    answer and are left out.
    """

    n: int
    items: int
    alpha: float
    alpha_low: float
    alpha_high: float
    omega: float | None
    item_rest: tuple[tuple[str, float], ...]
    incomplete: int = 0
    computable: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class ScaleResult:
    """The reliability of one scale, in one condition or over all conditions."""

    scale: str
    label: str
    where: str
    found: Reliability | NotComputable

    @property
    def place(self) -> str:
        """Return the label of the condition, or a label for all conditions together."""
        return self.where or ALL_CONDITIONS
