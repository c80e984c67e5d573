"""The verdict of a measure: from the test that decides, in words, and in the pairs that figures mark."""

from __future__ import annotations

from dataclasses import replace

from study.analysis.statistics.charts_by_measure import leading_figure
from study.analysis.statistics.result_charts import means_chart, participants_chart
from study.analysis.statistics.run_analysis import analyse
from study.analysis.statistics.verdicts import (
    carried_pairs,
    leading_result,
    short_verdict,
    verdict_sentences,
)
from study.design.analysis_plan import AnalysisPlan, parse_contrasts
from tests.study.analysis.statistics.test_analysis import FIVE, RATE, demo
from tests.study.analysis.statistics.test_factorial_analysis import analysed
from tests.study.analysis.statistics.test_split_plot import EVEN, MEASURE, cells, rows


def test_a_primary_measure_leads_before_the_first_one() -> None:
    analysis = demo()
    assert leading_result(analysis) is analysis.measures[0]
    last = analysis.measures[-1]
    primary = replace(last, table=replace(last.table, measure=replace(last.measure, primary=True)))
    lead = leading_figure(replace(analysis, measures=(*analysis.measures[:-1], primary)))
    assert lead and lead.result is primary


def test_the_paragraph_has_verdict_test_means_pairs_and_contrasts() -> None:
    plan = AnalysisPlan(contrasts=parse_contrasts(f"H1: {FIVE[0].key} -1, {FIVE[1].key} 1"))
    one = analyse(demo().measures[0].table.observations, FIVE, [RATE], plan=plan).measures[0]
    verdict, test, means, contrasts = verdict_sentences(one)
    assert verdict == "Success rate: differed between conditions."
    assert test.startswith("Repeated-measures ANOVA: F(")
    assert means.startswith("Means range from ") and "paired t tests after Holm" in means
    same = replace(one, descriptions=tuple(replace(each, mean=20.0) for each in one.descriptions[:2]))
    assert "Both means are 20.00" in " ".join(verdict_sentences(same))
    assert contrasts.startswith("Planned contrasts after Holm: H1 0.25, 95% CI [0.20, 0.31], p ")


def test_with_factors_effects_are_named_and_no_pair_is_marked() -> None:
    analysis = analysed({"planner_fast": 3.0, "random_slow": 3.0}, between=True)
    score, other = analysis.measure("score"), analysis.measure("other")
    assert score.decided_pairs and not carried_pairs(score)
    assert "Pace \N{MULTIPLICATION SIGN} Partner" in short_verdict(score)
    assert short_verdict(other) == "no effect was found"
    for chart in (means_chart(score), participants_chart(score)):
        assert not chart.panels[0].brackets
        assert short_verdict(score) in chart.words and "Pairs that differ" not in chart.words
    lead = leading_figure(analysis)
    assert lead and lead.figure == "interaction"


def test_where_only_groups_differ_no_pair_of_levels_is_marked() -> None:
    conditions, between = cells(EVEN)
    one = analyse(rows(EVEN), conditions, [MEASURE], between=between).measures[0]
    assert one.within and one.decided_pairs == carried_pairs(one) != ()
    assert short_verdict(one).startswith("differed between groups")
    only_groups = replace(one.within, main={"group": 0.001, "level": 0.2, "interaction": 0.3})
    changed = replace(one, within=only_groups)
    assert short_verdict(changed) == "differed between groups"
    assert not carried_pairs(changed) and not participants_chart(changed).panels[0].brackets
    assert "pair" not in " ".join(verdict_sentences(changed))
    untested = replace(one, within=replace(one.within, main={}))
    assert short_verdict(untested) == "could not be tested"
