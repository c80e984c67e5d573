"""Parse the statistical tests that a researcher plans: main test, correction for several measures, contrasts.

The sample-size page, the preregistration and the analysis use this plan. A contrast is one line: its name, a
colon, and conditions with weights that add up to 0. For example::

    H1: alone -1, dispatched_1 1/3, dispatched_2 1/3, dispatched_3 1/3

The name can be followed by the measures that the contrast is about, in brackets: `H1 [success_rate]: …`. A
margin after it asks whether the difference is equivalent to 0: `H1 [success_rate] ±0.1: …`, or `±0.5 d`.
The module does not import Django.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

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


FACTORIAL_TESTS: Mapping[str, str] = MappingProxyType(
    {
        "repeated": "ANOVA of all factors and interactions (type III, corrected for sphericity)",
        "mixed": "Linear mixed model of all factors and interactions (with order position)",
    }
)
"""Labels of the main tests of a study with named factors. Other tests cannot be the main test there."""


def main_test_label(name: str, *, grouped: bool, factorial: bool = False) -> str:
    """Return the label of the main test `name`. Pass `grouped=True` for a study with between-subjects
    groups, and `factorial=True` for a study with named factors."""
    if factorial and name in FACTORIAL_TESTS:
        return FACTORIAL_TESTS[name]
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
PRIMARY, SECONDARY, EXPLORATORY = "primary", "secondary", "exploratory"
ROLES: Mapping[str, str] = MappingProxyType(
    {
        PRIMARY: "primary: decides about the hypothesis",
        SECONDARY: "secondary: tested as planned, in a family of its own",
        EXPLORATORY: "exploratory: its tests decide nothing",
    }
)
"""Labels of the roles that a measure can have, by name."""
COVARIATE = "covariate"
"""The role of an item asked before the rounds that tests of the factors are adjusted for."""
POSITION = "position"
"""The covariate of every mixed model: the position of the round in the participant's order."""
MOST_CONTRASTS = 50
MOST_ROWS = 3000
"""The most values of one measure that a mixed model takes."""


@dataclass(frozen=True, slots=True)
class EquivalenceMargin:
    """The largest difference, in both directions, that counts as none. The unit `raw` is that of the measure;
    `d` is the standard deviation that standardises the difference."""

    size: float
    unit: Literal["raw", "d"] = "raw"


@dataclass(frozen=True, slots=True)
class PlannedContrast:
    """A named contrast: a weight for each condition, by the condition's key. The weights add up to 0.

    `measures` are the keys of the measures that the contrast is about. If it is empty, it is about all.
    With a `margin`, the contrast is also tested for equivalence.
    """

    name: str
    weights: Mapping[str, float]
    measures: tuple[str, ...] = ()
    margin: EquivalenceMargin | None = None

    def is_about(self, measure: str) -> bool:
        """Return whether the contrast is tested in the measure with this key."""
        return not self.measures or measure in self.measures


@dataclass(frozen=True, slots=True)
class AnalysisPlan:
    """The main test, the correction of p-values over several measures, the planned contrasts, and the roles
    of measures.

    `roles` has the role (a key of `ROLES`) of each measure whose role was chosen, by the measure's key.
    `covariates` are the keys of items asked before the rounds.
    """

    main: str = "repeated"
    correction: str = "none"
    contrasts: tuple[PlannedContrast, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    covariates: tuple[str, ...] = ()


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
        roles={key: str(role) for key, role in _roles(study) if role in ROLES},
        covariates=tuple(key for key, role in _roles(study) if role == COVARIATE),
    )


def _roles(study: Mapping[str, object]) -> Iterable[tuple[str, object]]:
    stored = study.get("measure_roles")
    return stored.items() if isinstance(stored, Mapping) else ()


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
    named, colon, rest = line.partition(":")
    named, margin = _margin(line, named.strip())
    name, measures = _name_and_measures(line, named)
    if not colon or not name:
        raise ContrastError(f"“{line}”: a contrast is a name, a colon, and conditions with their weights.")
    exact: dict[str, Fraction] = {}
    for part in rest.split(","):
        key, weight = _weighed(line, part)
        if key in exact:
            raise ContrastError(f"“{line}”: {key} is there twice.")
        exact[key] = weight
    if sum(exact.values()) != 0:
        raise ContrastError(f"“{line}”: the weights add up to {sum(exact.values())}, not to 0.")
    return PlannedContrast(name, {key: float(weight) for key, weight in exact.items()}, measures, margin)


MARGIN = re.compile(r"(?P<named>.*?)\s*(?:±|\+/?-)\s*(?P<size>\d+(?:\.\d+)?)\s*(?P<unit>d?)")


def _margin(line: str, text: str) -> tuple[str, EquivalenceMargin | None]:
    """Split `H1 [trust] ±0.5 d` into what is named, and the margin."""
    found = MARGIN.fullmatch(text)
    if not found:
        if re.search(r"±|\+/?-", text):
            raise ContrastError(
                f"“{line}”: the margin of equivalence cannot be read. Write ±0.5 in the measure's unit, or "
                "±0.3 d in standard deviations."
            )
        return text, None
    size = float(found["size"])
    if not size:
        raise ContrastError(f"“{line}”: the margin of equivalence is 0.")
    return found["named"], EquivalenceMargin(size, "d" if found["unit"] else "raw")


def _name_and_measures(line: str, text: str) -> tuple[str, tuple[str, ...]]:
    """Split `H1 [trust, fun]` into the name of a contrast and the keys of its measures."""
    name, bracket, rest = text.partition("[")
    if not bracket:
        return text, ()
    if not rest.endswith("]"):
        raise ContrastError(f"“{line}”: the measures end with a bracket, as in “H1 [trust]: …”.")
    return name.strip(), tuple(key for one in rest[:-1].split(",") if (key := one.strip()))


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


def contrast_problems(
    text: str,
    conditions: Mapping[str, str],
    measures: Collection[str] | None = None,
    *,
    factorial: bool = False,
) -> list[str]:
    """Return why the contrasts in this text cannot be tested, one sentence per problem. The result is empty
    if they can be tested.

    `conditions` maps each condition's key to the between-subjects group that plays the condition. The group
    is an empty text if all groups play it. `measures` are the keys of the study's measures; None if unknown.
    In a study with named factors (`factorial`), a contrast can weigh conditions of different groups.
    """
    try:
        found = parse_contrasts(text)
    except ContrastError as error:
        return [str(error)]
    played = dict.fromkeys(conditions, "") if factorial else conditions
    return [problem for one in found for problem in _contrast_problems(one, played, measures)]


def _contrast_problems(
    one: PlannedContrast, conditions: Mapping[str, str], measures: Collection[str] | None
) -> Iterator[str]:
    """Yield why this contrast cannot be tested. The arguments are those of `contrast_problems`."""
    called = f"The planned contrast “{one.name}”"
    for key in one.weights:
        if key not in conditions:
            yield f"{called} weighs {key}, which is no condition of this study."
    if len({conditions.get(key, "") for key in one.weights} - {""}) > 1:
        yield (
            f"{called} weighs conditions of different groups, which nobody plays both. "
            "The main test compares the groups; a study with factors can plan a contrast of an interaction."
        )
    if measures is None:
        return
    for key in one.measures:
        if key not in measures:
            known = ", ".join(measures)
            yield f"{called} is about {key}, which is no measure of this study; its measures: {known}."


KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
"""The pattern of valid keys. Keys become file names and column names."""
