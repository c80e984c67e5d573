"""What the tests of a measure take for granted, looked at and told in words.

Residuals are what is left of the complete rows without participants' and conditions' means. A test of an
assumption says little in small samples, so the sentences name what to read instead and decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.stats import f_oneway, shapiro

from kitchen.words.counting import counted, percent
from study.analysis.statistics.format import number, p_value, share
from study.analysis.statistics.rows import AnalysisCondition
from study.analysis.statistics.table import MeasureTable
from study.analysis.statistics.within.cells import Array, Cells, cells_of, residuals, same
from study.analysis.statistics.within.results import LEVEL, Assumption, Mixed, NoEffect, Repeated, Sphericity

AT_THE_END = 0.5
"""From this share of values at an end of the scale on, it is told."""
FAR = 3.0
"""Standard deviations of the residuals."""
MOST_NAMED = 5
NAMES = {"condition": "condition", "position": "position in the order", "carry_over": "carry-over"}


def assumptions(table: MeasureTable, repeated: object, mixed: object) -> tuple[Assumption, ...]:
    """All that was looked at, what does not hold first."""
    cells = cells_of(table)
    found = [*_variance(table), *_ends(table), *_missing(cells)]
    if isinstance(repeated, Repeated):
        found += [*_sphericity(repeated), *_residuals(cells)]
    if isinstance(mixed, Mixed):
        found += _order(mixed)
    return tuple(sorted(found, key=lambda one: one.holds))


def _variance(table: MeasureTable) -> Iterator[Assumption]:
    """Conditions in which everybody has the same value; homogeneity where none is so."""
    groups = {c: np.array(values) for c, values in table.groups().items() if len(values) > 1}
    flat = [c for c, values in groups.items() if same(values)]
    if flat and len(flat) == len(groups):
        yield Assumption("variance", False, "Values do not vary within any condition.")
    elif flat:
        where = "; ".join(f"{c.label}: all {len(groups[c])} values are {number(groups[c][0])}" for c in flat)
        yield Assumption(
            "variance",
            False,
            f"Values do not vary ({where}). F and p of every analysis of variance lean on the other "
            "conditions alone; do not rest a claim on them.",
        )
    elif len(groups) > 1:
        p = _brown_forsythe(list(groups.values()))
        told = "no sign that spreads differ" if p >= LEVEL else "spreads differ between conditions"
        words = f"Brown\N{EN DASH}Forsythe {p_value(p)}"
        yield Assumption(
            "homogeneity", p >= LEVEL, f"Homogeneity: {told} ({words}). Paired contrasts do not need it."
        )


def _brown_forsythe(groups: Sequence[Array]) -> float:
    """p of an analysis of variance of distances from the medians; 1 or 0 where these do not vary within."""
    apart = [np.abs(values - np.median(values)) for values in groups]
    if all(same(values) for values in apart):
        return float(same(np.array([values.mean() for values in apart])))
    return float(f_oneway(*apart).pvalue)


def _ends(table: MeasureTable) -> Iterator[Assumption]:
    for end, name in ((table.measure.high, "highest"), (table.measure.low, "lowest")):
        told = [_at(condition, values, end) for condition, values in table.groups().items()]
        if said := "; ".join(filter(None, told)):
            word = "ceiling" if name == "highest" else "floor"
            yield Assumption(word, False, f"A {word}: values are the {name} that the scale has ({said}).")


def _at(condition: AnalysisCondition, values: tuple[float, ...], end: float | None) -> str:
    there = sum(value == end for value in values) / len(values)
    return f"{percent(there)} in {condition.label}" if there >= AT_THE_END else ""


def _missing(cells: Cells) -> Iterator[Assumption]:
    if not cells.conditions:
        return
    if not cells.left_out:
        yield Assumption("missing", True, "Nobody lacks a value in any condition that is compared.")
        return
    named = [
        f"{one.participant} (no value in {', '.join(one.lacking)})" for one in cells.left_out[:MOST_NAMED]
    ]
    more = len(cells.left_out) - len(named)
    who = "; ".join(named) + (f"; and {more} more" if more else "")
    yield Assumption(
        "missing",
        False,
        f"{counted(len(cells.left_out), 'participant')} left out of the repeated-measures ANOVA, Friedman's "
        f"test and the contrasts that need what is missing: {who}. The mixed model uses what they gave.",
    )


def _sphericity(repeated: Repeated) -> Iterator[Assumption]:
    found = repeated.sphericity
    if isinstance(found, Sphericity):
        holds = found.p >= LEVEL
        told = "no sign against it" if holds else "it does not hold; read the corrected p"
        words = f"Mauchly's W = {share(found.w, 3)}, {p_value(found.p)}"
        yield Assumption("sphericity", holds, f"Sphericity: {told} ({words}).")
    elif found is not None:
        yield Assumption("sphericity", False, f"Sphericity: Mauchly's test is {found}. Read the corrected p.")


def _residuals(cells: Cells) -> Iterator[Assumption]:
    left = residuals(cells.values)
    found = shapiro(left.ravel())
    holds = not found.pvalue < LEVEL
    told = "look normal" if holds else "are not normal; Friedman's test does not need that"
    words = f"Shapiro\N{EN DASH}Wilk W = {share(float(found.statistic), 3)}, {p_value(float(found.pvalue))}"
    yield Assumption("normality", holds, f"Residuals {told} ({words}).")
    yield from _outliers(cells, left)


def _outliers(cells: Cells, left: Array) -> Iterator[Assumption]:
    n, k = left.shape
    far = left / np.sqrt((left**2).sum() / ((n - 1) * (k - 1)))
    places = [(i, j) for i, j in np.argwhere(np.abs(far) > FAR)]
    named = [
        f"{cells.participants[i]} in {cells.conditions[j].label} ({number(float(far[i, j]), 1)} SD)"
        for i, j in places[:MOST_NAMED]
    ]
    if places:
        more = f"; and {len(places) - len(named)} more" if len(places) > len(named) else ""
        words = (
            f"{counted(len(places), 'value')} far from the rest: {'; '.join(named)}{more}. None was left out."
        )
        yield Assumption("outliers", False, words)
    else:
        yield Assumption(
            "outliers", True, f"No value lies more than {FAR:g} standard deviations from the rest."
        )


def _order(mixed: Mixed) -> Iterator[Assumption]:
    for one in mixed.effects:
        if one.term == "condition":
            continue
        name = NAMES[one.term].capitalize()
        if isinstance(one, NoEffect):
            yield Assumption(one.term, False, f"{name} cannot be told: {one.because.because}.")
        elif one.p < LEVEL:
            yield Assumption(
                one.term, False, f"{name} made a difference ({p_value(one.p)}); see the mixed model."
            )
    if mixed.singular:
        words = (
            "Participants do not differ from one another more than chance: their variance is estimated as 0."
        )
        yield Assumption("singular", False, words)
