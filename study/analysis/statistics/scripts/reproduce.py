"""Reproduce every row of tests.csv from analysed.csv, with numpy and scipy.

Run `python reproduce.py [FOLDER]`. The folder has analysed.csv, rounds.csv and tests.csv. By default it is
the folder of this script. The script prints each row that differs or that it does not compute. The exit code
is 1 if a number differs by more than a relative 1e-6. Differences below 1e-12 count as none. Brigade is not
needed.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, product
from math import exp, lgamma, log, log1p, pi, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import brentq, minimize
from scipy.special import expit, ndtr

STUDY: dict[str, Any] = {}

LARGEST, NONE = 1e-6, 1e-12
"""The largest relative difference of a reproduced number, and the absolute difference that counts as none."""
COLUMNS = (
    *("n", "left_out", "statistic", "df1", "df2", "p", "p_adjusted", "effect", "effect_low", "effect_high"),
    *("effect2", "difference", "difference_low", "difference_high", "bayes_factor"),
)
NAMES = {True: "Huynh\u2013Feldt", False: "Greenhouse\u2013Geisser"}
Numbers = dict[str, float]


class Found(defaultdict[tuple[str, str], list[Numbers]]):
    """The numbers of each row of a measure, by (test, term). `reasons` says why some are missing, by the same
    pair, or by a pair of empty texts for other rows."""

    def __init__(self) -> None:
        super().__init__(list)
        self.reasons: dict[tuple[str, str], str] = {}


class Row(NamedTuple):
    """A row of analysed.csv. `aside` is True for a participant whom only the mixed model uses. `covariates`
    are the values of the planned covariates; None if one is missing."""

    participant: str
    condition: str
    value: float | None
    position: int
    group: str
    aside: bool
    covariates: list[float] | None


class Measured:
    """The rows of one measure. `rounds` has the condition at each (participant, position)."""

    def __init__(self, plan: Mapping[str, Any], rows: Sequence[Row], rounds: Mapping[tuple[str, int], str]):
        self.plan, self.rounds = plan, rounds
        self.rows = [row for row in rows if not row.aside]
        self.values = [row for row in self.rows if row.value is not None]
        self.whole = [row for row in rows if row.value is not None]
        self.conditions = [key for key in STUDY["conditions"] if any(r.condition == key for r in self.values)]

    def by_person(self) -> dict[str, dict[str, Any]]:
        """Return each participant's values by condition."""
        found: dict[str, dict[str, Any]] = {}
        for row in self.values:
            found.setdefault(row.participant, {})[row.condition] = row.value
        return found

    def complete(self, keys: Sequence[str]) -> tuple[Any, int]:
        """Return the values of those with a value in all conditions `keys` (people x conditions), and the
        number of participants who lack one."""
        people = self.by_person()
        if STUDY["groups"]:
            able = {one for one in STUDY["groups"] if set(keys) <= conditions_of(one)}
            players = {row.participant for row in self.rows if row.group in able}
            people = {who: own for who, own in people.items() if who in players}
        whole = [[own[key] for key in keys] for own in people.values() if set(keys) <= set(own)]
        return np.array(whole, dtype=float).reshape(len(whole), len(keys)), len(people) - len(whole)


def conditions_of(group: str) -> set[str]:
    """Return the conditions that a group plays."""
    return {key for key, whose in STUDY["played_by"].items() if whose in ("", group)}


def holm(ps: Sequence[float]) -> list[float]:
    """Return p values adjusted after Holm (1979)."""
    order, found, highest = sorted(range(len(ps)), key=lambda i: ps[i]), [0.0] * len(ps), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[place]))
        found[place] = highest
    return found


def adjust(rows: Sequence[Numbers]) -> None:
    """Add the p values adjusted after Holm to these rows, which are one family."""
    for row, p in zip(rows, holm([row["p"] for row in rows]), strict=True):
        row["p_adjusted"] = p


# Analysis of variance: type III sums of squares, by comparing models with and without an effect's columns


def codes(levels: Any, count: int) -> Any:
    """Return level numbers in deviation coding (values x levels - 1)."""
    return np.vstack([np.eye(count - 1), -np.ones((1, count - 1))])[levels]


def full_design(levels: Any, counts: Sequence[int]) -> tuple[Any, dict[tuple[int, ...], list[int]]]:
    """Return the design matrix of all factors and interactions, and the columns of each effect."""
    blocks: list[Any] = []
    places: dict[tuple[int, ...], list[int]] = {}
    for size in range(len(counts) + 1):
        for effect in combinations(range(len(counts)), size):
            block = np.ones((len(levels), 1))
            for i in effect:
                own = codes(levels[:, i], counts[i])
                block = (block[:, :, None] * own[:, None, :]).reshape(len(levels), -1)
            first = sum(one.shape[1] for one in blocks)
            places[effect] = list(range(first, first + block.shape[1]))
            blocks.append(block)
    return np.hstack(blocks), places


def residuals(x: Any, z: Any) -> Any:
    """Return the residuals of a regression of the columns of `z` on `x`."""
    return z - x @ np.linalg.lstsq(x, z, rcond=None)[0] if x.shape[1] else z


def contrasts_within(counts: Sequence[int], effect: Sequence[int]) -> Any:
    """Return orthonormal contrasts of the cells for an effect within participants."""
    found = np.ones((1, 1))
    for i, k in enumerate(counts):
        centred = np.linalg.svd(np.eye(k) - 1 / k)[0][:, : k - 1]
        found = np.kron(found, centred if i in effect else np.full((k, 1), k**-0.5))
    return found


def sphericity(covariance: Any, df: int) -> Numbers:
    """Return both epsilons, and W and p of Mauchly's test if it can be computed (Anderson 2003, 10.7.4)."""
    p = len(covariance)
    gg = float(np.trace(covariance) ** 2 / (p * (covariance**2).sum()))
    below = p * (df - p * gg)
    found = {"effect": gg, "effect2": ((df + 1) * p * gg - 2) / below if below > 1e-9 else 1.0}
    sign, logged = np.linalg.slogdet(covariance)
    if df < p or sign <= 0 or np.linalg.cond(covariance) > 1e12:
        return found
    log_w, steps = float(logged) - p * log(np.trace(covariance) / p), p * (p + 1) // 2 - 1
    rho = 1 - (2 * p**2 + p + 2) / (6 * p * df)
    more = (p + 2) * (p - 1) * (p - 2) * (2 * p**3 + 6 * p**2 + 3 * p + 2) / (288 * (df * p * rho) ** 2)
    tail, further = stats.chi2.sf(-df * rho * log_w, [steps, steps + 4])
    return {
        **found,
        "statistic": exp(log_w),
        "df1": steps,
        "p": min(max(tail + more * (further - tail), 0), 1),
    }


class Effect(NamedTuple):
    """An effect of an ANOVA: its numbers without correction, and those of the test of sphericity if it has
    several contrasts within participants."""

    numbers: Numbers
    sphericity: Numbers | None

    def corrected(self, name: str) -> Numbers:
        """Return the numbers with corrected degrees of freedom. An empty name is no correction."""
        if not self.sphericity or not name:
            return self.numbers
        epsilon = min(self.sphericity["effect2" if name == NAMES[True] else "effect"], 1.0)
        df1, df2 = epsilon * self.numbers["df1"], epsilon * self.numbers["df2"]
        p = float(stats.f.sf(self.numbers["statistic"], df1, df2))
        return {**self.numbers, "df1": df1, "df2": df2, "p": p}

    @property
    def name(self) -> str:
        """Return the name of the correction in use: that of Huynh and Feldt if epsilon is above .75."""
        return NAMES[self.sphericity["effect"] > 0.75] if self.sphericity else ""

    @property
    def used(self) -> Numbers:
        """Return the numbers with the correction in use."""
        return self.corrected(self.name)


def anova(
    values: Any, members: Any, between: Sequence[int], within: Sequence[int]
) -> dict[tuple[tuple[int, ...], tuple[int, ...]], Effect]:
    """Return all effects by (between factors, within factors). `values` is people x cells, `members` people x
    between factors. `between` and `within` are the numbers of levels."""
    x, places = full_design(members, between)
    df = len(x) - x.shape[1]
    strata = {}
    for size in range(len(within) + 1):
        for inner in combinations(range(len(within)), size):
            z = (values - values.mean()) @ contrasts_within(within, inner)
            left = residuals(x, residuals(x, z))
            strata[inner] = z, left, float((left**2).sum())
    noise = sum(error for _, _, error in strata.values())
    found = {}
    for (inner, (z, left, error)), (outer, own) in product(strata.items(), places.items()):
        if (inner or outer) and df > 0 and error > 0:
            rest = residuals(np.delete(x, own, axis=1), z)
            ss, df1, df2 = float((rest**2).sum()) - error, len(own) * z.shape[1], df * z.shape[1]
            f = ss / df1 / (error / df2)
            numbers = {"statistic": f, "df1": df1, "df2": df2, "p": float(stats.f.sf(f, df1, df2))}
            numbers |= {"effect": ss / (ss + error), "effect2": ss / (ss + noise), "n": len(x)}
            several = inner and z.shape[1] > 1
            found[outer, inner] = Effect(numbers, sphericity(left.T @ left / df, df) if several else None)
    return found


def repeated_rows(data: Measured, found: Found) -> dict[str, Numbers]:
    """Add the repeated-measures ANOVA. Return the row that decides, by its term."""
    values, left_out = data.complete(data.conditions)
    if len(values) < 3 or len(data.conditions) < 2:
        return {}
    test = anova(values, np.zeros((len(values), 0), dtype=int), [], [len(data.conditions)]).get(((), (0,)))
    if test is None:
        return {}
    deciding = {}
    for name in (*NAMES.values(), "") if test.sphericity else ("",):
        row = {**test.corrected(name), "left_out": left_out}
        found["repeated-measures ANOVA, " + (name or "uncorrected"), "condition"].append(row)
        if name == test.name:
            deciding["condition"] = row
    if test.sphericity:
        found["Mauchly's test", "sphericity"].append({**test.sphericity, "n": len(values)})
    return deciding


def grouped_rows(data: Measured, found: Found) -> dict[str, Numbers]:
    """Add the mixed ANOVA of groups and levels. Return its rows by term."""
    people: dict[str, dict[str, Any]] = {}
    group_of = {row.participant: row.group for row in data.values if row.group in STUDY["groups"]}
    for row in data.values:
        if row.participant in group_of:
            people.setdefault(row.participant, {})[STUDY["levels"][row.condition]] = row.value
    known = dict.fromkeys(STUDY["levels"][key] for key in STUDY["conditions"])
    levels = [one for one in known if any(one in own for own in people.values())]
    whole = [who for who, own in people.items() if set(levels) <= set(own)]
    members = np.array([[STUDY["groups"].index(group_of[who])] for who in whole], dtype=int).reshape(-1, 1)
    if min((members == i).sum() for i in range(len(STUDY["groups"]))) < 2:
        return {}
    values = np.array([[people[who][one] for one in levels] for who in whole])
    tests = anova(values, members, [len(STUDY["groups"])], [len(levels)])
    rows = {}
    for term, place in {"group": ((0,), ()), "level": ((), (0,)), "interaction": ((0,), (0,))}.items():
        if place in tests:
            one = tests[place]
            rows[term] = {**one.used, "left_out": len(people) - len(whole)}
            found["mixed ANOVA" + (f", {one.name}" if one.name else ""), term].append(rows[term])
    found["Mauchly's test", "sphericity"] += [
        {**one.sphericity, "n": len(whole)} for one in list(tests.values())[-1:] if one.sphericity
    ]
    return rows


# Linear mixed models: REML with Newton's method over the variances, degrees of freedom after Satterthwaite


class Fit(NamedTuple):
    """Estimates with their covariance, its derivatives by the variances, and the variances' covariance."""

    estimates: Any
    covariance: Any
    slopes: Any
    spread: Any

    def df(self, row: Any) -> float:
        """Return the degrees of freedom of a weighted sum of the estimates."""
        slope = np.array([row @ one @ row for one in self.slopes])
        return float(2 * (row @ self.covariance @ row) ** 2 / (slope @ self.spread @ slope))

    def f_test(self, rows: Any) -> Numbers:
        """Test that each row of `rows` times the estimates is 0 (Fai and Cornelius 1996)."""
        sizes, vectors = np.linalg.eigh(rows @ self.covariance @ rows.T)
        turned, q = vectors.T @ rows, len(rows)
        f, dfs = float(((turned @ self.estimates) ** 2 / sizes).sum() / q), [self.df(one) for one in turned]
        df = sum(dfs) / q
        if max(dfs) - min(dfs) >= 1e-8:
            expected = sum(one / (one - 2) for one in dfs)
            df = 2 * expected / (expected - q) if min(dfs) > 2 else 2.0
        return {"statistic": f, "df1": q, "df2": df, "p": float(stats.f.sf(f, q, df))}


class MixedData(NamedTuple):
    """The values (people x most values), the columns (people x values x columns), and what multiplies each
    variance (variances x people x values x values). Random terms are within participants, so the covariance
    has one block for each. Places of people with fewer values are 0, and 1 in the diagonal of `rest` (people
    x values x values)."""

    y: Any
    x: Any
    parts: Any
    rest: Any


class Reml(NamedTuple):
    """The deviance at some variances, its derivatives, and parts of the matrix P of restricted likelihood."""

    deviance: float
    slope: Any
    inverse: Any
    wx: Any
    c: Any
    py: Any
    inner: Any

    def second(self, parts: Any) -> Any:
        """Return the second derivatives by the variances."""
        z = np.einsum("kpij,pj->kpi", parts, self.py)
        xz = np.einsum("pic,kpi->kc", self.wx, z)
        turned = np.einsum("pij,kpj->kpi", self.inverse, z)
        squares = np.einsum("kpi,lpi->kl", z, turned) - xz @ self.c @ xz.T
        wk = self.inverse @ parts
        middle = np.einsum("kpic,lpid->klcd", parts @ self.wx, wk @ self.wx)
        ci = self.c @ self.inner
        trace = np.einsum("kpij,lpji->kl", wk, wk) - 2 * np.einsum("cd,klcd->kl", self.c, middle)
        return 2 * squares - trace - np.einsum("kcd,ldc->kl", ci, ci)


def reml_at(data: MixedData, variances: Any) -> Reml:
    """Return the restricted likelihood of a mixed model at these variances."""
    v = np.tensordot(variances, data.parts, 1) + data.rest
    inverse = np.linalg.inv(v)
    wx = inverse @ data.x
    xwx = np.einsum("pic,pid->cd", data.x, wx)
    c = np.linalg.inv(xwx)
    py = np.einsum("pij,pj->pi", inverse, data.y) - wx @ (c @ np.einsum("pic,pi->c", wx, data.y))
    inner = np.einsum("pic,kpid->kcd", wx, data.parts @ wx)
    trace = (inverse * data.parts).sum(axis=(1, 2, 3)) - (c * inner).sum(axis=(1, 2))
    slope = trace - np.einsum("pi,kpij,pj->k", py, data.parts, py, optimize=True)
    logs = np.linalg.slogdet(v)[1].sum() + np.linalg.slogdet(xwx)[1]
    return Reml(float(logs + (data.y * py).sum()), slope, inverse, wx, c, py, inner)


def fit_mixed(data: MixedData, start: float) -> Fit:
    """Fit a mixed model by REML. The search starts with this value of each variance."""

    def logged(u: Any) -> tuple[float, Any]:
        found = reml_at(data, np.exp(u))
        return found.deviance, found.slope * np.exp(u)

    begin = np.full(len(data.parts), log(start))
    s = np.exp(minimize(logged, begin, jac=True, method="BFGS", options={"gtol": 1e-6}).x)
    for _ in range(20):
        found = reml_at(data, s)
        second = found.second(data.parts)
        step = np.linalg.solve(second, found.slope)
        if (s - step <= 0).any() or (abs(step) < 1e-13 * s).all():
            break
        s = s - step
    c = found.c
    estimates = c @ np.einsum("pic,pi->c", found.wx, data.y)
    return Fit(estimates, c, c @ found.inner @ c, 2 * np.linalg.inv(second))


def fit_rows(data: Measured, rows: Sequence[Row], x: Any, level: Mapping[str, Sequence[int]]) -> Fit:
    """Fit the measure's mixed model. `level` has the level numbers of each factor, for random terms."""
    places: dict[str, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        places[row.participant].append(i)
    most = max(map(len, places.values()))
    where = np.array([[*own, *[-1] * (most - len(own))] for own in places.values()])
    there = where >= 0
    both = (there[:, :, None] & there[:, None, :]).astype(float)
    parts = [both * np.eye(most)]
    for name in data.plan["random"]:
        own = (np.zeros(len(rows)) if name == "" else np.asarray(level[name]))[where]
        parts.append(both * (own[:, :, None] == own[:, None, :]))
    y = np.array([row.value for row in rows], dtype=float)
    padded = MixedData(
        y[where] * there, x[where] * there[:, :, None], np.array(parts), np.eye(most) * ~there[:, :, None]
    )
    return fit_mixed(padded, float(residuals(x, y).var()) / len(parts))


def deviations(keys: Iterable[str], known: Sequence[str]) -> Any:
    """Return keys in deviation coding; an unknown key is 0 everywhere."""
    rows = [[float(key == one) - float(key == known[-1]) for one in known[:-1]] for key in keys]
    return np.array(rows).reshape(len(rows), len(known) - 1)


def mixed_model_rows(data: Measured, found: Found) -> dict[str, Numbers]:
    """Add the mixed model of conditions (or groups and levels), position and carry-over. Return the rows that
    are not about the order, by term."""
    rows = [row for row in data.whole if not STUDY["groups"] or row.group in STUDY["groups"]]
    seen = {row.condition for row in data.whole}
    known = [key for key in STUDY["conditions"] if key in seen]
    before = [data.rounds.get((row.participant, row.position - 1), "") for row in rows]
    blocks = {"": np.ones((len(rows), 1))}
    if STUDY["groups"]:
        there = [one for one in STUDY["groups"] if any(row.group == one for row in rows)]
        levels = list(dict.fromkeys(STUDY["levels"][key] for key in known))
        group = deviations((row.group for row in rows), there)
        level = deviations((STUDY["levels"][row.condition] for row in rows), levels)
        crossed = (group[:, :, None] * level[:, None, :]).reshape(len(rows), -1)
        blocks |= {"group": group, "level": level, "interaction": crossed}
        before = [STUDY["levels"].get(key, "") for key in before]
        carried = list(dict.fromkeys(STUDY["levels"].values()))
    else:
        blocks["condition"] = deviations((row.condition for row in rows), known)
        carried = STUDY["conditions"]
    blocks["position"] = np.array([[float(row.position)] for row in rows])
    blocks["carry_over"] = deviations(before, carried)
    terms, columns = independent(blocks)
    fit = fit_rows(data, rows, columns, {})
    tested = {}
    for term in dict.fromkeys(terms[1:]):
        numbers = fit.f_test(np.eye(len(terms))[[i for i, one in enumerate(terms) if one == term]])
        tested[term] = {**numbers, "n": len({row.participant for row in rows}), "left_out": 0}
        found["linear mixed model", term].append(tested[term])
    return {term: row for term, row in tested.items() if term not in ("position", "carry_over")}


def independent(blocks: Mapping[str, Any]) -> tuple[list[str], Any]:
    """Return the columns that do not depend on earlier ones, and their terms."""
    terms: list[str] = []
    x = np.empty((len(blocks[""]), 0))
    for term, block in blocks.items():
        for column in block.T:
            left = residuals(x, residuals(x, column))
            if np.linalg.norm(left) > 1e-8 * max(float(np.linalg.norm(column)), 1e-8):
                x, terms = np.column_stack([x, column]), [*terms, term]
    return terms, x


# Contrasts within participants


NODES, WEIGHTS = np.polynomial.legendre.leggauss(300)
"""Points and weights of a Gauss-Legendre integral from -1 to 1."""


def below(t: float, df: int, shift: float) -> float:
    """Return the probability that a noncentral t variable is at most `t`."""
    low, high = np.sqrt(stats.chi2.isf([1 - 1e-16, 1e-18], df) / df)
    s = (low + high) / 2 + NODES * (high - low) / 2
    logs = (df - 1) * np.log(s * sqrt(df)) - s * s * df / 2 - (df / 2 - 1) * log(2) - lgamma(df / 2)
    return float((WEIGHTS * np.exp(logs) * ndtr(t * s - shift)).sum() * sqrt(df) * (high - low) / 2)


def size_of(t: float, df: int, ratio: float) -> Numbers:
    """Return Hedges' g with its interval (Hedges 1981, Smithson 2003). `ratio` is the standard error divided
    by the standard deviation that standardises the difference."""
    scale, reach = exp(lgamma(df / 2) - lgamma((df - 1) / 2)) / sqrt(df / 2) * ratio, 10 + abs(t)
    ends = [brentq(lambda nc, at=at: below(t, df, nc) - at, t - reach, t + reach) for at in (0.975, 0.025)]
    return {"effect": scale * t, "effect_low": scale * ends[0], "effect_high": scale * ends[1]}


def bayes_factor(t: float, n: float, df: int) -> float:
    """Return BF10 of a t test (Rouder et al. 2009, equation 1), with a Cauchy prior of scale .707. `n` is the
    number of differences; of a contrast of cells it is the squared ratio of deviation to standard error."""

    def logged(u: float) -> float:
        wide = 1 + n * exp(u) / 2
        prior = -log(2 * pi) / 2 - u / 2 - exp(-u) / 2 - log(wide) / 2
        return prior - (df + 1) / 2 * (log1p(t * t / (wide * df)) - log1p(t * t / df))

    peak = max(logged(u / 10) for u in range(-60, 800))
    area = quad(
        lambda u: exp(logged(u) - peak), -6, 80, points=[0.0, 6.0], epsabs=0, epsrel=1e-10, limit=400
    )[0]
    return exp(min(max(log(area) + peak, -700), 700))


def t_row(t: float, df: int, se: float, ratio: float) -> Numbers:
    """Return the numbers of a t test of a difference with the standard error `se`."""
    half = se * float(stats.t.ppf(0.975, df))
    row = {"statistic": t, "df1": df, "p": float(2 * stats.t.sf(abs(t), df)), "difference": t * se}
    return {**row, "difference_low": t * se - half, "difference_high": t * se + half, **size_of(t, df, ratio)}


def equivalence_row(difference: float, se: float, df: float, margin: Sequence[Any], sd: float) -> Numbers:
    """Return the numbers of two one-sided t tests against a margin: those of the test with the larger p."""
    bound = margin[0] * (sd if margin[1] == "d" else 1.0)
    above, below = (difference + bound) / se, (difference - bound) / se
    p, t = max((float(stats.t.sf(above, df)), above), (float(stats.t.cdf(below, df)), below))
    half = se * float(stats.t.ppf(0.95, df))
    row = {"statistic": t, "df1": df, "p": p, "effect": bound, "difference": difference}
    return {**row, "difference_low": difference - half, "difference_high": difference + half}


EQUIVALENCE = "equivalence (two one-sided t tests)"


def contrast_rows(
    data: Measured, planned: Iterable[tuple[str, Mapping[str, float], Any]], test: str, found: Found
) -> None:
    """Add contrasts of conditions, corrected together after Holm."""
    family = []
    for name, weights, margin in planned:
        used = {key: weights[key] for key in STUDY["conditions"] if weights.get(key)}
        values, left_out = data.complete(list(used))
        scaled = np.array(list(used.values())) / (sum(map(abs, used.values())) / 2)
        sums, n = values @ scaled, len(values)
        if not set(used) <= set(data.conditions) or n < 3 or np.ptp(sums) <= 1e-14 * abs(sums).max():
            continue
        se = float(sums.std(ddof=1)) / sqrt(n)
        t = float(sums.mean()) / se
        row = {
            **t_row(t, n - 1, se, 1 / sqrt(n)),
            "n": n,
            "left_out": left_out,
            "bayes_factor": bayes_factor(t, n, n - 1),
        }
        if margin:
            test_row = equivalence_row(float(sums.mean()), se, n - 1, margin, se * sqrt(n))
            found[EQUIVALENCE, name].append(test_row)
        family.append(row)
        found[test, name].append(row)
    adjust(family)


def pairs_of(data: Measured) -> list[tuple[str, dict[str, float], Any]]:
    """Return a contrast for every two conditions that the same people play."""
    pairs = [
        (a, b)
        for a, b in combinations(data.conditions, 2)
        if not STUDY["groups"] or len({STUDY["played_by"][a], STUDY["played_by"][b]} - {""}) < 2
    ]
    labels = STUDY["labels"]
    return [(f"{labels[b]} \u2212 {labels[a]}", {b: 1.0, a: -1.0}, None) for a, b in pairs]


# Ranks, ratings, and the one-way ANOVA


def rank_rows(data: Measured, found: Found) -> dict[str, Numbers]:
    """Add Friedman's test, and Nemenyi's and Conover's comparisons of pairs. Return Friedman's row."""
    values, left_out = data.complete(data.conditions)
    n, k = values.shape
    if n < 3 or k < 2 or not np.ptp(values, axis=1).any():
        return {}
    ranks = stats.rankdata(values, axis=1)
    means, spread = ranks.mean(axis=0), float(((ranks - (k + 1) / 2) ** 2).sum())
    chi = (k - 1) * n * n * float(((means - (k + 1) / 2) ** 2).sum()) / spread
    row = {"n": n, "left_out": left_out, "statistic": chi, "df1": k - 1, "effect": chi / (n * (k - 1))}
    row["p"] = float(stats.chi2.sf(chi, k - 1))
    found["Friedman's test", "condition"].append(row)
    df, error = (n - 1) * (k - 1), float(((ranks - means) ** 2).sum())
    family = []
    for i, j in combinations(range(k), 2):
        apart = float(means[j] - means[i])
        q = abs(apart) / sqrt(k * (k + 1) / (12 * n))
        labels = STUDY["labels"][data.conditions[j]], STUDY["labels"][data.conditions[i]]
        shared = {"n": n, "left_out": left_out, "statistic": apart}
        p = 2 * stats.t.sf(abs(apart) / sqrt(2 * error / (n * df)), df) if error > 1e-12 else float(not apart)
        family.append({**shared, "p": float(p)})
        found["Conover", " \u2212 ".join(labels)].append(family[-1])
        found["Nemenyi", " \u2212 ".join(labels)].append({**shared, "p_adjusted": range_tail(q, k)})
    adjust(family)
    return {"condition": row}


def range_tail(q: float, k: int) -> float:
    """Return the probability that the range of `k` standard normal values exceeds `q`."""
    z = np.linspace(-9, 9 + q, 2001)
    inside = k * np.exp(-z * z / 2) / sqrt(2 * pi) * (ndtr(z) - ndtr(z - q)) ** (k - 1)
    return min(max(1 - float(inside.sum() * (z[1] - z[0])), 0.0), 1.0)


def one_way_rows(data: Measured, found: Found) -> dict[str, Numbers]:
    """Add the one-way ANOVA, which takes all values as independent. Return its row."""
    groups = [
        np.array([r.value for r in data.values if r.condition == key], float) for key in data.conditions
    ]
    if len(groups) < 2 or min(map(len, groups)) < 2 or not any(np.ptp(one) for one in groups):
        return {}
    every = np.concatenate(groups)
    within = sum(float(((one - one.mean()) ** 2).sum()) for one in groups)
    ss = sum(len(one) * float((one.mean() - every.mean()) ** 2) for one in groups)
    df1, df2 = len(groups) - 1, len(every) - len(groups)
    f, error = ss / df1 / (within / df2), within / df2
    row = {"statistic": f, "df1": df1, "df2": df2, "p": float(stats.f.sf(f, df1, df2))}
    row |= {"effect": ss / (ss + within), "effect2": (ss - df1 * error) / (ss + within + error)}
    found["one-way ANOVA", "condition"].append(row)
    return {"condition": row}


def cumulative_rows(data: Measured, found: Found) -> None:
    """Add the cumulative-link model, whose covariance is clustered by participant."""
    steps, y = np.unique([row.value for row in data.values], return_inverse=True)
    people, who = np.unique([row.participant for row in data.values], return_inverse=True)
    if len(data.conditions) < 2 or len(people) < 3 or len(steps) < 3:
        return
    x = np.array([[float(row.condition == key) for key in data.conditions[1:]] for row in data.values])
    cuts, k = len(steps) - 1, x.shape[1]
    upper, lower = (np.hstack([np.eye(cuts + 1)[one][:, :cuts], -x]) for one in (y, y - 1))
    shares = np.cumsum(np.bincount(y))[:-1] / len(y)
    b = np.concatenate([np.log(shares / (1 - shares)), np.zeros(k)])
    for _ in range(100):
        high = np.where(y == cuts, 1.0, expit(upper @ b))
        low = np.where(y == 0, 0.0, expit(lower @ b))
        f, g, chance = high * (1 - high), low * (1 - low), high - low
        scores = (f / chance)[:, None] * upper - (g / chance)[:, None] * lower
        curve = upper.T @ ((f * (1 - 2 * high) / chance)[:, None] * upper)
        curve = curve - lower.T @ ((g * (1 - 2 * low) / chance)[:, None] * lower) - scores.T @ scores
        step = np.linalg.solve(-curve, scores.sum(axis=0))
        if abs(step).max() < 1e-13 or not np.isfinite(step).all():
            break
        b = b + step * min(1.0, 1 / abs(step).max())
    sums = np.array([scores[who == one].sum(axis=0) for one in range(len(people))])
    bread = np.linalg.inv(-curve)
    covariance = (bread @ (sums.T @ sums) @ bread)[-k:, -k:]
    chi = float(b[-k:] @ np.linalg.solve(covariance, b[-k:]))
    row = {"statistic": chi, "df1": k, "p": float(stats.chi2.sf(chi, k)), "n": len(people), "left_out": 0}
    found["cumulative-link model", "condition"].append(row)


# Named factors


class Cases(NamedTuple):
    """The people with a value in every cell: level numbers (people x between factors), values (people x
    within cells), and the observed levels of each factor by its key."""

    members: Any
    values: Any
    between: dict[str, list[str]]
    within: dict[str, list[str]]

    def at(self, key: str, level: str) -> Cases:
        """Return the cases at one level of a factor, without that factor."""
        if key in self.between:
            place, number = list(self.between).index(key), self.between[key].index(level)
            people = self.members[:, place] == number
            rest = {name: levels for name, levels in self.between.items() if name != key}
            return Cases(
                np.delete(self.members[people], place, axis=1), self.values[people], rest, self.within
            )
        cells = list(product(*self.within.values()))
        taken = [cell[list(self.within).index(key)] == level for cell in cells]
        rest = {name: levels for name, levels in self.within.items() if name != key}
        return Cases(self.members, self.values[:, taken], self.between, rest)

    def tests(self) -> dict[str, Effect]:
        """Return the effects of the ANOVA by term."""
        keys, counts = [*self.between, *self.within], [list(map(len, one.values())) for one in self[2:]]
        found = anova(self.values, self.members, *counts)
        first = len(self.between)
        return {
            ":".join(keys[i] for i in (*outer, *(first + one for one in inner))): effect
            for (outer, inner), effect in found.items()
        }


def observed_levels(rows: Iterable[Row], kind: str) -> dict[str, list[str]]:
    """Return the levels with values of the factors `kind` (between or within), by factor."""
    cells = [STUDY["cells"][row.condition] for row in rows]
    factors = {
        key: [one for one in levels if any(c[key] == one for c in cells)] for key, levels in STUDY[kind]
    }
    return {key: levels for key, levels in factors.items() if levels}


def factorial_rows(data: Measured, planned: Sequence[Mapping[str, Any]], found: Found) -> dict[str, Numbers]:
    """Add the factorial ANOVA, simple effects and contrasts of cells. Return the ANOVA's rows by term."""
    rows = [row for row in data.rows if row.condition in STUDY["cells"]]
    valued = [row for row in rows if row.value is not None]
    between, within = observed_levels(valued, "between"), observed_levels(valued, "within")
    people: dict[str, dict[tuple[str, ...], list[Any]]] = {row.participant: defaultdict(list) for row in rows}
    own = {row.participant: [STUDY["cells"][row.condition][key] for key in between] for row in rows}
    for row in valued:
        cell = STUDY["cells"][row.condition]
        people[row.participant][tuple(cell[key] for key in within)].append(row.value)
    cells = list(product(*within.values()))
    whole = sorted(who for who, values in people.items() if all(cell in values for cell in cells))
    if not whole:
        return {}
    members = [
        [levels.index(v) for levels, v in zip(between.values(), own[who], strict=True)] for who in whole
    ]
    cases = Cases(
        np.array(members, dtype=int).reshape(len(whole), len(between)),
        np.array([[np.mean(people[who][cell]) for cell in cells] for who in whole]),
        between,
        within,
    )
    deciding = {}
    for term, one in cases.tests().items():
        deciding[term] = {**one.used, "left_out": len(people) - len(whole)}
        found["factorial ANOVA" + (f", {one.name}" if one.name else ""), term].append(deciding[term])
        if one.sphericity and "p" in one.sphericity:
            found["Mauchly's test", term].append({**one.sphericity, "n": len(whole)})
    for pair in combinations([*between, *within], 2):
        for factor, other in (pair, pair[::-1]):
            simple_rows(cases, factor, other, found)
    if not (STUDY["covariates"] and not STUDY["within"]):
        cell_rows(cases, planned, found)
    return deciding


def simple_rows(cases: Cases, factor: str, other: str, found: Found) -> None:
    """Add the effects of a factor at each level of another, corrected together after Holm."""
    family = []
    for level in {**cases.between, **cases.within}[other]:
        test = cases.at(other, level).tests().get(factor)
        term = f"{factor} at {other} = {level}"
        if test is None:
            found.reasons["simple effect", term] = "the values do not vary within the cells"
        else:
            family.append(dict(test.used))
            found["simple effect", term].append(family[-1])
    adjust(family)


def cell_rows(cases: Cases, planned: Iterable[Mapping[str, Any]], found: Found) -> None:
    """Add planned contrasts of cells, whose covariance is pooled over the cells between participants."""
    outer, inner = list(product(*cases.between.values())), list(product(*cases.within.values()))
    levels = [list(levels) for levels in cases.between.values()]
    who = np.array(
        [outer.index(tuple(own[i] for own, i in zip(levels, row, strict=True))) for row in cases.members]
    )
    groups = [cases.values[who == i] for i in range(len(outer))]
    df = len(who) - len(outer)
    pooled = sum((one - one.mean(axis=0)).T @ (one - one.mean(axis=0)) for one in groups) / df
    family = []
    for one in planned:
        weights = np.zeros((len(outer), len(inner)))
        if not set(one["weights"]) <= set(STUDY["cells"]):
            continue
        cells = [(STUDY["cells"][key], weight) for key, weight in one["weights"].items()]
        places = [
            (tuple(cell[k] for k in cases.between), tuple(cell[k] for k in cases.within), weight)
            for cell, weight in cells
        ]
        if any(weight and (a not in outer or b not in inner) for a, b, weight in places):
            continue
        for a, b, weight in places:
            if weight:
                weights[outer.index(a), inner.index(b)] += weight
        variances = np.einsum("bi,ij,bj->b", weights, pooled, weights)
        estimate = sum(float(w @ g.mean(axis=0)) for w, g in zip(weights, groups, strict=True))
        se = sqrt(sum(v / len(g) for v, g in zip(variances, groups, strict=True)))
        if se <= 0:
            continue
        spreads = np.sqrt(np.maximum(variances, 0))
        same = weights @ weights[int(np.argmax(spreads))] >= 0
        sd = max(float(spreads[same].sum()), float(spreads[~same].sum()))
        family.append(contrast_numbers(one, estimate, se, df, sd, found))
        found["planned contrast of cells", one["name"]].append(family[-1])
    adjust(family)


def contrast_numbers(
    planned: Mapping[str, Any], estimate: float, se: float, df: int, sd: float, found: Found
) -> Numbers:
    """Return the numbers of a contrast of cells, and add its equivalence test."""
    if planned["margin"] and STUDY["main"] != "mixed":
        row = equivalence_row(estimate, se, df, planned["margin"], sd)
        found[EQUIVALENCE, planned["name"]].append(row)
    bayes = bayes_factor(estimate / se, (sd / se) ** 2, df)
    return {**t_row(estimate / se, df, se, se / sd), "bayes_factor": bayes}


def estimable(levels: Any, counts: Sequence[int]) -> tuple[Any, dict[tuple[int, ...], Any]]:
    """Return the columns of all factors and interactions (values x columns), and the weights of the columns
    that test each effect: differences of levels. With missing cells, they are those of SAS's type III."""
    x, places = full_design(levels, counts)
    if len(np.unique(levels, axis=0)) < np.prod(counts):
        return fraction(levels, counts, list(places))
    tests = {}
    for effect, own in places.items():
        weights = np.ones((1, 1))
        for i in effect:
            each = codes(np.arange(counts[i]), counts[i])
            weights = np.kron(weights, each[1:] - each[0])
        tests[effect] = weights @ np.eye(x.shape[1])[own]
    return x, tests


def fraction(
    levels: Any, counts: Sequence[int], effects: Sequence[tuple[int, ...]]
) -> tuple[Any, dict[tuple[int, ...], Any]]:
    """Return what `estimable` returns, for a design with missing cells."""
    named = {}  # a column for each combination of the levels of some factors; 0 is the first level
    for effect in effects:
        for at in product(*(range(counts[i]) for i in effect)):
            named[effect, at] = (levels[:, list(effect)] == np.array(at, dtype=int)).all(axis=1).astype(float)
    kept: list[Any] = []
    for key in named:
        columns = np.column_stack([named[one] for one in [*kept, key]])
        if 0 not in key[1] and np.linalg.matrix_rank(columns) > len(kept):
            kept.append(key)
    x = np.column_stack([named[key] for key in kept])
    weights = (np.linalg.pinv(x) @ np.column_stack(list(named.values()))).T
    for effect in sorted(effects, key=len, reverse=True):
        own = [i for i, (one, _) in enumerate(kept) if one == effect]
        above = [i for i, (one, _) in enumerate(kept) if set(effect) < set(one)]
        if own and above:
            weights[:, own] = residuals(weights[:, above], weights[:, own])
    rows = weights[[list(named).index(key) for key in kept]]
    tests = {e: rows[:, [i for i, (one, _) in enumerate(kept) if one == e]].T for e in effects}
    return x, {effect: one[abs(one).sum(axis=1) > 1e-8] for effect, one in tests.items()}


def factorial_mixed_rows(
    data: Measured, planned: Sequence[Mapping[str, Any]], found: Found
) -> dict[str, Numbers]:
    """Add the mixed model of all factors and the position, and its contrasts of cells. Return the rows of the
    factors by term."""
    able = (row for row in data.whole if row.condition in STUDY["cells"] and row.covariates is not None)
    rows = sorted(able, key=lambda r: r.participant)
    factors = {**observed_levels(rows, "between"), **observed_levels(rows, "within")}
    keys, counts = list(factors), [len(levels) for levels in factors.values()]
    cells = [STUDY["cells"][row.condition] for row in rows]
    levels = np.array([[factors[key].index(cell[key]) for key in keys] for cell in cells])
    x, tests = estimable(levels, counts)
    names = ["position", *STUDY["covariates"]]
    slopes = np.array([[float(row.position), *(row.covariates or [])] for row in rows])
    slopes = slopes - slopes.mean(axis=0)
    terms, columns = independent({"": x, **{name: slopes[:, [i]] for i, name in enumerate(names)}})
    fit = fit_rows(data, rows, columns, dict(zip(keys, levels.T, strict=True)))
    unit, tested = np.eye(len(terms)), {}
    n = len({row.participant for row in rows})
    everybody = {who for (who, _), key in data.rounds.items() if key in STUDY["cells"]}
    for effect, weights in tests.items():
        if effect and len(weights):
            term = ":".join(keys[i] for i in effect)
            numbers = fit.f_test(weights @ unit[: x.shape[1]])
            tested[term] = {**numbers, "n": n, "left_out": len(everybody) - n}
            found["factorial mixed model", term].append(tested[term])
    for name in terms[x.shape[1] :]:
        place = terms.index(name)
        slope = {"difference": float(fit.estimates[place]), "n": n}
        found["factorial mixed model", name].append({**fit.f_test(unit[[place]]), **slope})
    family = []
    for one in planned:
        first = {row.condition: x[i] for i, row in reversed(list(enumerate(rows)))}
        if not set(one["weights"]) <= set(first):
            continue
        row = sum(weight * first[key] for key, weight in one["weights"].items()) @ unit[: x.shape[1]]
        estimate, se, df = float(row @ fit.estimates), sqrt(float(row @ fit.covariance @ row)), fit.df(row)
        half, t = se * float(stats.t.ppf(0.975, df)), estimate / se
        numbers = {"statistic": t, "df1": df, "p": float(2 * stats.t.sf(abs(t), df)), "difference": estimate}
        family.append({**numbers, "difference_low": estimate - half, "difference_high": estimate + half})
        found["planned contrast, mixed model", one["name"]].append(family[-1])
        if one["margin"] and (EQUIVALENCE, one["name"]) not in found:
            found[EQUIVALENCE, one["name"]].append(equivalence_row(estimate, se, df, one["margin"], 1.0))
    adjust(family)
    return tested


def covariance_rows(data: Measured, planned: Sequence[Mapping[str, Any]], found: Found) -> dict[str, Numbers]:
    """Add the analysis of covariance of a design between participants, and its contrasts of cells. Return the
    rows of the factors by term."""
    rows = [row for row in data.rows if row.condition in STUDY["cells"]]
    factors = observed_levels([row for row in rows if row.value is not None], "between")
    own: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row.value is not None and row.covariates is not None:
            own[row.participant].append(row)
    whole = sorted(own)
    cells = [STUDY["cells"][own[who][0].condition] for who in whole]
    levels = np.array([[factors[key].index(cell[key]) for key in factors] for cell in cells])
    y = np.array([np.mean(np.array([row.value for row in own[who]], dtype=float)) for who in whole])
    slopes = np.array([own[who][0].covariates for who in whole], dtype=float)
    x, places = full_design(levels, [len(one) for one in factors.values()])
    terms, columns = independent(
        {"": x, **{key: (slopes - slopes.mean(axis=0))[:, [i]] for i, key in enumerate(STUDY["covariates"])}}
    )
    df, n, first = len(y) - len(terms), len(y), x.shape[1]
    error = float((residuals(columns, y) ** 2).sum())
    estimates = np.linalg.lstsq(columns, y, rcond=None)[0]

    def row_of(ss: float, df1: int, error: float, df2: int) -> Numbers:
        f = ss / df1 / (error / df2)
        p = float(stats.f.sf(f, df1, df2))
        return {"n": n, "statistic": f, "df1": df1, "df2": df2, "p": p, "effect": ss / (ss + error)}

    def without(lost: Sequence[int]) -> float:
        return float((residuals(np.delete(columns, lost, axis=1), y) ** 2).sum()) - error

    tested, name = {}, "analysis of covariance"
    for effect, place in places.items():
        if effect:
            term = ":".join(list(factors)[i] for i in effect)
            left_out = len({row.participant for row in rows}) - n
            tested[term] = {**row_of(without(place), len(place), error, df), "left_out": left_out}
            found[name, term].append(tested[term])
    for i, term in list(enumerate(terms))[first:]:
        found[name, term].append({**row_of(without([i]), 1, error, df), "difference": float(estimates[i])})
    crossed = columns[:, first:, None] * x[:, None, 1:]
    larger = np.hstack([columns, crossed.reshape(n, -1)])
    more, rest = larger.shape[1] - len(terms), n - larger.shape[1]
    left = float((residuals(larger, y) ** 2).sum())
    found["equal slopes of covariates", ""].append(row_of(error - left, more, left, rest))
    first_of = {tuple(cell.values()): x[i] for i, cell in reversed(list(enumerate(cells)))}
    adjusted_contrasts(planned, Regression(columns, estimates, error, df), first_of, found)
    return tested


class Regression(NamedTuple):
    """A regression: its columns, estimates, sum of squared residuals, and degrees of freedom."""

    columns: Any
    estimates: Any
    error: float
    df: int


def adjusted_contrasts(
    planned: Iterable[Mapping[str, Any]], fit: Regression, cells: Mapping[tuple[str, ...], Any], found: Found
) -> None:
    """Add contrasts of cells from an analysis of covariance. `cells` has the columns of each cell, without
    those of the covariates."""
    unscaled, sd, family = np.linalg.inv(fit.columns.T @ fit.columns), sqrt(fit.error / fit.df), []
    for one in planned:
        weights: dict[tuple[str, ...], float] = defaultdict(float)
        for key, weight in one["weights"].items():
            if weight:
                weights[tuple(STUDY["cells"].get(key, {}).values())] += weight
        if set(weights) <= set(cells):
            own = sum(weight * cells[cell] for cell, weight in weights.items())
            row = np.concatenate([own, np.zeros(len(fit.estimates) - len(own))])
            se = sd * sqrt(float(row @ unscaled @ row))
            spread = sd * sum(map(abs, weights.values())) / 2
            family.append(contrast_numbers(one, float(row @ fit.estimates), se, fit.df, spread, found))
            found["planned contrast, analysis of covariance", one["name"]].append(family[-1])
    adjust(family)


# All measures, and the comparison with tests.csv


def attempt(add: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that adds rows, and return its result. The last argument is a `Found`. If the data do
    not allow the test, its rows are missing, and `main` names those that tests.csv has."""
    try:
        return add(*arguments) or {}
    except (ValueError, ArithmeticError, IndexError) as error:
        arguments[-1].reasons["", ""] = f"{type(error).__name__}: {error}"
        return {}


def measure_rows(data: Measured) -> tuple[Found, dict[str, Numbers]]:
    """Return all rows of a measure, and the rows of the test that decides by term."""
    found = Found()
    main = {"one_way": attempt(one_way_rows, data, found), "mixed": {}, "friedman": {}}
    about = [one for one in STUDY["contrasts"] if not one["measures"] or data.plan["key"] in one["measures"]]
    if STUDY["cells"]:
        main["repeated"] = attempt(factorial_rows, data, about, found)
        if STUDY["covariates"] and not STUDY["within"]:
            main["repeated"] = attempt(covariance_rows, data, about, found)
        main["friedman"] = main["one_way"] = main["repeated"]
    else:
        main["repeated"] = attempt(grouped_rows if STUDY["groups"] else repeated_rows, data, found)
        if not STUDY["groups"]:
            main["friedman"] = attempt(rank_rows, data, found)
        if data.plan["kind"] == "likert":
            attempt(cumulative_rows, data, found)
        planned = [(one["name"], one["weights"], one["margin"]) for one in about]
        contrast_rows(data, planned, "planned contrast", found)
    if data.plan["random"] is not None:
        model = (factorial_mixed_rows, data, about) if STUDY["cells"] else (mixed_model_rows, data)
        main["mixed"] = attempt(*model, found)
    contrast_rows(data, pairs_of(data), "paired t test", found)
    return found, main[STUDY["main"]]


def correct_over_measures(deciding: Mapping[str, Mapping[str, Numbers]]) -> None:
    """Add p values corrected over the measures of a family, for each term. `deciding` has the rows by term of
    each measure."""
    family = {one["key"]: one["family"] for one in STUDY["measures"]}
    for name, term in product(("primary", "secondary"), {t for rows in deciding.values() for t in rows}):
        rows = [own[term] for key, own in deciding.items() if family[key] == name and term in own]
        ps = [row["p"] for row in rows]
        fdr = STUDY["correction"] == "fdr"
        adjusted = [float(p) for p in stats.false_discovery_control(ps)] if fdr and ps else holm(ps)
        for row, p in zip(rows, adjusted, strict=True):
            row["p_adjusted"] = p


def read(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def compute(folder: Path) -> dict[str, Found]:
    """Return the rows of all measures, computed from analysed.csv and rounds.csv."""
    rows: dict[str, list[Row]] = defaultdict(list)
    for line in read(folder / "analysed.csv"):
        value = float(line["value"]) if line["value"] else None
        place, aside = int(line["order_position"]), line["mixed_model_only"] == "1"
        group = line.get("group") or ""
        known = [line[f"covariate_{key}"] for key in STUDY["covariates"]]
        covariates = list(map(float, known)) if all(known) else None
        row = Row(line["participant"], line["condition"], value, place, group, aside, covariates)
        rows[line["measure"]].append(row)
    rounds = {
        (r["participant"], int(r["order_position"])): r["condition"] for r in read(folder / "rounds.csv")
    }
    found, deciding = {}, {}
    for plan in STUDY["measures"]:
        found[plan["key"]], deciding[plan["key"]] = measure_rows(Measured(plan, rows[plan["key"]], rounds))
    if STUDY["correction"] != "none":
        correct_over_measures(deciding)
    return found


def difference(given: float, ours: float) -> float:
    """Return the relative difference of two numbers."""
    return 0.0 if abs(given - ours) < NONE else abs(given - ours) / max(abs(given), abs(ours))


def compare(line: Mapping[str, str], found: Found) -> tuple[float | None, str]:
    """Return the largest difference of a row of tests.csv, and the column that has it. If the row or a number
    of it is not computed, return None, and the column with the reason."""
    key = (line["test"], line["term"])
    reason = found.reasons.get(key) or found.reasons.get(("", ""), "this script does not compute it")
    own = found.get(key)
    if not own:
        return None, f"all columns: {reason}"
    row, worst, where = own.pop(0), 0.0, ""
    for column in COLUMNS:
        if line[column]:
            if column not in row:
                return None, f"column {column}: {reason}"
            apart = difference(float(line[column]), row[column])
            if not apart <= worst:
                worst, where = apart, f"{column} is {line[column]}, here {row[column]!r}"
    return worst, where


def main(folder: Path) -> int:
    """Compare tests.csv with the computed rows, and print the result. Return the exit code."""
    found, largest, same, wrong = compute(folder), 0.0, 0, 0
    lines = read(folder / "tests.csv")
    tested = [line for line in lines if not line["not_computable"]]
    numbers = [number for number, line in enumerate(lines, 2) if not line["not_computable"]]
    for number, line in zip(numbers, tested, strict=True):
        apart, where = compare(line, found[line["measure"]])
        name = f"{line['measure']}: {line['test']}, {line['term']}"
        if apart is None:
            print(f"not computed here: row {number}, {name} ({where})")
        elif not apart <= LARGEST:
            wrong += 1
            print(f"differs: {name} ({where})")
        else:
            same, largest = same + 1, max(largest, apart)
    if len(lines) > len(tested):
        print(f"{len(lines) - len(tested)} more rows of tests.csv say why they have no numbers.")
    print(f"{same} of {len(tested)} rows of tests.csv reproduced (largest relative difference {largest:.0e})")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent))
