"""What every study measures, and whether a researcher's own names can stand beside it in the analysis."""

from __future__ import annotations

from study.analysis.rows import KEY, Measure

SUCCESS = Measure.rate("success_rate", "Success rate")
COMPLETED = Measure.count("completed", "Dishes completed")
ALWAYS = (SUCCESS, COMPLETED)


def key_problem(key: str) -> str:
    """Why the analysis cannot use this key; empty if it can."""
    if not KEY.fullmatch(key):
        return "Begin with a letter or a digit; then letters, digits, “_” and “-”."
    return ""


def name_problem(name: str) -> str:
    """Why tables and figures cannot show this name; empty if they can."""
    return "" if name.isprintable() else "It has characters that do not print, such as a no-break space."


def item_key_problem(key: str) -> str:
    """As `key_problem`; nor may it be the key of what every study measures."""
    if key in {one.key for one in ALWAYS}:
        return f"Choose another key: “{key}” is a measure of every study already."
    return key_problem(key)


def measure_problem(measure: str) -> str:
    """As `name_problem`; nor may it be the name of what every study measures."""
    if measure in {one.label for one in ALWAYS}:
        return f"Choose another name: “{measure}” is a measure of every study already."
    return name_problem(measure)
