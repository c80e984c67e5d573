"""Compare every number of the factorial tests with R's, for test_factorial_against_r.py, and write the table
in docs/factorial-checks.md:

    python -m tests.study.analysis.statistics.factorial_r_table
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from study.analysis.statistics.factorial.cell_means import (
    PlannedCellContrast,
    cell_contrasts,
    marginal_means,
    product_weights,
)
from study.analysis.statistics.factorial.covariance_analysis import ancova
from study.analysis.statistics.factorial.factorial_anova import factorial_anova, simple_effects
from study.analysis.statistics.factorial.factorial_cases import (
    FactorialCases,
    FactorialRow,
    cells_of,
    factorial_cases,
)
from study.analysis.statistics.factorial.factorial_mixed_model import linear_mixed_model
from study.analysis.statistics.factorial.factorial_results import (
    Ancova,
    AncovaEffect,
    CellContrast,
    CovariateEffect,
    FactorialAnova,
    FactorialEffect,
    MarginalMean,
    SimpleEffect,
)
from study.analysis.statistics.factorial.mixed_model_results import (
    FactorialMixedModel,
    MixedContrast,
    OrdinalEffect,
    OrdinalMixedModel,
)
from study.analysis.statistics.factorial.ordinal_mixed_model import NODES, cumulative_link_mixed_model
from study.analysis.statistics.factorial.study_factors import AnalysisFactor
from study.analysis.statistics.observations import NotComputable
from study.analysis.statistics.within.equivalence_results import Equivalence, EquivalenceBounds
from study.analysis.statistics.within.result_types import Sphericity
from tests.study.analysis.statistics.r_table import Comparison, Number, line_of, stored
from tests.study.analysis.statistics.two_sample_equivalence import (
    independent_bayes_factor,
    independent_equivalence,
    paired_equivalence,
)


def sets() -> list[tuple[str, str]]:
    """Return every test with each of its data sets."""
    return [(test, name) for test in COMPARED for name in stored("factorial_reference.json")[test]]


@cache
def compared(test: str, name: str) -> tuple[Number, ...]:
    """Return all numbers of a test on one data set, the main statistic first."""
    return tuple(COMPARED[test].numbers(name, stored("factorial_reference.json")[test][name]))


@cache
def factors(name: str, where: str) -> tuple[AnalysisFactor, ...]:
    """Return the factors of a data set that are `between` or `within` participants."""
    whole = stored("factorial_data.json")
    return tuple(
        AnalysisFactor(key, tuple(dict.fromkeys(whole["sets"][name][key])))
        for key in whole["designs"][name][where]
    )


@cache
def rows(name: str, covariates: tuple[str, ...] = ()) -> tuple[FactorialRow, ...]:
    """Read one of the data sets."""
    columns = stored("factorial_data.json")["sets"][name]
    keys = [one.key for where in ("between", "within") for one in factors(name, where)]
    return tuple(
        FactorialRow(
            who,
            {key: columns[key][place] for key in keys},
            float(columns["value"][place]),
            {key: float(columns[key][place]) for key in covariates},
        )
        for place, who in enumerate(columns["person"])
    )


@cache
def cases(name: str, covariates: tuple[str, ...] = ()) -> FactorialCases:
    """Return the complete cases of one of the data sets."""
    return factorial_cases(
        rows(name, covariates), factors(name, "between"), factors(name, "within"), covariates
    )


def both(prefix: str, ours: Mapping[str, float], of_r: Mapping[str, float]) -> list[Number]:
    """Pair our numbers with R's of the same name. Every number of R must be there."""
    assert set(ours) == set(of_r), prefix
    return [Number(f"{prefix} {name}", value, of_r[name]) for name, value in ours.items()]


def effect_numbers(one: FactorialEffect) -> dict[str, float]:
    """Return the numbers of an effect by R's names."""
    numbers = {
        "f": one.f, "df": one.df, "df_error": one.df_error, "p": one.p,
        "ss": one.ss, "ss_error": one.ss_error,
        "pes": one.partial_eta_squared, "ges": one.generalised_eta_squared,
    }  # fmt: skip
    if found := one.correction:
        assert isinstance(found.sphericity, Sphericity)
        numbers |= {
            "gg": found.epsilon_gg, "p_gg": found.p_gg, "hf": found.epsilon_hf, "p_hf": found.p_hf,
            "w": found.sphericity.w, "p_w": found.sphericity.p,
        }  # fmt: skip
    return numbers


def _anova(name: str, r: Mapping[str, Mapping[str, float]]) -> list[Number]:
    found = factorial_anova(cases(name))
    assert isinstance(found, FactorialAnova)
    assert {":".join(one.term) for one in found.effects} == set(r)
    return _effects((found.effect(*term.split(":")) for term in r), r)


def _effects(found: Iterable[FactorialEffect | None], r: Mapping[str, Mapping[str, float]]) -> list[Number]:
    numbers: list[Number] = []
    for (name, expected), one in zip(r.items(), found, strict=True):
        assert one is not None, name
        numbers += both(name, effect_numbers(one), expected)
    return numbers


def _simple(name: str, r: Mapping[str, Any]) -> list[Number]:
    numbers: list[Number] = []
    found = simple_effects(cases(name), r["factor"], [r["at"]])
    for one, (level, expected) in zip(found, r["effects"].items(), strict=True):
        assert isinstance(one, SimpleEffect) and one.at == ((r["at"], level),)
        numbers += both(level, effect_numbers(one.effect) | {"p_holm": one.p_adjusted}, expected)
    return numbers


def _means(name: str, r: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[Number]:
    found = marginal_means(cases(name))
    assert not isinstance(found, NotComputable)
    assert {":".join(term) for term in found if len(term) < 3} == set(r)
    numbers: list[Number] = []
    for term, expected in r.items():
        for one in found[tuple(term.split(":"))]:
            cell = ":".join(level for _, level in one.levels)
            numbers += both(f"{term} {cell}", mean_numbers(one), expected[cell])
    return numbers


def mean_numbers(one: MarginalMean) -> dict[str, float]:
    """Return the numbers of a marginal mean by R's names."""
    return {"mean": one.mean, "se": one.se, "df": one.df, "low": one.ci_low, "high": one.ci_high}


def _contrasts(name: str, r: Mapping[str, Mapping[str, Any]]) -> list[Number]:
    whole = cases(name)
    planned = [
        PlannedCellContrast(key, product_weights(whole.factors, one["weights"])) for key, one in r.items()
    ]
    numbers: list[Number] = []
    for one in cell_contrasts(whole, planned):
        assert isinstance(one, CellContrast)
        ours = {
            "estimate": one.estimate, "se": one.se, "df": one.df, "t": one.t, "p": one.p,
            "p_holm": one.p_adjusted, "low": one.ci_low, "high": one.ci_high,
            "g": one.g, "g_low": one.g_low, "g_high": one.g_high,
        }  # fmt: skip
        if "bf" in r[one.name]["numbers"]:
            ours["bf"] = one.bayes_factor
        numbers += both(one.name, ours, r[one.name]["numbers"])
    return numbers


def _mixed(name: str, r: Mapping[str, Any]) -> list[Number]:
    covariates = tuple(stored("factorial_data.json")["designs"][name].get("covariates", ()))
    between, within = factors(name, "between"), factors(name, "within")
    *others, last = [*between, *within]
    start = tuple(one.levels[0] for one in others)
    planned = PlannedCellContrast("H1", {(*start, last.levels[-1]): 1.0, (*start, last.levels[0]): -1.0})
    found = linear_mixed_model(rows(name, covariates), between, within, covariates, [planned])
    assert isinstance(found, FactorialMixedModel)
    tests: dict[str, Mapping[str, float]] = {
        ":".join(one.term): {"f": one.f, "df": one.df, "df_error": one.df_error, "p": one.p}
        for one in found.tested
    }
    for slope in found.covariates:
        assert isinstance(slope, CovariateEffect)
        tests[slope.name] = {"f": slope.f, "df": 1, "df_error": slope.df_error, "p": slope.p}
    assert set(tests) == set(r["tests"])
    numbers: list[Number] = []
    for term, ours in tests.items():
        numbers += both(term, ours, {key: r["tests"][term][key] for key in ours})
    kept = {f"person{one.factor}": one.variance for one in found.random if not one.dropped}
    numbers += both("random", kept, r["random"])
    for one in found.means[(r["first"],)]:
        numbers += both(str(one.levels), mean_numbers(one), r["means"][one.levels[0][1]])
    (contrast,) = found.contrasts
    assert isinstance(contrast, MixedContrast)
    ours = {
        "estimate": contrast.estimate, "se": contrast.se, "t": contrast.t, "df": contrast.df,
        "p": contrast.p, "low": contrast.ci_low, "high": contrast.ci_high,
    }  # fmt: skip
    numbers += both("contrast", ours, r["contrast"])
    ours = {"error": found.variance_error, "log_likelihood": found.log_likelihood}
    return numbers + both("model", ours, {key: r[key] for key in ours})


def _fraction(name: str, r: Mapping[str, Any]) -> list[Number]:
    between, within = factors(name, "between"), factors(name, "within")
    first, second = (
        dict(zip([*between, *within], cell.split(":"), strict=True)) for cell in [*r["means"]][:2]
    )
    planned = PlannedCellContrast("H1", {tuple(second.values()): 1.0, tuple(first.values()): -1.0})
    found = linear_mixed_model(rows(name), between, within, (), [planned])
    assert isinstance(found, FactorialMixedModel)
    assert {":".join(one.term) for one in found.tested} == set(r["tests"])
    numbers: list[Number] = []
    for one in found.tested:
        ours = {"f": one.f, "df": one.df, "df_error": one.df_error, "p": one.p}
        expected = r["tests"][":".join(one.term)]
        numbers += both(":".join(one.term), ours, {key: expected[key] for key in ours})
    kept = {f"person{one.factor}": one.variance for one in found.random if not one.dropped}
    numbers += both("random", kept, r["random"])
    means = found.means[tuple(one.key for one in (*between, *within))]
    cells = {":".join(level for _, level in one.levels): mean_numbers(one) for one in means}
    assert set(cells) == set(r["means"])
    numbers += [number for cell, ours in cells.items() for number in both(cell, ours, r["means"][cell])]
    (contrast,) = found.contrasts
    assert isinstance(contrast, MixedContrast)
    ours = {
        "estimate": contrast.estimate, "se": contrast.se, "t": contrast.t, "df": contrast.df,
        "p": contrast.p, "low": contrast.ci_low, "high": contrast.ci_high,
    }  # fmt: skip
    numbers += both("contrast", ours, r["contrast"])
    return [*numbers, Number("error", found.variance_error, r["error"])]


def _ancova(name: str, r: Mapping[str, Any]) -> list[Number]:
    covariates = tuple(stored("factorial_data.json")["designs"][name]["covariates"])
    given = cases(name, covariates)
    cells = cells_of(given.between)
    second = [cell for cell in cells if cell[-1] == given.between[-1].levels[1]]
    weights = {cell: 1 / len(second) for cell in second} | {cells[0]: -1.0}
    found = ancova(given, [PlannedCellContrast("H1", weights)])
    assert isinstance(found, Ancova)
    (contrast,) = found.contrasts
    assert isinstance(contrast, CellContrast)
    tests = {
        ":".join(one.term): {"ss": one.ss, "f": one.f, "df": one.df, "p": one.p} for one in found.effects
    }
    assert {*tests, *covariates} == set(r["tests"])
    numbers = [one for term, ours in tests.items() for one in both(term, ours, r["tests"][term])]
    for slope, expected in zip(found.covariates, r["slope"], strict=True):
        assert isinstance(slope, CovariateEffect)
        own = r["tests"][slope.name]
        numbers += both(slope.name, {"f": slope.f, "p": slope.p}, {"f": own["f"], "p": own["p"]})
        numbers.append(Number(slope.name, slope.slope, expected))
    for key, expected in r["means"].items():
        for one in found.means[(key,)]:
            numbers += both(str(one.levels), mean_numbers(one), expected[one.levels[0][1]])
    slopes = found.unequal_slopes
    assert isinstance(slopes, AncovaEffect)
    expected = {key: value for key, value in r["contrast"].items() if key != "weights"}
    ours = {
        "estimate": contrast.estimate, "se": contrast.se, "t": contrast.t, "df": contrast.df,
        "p": contrast.p, "low": contrast.ci_low, "high": contrast.ci_high,
    }  # fmt: skip
    numbers += both("contrast", ours, expected)
    ours = {"f": slopes.f, "df": slopes.df, "df_error": slopes.df_error, "p": slopes.p}
    return [*numbers, *both("slopes", ours, r["unequal"]), Number("error", found.ss_error, r["error"])]


def _equivalence(name: str, r: Mapping[str, Any]) -> list[Number]:
    given = stored("factorial_data.json")["pairs"][name]
    test = paired_equivalence if given["paired"][0] else independent_equivalence
    numbers: list[Number] = []
    for unit, bounds in (("raw", EquivalenceBounds(-2, 3)), ("d", EquivalenceBounds(-0.5, 0.8, "d"))):
        found = test(given["first"], given["second"], bounds)
        assert isinstance(found, Equivalence)
        ours = {
            "t_above": found.above.t, "p_above": found.above.p, "t_below": found.below.t,
            "p_below": found.below.p, "df": found.df, "low": found.ci_low, "high": found.ci_high,
        }  # fmt: skip
        numbers += both(unit, ours, r[unit])
    if not given["paired"][0]:
        factor = independent_bayes_factor(given["first"], given["second"])
        assert isinstance(factor, float)
        numbers.append(Number("bayes factor", factor, r["bf"]))
    return numbers


def _ordinal(name: str, r: Mapping[str, Any]) -> list[Number]:
    given = rows(name), factors(name, "between"), factors(name, "within")
    numbers: list[Number] = []
    for kind, nodes in (("laplace", 1), ("quadrature", NODES)):
        found, of_r = cumulative_link_mixed_model(*given, nodes=nodes), r[kind]
        assert isinstance(found, OrdinalMixedModel)
        tested = (one for one in found.effects if isinstance(one, OrdinalEffect))
        assert {":".join(one.term) for one in tested} == set(of_r["tests"])
        for term, expected in of_r["tests"].items():
            one = found.effect(*term.split(":"))
            assert one is not None
            ours = {"chi": one.chi_squared, "df": one.df, "p": one.p}
            numbers += both(f"{kind} {term}", ours, expected)
        numbers.append(Number(f"{kind} sd", found.sd_participant, of_r["sd"]))
        numbers.append(Number(f"{kind} log likelihood", found.log_likelihood, of_r["log_likelihood"]))
        if name.endswith("fraction"):
            continue
        means = next(iter(found.means.values()))
        for what, values, expected in (
            ("threshold", found.thresholds, of_r["thresholds"]),
            ("log odds", [one.log_odds for one in means], of_r["log_odds"]),
            ("se", [one.se for one in means], of_r["se"]),
        ):
            numbers += [Number(f"{kind} {what}", *one) for one in zip(values, expected, strict=True)]
    return numbers


COMPARED: Mapping[str, Comparison] = {
    "anova": Comparison("factorial ANOVA", "F of the first effect", _anova),
    "simple": Comparison("simple effects", "F of the first", _simple),
    "means": Comparison("marginal means", "the first mean", _means),
    "contrasts": Comparison("contrasts of cells", "the first estimate", _contrasts),
    "mixed": Comparison("linear mixed model", "F of the first effect", _mixed),
    "fraction": Comparison("mixed model, missing cells", "F of the first effect", _fraction),
    "ancova": Comparison("analysis of covariance, its contrasts", "SS of the first effect", _ancova),
    "equivalence": Comparison("equivalence", "t against the lower bound", _equivalence),
    "ordinal": Comparison("cumulative-link mixed model", "χ² of the first effect", _ordinal),
}


def table() -> list[str]:
    """Return the lines of the table in docs/factorial-checks.md, one for each test. The main statistic is
    that of the first data set."""
    head = ["| test | data | main statistic | R | Brigade | numbers | largest deviation |"]
    lines = []
    for test, words in COMPARED.items():
        names = list(stored("factorial_reference.json")[test])
        numbers = [number for name in names for number in compared(test, name)]
        lines.append(line_of(words, ", ".join(names), numbers))
    return [*head, "|---|---|---|---|---|---|---|", *lines]


if __name__ == "__main__":
    print("\n".join(table()))
