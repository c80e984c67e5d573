"""Write a chart as a Vega-Lite specification for browsers.

The specification contains its data, so any Vega-Lite editor can open it. It does not need `eval`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from kitchen.charts.chart_data import Axis, Chart, Panel, Series
from kitchen.charts.chart_style import (
    FONT,
    GRID,
    INK,
    MUTED_INK,
    PAGE_COLOURS,
    PAPER,
    bracket_rows,
    series_colour,
    series_shape,
    wrap_text,
)

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
ACROSS = 2
"""Panels in a row: pages may be as narrow as a telephone."""
HEIGHT, LANE, ROW, BAR, SPAN = 300, 42, 26, 0.33, 0.36
"""Height of a plot in pixels, of a named row, and of a row of brackets; half a bar's width and half a span's
height, in places."""

PANEL, ROOM, LETTERS = 300, 130, 11
"""Width of a panel in pixels, room for a name on one line in pixels, and pixels per letter elsewhere."""

Spec = dict[str, Any]


def vega_json(chart: Chart) -> bytes:
    """Return the specification as JSON; the same chart gives the same bytes."""
    return (json.dumps(vega_specification(chart), ensure_ascii=False, allow_nan=False) + "\n").encode()


def vega_specification(chart: Chart) -> Spec:
    """Return the specification of the whole figure."""
    plots = [_plot(chart, panel) for panel in chart.panels]
    whole: Spec = {"$schema": SCHEMA, "description": chart.alternative, "background": PAPER}
    whole["title"] = {"text": chart.full_title, "subtitle": [chart.under] if chart.under else []}
    whole |= {"config": _config(), "usermeta": {"colours": PAGE_COLOURS}}
    if len(plots) == 1:
        return {
            **whole,
            "width": "container",
            "autosize": {"type": "fit-x", "contains": "padding"},
            **plots[0],
        }
    return {**whole, "concat": plots, "columns": ACROSS}


def _config() -> Spec:
    axis = {
        "gridColor": GRID,
        "domainColor": MUTED_INK,
        "labelColor": INK,
        "titleColor": INK,
        "tickColor": MUTED_INK,
    }
    return {
        "font": FONT,
        "axis": {**axis, "titleFontWeight": "normal", "labelFontSize": 12, "titleFontSize": 13},
        "title": {"anchor": "start", "color": INK, "subtitleColor": MUTED_INK, "fontSize": 16},
        "legend": {"orient": "top", "title": None, "labelFontSize": 12, "columns": 4, "labelColor": INK},
        "view": {"stroke": None},
        "aria": False,
    }


def _plot(chart: Chart, panel: Panel) -> Spec:
    layers = [*_layers(chart, panel), *_brackets(chart, panel)]
    several = {"width": PANEL, "height": 220, "title": panel.title} if len(chart.panels) > 1 else {}
    height = LANE * len(chart.y.names) if chart.has_rows else HEIGHT
    return {"height": height, **several, "layer": layers or [_nothing(chart)]}


def _nothing(chart: Chart) -> Spec:
    return {"data": {"values": [{}]}, "mark": {"type": "text", "text": "No values yet", "color": MUTED_INK}}


def _layers(chart: Chart, panel: Panel) -> Iterator[Spec]:
    """Yield the layers of a panel. Spans are at the bottom, then layers without marks of their own. The first
    panel handles the choice of a name in the legend, for all panels."""
    first = panel is chart.panels[0]
    for one in sorted(panel.series, key=lambda series: _UNDER.get(series.look, 2)):
        for layer in _MADE[one.look](chart, one):
            layer["data"] = {"values": _values(one)}
            if first and chart.listed:
                layer["params"] = [{"name": "chosen", "bind": "legend", "select": _BY_NAME}]
            first = False
            yield layer


_UNDER = {"spans": 0, "threads": 1}
_BY_NAME = {"type": "point", "fields": ["series"]}


def _values(one: Series) -> list[Spec]:
    return [
        {"series": one.name, "x": p.x, "y": p.y, "low": p.low, "high": p.high, "words": p.words}
        for p in one.points
    ]


def _bars(chart: Chart, one: Series) -> Iterator[Spec]:
    base = {"datum": chart.y.low if chart.y.low > 0 or chart.y.high < 0 else max(0.0, chart.y.low)}
    sides = {"x": {**_x(chart), "field": "from"}, "x2": {"field": "to"}, "y": _y(chart), "y2": base}
    yield {
        "transform": [_calculated(f"datum.x - {BAR}", "from"), _calculated(f"datum.x + {BAR}", "to")],
        "mark": {"type": "rect", "opacity": 0.45, "tooltip": True},
        "encoding": {**_seen(chart, one), **sides},
    }
    yield from _intervals(chart, one, INK)


def _calculated(formula: str, name: str) -> Spec:
    return {"calculate": formula, "as": name}


def _dots(chart: Chart, one: Series) -> Iterator[Spec]:
    yield from _intervals(chart, one, series_colour(one.colour))
    yield _marked(chart, one, 46)


def _lines(chart: Chart, one: Series) -> Iterator[Spec]:
    yield from _joined(chart, one, {"strokeWidth": 2.5})
    yield from _intervals(chart, one, series_colour(one.colour))
    yield _marked(chart, one, 70)


def _steps(chart: Chart, one: Series) -> Iterator[Spec]:
    """Yield the layers of values that stay until they change at once."""
    yield from _joined(chart, one, {"strokeWidth": 2.5, "interpolate": "step-after"})
    yield _marked(chart, one, 70)


def _marked(chart: Chart, one: Series, size: int) -> Spec:
    return {
        "mark": {"type": "point", "filled": True, "size": size, "opacity": 0.9},
        "encoding": {**_seen(chart, one, shape=True), "x": _x(chart), "y": _y(chart)},
    }


def _threads(chart: Chart, one: Series) -> Iterator[Spec]:
    """Yield the layers of thin lines; a line under the pointer is highlighted."""
    (line,) = _joined(chart, one, {"strokeWidth": 1.2, "opacity": 0.45})
    yield line
    yield {
        "mark": {"type": "point", "filled": True, "size": 26, "opacity": 0.45},
        "encoding": {**_seen(chart, one), "x": _x(chart), "y": _y(chart)},
    }


def _dashed(chart: Chart, one: Series) -> Iterator[Spec]:
    dash = [6, 3] if one.look == "dashed" else [1, 3]
    yield from _joined(chart, one, {"strokeWidth": 1.5, "strokeDash": dash})
    if one.look == "dashed":
        yield _marked(chart, one, 26)


def _joined(chart: Chart, one: Series, look: Spec) -> Iterator[Spec]:
    order = {"order": {"field": "x", "type": "quantitative"}}
    yield {
        "mark": {"type": "line", **look},
        "encoding": {**_seen(chart, one), "x": _x(chart), "y": _y(chart), **order},
    }


def _intervals(chart: Chart, one: Series, colour: str) -> Iterator[Spec]:
    if any(point.low is not None for point in one.points):
        yield {
            "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
            "mark": {"type": "rule", "color": colour, "strokeWidth": 1.8},
            "encoding": {"x": _x(chart), "y": {**_y(chart), "field": "low"}, "y2": {"field": "high"}},
        }


def _spans(chart: Chart, one: Series) -> Iterator[Spec]:
    half = SPAN * one.thick
    yield {
        "transform": [
            _calculated(f"datum.y - {half:g}", "under"),
            _calculated(f"datum.y + {half:g}", "over"),
        ],
        "mark": {"type": "rect", "stroke": PAPER, "strokeWidth": 0.2},
        "encoding": {
            **_seen(chart, one),
            "x": {**_x(chart), "field": "low"},
            "x2": {"field": "high"},
            "y": {**_y(chart), "field": "under"},
            "y2": {"field": "over"},
        },
    }


_MADE = {
    "bars": _bars,
    "dots": _dots,
    "lines": _lines,
    "steps": _steps,
    "threads": _threads,
    "dashed": _dashed,
    "dotted": _dashed,
    "spans": _spans,
}


def _seen(chart: Chart, one: Series, *, shape: bool = False) -> Spec:
    """Return the encoding of colour and shape (in the legend, if the series is listed), and of the
    tooltip."""
    names = [each.name for each in chart.listed]
    told: Spec = {"tooltip": {"field": "words", "type": "nominal"}}
    if one.name not in names:
        told["color"] = {"value": series_colour(one.colour)}
        return {**told, "shape": {"value": series_shape(one.colour)}} if shape else told
    scale = {"domain": names, "range": [series_colour(each.colour) for each in chart.listed]}
    told["color"] = {"field": "series", "type": "nominal", "scale": scale}
    told["opacity"] = {"condition": {"param": "chosen", "value": 1}, "value": 0.12}
    if shape:
        shapes = {"domain": names, "range": [series_shape(each.colour) for each in chart.listed]}
        told["shape"] = {"field": "series", "type": "nominal", "scale": shapes}
    return told


def _x(chart: Chart) -> Spec:
    made = _axis(chart.x, angled=True)
    if chart.x.names:
        made["axis"] |= _fitting(chart.x.names, "width" if len(chart.panels) == 1 else str(PANEL))
    return {"field": "x", **made}


def _fitting(names: Sequence[str], width: str) -> Spec:
    """Return the axis labels for a plot of this width; where a name has little room, its words are on
    separate lines."""
    room = f"{width} / {len(names)}"
    whole, lines = (
        f"{json.dumps(one, ensure_ascii=False)}[datum.value]" for one in (list(names), _lines_of(names))
    )
    return {
        "labelExpr": f"{room} < {ROOM} ? {lines} : {whole}",
        "labelLimit": {"expr": f"max({room} - 2, 40)"},
        "labelFontSize": {"expr": f"{room} < {ROOM * 0.6:g} ? 10 : 12"},
    }


def _lines_of(names: Sequence[str]) -> list[list[str]]:
    return [wrap_text(name, LETTERS).split("\n") for name in names]


def _y(chart: Chart) -> Spec:
    return {"field": "y", **_axis(chart.y)}


def _axis(axis: Axis, *, angled: bool = False) -> Spec:
    look: Spec = {"title": wrap_text(axis.title, 40).split("\n"), "grid": not axis.names and not angled}
    if axis.names:
        look["values"] = list(range(len(axis.names)))
        look["labelExpr"] = f"{json.dumps(list(axis.names), ensure_ascii=False)}[datum.value]"
        look |= {"labelLimit": 140 if angled else 340, "labelOverlap": False}
    elif axis.ticks:
        look["values"] = list(axis.ticks)
    elif axis.whole:
        look |= {"tickMinStep": 1, "format": "d"}
    scale: Spec = {"domain": [axis.low, axis.high], "nice": False, "zero": False, "clamp": True}
    if axis.names and not angled:
        scale["reverse"] = True
    return {"type": "quantitative", "axis": look, "scale": scale}


def _brackets(chart: Chart, panel: Panel) -> Iterator[Spec]:
    """Yield the brackets above the plot, as in `matplotlib_charts`."""
    for bracket, row in zip(panel.brackets, _rows(panel), strict=True):
        top = -8 - row * ROW
        left, right = bracket.left + 0.07, bracket.right - 0.07
        for at, mark in (
            ({"x": left, "x2": right, "y": top}, {}),
            ({"x": left, "y": top, "y2": top + 5}, {}),
            ({"x": right, "y": top, "y2": top + 5}, {}),
            ({"x": (left + right) / 2, "y": top}, {"type": "text", "text": bracket.words, **_WORDS}),
        ):
            across = {name: {"datum": x} for name, x in at.items() if name.startswith("x")}
            down = {name: {"value": y} for name, y in at.items() if name.startswith("y")}
            yield {
                "data": {"values": [{}]},
                "mark": {"type": "rule", "color": MUTED_INK, **mark},
                "encoding": across | down,
            }


_WORDS = {"dy": -7, "fontSize": 11, "color": INK}


def _rows(panel: Panel) -> list[int]:
    return bracket_rows([(one.left, one.right) for one in panel.brackets])


def _strip(chart: Chart) -> int:
    """Return the height of all rows of brackets in pixels."""
    return ROW * max((max(_rows(panel)) + 1 for panel in chart.panels if panel.brackets), default=0)
