"""Numbers in words, as the APA writes them."""

import pytest

from kitchen.words.english_text import counted_noun
from study.analysis.statistics.anova_and_tukey import Anova, Tukey, one_way_anova, tukey_hsd
from study.analysis.statistics.apa_format import (
    DASH,
    MINUS,
    format_anova_effect,
    format_interval,
    format_number,
    format_p,
    format_pair,
    format_share,
)
from study.analysis.statistics.result_sentences import f_test
from tests.study.analysis.statistics.test_analysis import table


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0126, "p = .013"),
        (0.774, "p = .774"),
        (0.0009, "p < .001"),
        (0.0, "p < .001"),
        (0.001, "p = .001"),
        (0.9996, "p > .999"),
        (1.0, "p > .999"),
        (0.0499, "p = .0499"),
        (0.04999, "p = .04999"),
        (0.05, "p = .050"),
    ],
)
def test_a_p_has_no_leading_zero_and_is_never_rounded_across_a_border(p: float, text: str) -> None:
    assert format_p(p) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.346, "2.35"), (-0.5, f"{MINUS}0.50"), (-0.001, "0.00"), (0.0, "0.00"), (None, DASH)],
)
def test_a_number_has_a_true_minus_and_no_negative_zero(value: float | None, text: str) -> None:
    assert format_number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(0.667, ".67"), (-0.031, f"{MINUS}.03"), (1.0, "1.00"), (None, DASH)]
)
def test_a_share_has_no_leading_zero(value: float | None, text: str) -> None:
    assert format_share(value) == text


def test_an_interval_is_in_brackets_or_a_dash() -> None:
    assert format_interval(-0.211, 0.43) == f"[{MINUS}0.21, 0.43]"
    assert format_interval(None, 0.43) == DASH


def test_an_anova_is_one_clause() -> None:
    result = one_way_anova(table([1, 2, 3], [2, 3, 4], [6, 7, 8]))
    assert f_test(result) == "F(2, 6) = 21.00, p = .002"
    assert isinstance(result, Anova)
    assert format_anova_effect(result) == "η² = .88, ω² = .82"


def test_an_anova_that_is_not_computable_says_why() -> None:
    assert f_test(one_way_anova(table([1, 2]))) == "not computable because only C0 has values"


def test_a_pair_is_told_from_the_higher_condition() -> None:
    up, down = tukey_hsd(table([1, 2, 3], [3, 4, 5])), tukey_hsd(table([3, 4, 5], [1, 2, 3]))
    assert isinstance(up, Tukey) and isinstance(down, Tukey)
    told = f"by 2.00, 95% CI [{MINUS}0.27, 4.27], p = .070, g = 1.60"
    assert format_pair(up.pairs[0]) == f"C1 above C0 {told}"
    assert format_pair(down.pairs[0]) == f"C0 above C1 {told}"


def test_one_is_singular() -> None:
    assert (counted_noun(1, "participant"), counted_noun(0, "participant")) == (
        "1 participant",
        "0 participants",
    )
