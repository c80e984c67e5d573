"""All tests of all measures: what the design asks for, in the order of the measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from study.analysis.statistics.anova import Anova, one_way
from study.analysis.statistics.table import MeasureTable, NotComputable
from study.analysis.statistics.within.assumptions import assumptions
from study.analysis.statistics.within.contrasts import all_pairs_within, benjamini_hochberg, family, holm
from study.analysis.statistics.within.cumulative import cumulative_link
from study.analysis.statistics.within.intervals import within_intervals
from study.analysis.statistics.within.mixed import mixed_model
from study.analysis.statistics.within.ordinal import friedman
from study.analysis.statistics.within.repeated import repeated_measures
from study.analysis.statistics.within.results import Friedman, Mixed, OverMeasures, Repeated, WithinResult
from study.design.testing import CORRECTIONS, AnalysisPlan

CORRECT = {"holm": holm, "fdr": benjamini_hochberg}


def run(
    tables: Sequence[MeasureTable],
    plan: AnalysisPlan,
    replicated: Sequence[float | None],
    whole: Sequence[MeasureTable] = (),
) -> tuple[WithinResult, ...]:
    """One result for each table; `replicated` has the p of the one-way ANOVAs, `whole` the tables of the
    mixed models, with those who were set aside, too. The correction over measures is over those that are
    not exploratory."""
    given = zip(tables, whole or tables, replicated, strict=True)
    found = [_one(table, every, plan, p) for table, every, p in given]
    correct = CORRECT.get(plan.correction)
    if correct is None:
        return tuple(found)
    tested = [_tested(one, table) for one, table in zip(found, tables, strict=True)]
    adjusted = iter(correct([p for p in tested if p is not None]))
    words = CORRECTIONS[plan.correction]
    return tuple(
        one if p is None else replace(one, over_measures=OverMeasures(words, next(adjusted)))
        for one, p in zip(found, tested, strict=True)
    )


def _tested(found: WithinResult, table: MeasureTable) -> float | None:
    """The p that is corrected over measures, if any."""
    return None if table.measure.exploratory else found.main


def _one(
    table: MeasureTable, whole: MeasureTable, plan: AnalysisPlan, replicated: float | None
) -> WithinResult:
    repeated, mixed, ranks = repeated_measures(table), mixed_model(whole), friedman(table)
    return WithinResult(
        repeated=repeated,
        mixed=mixed,
        pairs=all_pairs_within(table),
        planned=family(table, plan.contrasts),
        friedman=ranks,
        cumulative=cumulative_link(table) if table.measure.kind == "likert" else None,
        intervals=within_intervals(table),
        assumptions=assumptions(table, repeated, mixed),
        main_test=plan.main,
        main=_main(plan.main, repeated, mixed, ranks, replicated),
    )


def _main(
    test: str,
    repeated: Repeated | NotComputable,
    mixed: Mixed | NotComputable,
    ranks: Friedman | NotComputable,
    replicated: float | None,
) -> float | None:
    """The p by which the plan decides whether conditions differ; None where that test cannot be computed."""
    return {
        "repeated": repeated.p_corrected if isinstance(repeated, Repeated) else None,
        "mixed": _condition_p(mixed),
        "friedman": ranks.p if isinstance(ranks, Friedman) else None,
        "one_way": replicated,
    }[test]


def _condition_p(mixed: Mixed | NotComputable) -> float | None:
    effect = mixed.effect("condition") if isinstance(mixed, Mixed) else None
    return effect.p if effect else None


def main_p(table: MeasureTable, test: str) -> float | None:
    """The p of one main test (`plan.MAIN_TESTS`) alone; None where it cannot be computed."""
    if test == "mixed":
        return _condition_p(mixed_model(table))
    if test == "one_way":
        replicated = one_way(table)
        return replicated.p if isinstance(replicated, Anova) else None
    found = friedman(table) if test == "friedman" else repeated_measures(table)
    if isinstance(found, NotComputable):
        return None
    return found.p if isinstance(found, Friedman) else found.p_corrected
