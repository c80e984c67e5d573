"""The input of factorial tests, and the ANOVA of all effects."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from study.analysis.statistics.factorial.factorial_anova import factorial_anova, simple_effects
from study.analysis.statistics.factorial.factorial_cases import (
    FactorialCases,
    FactorialRow,
    factorial_cases,
    select_levels,
)
from study.analysis.statistics.factorial.factorial_results import (
    FactorialAnova,
    FactorialEffect,
    SimpleEffect,
    UntestedEffect,
    UntestedSimpleEffect,
)
from study.analysis.statistics.factorial.study_factors import AnalysisFactor
from study.analysis.statistics.observations import DefinitionError, NotComputable, RowError
from study.analysis.statistics.within.paired_contrasts import holm_adjusted
from study.analysis.statistics.within.repeated_measures_anova import repeated_measures
from study.analysis.statistics.within.result_types import RepeatedMeasures
from tests.study.analysis.statistics import r_table
from tests.study.analysis.statistics.factorial_r_table import cases, rows
from tests.study.analysis.statistics.test_split_plot import EVEN, UNEVEN, Groups, anova_of

GROUP = AnalysisFactor("group", ("chef", "assistant"))
LEVEL = AnalysisFactor("level", ("0", "1", "2"))
PARTNER = AnalysisFactor("partner", ("alone", "helped"))


def grouped(data: Groups) -> list[FactorialRow]:
    return [
        FactorialRow(f"{group}{who}", {"group": group, "level": str(number)}, value)
        for group, people in data.items()
        for who, values in enumerate(people)
        for number, value in enumerate(values)
    ]


def anova(found: FactorialCases) -> FactorialAnova:
    result = factorial_anova(found)
    assert isinstance(result, FactorialAnova)
    return result


def effect(found: FactorialCases, *term: str) -> FactorialEffect:
    one = anova(found).effect(*term)
    assert one is not None
    return one


def one_value_each(values: dict[tuple[str, str], list[float]]) -> list[FactorialRow]:
    """People who have one value each, by cell."""
    return [
        FactorialRow(f"{cell}{number}", {"group": cell[0], "partner": cell[1]}, value)
        for cell, found in values.items()
        for number, value in enumerate(found)
    ]


@pytest.mark.parametrize("data", [EVEN, UNEVEN])
def test_with_one_factor_of_each_kind_it_is_the_mixed_anova(data: Groups) -> None:
    found = anova(factorial_cases(grouped(data), [GROUP], [LEVEL]))
    assert [one.term for one in found.effects] == [("group",), ("level",), ("group", "level")]
    for one, other in zip(found.effects, anova_of(data).effects, strict=True):
        assert isinstance(one, FactorialEffect)
        ours = (one.f, one.df, one.df_error, one.p, one.partial_eta_squared, one.generalised_eta_squared)
        assert ours == pytest.approx(
            (
                other.f,
                other.df,
                other.df_error,
                other.p,
                other.partial_eta_squared,
                other.generalised_eta_squared,
            )
        )
        assert one.p_corrected == pytest.approx(anova_of(data).p_corrected(other))


def test_with_one_within_factor_it_is_the_repeated_measures_anova() -> None:
    table = r_table.data("ergoStool")
    expected = repeated_measures(table)
    assert isinstance(expected, RepeatedMeasures)
    factor = AnalysisFactor("stool", tuple(one.key for one in table.conditions))
    taken = [FactorialRow(row.participant, {"stool": row.condition}, row.value) for row in table.observations]
    found = effect(factorial_cases(taken, [], [factor]), "stool")
    correction = found.correction
    assert correction and correction.sphericity == expected.sphericity
    assert (correction.p_gg, correction.p_hf) == pytest.approx((expected.p_gg, expected.p_hf))
    assert correction.name == expected.correction
    assert correction.epsilon == pytest.approx(expected.epsilon)
    assert (found.p_corrected, *found.df_corrected) == pytest.approx(
        (expected.p_corrected, *expected.df_corrected)
    )


def test_who_lacks_a_cell_is_left_out_and_named_with_it() -> None:
    gap = grouped({**EVEN, "chef": [*EVEN["chef"], [4, None, 6]]})
    found = factorial_cases(gap, [GROUP], [LEVEL])
    assert [(one.participant, one.lacking) for one in found.left_out] == [("chef4", ("1",))]
    assert len(found.participants) == 8 and anova(found).left_out == found.left_out
    assert anova(found).sizes == ((("chef",), 4), (("assistant",), 4))


def test_the_order_of_rows_does_not_matter_and_values_in_a_cell_are_averaged() -> None:
    given = grouped(EVEN)
    once = factorial_cases(given, [GROUP], [LEVEL])
    twice = [replace(row, value=(row.value or 0) + add) for row in given for add in (-1, 1)]
    again = factorial_cases(list(reversed(twice)), [GROUP], [LEVEL])
    assert np.array_equal(once.values, again.values) and once.participants == again.participants


def test_a_level_without_values_is_no_level_and_a_factor_with_one_level_cannot_be_tested() -> None:
    more = AnalysisFactor("level", (*LEVEL.levels, "never"))
    assert factorial_cases(grouped(EVEN), [GROUP], [more]).within == (LEVEL,)
    one = {group: [values[:1] for values in people] for group, people in EVEN.items()}
    found = factorial_anova(factorial_cases(grouped(one), [GROUP], [LEVEL]))
    assert str(found) == "not computable because level has values at 0 only"


def test_what_the_data_do_not_allow_says_why() -> None:
    def why(rows: list[FactorialRow]) -> str:
        return str(factorial_anova(factorial_cases(rows, [GROUP], [LEVEL])))

    assert "no cell of the design has a value" in why([replace(row, value=None) for row in grouped(EVEN)])
    assert "fewer than two participants of assistant have" in why(
        grouped({**EVEN, "assistant": EVEN["assistant"][:1]})
    )
    assert "all values are the same" in why([replace(row, value=0.1) for row in grouped(EVEN)])
    assert "do not differ from one another" in why(grouped({group: [[1, 2, 3]] * 3 for group in EVEN}))
    two = grouped({"chef": EVEN["chef"][:2]})
    assert "fewer than three" in str(factorial_anova(factorial_cases(two, [], [LEVEL])))


def test_an_empty_cell_between_people_is_no_cell_to_compare() -> None:
    given = one_value_each(
        {("chef", "alone"): [1, 2], ("chef", "helped"): [2, 4], ("assistant", "alone"): [3, 5]}
    )
    found = factorial_anova(factorial_cases(given, [GROUP, PARTNER]))
    assert isinstance(found, NotComputable) and "assistant \N{MULTIPLICATION SIGN} helped" in str(found)


def test_an_effect_without_error_is_named_and_the_others_are_tested() -> None:
    shift = grouped({group: [[who, who + 1, who + 2] for who in (1, 4, 6)] for group in EVEN})
    found = anova(factorial_cases(shift, [GROUP], [LEVEL]))
    assert found.effect("group") and not found.effect("level")
    assert [one.term for one in found.effects if isinstance(one, UntestedEffect)] == [
        ("level",),
        ("group", "level"),
    ]


def test_a_large_constant_changes_no_number() -> None:
    moved = [replace(row, value=1e9 + (row.value or 0)) for row in grouped(EVEN)]
    for term in (("group",), ("level",)):
        one, other = (
            effect(factorial_cases(given, [GROUP], [LEVEL]), *term) for given in (grouped(EVEN), moved)
        )
        assert one.f == pytest.approx(other.f, rel=1e-6)


def test_wrong_rows_and_factors_are_refused() -> None:
    good = grouped(EVEN)
    with pytest.raises(RowError, match="unknown level of 'level'"):
        factorial_cases([replace(good[0], levels={"group": "chef", "level": "9"})], [GROUP], [LEVEL])
    with pytest.raises(RowError, match="two levels"):
        factorial_cases(
            [good[0], replace(good[0], levels={"group": "assistant", "level": "1"})], [GROUP], [LEVEL]
        )
    with pytest.raises(RowError, match="no usable number"):
        factorial_cases([replace(good[0], value=float("nan"))], [GROUP], [LEVEL])
    with pytest.raises(DefinitionError, match="same key"):
        factorial_cases(good, [GROUP], [AnalysisFactor("group", ("x",))])
    with pytest.raises(DefinitionError, match="twice"):
        AnalysisFactor("group", ("chef", "chef"))


def test_simple_effects_are_anovas_of_their_own_with_holm_over_all() -> None:
    whole = cases("obk")
    found = simple_effects(whole, "phase", ["treatment"])
    assert [one.at for one in found] == [(("treatment", level),) for level in ("control", "A", "B")]
    assert all(isinstance(one, SimpleEffect) for one in found)
    effects = [one for one in found if isinstance(one, SimpleEffect)]
    own = [row for row in rows("obk") if row.levels["treatment"] == "A"]
    apart = factorial_cases(own, [whole.between[1]], whole.within)
    assert effects[1].effect == effect(apart, "phase")
    adjusted = holm_adjusted([one.effect.p_corrected for one in effects])
    assert [one.p_adjusted for one in effects] == adjusted


def test_by_default_every_other_factor_is_fixed_and_what_cannot_be_tested_is_named() -> None:
    found = simple_effects(cases("obk"), "hour")
    assert len(found) == 18 and {len(one.at) for one in found} == {3}
    alone = [one for one in found if isinstance(one, UntestedSimpleEffect)]
    cells = {(dict(one.at)["treatment"], dict(one.at)["gender"]) for one in alone}
    assert cells == {("control", "F"), ("A", "M"), ("A", "F")}, "two people each"
    with pytest.raises(DefinitionError, match="known factors are"):
        simple_effects(cases("obk"), "mood")
    assert select_levels(cases("obk"), {"hour": "h1"}).values.shape == (16, 3)
