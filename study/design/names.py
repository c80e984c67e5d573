"""Which keys and names a study may use."""

from __future__ import annotations

from kitchen.registry.figures import measured_anywhere
from study.design.of_play import LABELS, OF_PLAY
from study.words.keys import KEY


def key_problem(key: str) -> str:
    """Why the analysis cannot use this key; empty if it can."""
    if not KEY.fullmatch(key):
        return "Begin with a letter or a digit; then letters, digits, “_” and “-”."
    return ""


def name_problem(name: str) -> str:
    """Why tables and figures cannot show this name; empty if they can."""
    return "" if name.isprintable() else "It has characters that do not print, such as a no-break space."


def item_key_problem(key: str) -> str:
    """As `key_problem`; nor may it be the name of a figure of play."""
    if key in {*OF_PLAY, *(one.name for one in measured_anywhere())}:
        return f"Choose another key: “{key}” is a measure of play already."
    return key_problem(key)


def measure_problem(measure: str) -> str:
    """As `name_problem`; nor may it be the label of a figure of play."""
    if measure in {*LABELS, *(one.label for one in measured_anywhere())}:
        return f"Choose another name: “{measure}” is a measure of play already."
    return name_problem(measure)
