"""Compare every number of our statistics with R's, for test_against_r.py, and write the table in
docs/statistics-checks.md:

    python -m tests.study.analysis.statistics.r_table
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from study.analysis.statistics.observations import (
    AnalysisCondition,
    Measure,
    MeasureTable,
    Observation,
    table_of,
)
from study.analysis.statistics.within.mixed_model import TERMS, mixed_model
from study.analysis.statistics.within.ordinal_tests import cumulative_link, friedman
from study.analysis.statistics.within.paired_contrasts import all_pairs_within
from study.analysis.statistics.within.repeated_measures_anova import repeated_measures, within_intervals
from study.analysis.statistics.within.result_types import (
    Contrast,
    CumulativeLink,
    Effect,
    Friedman,
    MixedModel,
    Reliability,
    RepeatedMeasures,
    ScaleAnswers,
    Sphericity,
)
from study.analysis.statistics.within.scale_reliability import reliability

R = Path(__file__).parent / "r"
MEASURE = Measure.number("value", "Value", None, None)
NONE = 1e-12
"""The largest difference that counts as none. p values below it also count as equal."""


@dataclass(frozen=True, slots=True)
class Number:
    """One number as we and R computed it."""

    name: str
    ours: float
    of_r: float

    @property
    def deviation(self) -> float:
        """Return the deviation from R's number, relative to that number."""
        apart = abs(self.ours - self.of_r)
        return 0.0 if apart <= NONE else apart / max(abs(self.of_r), NONE)


@cache
def stored(name: str) -> Any:
    """Read one of the files that reference.R wrote."""
    return json.loads((R / name).read_text(encoding="utf-8"))


def sets() -> list[tuple[str, str]]:
    """Return every test with each of its data sets."""
    return [(test, name) for test in COMPARED for name in stored("reference.json")[test]]


@cache
def compared(test: str, name: str) -> tuple[Number, ...]:
    """Return all numbers of a test on one data set, the main statistic first."""
    return tuple(COMPARED[test].numbers(name, stored("reference.json")[test][name]))


def data(name: str) -> MeasureTable:
    """Read one of the data sets. If it has no order of conditions, use the order in the file."""
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


def _both(ours: Mapping[str, float], of_r: Mapping[str, float]) -> list[Number]:
    return [Number(name, value, of_r[name]) for name, value in ours.items()]


def _lists(name: str, ours: Iterable[float], of_r: Iterable[float]) -> list[Number]:
    return [Number(name, one, other) for one, other in zip(ours, of_r, strict=True)]


def _anova(name: str, r: Mapping[str, float]) -> list[Number]:
    found = repeated_measures(data(name))
    assert isinstance(found, RepeatedMeasures)
    assert isinstance(found.sphericity, Sphericity)
    numbers = {
        "f": found.f, "df": found.df_condition, "df_error": found.df_error, "p": found.p,
        "ss": found.ss_condition, "ss_error": found.ss_error,
        "gg": found.epsilon_gg, "p_gg": found.p_gg, "hf": found.epsilon_hf, "p_hf": found.p_hf,
        "pes": found.partial_eta_squared, "ges": found.generalised_eta_squared,
        "w": found.sphericity.w, "p_w": found.sphericity.p,
    }  # fmt: skip
    return _both(numbers, r)


def _pairs(name: str, r: list[dict[str, float]]) -> list[Number]:
    numbers: list[Number] = []
    for found, expected in zip(all_pairs_within(data(name)).contrasts, r, strict=True):
        assert isinstance(found, Contrast)
        ours = {
            "t": found.t, "difference": found.difference, "p": found.p, "p_holm": found.p_adjusted,
            "low": found.ci_low, "high": found.ci_high,
            "g": found.g, "g_low": found.g_low, "g_high": found.g_high, "bf": found.bayes_factor,
        }  # fmt: skip
        numbers += _both(ours, expected)
    return numbers


def _friedman(name: str, r: Mapping[str, Any]) -> list[Number]:
    found = friedman(data(name))
    assert isinstance(found, Friedman)
    numbers = _both({"chi": found.chi_squared, "df": found.df, "p": found.p, "w": found.w}, r)
    for pair, expected in zip(found.pairs, r["pairs"], strict=True):
        numbers += _both({"nemenyi": pair.p_nemenyi, "conover": pair.p_conover}, expected)
    return numbers


def _intervals(name: str, r: Mapping[str, list[float]]) -> list[Number]:
    found = within_intervals(data(name))
    ends = [_lists(key, [getattr(one, key) for one in found], r[key]) for key in ("low", "high", "mean")]
    return [number for numbers in ends for number in numbers]


def _mixed(name: str, r: Mapping[str, Any]) -> list[Number]:
    """Fit the mixed model. OrchardSprays is a Latin square with positions; the other data sets have no
    order."""
    found = mixed_model(data(name), TERMS if name.startswith("OrchardSprays") else ("condition",))
    assert isinstance(found, MixedModel)
    assert {effect.term for effect in found.effects} == set(r["tests"])
    numbers: list[Number] = []
    for term, expected in r["tests"].items():
        effect = found.effect(term)
        assert isinstance(effect, Effect)
        ours = {"f": effect.f, "df": effect.df, "df_error": effect.df_error, "p": effect.p}
        numbers += _both(ours, expected)
    variances = {"participant": found.variance_participant, "error": found.variance_error}
    return numbers + _both({**variances, "log_likelihood": found.log_likelihood}, r)


def _cumulative(name: str, r: Mapping[str, Any]) -> list[Number]:
    found = cumulative_link(data(name))
    assert isinstance(found, CumulativeLink)
    numbers = _both({"chi": found.chi_squared, "log_likelihood": found.log_likelihood}, r)
    return numbers + _lists("odds", [odds for _, odds in found.odds], r["odds"])


def _reliability(name: str, r: Mapping[str, Any]) -> list[Number]:
    columns = stored("data.json")["items"][name]
    rows = tuple(tuple(map(float, row)) for row in zip(*columns.values(), strict=True))
    found = reliability(ScaleAnswers(name, name, "", tuple(columns), rows))
    assert isinstance(found, Reliability)
    assert found.omega is not None
    numbers = _both({"alpha": found.alpha, "omega": found.omega}, r)
    numbers += _lists("feldt", (found.alpha_low, found.alpha_high), r["feldt"])
    return numbers + _lists("rest", [value for _, value in found.item_rest], r["rest"])


@dataclass(frozen=True, slots=True)
class Comparison:
    """A test and its main statistic in words, and the function that computes the numbers."""

    words: str
    statistic: str
    numbers: Callable[[str, Any], list[Number]]


COMPARED: Mapping[str, Comparison] = {
    "anova": Comparison("repeated-measures ANOVA", "F", _anova),
    "pairs": Comparison("pairs", "t of the first", _pairs),
    "friedman": Comparison("Friedman", "χ²", _friedman),
    "intervals": Comparison("intervals within", "lower end of the first", _intervals),
    "mixed": Comparison("mixed model", "F of the condition", _mixed),
    "cumulative": Comparison("cumulative-link model", "Wald's χ²", _cumulative),
    "reliability": Comparison("reliability", "\N{GREEK SMALL LETTER ALPHA}", _reliability),
}


def table() -> list[str]:
    """Return the lines of the table in docs/statistics-checks.md."""
    head = ["| test | data | main statistic | R | Brigade | numbers | largest deviation |"]
    lines = [line_of(COMPARED[test], name, compared(test, name)) for test, name in sets()]
    return [*head, "|---|---|---|---|---|---|---|", *lines]


def line_of(words: Comparison, name: str, numbers: Sequence[Number]) -> str:
    """Return the table's line of one test on the data set `name`. The main statistic is the first number."""
    main = numbers[0]
    worst = max(number.deviation for number in numbers)
    cells = (words.words, name, words.statistic, f"{main.of_r:.7g}", f"{main.ours:.7g}", len(numbers))
    return f"| {' | '.join(map(str, cells))} | {_magnitude(worst)} |"


def _magnitude(deviation: float) -> str:
    """Format a deviation with one digit, or as zero below 1e-11, where it is rounding error."""
    return f"{deviation:.0e}".replace("e-0", "e-") if deviation >= 1e-11 else "< 1e-11"


def without_deviation(line: str) -> str:
    """Return a line of the table without its last column: the deviation may have another digit on another
    machine."""
    return line.rsplit("|", 2)[0]


if __name__ == "__main__":
    print("\n".join(table()))
