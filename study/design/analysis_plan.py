"""Parse the statistical tests that a researcher plans: main test, correction for several measures, contrasts.

The sample-size page, the preregistration and the analysis use this plan. A contrast is one line: its name, a
colon, and conditions with weights that add up to 0. For example::

    H1: alone -1, dispatched_1 1/3, dispatched_2 1/3, dispatched_3 1/3

The module does not import Django.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

MAIN_TESTS: Mapping[str, str] = MappingProxyType(
    {
        "repeated": "Repeated-measures ANOVA (corrected after Greenhouse and Geisser, or Huynh and Feldt)",
        "mixed": "Linear mixed model (condition, order position, carry-over)",
        "friedman": "Friedman's test (ranks)",
        "one_way": "One-way ANOVA (the replication: rows as if independent)",
    }
)
"""Labels of the main tests (whether conditions differ), by name."""
RANKS = "friedman"
"""The main test that cannot compare between-subjects groups."""
GROUPED_TESTS: Mapping[str, str] = MappingProxyType(
    {
        "repeated": "Mixed ANOVA (group between people, level within people, and their interaction)",
        "mixed": "Linear mixed model (group, level, their interaction, order position, carry-over)",
    }
)
"""Labels of the main tests that mean something else in a study with between-subjects groups."""


def main_test_label(name: str, *, grouped: bool) -> str:
    """Return the label of the main test `name`. Pass `grouped=True` for a study with between-subjects
    groups."""
    return GROUPED_TESTS.get(name, MAIN_TESTS[name]) if grouped else MAIN_TESTS[name]


PAIR_TESTS: Mapping[str, str] = MappingProxyType(
    {
        "holm": "Holm (paired t tests)",
        "tukey": "Tukey HSD (within subjects; the analysis corrects after Holm)",
    }
)
CORRECTIONS: Mapping[str, str] = MappingProxyType(
    {
        "none": "no correction over measures",
        "holm": "Holm over measures",
        "fdr": "Benjamini and Hochberg over measures (false discovery rate)",
    }
)
MOST_CONTRASTS = 50
MOST_ROWS = 3000
"""The most values of one measure that a mixed model takes."""


@dataclass(frozen=True, slots=True)
class PlannedContrast:
    """A named contrast: a weight for each condition, by the condition's key. The weights add up to 0."""

    name: str
    weights: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class AnalysisPlan:
    """The main test, the correction of p-values over several measures, and the planned contrasts. Each
    contrast is tested in every measure."""

    main: str = "repeated"
    correction: str = "none"
    contrasts: tuple[PlannedContrast, ...] = ()


DEFAULT_PLAN = AnalysisPlan()
"""The plan of a study without a plan: every test is run, and p values are not corrected over measures."""


class ContrastError(ValueError):
    """Raised for a line that is not a valid contrast. The message names the line and gives the reason."""


def analysis_plan_of(study: Mapping[str, object]) -> AnalysisPlan:
    """Return the analysis plan of a blueprint's `study` fields, with the defaults for empty fields.

    Raises ContrastError if a planned contrast is not valid.
    """
    return AnalysisPlan(
        main=str(study.get("main_test") or DEFAULT_PLAN.main),
        correction=str(study.get("measures_correction") or DEFAULT_PLAN.correction),
        contrasts=parse_contrasts(str(study.get("planned_contrasts") or "")),
    )


def parse_contrasts(text: str) -> tuple[PlannedContrast, ...]:
    """Parse one contrast per line and return them in the order of the lines. Empty lines are skipped.

    Raises ContrastError for the first invalid line, for a name used twice, or for too many contrasts.
    """
    found = tuple(_contrast(line.strip()) for line in text.splitlines() if line.strip())
    names = [one.name for one in found]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ContrastError(f"Two contrasts are named “{twice}”.")
    if len(found) > MOST_CONTRASTS:
        raise ContrastError(f"There are more than {MOST_CONTRASTS} contrasts.")
    return found


def _contrast(line: str) -> PlannedContrast:
    name, colon, rest = line.partition(":")
    if not colon or not name.strip():
        raise ContrastError(f"“{line}”: a contrast is a name, a colon, and conditions with their weights.")
    exact: dict[str, Fraction] = {}
    for part in rest.split(","):
        key, weight = _weighed(line, part)
        if key in exact:
            raise ContrastError(f"“{line}”: {key} is there twice.")
        exact[key] = weight
    if sum(exact.values()) != 0:
        raise ContrastError(f"“{line}”: the weights add up to {sum(exact.values())}, not to 0.")
    return PlannedContrast(name.strip(), {key: float(weight) for key, weight in exact.items()})


def _weighed(line: str, part: str) -> tuple[str, Fraction]:
    words = part.split()
    try:
        key, weight = words
        value = Fraction(weight)
    except (ValueError, ZeroDivisionError):
        message = (
            f"“{line}”: “{part.strip()}” is no condition with a weight, such as “alone -1” "
            "or “dispatched_1 1/3”."
        )
        raise ContrastError(message) from None
    if not value or abs(value) > 1000:
        raise ContrastError(f"“{line}”: the weight of {key} is 0, or too large.")
    return key, value


def contrast_problems(text: str, conditions: Mapping[str, str]) -> list[str]:
    """Return why the contrasts in this text cannot be tested, one sentence per problem. The result is empty
    if they can be tested.

    `conditions` maps each condition's key to the between-subjects group that plays the condition. The group
    is an empty text if all groups play it.
    """
    try:
        found = parse_contrasts(text)
    except ContrastError as error:
        return [str(error)]
    return [
        f"The planned contrast “{one.name}” weighs {key}, which is no condition of this study."
        for one in found
        for key in one.weights
        if key not in conditions
    ] + [
        f"The planned contrast “{one.name}” weighs conditions of different groups, which nobody plays both. "
        "The main test compares the groups."
        for one in found
        if len({conditions.get(key, "") for key in one.weights} - {""}) > 1
    ]


KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
"""The pattern of valid keys. Keys become file names and column names."""
