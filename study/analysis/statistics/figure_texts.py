"""Apply the titles and notes that researchers wrote for their figures, or leave titles and notes out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from kitchen.charts.chart_data import Chart

FigureTexts = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Key of a measure or scale → name of a chart → `title` and `note`. An empty text leaves it out. A missing
one is the usual text."""
NO_TEXTS: FigureTexts = MappingProxyType({})
LONGEST = {"title": 200, "note": 600}
"""Most characters of a title and of a note."""


def texts_of(texts: FigureTexts, of: str, name: str) -> Mapping[str, str]:
    """Return the texts of the chart `name` of the measure or scale `of`. The result is empty if it has the
    usual texts."""
    return texts.get(of, {}).get(name, {})


def with_texts(chart: Chart, texts: Mapping[str, str]) -> Chart:
    """Return the chart with its title and note replaced. `texts` is a result of `texts_of`."""
    return replace(chart, replaced_texts=tuple((name, texts[name]) for name in LONGEST if name in texts))


def changed_texts(
    texts: FigureTexts, of: str, name: str, own: Mapping[str, str]
) -> dict[str, Mapping[str, Mapping[str, str]]]:
    """Return a copy of the texts in which the chart has the texts `own`. Empty entries are left out."""
    charts = {key: value for key, value in texts.get(of, {}).items() if key != name}
    charts |= {name: own} if own else {}
    rest = {key: value for key, value in texts.items() if key != of}
    return rest | ({of: charts} if charts else {})
