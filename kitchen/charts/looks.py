"""Colours and shapes of all figures: those of one number belong together, on sheets and in browsers."""

from __future__ import annotations

COLOURS = ("#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#0072B2", "#D55E00", "#F0E442", "#999999")
"""Okabe and Ito (2008), told apart by the colour-blind; a condition keeps its colour in every figure."""

SHAPES = ("diamond", "square", "triangle-up", "cross", "circle", "triangle-down", "triangle-right", "stroke")
"""As Vega calls them."""

INK, QUIET, GRID, PAPER = "#22272E", "#68707A", "#E4E7EB", "#FFFFFF"
PAGE = {"ink": INK, "ink-soft": QUIET, "line": GRID, "paper": PAPER}
"""Colours of pages by name, that stand for these where a figure is drawn in one: pages may be dark."""
AMBER, AMBER_EDGE, AMBER_INK = "#FFF1CC", "#B7791F", "#6B4300"
FONT = "DejaVu Sans, Verdana, Arial, Helvetica, sans-serif"


def colour_of(number: int | None) -> str:
    """The colour of a series; ink, where it has none of its own."""
    return INK if number is None else COLOURS[number % len(COLOURS)]


def shape_of(number: int | None) -> str:
    """The shape of its marks; a circle, where it has no number."""
    return "circle" if number is None else SHAPES[number % len(SHAPES)]
