"""Every test within participants against R, on data sets of R; r/reference.R made the numbers."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from study.analysis.statistics.rows import AnalysisCondition, Measure, Observation
from study.analysis.statistics.scales import Reliability, ScaleAnswers
from study.analysis.statistics.table import MeasureTable, table_of
from study.analysis.statistics.within.contrasts import all_pairs_within
from study.analysis.statistics.within.cumulative import cumulative_link
from study.analysis.statistics.within.intervals import within_intervals
from study.analysis.statistics.within.mixed import TERMS, mixed_model
from study.analysis.statistics.within.ordinal import friedman
from study.analysis.statistics.within.reliability import reliability
from study.analysis.statistics.within.repeated import repeated_measures
from study.analysis.statistics.within.results import (
    Contrast,
    Cumulative,
    Friedman,
    Mixed,
    Repeated,
    Sphericity,
)

R = Path(__file__).parent / "r"
MEASURE = Measure.number("value", "Value", None, None)


@cache
def stored(name: str) -> Any:
    return json.loads((R / name).read_text(encoding="utf-8"))


def of_r(test: str) -> list[tuple[str, Any]]:
    return list(stored("reference.json")[test].items())


def data(name: str) -> MeasureTable:
    """One of the sets; where it has no order, conditions were met in theirs."""
    columns = stored("data.json")["sets"][name]
    labels = list(dict.fromkeys(columns["condition"]))
    conditions = [AnalysisCondition(f"c{i}", label, i) for i, label in enumerate(labels)]
    places = columns.get("position") or [labels.index(one) + 1 for one in columns["condition"]]
    rows = zip(columns["person"], columns["condition"], columns["value"], places, strict=True)
    observations = [
        Observation(who, f"c{labels.index(where)}", "value", float(value), place, False)
        for who, where, value, place in rows
    ]
    return table_of(MEASURE, conditions, observations)


def agree(found: Mapping[str, float], expected: Mapping[str, float]) -> None:
    """To 1e-6, relative; p below 1e-12 count as none."""
    for name, value in found.items():
        assert value == pytest.approx(expected[name], rel=1e-6, abs=1e-12), name


@pytest.mark.parametrize(("name", "r"), of_r("anova"))
def test_repeated_measures_anova(name: str, r: dict[str, float]) -> None:
    found = repeated_measures(data(name))
    assert isinstance(found, Repeated)
    assert isinstance(found.sphericity, Sphericity)
    numbers = {
        "f": found.f, "df": found.df_condition, "df_error": found.df_error, "p": found.p,
        "ss": found.ss_condition, "ss_error": found.ss_error,
        "gg": found.epsilon_gg, "p_gg": found.p_gg, "hf": found.epsilon_hf, "p_hf": found.p_hf,
        "pes": found.partial_eta_squared, "ges": found.generalised_eta_squared,
        "w": found.sphericity.w, "p_w": found.sphericity.p,
    }  # fmt: skip
    agree(numbers, r)
    # what R prints differs in the second-order term alone, which has one k where Anderson has p
    assert found.sphericity.p == pytest.approx(r["p_w_of_r"], rel=3e-3)


@pytest.mark.parametrize(("name", "r"), of_r("pairs"))
def test_all_pairs_with_effects_and_bayes_factors(name: str, r: list[dict[str, float]]) -> None:
    for found, expected in zip(all_pairs_within(data(name)).contrasts, r, strict=True):
        assert isinstance(found, Contrast)
        numbers = {
            "difference": found.difference, "t": found.t, "p": found.p, "p_holm": found.p_adjusted,
            "low": found.ci_low, "high": found.ci_high,
            "g": found.g, "g_low": found.g_low, "g_high": found.g_high, "bf": found.bayes_factor,
        }  # fmt: skip
        agree(numbers, expected)


@pytest.mark.parametrize(("name", "r"), of_r("friedman"))
def test_friedman_with_all_pairs(name: str, r: dict[str, Any]) -> None:
    found = friedman(data(name))
    assert isinstance(found, Friedman)
    agree({"chi": found.chi_squared, "df": found.df, "p": found.p, "w": found.w}, r)
    for pair, expected in zip(found.pairs, r["pairs"], strict=True):
        agree({"nemenyi": pair.p_nemenyi, "conover": pair.p_conover}, expected)


@pytest.mark.parametrize(("name", "r"), of_r("intervals"))
def test_intervals_within_participants(name: str, r: dict[str, list[float]]) -> None:
    for place, found in enumerate(within_intervals(data(name))):
        agree(
            {"mean": found.mean, "low": found.low, "high": found.high},
            {key: r[key][place] for key in ("mean", "low", "high")},
        )


@pytest.mark.parametrize(("name", "r"), of_r("mixed"))
def test_mixed_model_with_order_carry_over_and_gaps(name: str, r: dict[str, Any]) -> None:
    ordered = name.startswith("OrchardSprays")  # a Latin square: rows, positions and treatments
    found = mixed_model(data(name), TERMS if ordered else ("condition",))
    assert isinstance(found, Mixed)
    numbers = (found.variance_participant, found.variance_error, found.log_likelihood)
    agree(dict(zip(("participant", "error", "log_likelihood"), numbers, strict=True)), r)
    assert len(r["tests"]) == (3 if ordered else 1)
    for term, expected in r["tests"].items():
        effect = found.effect(term)
        assert effect is not None
        agree({"f": effect.f, "df": effect.df, "df_error": effect.df_error, "p": effect.p}, expected)


@pytest.mark.parametrize(("name", "r"), of_r("cumulative"))
def test_cumulative_link_model_clustered_by_participant(name: str, r: dict[str, Any]) -> None:
    found = cumulative_link(data(name))
    assert isinstance(found, Cumulative)
    agree({"log_likelihood": found.log_likelihood, "chi": found.chi_squared}, r)
    assert [odds for _, odds in found.odds] == pytest.approx(r["odds"], rel=1e-6)


@pytest.mark.parametrize(("name", "r"), of_r("reliability"))
def test_alpha_omega_and_item_rest_correlations(name: str, r: dict[str, Any]) -> None:
    columns = stored("data.json")["items"][name]
    rows = tuple(tuple(map(float, row)) for row in zip(*columns.values(), strict=True))
    found = reliability(ScaleAnswers(name, name, "", tuple(columns), rows))
    assert isinstance(found, Reliability)
    assert (found.alpha, found.omega) == pytest.approx((r["alpha"], r["omega"]), rel=1e-6)
    assert (found.alpha_low, found.alpha_high) == pytest.approx(r["feldt"], rel=1e-6)
    assert [value for _, value in found.item_rest] == pytest.approx(r["rest"], rel=1e-6)
