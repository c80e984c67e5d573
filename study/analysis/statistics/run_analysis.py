"""Compute a whole analysis from observations: one frozen `Analysis` for pages, files and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from study.analysis.statistics.descriptives_and_anova import (
    Anova,
    Description,
    Pair,
    Tukey,
    describe,
    one_way_anova,
    tukey_hsd,
)
from study.analysis.statistics.observations import (
    AnalysisCondition,
    Measure,
    MeasureTable,
    NotComputable,
    Observation,
    check_observations,
    table_of,
    table_with_missing_rows,
)
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
    ScaleAnswers,
    ScaleResult,
    WithinInterval,
    WithinResult,
)
from study.design.analysis_plan import DEFAULT_PLAN, AnalysisPlan


@dataclass(frozen=True, slots=True)
class MeasureResult:
    """Everything about one measure; one field per test."""

    table: MeasureTable
    descriptions: tuple[Description, ...]
    anova: Anova | NotComputable
    tukey: Tukey | NotComputable
    synthetic: bool
    players: tuple[ConditionPlayers, ...] = ()
    """Who played in each condition, in their order; none where the caller does not know."""
    set_aside: tuple[Observation, ...] = ()
    """Values of those who were set aside: the mixed model uses them, and no other test."""
    within: WithinResult | None = None
    """The tests that the design asks for; `anova` and `tukey` are the replication."""

    @property
    def measure(self) -> Measure:
        """What was measured."""
        return self.table.measure

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All pairs compared; none where the comparison is not computable."""
        return self.tukey.pairs if isinstance(self.tukey, Tukey) else ()

    def interval(self, condition: AnalysisCondition) -> WithinInterval | None:
        """A condition's interval within participants, where there is one."""
        found = self.within.intervals if self.within else ()
        return next((one for one in found if one.condition == condition), None)

    @property
    def figure_name(self) -> str:
        """The file name of its figure, that of the paper."""
        return f"figure_{self.measure.key}.svg"

    @property
    def threads_name(self) -> str:
        """That of the figure of each participant over the conditions; empty for a measure that is only
        explored, which has it in the console alone."""
        return "" if self.measure.exploratory else f"figure_{self.measure.key}_participants.svg"

    @property
    def brackets(self) -> tuple[Pair, ...]:
        """The pairs with p < .05, which the figure brackets where they are few."""
        return tuple(pair for pair in self.pairs if pair.significant)

    def where_measured(self) -> MeasureResult:
        """The same without conditions in which nobody has a row, as those that do not ask for it: what its
        figures show. All of them where nobody has a row anywhere."""
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
    """A study's analysis. `participants` and `synthetic_participants` are codes of those analysed, sorted.

    `conditions` are in their order, `measures` in the order given; `exclusions` say what was left out.
    `attrition` says who never came into the rows, `players` who played beside the participants of each
    condition; None and none where the caller does not know. `versions` are those of the study's versions
    whose participants are analysed; `differing` labels of measures that they did not ask alike;
    `preregistered` says that only what was collected as preregistered was to be analysed.
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
    """What was to be tested; as planned, if anything was."""
    scales: tuple[ScaleResult, ...] = ()
    """How well the items of each scale go together, in each condition and in all."""

    @property
    def warnings(self) -> list[str]:
        """What stands against reading the data as one preregistered sample; none where nothing does."""
        return version_warnings(self.versions, self.differing)

    @property
    def synthetic(self) -> bool:
        """Whether any number here comes from a bot; then everything shown must say so."""
        return bool(self.synthetic_participants) or any(one.synthetic for one in self.measures)

    @property
    def as_planned(self) -> int:
        """Of how many of those analysed the tests were preregistered before they took part."""
        return sum(one.as_planned for one in self.versions)

    def measure(self, key: str) -> MeasureResult:
        """The result of one measure; KeyError where there is none of this key."""
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
) -> Analysis:
    """Analyse every measure. The order of the observations does not matter; `unused` are rows without a value
    of what these participants played and is not analysed, so that it is known what came before what.

    Participants without a value in every condition are set aside, as the paper discards its drop-outs,
    unless `keep_incomplete`; mixed models use their values all the same. What cannot
    be computed says so in its place; nothing is NaN.
    Raises DefinitionError or RowError for input that contradicts itself.
    """
    check_observations(observations, conditions, measures)
    dropped = (
        frozenset()
        if keep_incomplete
        else incomplete_participants(_decisive(observations, measures), conditions)
    )
    kept, exclusions = split_exclusions(observations, dropped)
    synthetic = tuple(sorted({row.participant for row in kept if row.synthetic}))
    tables = [table_of(measure, conditions, kept) for measure in measures]
    played = players_in_order(players, tables[0].conditions)
    aside = [row for row in observations if row.participant in dropped and row.value is not None]
    marked = any(row.synthetic for row in (*kept, *aside))
    results = tuple(_result(table, marked, played, aside) for table in tables)
    whole = [table_with_missing_rows(measure, conditions, [*unused, *observations]) for measure in measures]
    return Analysis(
        conditions=tables[0].conditions,
        measures=_with_design(results, whole, plan),
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
    )


def _decisive(observations: Sequence[Observation], measures: Sequence[Measure]) -> list[Observation]:
    """Those of measures that are not only explored: who has nothing else has no value."""
    explored = {one.key for one in measures if one.exploratory}
    return [row for row in observations if row.measure not in explored]


def _with_design(
    results: Sequence[MeasureResult], whole: Sequence[MeasureTable], plan: AnalysisPlan
) -> tuple[MeasureResult, ...]:
    """The results with the tests that the design asks for."""
    from study.analysis.statistics.within.run_within_tests import (
        run_within_tests,  # numpy and scipy are slow to import
    )

    ps = [one.anova.p if isinstance(one.anova, Anova) else None for one in results]
    found = run_within_tests([one.table for one in results], plan, ps, whole)
    return tuple(replace(one, within=within) for one, within in zip(results, found, strict=True))


def _scales(scales: Sequence[ScaleAnswers]) -> tuple[ScaleResult, ...]:
    from study.analysis.statistics.within.scale_reliability import reliability  # likewise

    return tuple(ScaleResult(one.scale, one.label, one.where, reliability(one)) for one in scales)


def _result(
    table: MeasureTable, synthetic: bool, players: tuple[ConditionPlayers, ...], aside: Sequence[Observation]
) -> MeasureResult:
    own = sorted((row for row in aside if row.measure == table.measure.key), key=lambda row: row.participant)
    tests = describe(table), one_way_anova(table), tukey_hsd(table)
    return MeasureResult(table, *tests, synthetic, players, tuple(own))
