"""Fill the description of a study into the scripts that reproduce `tests.csv`, for Python and for R.

The description has conditions, measures, groups, factors and the planned tests. It has no participants, no
secrets and no paths. All names are written as quoted, escaped literals.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from pprint import pformat
from typing import Any

from study.analysis.statistics.observations import Measure, NotComputable
from study.analysis.statistics.run_analysis import Analysis, MeasureResult
from study.design.analysis_plan import PRIMARY, SECONDARY

PYTHON_FILE, R_FILE = "reproduce.py", "reproduce.R"
PYTHON_PLACE, R_PLACE = "STUDY: dict[str, Any] = {}\n", "study <- list()\n"
"""The line of each script that the description replaces."""
WIDTH = 100


def python_script(analysis: Analysis) -> bytes:
    """Return the Python script that reproduces the tests of this analysis."""
    text = pformat(study_description(analysis), width=WIDTH, sort_dicts=False)
    return _filled(PYTHON_FILE, PYTHON_PLACE, f"STUDY: dict[str, Any] = {text}\n")


def r_script(analysis: Analysis) -> bytes:
    """Return the R script that reproduces the tests of this analysis."""
    parts = (f"  {r_literal(key)} = {r_literal(one)}" for key, one in study_description(analysis).items())
    return _filled(R_FILE, R_PLACE, "study <- list(\n" + ",\n".join(parts) + "\n)\n")


def _filled(name: str, place: str, description: str) -> bytes:
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    before, after = text.split(place)
    return f"{before}{description}{after}".encode()


def study_description(analysis: Analysis) -> dict[str, Any]:
    """Return what the scripts must know about the study, as dictionaries, lists, strings and numbers."""
    between, factors = analysis.between, analysis.factors
    return {
        "conditions": [one.key for one in analysis.conditions],
        "labels": {one.key: one.label for one in analysis.conditions},
        "measures": [_measure(one) for one in analysis.measures],
        "groups": list(between.groups) if between else [],
        "levels": dict(between.levels) if between else {},
        "played_by": dict(between.played_by) if between else {},
        "between": [[one.key, list(one.levels)] for one in factors.between] if factors else [],
        "within": [[one.key, list(one.levels)] for one in factors.within] if factors else [],
        "cells": {key: dict(levels) for key, levels in factors.cells.items()} if factors else {},
        "covariates": [
            key for key in analysis.plan.covariates if any(key in own for own in analysis.covariates.values())
        ],
        "main": analysis.plan.main,
        "correction": analysis.plan.correction,
        "contrasts": [
            {
                "name": one.name,
                "weights": dict(one.weights),
                "measures": list(one.measures),
                "margin": [one.margin.size, one.margin.unit] if one.margin else None,
            }
            for one in analysis.plan.contrasts
        ],
    }


def _measure(result: MeasureResult) -> dict[str, Any]:
    one = result.measure
    return {"key": one.key, "kind": one.kind, "family": _family(one), "random": random_terms(result)}


def _family(measure: Measure) -> str:
    if measure.exploratory or measure.in_scale:
        return ""
    return PRIMARY if measure.primary else SECONDARY


def random_terms(result: MeasureResult) -> list[str] | None:
    """Return the random terms of a measure's mixed model: an empty string for participants, the factor's key
    for participants at each of its levels. Terms that were dropped are left out. None without a model."""
    if result.factorial is not None:
        mixed = result.factorial.mixed
        return None if isinstance(mixed, NotComputable) else [r.factor for r in mixed.random if not r.dropped]
    if result.within is None or isinstance(result.within.mixed, NotComputable):
        return None
    return [] if result.within.mixed.singular else [""]


def r_literal(value: object) -> str:
    """Return a value as R code. Raises TypeError for a type that a description cannot have."""
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return f'"{"".join(map(_r_character, value))}"'
    if isinstance(value, float | int):
        return repr(value)
    if isinstance(value, Mapping):
        return f"list({', '.join(f'{r_literal(key)} = {r_literal(one)}' for key, one in value.items())})"
    if isinstance(value, Sequence):
        plain = all(isinstance(one, str) for one in value)
        items = ", ".join(map(r_literal, value))
        return ("character(0)" if not items else f"c({items})") if plain else f"list({items})"
    raise TypeError(f"no R literal for {type(value).__name__}")


def _r_character(sign: str) -> str:
    if sign in ('"', "\\"):
        return f"\\{sign}"
    return sign if " " <= sign <= "~" else f"\\U{ord(sign):08X}"
