"""Run all statistical tests of an analysis, and return the results as one immutable object, `Analysis`.

The input is a study's observations, conditions and measures. Pages, files and figures read the returned
object.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from kitchen.contract.bootstrap_intervals import Interval, mean_interval
from study.analysis.statistics.anova_and_tukey import (
    Anova,
    Description,
    Pair,
    Tukey,
    describe,
    one_way_anova,
    tukey_hsd,
)
from study.analysis.statistics.factorial.factorial_tests import FactorialTests
from study.analysis.statistics.factorial.study_factors import StudyFactors
from study.analysis.statistics.observations import (
    AnalysisCondition,
    BetweenFactor,
    Measure,
    MeasureTable,
    NotComputable,
    Observation,
    check_observations,
    one_row_per_team,
    table_of,
    table_with_missing_rows,
)
from study.analysis.statistics.process_counts import ProcessCounts
from study.analysis.statistics.sample_composition import (
    Attrition,
    ConditionPlayers,
    DesignVersion,
    Exclusion,
    VersionUsed,
    incomplete_participants,
    players_in_order,
    split_exclusions,
    version_warnings,
    versions_used,
)
from study.analysis.statistics.within.result_types import (
    LEVEL,
    Friedman,
    ScaleAnswers,
    ScaleResult,
    WithinInterval,
    WithinResult,
)
from study.design.analysis_plan import DEFAULT_PLAN, AnalysisPlan


class DecidedPair(NamedTuple):
    """Two conditions that differ, with the corrected p value of their comparison."""

    first: AnalysisCondition
    second: AnalysisCondition
    p: float


class PlayedRound(NamedTuple):
    """A round that a participant played. `order_position` is its place in the participant's order, from 1."""

    participant: str
    order_position: int
    condition: str


PAIR_NAMES = {"one_way": "Tukey HSD", "friedman": "Conover's tests after Holm"}
"""Names of the tests of pairs that belong to a main test. Other main tests have paired t tests."""


def _place(condition: AnalysisCondition) -> tuple[int, str]:
    return condition.position, condition.key


@dataclass(frozen=True, slots=True)
class MeasureResult:
    """All results of one measure, with one field for each test."""

    table: MeasureTable
    descriptions: tuple[Description, ...]
    anova: Anova | NotComputable
    tukey: Tukey | NotComputable
    synthetic: bool
    players: tuple[ConditionPlayers, ...] = ()
    """Co-players of each condition, in order; empty if unknown."""
    set_aside: tuple[Observation, ...] = ()
    """Values of participants who lack a condition; only the mixed model uses them."""
    within: WithinResult | None = None
    """The within-subject tests that fit the design; `anova` and `tukey` are the replication."""
    factorial: FactorialTests | None = None
    """The tests of a study with named factors; None in a study without. Then these tests decide."""

    @property
    def measure(self) -> Measure:
        """Return the measure of these results."""
        return self.table.measure

    @property
    def units(self) -> str:
        """Return the plural noun for the units of the tests: `teams` if people who played together count
        once, `participants or teams` if others played alone, else `participants`."""
        names = ("participants", "teams")
        present = {bool(row.team) for row in self.table.observations} or {False}
        return " or ".join(names[is_team] for is_team in sorted(present))

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """Return all compared pairs of conditions (Tukey's HSD). The result is empty if they could not be
        compared."""
        return self.tukey.pairs if isinstance(self.tukey, Tukey) else ()

    def interval(self, condition: AnalysisCondition) -> WithinInterval | None:
        """Return a condition's within-participant interval. Return None if there is none."""
        found = self.within.intervals if self.within else ()
        return next((one for one in found if one.condition == condition), None)

    @property
    def has_bootstrap(self) -> bool:
        """Return True if the page and the report show bootstrap intervals for this measure. They are shown
        for shares, which are rarely normally distributed. The file of means has bootstrap intervals for every
        measure."""
        return self.measure.kind == "rate"

    def bootstrap_interval(self, condition: AnalysisCondition) -> Interval | None:
        """Return the 95 % bootstrap interval of a condition's mean (`mean_interval`). Return None for fewer
        than two values."""
        return mean_interval(self.table.values(condition.key))

    @property
    def figure_name(self) -> str:
        """Return the file name of the figure of means."""
        return f"figure_{self.measure.key}.svg"

    @property
    def replication_name(self) -> str:
        """Return the file name of the figure of the replication."""
        return f"figure_{self.measure.key}_replication.svg"

    @property
    def threads_name(self) -> str:
        """Return the file name of the figure that shows each participant as a line. Return an empty string
        for an exploratory measure, whose figure is not written as a file."""
        return "" if self.measure.exploratory else f"figure_{self.measure.key}_participants.svg"

    @property
    def tukey_pairs(self) -> tuple[Pair, ...]:
        """Return the pairs of conditions that differ in the replication (Tukey's HSD, p < .05)."""
        return tuple(pair for pair in self.pairs if pair.significant)

    @property
    def decided_pairs(self) -> tuple[DecidedPair, ...]:
        """Return the pairs of conditions that differ by the test that decides, p < .05. Figures mark these
        pairs with brackets.

        The result is empty if the main test found no difference, or if the measure is exploratory.
        """
        found = self.within
        if found is None or self.measure.exploratory or not found.has_effect:
            return ()
        if found.main_test == "one_way":
            return tuple(DecidedPair(one.first, one.second, one.p) for one in self.tukey_pairs)
        if found.main_test == "friedman" and isinstance(found.friedman, Friedman):
            ranked = (DecidedPair(one.first, one.second, one.p_conover) for one in found.friedman.pairs)
            return tuple(one for one in ranked if one.p < LEVEL)
        known = {one.key: one for one in self.table.conditions}
        differing = [one for one in found.pairs.computed if one.significant]
        ends = (sorted((known[key] for key, _ in one.weights), key=_place) for one in differing)
        return tuple(
            DecidedPair(first, second, one.p_adjusted)
            for one, (first, second) in zip(differing, ends, strict=True)
        )

    @property
    def decided_by(self) -> str:
        """Return the name of the test behind `decided_pairs`."""
        return PAIR_NAMES.get(self.within.main_test if self.within else "", "paired t tests after Holm")

    def where_measured(self) -> MeasureResult:
        """Return this result without conditions that have no rows, for figures. If no condition has rows, all
        are kept."""
        rows = {row.condition for row in self.table.observations}
        places = [place for place, one in enumerate(self.table.conditions) if one.key in rows]
        if not places or len(places) == len(self.table.conditions):
            return self
        return replace(
            self,
            table=replace(self.table, conditions=tuple(self.table.conditions[place] for place in places)),
            descriptions=tuple(self.descriptions[place] for place in places),
            players=tuple(self.players[place] for place in places) if self.players else (),
        )


@dataclass(frozen=True, slots=True)
class Analysis:
    """The analysis of a study. `participants` and `synthetic_participants` are the sorted codes of the
    analysed participants.

    `conditions` are in their order, and `measures` in the order given. `exclusions` lists what was left
    out. `attrition` describes participants without rows; None if unknown. `players` are the co-players of
    each condition; empty if unknown. `versions` are the study versions of the analysed participants.
    `differing` are labels of measures that these versions asked differently. `preregistered` is true if
    only data collected as preregistered were requested.
    """

    conditions: tuple[AnalysisCondition, ...]
    measures: tuple[MeasureResult, ...]
    participants: tuple[str, ...]
    synthetic_participants: tuple[str, ...]
    exclusions: tuple[Exclusion, ...]
    attrition: Attrition | None = None
    players: tuple[ConditionPlayers, ...] = ()
    versions: tuple[VersionUsed, ...] = ()
    differing: tuple[str, ...] = ()
    preregistered: bool = False
    plan: AnalysisPlan = DEFAULT_PLAN
    """The planned tests, or the default ones if none were planned."""
    scales: tuple[ScaleResult, ...] = ()
    """Reliability of each scale, in each condition and over all."""
    between: BetweenFactor | None = None
    """The groups between people; None if everybody plays every condition."""
    factors: StudyFactors | None = None
    """The named factors of the study; None if it has none."""
    process: tuple[ProcessCounts, ...] = ()
    """Counts from the log by condition and seat; empty if no world has any."""
    rounds: tuple[PlayedRound, ...] = ()
    """All rounds that were played, also those without a value, sorted by participant and position."""
    covariates: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """The planned covariates: each participant's (or team's) answers by the item's key."""

    @property
    def warnings(self) -> list[str]:
        """Return a sentence for each reason why the data are not from one preregistered design. The result is
        empty if there is no reason."""
        return version_warnings(self.versions, self.differing)

    @property
    def synthetic(self) -> bool:
        """Return True if any number comes from a program that played as a participant. Every output must then
        say so."""
        return bool(self.synthetic_participants) or any(one.synthetic for one in self.measures)

    @property
    def as_planned(self) -> int:
        """Return the number of analysed participants whose tests were preregistered before they took part."""
        return sum(one.as_planned for one in self.versions)

    def measure(self, key: str) -> MeasureResult:
        """Return the result of one measure. Raises KeyError for an unknown key."""
        for result in self.measures:
            if result.measure.key == key:
                return result
        raise KeyError(key)


def analyse(
    observations: Sequence[Observation],
    conditions: Sequence[AnalysisCondition],
    measures: Sequence[Measure],
    *,
    keep_incomplete: bool = False,
    attrition: Attrition | None = None,
    players: Sequence[ConditionPlayers] = (),
    versions: Sequence[DesignVersion] = (),
    differing: Sequence[str] = (),
    preregistered: bool = False,
    plan: AnalysisPlan = DEFAULT_PLAN,
    scales: Sequence[ScaleAnswers] = (),
    unused: Sequence[Observation] = (),
    between: BetweenFactor | None = None,
    factors: StudyFactors | None = None,
    process: Sequence[ProcessCounts] = (),
    covariates: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
) -> Analysis:
    """Analyse every measure and return the results. The order of the observations has no effect.

    Participants without a value in every condition are left out, as in the paper, unless `keep_incomplete` is
    True. Mixed models always use their values. `unused` are played rounds that are not analysed; they only
    show in which order a participant played. The fields of `Analysis` explain the other arguments.

    A test that cannot be computed has the result `NotComputable`; no number is NaN. Raises DefinitionError or
    RowError for contradictory input.
    """
    check_observations(observations, conditions, measures)
    dropped = (
        frozenset()
        if keep_incomplete
        else incomplete_participants(
            _decisive(observations, measures), conditions, between, rounds=factors.rounds if factors else 0
        )
    )
    kept, exclusions = split_exclusions(observations, dropped)
    synthetic = tuple(sorted({row.participant for row in kept if row.synthetic}))
    tables = [table_of(measure, conditions, one_row_per_team(kept, measure), between) for measure in measures]
    played = players_in_order(players, tables[0].conditions)
    aside = [row for row in observations if row.participant in dropped and row.value is not None]
    marked = any(row.synthetic for row in (*kept, *aside))
    results = tuple(_result(table, marked, played, aside) for table in tables)
    whole = [
        table_with_missing_rows(
            measure, conditions, one_row_per_team([*unused, *observations], measure), between
        )
        for measure in measures
    ]
    return Analysis(
        conditions=tables[0].conditions,
        measures=_with_design(results, whole, plan, factors, covariates),
        participants=tuple(sorted({row.participant for row in kept})),
        synthetic_participants=synthetic,
        exclusions=exclusions,
        attrition=attrition,
        players=played,
        versions=versions_used(kept, versions),
        differing=tuple(differing),
        preregistered=preregistered,
        plan=plan,
        scales=_scales(scales),
        between=between,
        factors=factors,
        process=tuple(process),
        rounds=_rounds([*unused, *observations]),
        covariates=dict(covariates),
    )


def _rounds(rows: Sequence[Observation]) -> tuple[PlayedRound, ...]:
    return tuple(sorted({PlayedRound(row.participant, row.order_position, row.condition) for row in rows}))


def _decisive(observations: Sequence[Observation], measures: Sequence[Measure]) -> list[Observation]:
    """Return the observations of measures that are not exploratory."""
    explored = {one.key for one in measures if one.exploratory}
    return [row for row in observations if row.measure not in explored]


def _with_design(
    results: Sequence[MeasureResult],
    whole: Sequence[MeasureTable],
    plan: AnalysisPlan,
    factors: StudyFactors | None,
    covariates: Mapping[str, Mapping[str, float]],
) -> tuple[MeasureResult, ...]:
    """Return the results with the within-subject tests added. `whole` holds the tables that include
    incomplete participants, for the mixed models."""
    from study.analysis.statistics.factorial.run_factorial_tests import (
        run_factorial_tests,  # slow to import
    )
    from study.analysis.statistics.within.run_within_tests import (
        run_within_tests,  # slow to import
    )

    ps = [one.anova.p if isinstance(one.anova, Anova) else None for one in results]
    tables = [one.table for one in results]
    factorial = [
        run_factorial_tests(table, every, factors, plan, covariates) if factors else None
        for table, every in zip(tables, whole, strict=True)
    ]
    mains = [one.decisive_ps(plan.main) if one else None for one in factorial]
    found = run_within_tests(tables, plan, ps, whole, mains)
    return tuple(
        replace(
            one,
            within=replace(within, assumptions=tests.assumptions) if tests else within,
            factorial=tests and tests.with_simple_effects_of(within.found_terms),
        )
        for one, within, tests in zip(results, found, factorial, strict=True)
    )


def _scales(scales: Sequence[ScaleAnswers]) -> tuple[ScaleResult, ...]:
    from study.analysis.statistics.within.scale_reliability import reliability  # slow to import

    return tuple(ScaleResult(one.scale, one.label, one.where, reliability(one)) for one in scales)


def _result(
    table: MeasureTable, synthetic: bool, players: tuple[ConditionPlayers, ...], aside: Sequence[Observation]
) -> MeasureResult:
    rows = one_row_per_team(aside, table.measure)
    analysed = {row.participant for row in table.observations}
    left = (row for row in rows if row.measure == table.measure.key and row.participant not in analysed)
    own = sorted(left, key=lambda row: row.participant)
    tests = describe(table), one_way_anova(table), tukey_hsd(table)
    return MeasureResult(table, *tests, synthetic, players, tuple(own))
