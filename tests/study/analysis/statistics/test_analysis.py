"""The analysis as a whole, from rows to results. Also what the other tests of the analysis build on."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from math import sqrt
from random import Random

import pytest

from study.analysis.statistics.observations import (
    AnalysisCondition,
    Measure,
    MeasureTable,
    NotComputable,
    Observation,
    table_of,
)
from study.analysis.statistics.run_analysis import Analysis, analyse

FIVE = (
    AnalysisCondition("alone", "Alone", 0),
    AnalysisCondition("llm_1", "Team of 2", 1),
    AnalysisCondition("llm_2", "Team of 3", 2),
    AnalysisCondition("llm_3", "Team of 4", 3),
    AnalysisCondition("random", "Random team", 4),
)
RATE = Measure.rate("success", "Success rate")
AMOUNT = Measure("amount", "Amount", "count", low=-1e9)
ENJOYMENT = Measure.likert("enjoyment", "Enjoyment", 5, ("strongly disagree", "strongly agree"))


def rows_of(
    groups: Mapping[str, Sequence[float | None]], measure: Measure = AMOUNT, *, synthetic: bool = False
) -> list[Observation]:
    """One row per value; the nth values of all conditions are participant n's."""
    return [
        Observation(f"p{n:03}", condition, measure.key, value, place, synthetic)
        for place, (condition, values) in enumerate(groups.items(), 1)
        for n, value in enumerate(values)
    ]


def table(*groups: Sequence[float | None], measure: Measure = AMOUNT) -> MeasureTable:
    """A table with conditions c0, c1, ... labelled C0, C1, ..."""
    named = {f"c{i}": group for i, group in enumerate(groups)}
    conditions = [AnalysisCondition(key, key.upper(), i) for i, key in enumerate(named)]
    return table_of(measure, conditions, rows_of(named, measure))


def paper_like(f: float = 28.11) -> dict[str, list[float | None]]:
    """Success rates of 12 participants in 5 conditions, made so that the ANOVA gives exactly this F.

    Means .3, .4, .5, .6, .7: between = 12 * .1, mean square .3. Values lie s above or below their mean,
    so within = 60 s² on 55 degrees of freedom.
    """
    s = sqrt(0.3 * 55 / 60 / f)
    return {c.key: [0.3 + 0.1 * i + s * (-1) ** n for n in range(12)] for i, c in enumerate(FIVE)}


def made_up(*, synthetic: bool = True) -> Analysis:
    """A study of 12 with three measures; teams of 2 to 4 do clearly better, trust is not asked when alone."""
    chance = Random(7)
    answers: dict[str, dict[str, list[float | None]]] = {"success": {}, "enjoyment": {}, "trust": {}}
    for condition, mean in zip(FIVE, (0.3, 0.6, 0.7, 0.75, 0.4), strict=True):
        rates = [chance.gauss(mean, 0.1) for _ in range(12)]
        likes = [chance.randint(1, 3) + 2.0 * (mean > 0.5) for _ in range(12)]
        trust = [float(chance.randint(1, 5)) if condition.key != "alone" else None for _ in range(12)]
        answers["success"][condition.key] = [min(1.0, max(0.0, rate)) for rate in rates]
        answers["enjoyment"][condition.key] = list(likes)
        answers["trust"][condition.key] = list(trust)
    measures = [RATE, ENJOYMENT, Measure.likert("trust", "Trust")]
    rows = [row for m in measures for row in rows_of(answers[m.key], m, synthetic=synthetic)]
    return analyse(rows, FIVE, measures)


demo = cache(made_up)
"""The same, computed once."""


def test_the_papers_numbers_of_people_and_conditions_give_its_degrees_of_freedom() -> None:
    result = analyse(rows_of(paper_like(), RATE), FIVE, [RATE]).measure("success").anova
    assert not isinstance(result, NotComputable)
    assert (result.df_between, result.df_within) == (4, 55)
    assert result.f == pytest.approx(28.11)
    assert result.p < 0.001


def test_the_order_of_rows_and_conditions_changes_nothing() -> None:
    rows = rows_of(paper_like(), RATE)
    shuffled = Random(1).sample(rows, len(rows))
    assert analyse(shuffled, FIVE[::-1], [RATE]) == analyse(rows, FIVE, [RATE])


def test_a_participant_without_a_value_in_every_condition_is_left_out_and_counted() -> None:
    groups = paper_like()
    groups["random"][11] = None
    analysis = analyse(rows_of(groups, RATE), FIVE, [RATE])
    assert len(analysis.participants) == 11
    (left_out,) = analysis.exclusions
    assert (left_out.reason, left_out.participants, left_out.rows) == ("not every condition", ("p011",), 5)
    assert {found.n for found in analysis.measures[0].descriptions} == {11}


def test_an_unfinished_participant_stays_where_the_caller_wants_it() -> None:
    groups = paper_like()
    groups["random"][11] = None
    analysis = analyse(rows_of(groups, RATE), FIVE, [RATE], keep_incomplete=True)
    assert [found.n for found in analysis.measures[0].descriptions] == [12, 12, 12, 12, 11]
    assert [(one.reason, one.rows) for one in analysis.exclusions] == [("no value", 1)]


def test_one_unanswered_item_does_not_make_a_drop_out() -> None:
    likes: dict[str, list[float | None]] = {c.key: [3.0] * 12 for c in FIVE}
    likes["alone"][0] = None
    rows = rows_of(paper_like(), RATE) + rows_of(likes, ENJOYMENT)
    analysis = analyse(rows, FIVE, [RATE, ENJOYMENT])
    assert len(analysis.participants) == 12
    assert analysis.measure("enjoyment").descriptions[0].missing == 1


def test_a_measure_that_makes_no_sense_alone_is_compared_between_the_other_conditions() -> None:
    result = demo().measure("trust")
    assert not isinstance(result.anova, NotComputable)
    assert (result.anova.df_between, result.anova.df_within) == (3, 44)
    assert [condition.key for condition in result.anova.without_data] == ["alone"]
    assert len(result.pairs) == 6


def test_nobody_at_all_gives_an_analysis_that_says_so() -> None:
    analysis = analyse([], FIVE, [RATE])
    assert analysis.participants == ()
    assert str(analysis.measures[0].anova) == "not computable because no condition has a value"
    assert analysis.measures[0].pairs == ()


def test_synthetic_participants_are_known_by_name() -> None:
    assert len(demo().synthetic_participants) == 12
    assert not demo(synthetic=False).synthetic


def test_an_unknown_measure_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        demo().measure("nothing")


def test_nothing_heavy_and_no_django_is_loaded_before_it_is_used() -> None:
    heavy = "{'scipy', 'numpy', 'pandas', 'statsmodels', 'vl_convert', 'django'}"
    code = (
        f"import sys, study.analysis, study.analysis.statistics.markdown_report; print({heavy} & "
        f"set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
