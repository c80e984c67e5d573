"""Write a chart as a Vega-Lite specification (JSON), for web pages and for files.

The specification includes the data, so any Vega-Lite editor can open it. Browsers can draw it without `eval`.
On a web page, the chart is as wide as its container and has tooltips. For a file (`paper`), all sizes are
fixed and the title is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from math import ceil, floor
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
    hatch_fill,
    series_colour,
    series_shape,
    wrap_name,
    wrap_text,
)

TICKS = 6
"""Most intervals between ticks of an axis of numbers."""
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
ACROSS = 2
"""Panels in a row on pages, which may be as narrow as a telephone."""
LEAST, LANES, WIDEST = 430, 670, 860
"""Widths in pixels in a file: the least of a plot, that of named rows, and that of all panels in a row."""
HEIGHT, LANE, ROW, BAR, SPAN = 300, 42, 26, 0.33, 0.36
"""Height of a plot in pixels, of a named row, and of a row of brackets; half a bar's width and half a span's
height, in places."""

PANEL, ROOM, LETTERS = 300, 130, 11
"""Width of a panel in pixels, room for a name on one line in pixels, and pixels per letter elsewhere."""
LEAST_ROOM, TURNED_LENGTH = 56, 170
"""Width in pixels below which names are turned, and their greatest length then."""
NAME_LETTERS, MANY = 14, 8
"""Letters in a line of a name in a file; number of names of which each has the room of one line."""

Spec = dict[str, Any]

LINES: dict[str, tuple[Spec, int, float]] = {
    "lines": ({"strokeWidth": 2.5}, 70, 0.9),
    "steps": ({"strokeWidth": 2.5, "interpolate": "step-after"}, 70, 0.9),
    "dots": ({}, 30, 0.85),
    "faint": ({}, 22, 0.4),
    "threads": ({"strokeWidth": 1.2, "strokeOpacity": 0.45}, 26, 0.45),
    "links": ({"strokeWidth": 0.8, "strokeOpacity": 0.3}, 0, 0),
    "dashed": ({"strokeWidth": 1.5, "strokeDash": [6, 3]}, 26, 0.9),
    "dotted": ({"strokeWidth": 2, "strokeDash": [1.5, 2.5]}, 0, 0),
    "curve": ({"strokeWidth": 2.5}, 0, 0),
}
"""Kind of mark → its line, the size of its points and their opacity; empty if it has no line or points."""


def vega_json(chart: Chart) -> bytes:
    """Return the chart's Vega-Lite specification as JSON. The same chart always gives the same bytes."""
    return (json.dumps(vega_specification(chart), ensure_ascii=False, allow_nan=False) + "\n").encode()


def vega_specification(chart: Chart, *, paper: bool = False) -> Spec:
    """Return the Vega-Lite specification of the whole chart. `paper` selects the form for files."""
    return _Figure(chart, paper).whole()


class _Figure:
    """Makes the specification of one chart."""

    def __init__(self, chart: Chart, paper: bool) -> None:
        self.chart, self.paper = chart, paper
        room = len(chart.x.names) * _place(chart.x)
        fitting = max(1, min(4, int(WIDEST / (room + 60)))) if paper else ACROSS
        self.across = min(fitting, len(chart.panels))
        self.width = PANEL
        if paper:
            least = LEAST if len(chart.panels) == 1 else WIDEST // self.across - 60
            self.width = LANES if chart.has_rows else round(max(room, least))

    def whole(self) -> Spec:
        """Return the complete Vega-Lite specification."""
        plots = [self._plot(panel) for panel in self.chart.panels]
        whole: Spec = {"$schema": SCHEMA, "description": self.chart.alternative, "background": PAPER}
        if not self.paper:
            under = [self.chart.under] if self.chart.under else []
            synthetic = "(synthetic data)" if self.chart.synthetic else ""
            whole["title"] = {"text": f"{self.chart.shown_title} {synthetic}".strip(), "subtitle": under}
        whole |= {"config": self._config(), "usermeta": {"colours": PAGE_COLOURS}}
        if len(plots) > 1:
            return {**whole, "concat": plots, "columns": self.across}
        if self.paper:
            return {**whole, **plots[0]}
        fit = {"type": "fit-x", "contains": "padding"}
        return {**whole, "width": "container", "autosize": fit, **plots[0]}

    def _config(self) -> Spec:
        axis = {"gridColor": GRID, "domainColor": MUTED_INK, "tickColor": MUTED_INK}
        axis |= {"labelColor": INK, "titleColor": INK, "titleFontWeight": "normal"}
        longest = 40 + 8 * max((len(one.name) for one in self.chart.listed), default=0)
        columns: object = max(1, self.width * self.across // longest)
        if not self.paper:  # a panel among several has no signal of its width
            columns = {"expr": f"max(1, floor(width / {longest}))"} if len(self.chart.panels) == 1 else 4
        rows = [row for panel in self.chart.panels for row in _bracket_rows(panel, self.paper)]
        above = ROW * (max(rows) + 1) if rows else 0
        legend = {"orient": "top", "labelFontSize": 12, "labelColor": INK}
        title = {"titleColor": INK, "titleFontWeight": "normal"} if self.chart.legend else {"title": None}
        return {
            "font": FONT,
            "axis": {**axis, "labelFontSize": 12, "titleFontSize": 13},
            "title": {"anchor": "start", "color": INK, "subtitleColor": MUTED_INK, "fontSize": 16},
            "legend": {**legend, **title, "columns": columns, "offset": 18 + above},
            "view": {"stroke": None},
            "aria": False,
        }

    def _plot(self, panel: Panel) -> Spec:
        layers = [*self._layers(panel), *_brackets(panel, self.paper), *self._labels(panel)]
        if not any(one.points for one in panel.series):
            layers += self._nothing()
        if self.paper and self.chart.x.below:
            layers.append(self._below())
        if len(self.chart.panels) > 1:
            title = {"text": panel.title, "anchor": "middle", "fontSize": 12, "fontWeight": "normal"}
            return {"height": 220, "width": self.width, "title": title, "layer": layers}
        height = LANE * len(self.chart.y.names) if self.chart.has_rows else HEIGHT
        return {"height": height, **({"width": self.width} if self.paper else {}), "layer": layers}

    def _nothing(self) -> list[Spec]:
        """Return the specification of empty axes with a text in the middle."""
        words = {"type": "text", "text": "No values yet", "color": MUTED_INK, "fontSize": 13}
        axes = {"data": {"values": []}, "mark": "point", "encoding": {"x": self._x(), "y": self._y()}}
        return [axes, {"data": {"values": [{}]}, "mark": words}]

    def _layers(self, panel: Panel) -> Iterator[Spec]:
        """Yield the layers of a panel: spans, thin lines, all other marks, and intervals. On a page, the
        first layer lets the reader choose a name in the legend."""
        first = panel is self.chart.panels[0]
        ordered = sorted(panel.series, key=lambda one: _UNDER.get(one.look, 3))
        marks = [(one, layer) for one in ordered for layer in self._marks(one)]
        marks += [(one, self._interval(one)) for one in ordered if one.has_intervals]
        for one, layer in marks:
            rows = [
                {"series": one.name, "x": p.x, "y": p.y, "low": p.low, "high": p.high, "words": p.words}
                for p in one.points
            ]
            layer["data"] = {"values": rows}
            if first and self.chart.listed and not self.paper:
                layer["params"] = [{"name": "chosen", "bind": "legend", "select": _BY_NAME}]
            first = False
            yield layer

    def _marks(self, one: Series) -> Iterator[Spec]:
        if one.look in ("bars", "hollow"):
            yield from self._bars(one)
        elif one.look == "spans":
            yield self._box(
                one, "y", SPAN, {"x": {**self._x(), "field": "low"}, "x2": {"field": "high"}}, _SPAN
            )
        elif one.look == "clouds":
            yield self._cloud(one)
        elif one.look in ("boxes", "whiskers"):
            yield from self._box_plot(one)
        else:
            yield from self._line(one)

    def _cloud(self, one: Series) -> Spec:
        """Return the layer of an area between the x values `low` and `x`, along the y axis."""
        look = {"type": "area", "orient": "horizontal", "fillOpacity": 0.45, "strokeWidth": 1.2}
        ends = {"x": self._x(), "x2": {"field": "low"}, "y": self._y()}
        return {
            "mark": {**look, "stroke": series_colour(one.colour)},
            "encoding": {**self._seen(one), **ends},
        }

    def _box_plot(self, one: Series) -> Iterator[Spec]:
        """Yield the layers of boxes with their median, or of whiskers."""
        ends = {"y": {**self._y(), "field": "low"}, "y2": {"field": "high"}}
        ink = {"color": {"value": INK}}
        if one.look == "whiskers":
            told = {"x": self._x(), **ends, "tooltip": _WORDS, **ink}
            yield {"mark": {"type": "rule", "strokeWidth": 1.2}, "encoding": told}
            return
        rect = {"type": "rect", "stroke": INK, "strokeWidth": 1.2, "tooltip": True}
        yield self._box(one, "x", BAR, {**ends, "color": {"value": PAPER}}, rect)
        yield self._box(one, "x", BAR, {"y": self._y(), **ink}, {"type": "rule", "strokeWidth": 2.5})

    def _bars(self, one: Series) -> Iterator[Spec]:
        low, high = self.chart.y.low, self.chart.y.high
        base = {"y": self._y(), "y2": {"datum": low if low > 0 or high < 0 else max(0.0, low)}}
        if one.look == "hollow":
            mark = {"type": "rect", "stroke": MUTED_INK}
            yield self._box(one, "x", BAR, {**base, "color": {"value": PAPER}}, mark)
        else:
            yield self._box(one, "x", BAR, base, {"type": "rect", "fillOpacity": 0.45, "tooltip": True})
            yield self._box(one, "x", BAR, {"y": self._y()}, {"type": "rule", "strokeWidth": 2.5})

    def _box(self, one: Series, along: str, half: float, other: Spec, mark: Spec) -> Spec:
        """Return a layer of marks that extend from `half` below to `half` above each point along the axis
        `along`. The extent is multiplied by the thickness of the series."""
        reach = half * one.thick
        sides = {"from": f"datum.{along} - {reach:g}", "to": f"datum.{along} + {reach:g}"}
        axis = self._x() if along == "x" else self._y()
        ends = {along: {**axis, "field": "from"}, f"{along}2": {"field": "to"}}
        return {
            "transform": [{"calculate": formula, "as": name} for name, formula in sides.items()],
            "mark": mark,
            "encoding": {**self._seen(one), **ends, **other},
        }

    def _line(self, one: Series) -> Iterator[Spec]:
        line, size, opacity = LINES[one.look]
        places = {"x": self._x(), "y": self._y()}
        if line:
            line = {**line, "strokeDash": list(one.dash)} if one.dash else line
            order = {"order": {"field": "x", "type": "quantitative"}}
            yield {"mark": {"type": "line", **line}, "encoding": {**self._seen(one), **places, **order}}
        if size:
            mark = {"type": "point", "filled": True, "size": size, "opacity": 1, "fillOpacity": opacity}
            yield {"mark": mark, "encoding": {**self._seen(one, shape=True), **places}}

    def _interval(self, one: Series) -> Spec:
        colour = {"bars": INK, "hollow": MUTED_INK}.get(one.look, series_colour(one.colour))
        ends = {"y": {**self._y(), "field": "low"}, "y2": {"field": "high"}}
        look = {"type": "errorbar", "opacity": 1}
        return {
            "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
            "mark": {**look, "color": colour, "thickness": 1.8, "ticks": {"size": 8}},
            "encoding": {"x": self._x(), **ends, "tooltip": _WORDS},
        }

    def _seen(self, one: Series, *, shape: bool = False) -> Spec:
        """Return the encoding of a series: colour, tooltip and, with `shape`, its shape. A series in the
        legend can be highlighted there."""
        listed = self.chart.listed
        names = [each.name for each in listed]
        told: Spec = {"tooltip": _WORDS}
        if one.name not in names:
            told["color"] = {"value": self._colour(one)}
            return {**told, "shape": {"value": series_shape(one.colour)}} if shape else told
        colours = {"domain": names, "range": [self._colour(each) for each in listed]}
        told["color"] = {"field": "series", "type": "nominal", "scale": colours}
        if not self.paper:
            told["opacity"] = {"condition": {"param": "chosen", "value": 1}, "value": 0.12}
        if shape:
            shapes = {"domain": names, "range": [series_shape(each.colour) for each in listed]}
            told["shape"] = {"field": "series", "type": "nominal", "scale": shapes}
        if self.chart.legend:
            seen = [name for name in ("color", "shape") if name in told]
            told |= {name: {**told[name], "title": self.chart.legend} for name in seen}
        return told

    def _colour(self, one: Series) -> str:
        if one.look == "hollow":
            return MUTED_INK
        return hatch_fill(one.colour) if self.paper and one.look == "spans" else series_colour(one.colour)

    def _x(self) -> Spec:
        axis = _axis(self.chart.x, angled=True)
        names = self.chart.x.names
        if names and self.paper:
            small = self.width / len(names) < 70
            look = {"labelExpr": f"{_json(_lines(names, NAME_LETTERS))}[datum.value]", "labelLimit": 0}
            below = 14 * max((text.count("\n") + 1 for text in self.chart.x.below if text), default=0)
            axis["axis"] |= {**look, "labelFontSize": 10 if small else 12, "titlePadding": 8 + below}
        elif names:
            axis["axis"] |= _fitting(names, "width" if len(self.chart.panels) == 1 else str(PANEL))
        return {"field": "x", **axis}

    def _y(self) -> Spec:
        return {"field": "y", **_axis(self.chart.y)}

    def _labels(self, panel: Panel) -> Iterator[Spec]:
        """Yield the labels next to points, on the side with more room."""
        middle = (self.chart.x.low + self.chart.x.high) / 2
        for point in (point for one in panel.series for point in one.points if point.label):
            side = {"align": "right", "dx": -8} if point.x > middle else {"align": "left", "dx": 8}
            mark = {"type": "text", "text": point.label, "fontSize": 12, "color": INK, **side}
            places = {"x": self._x(), "y": self._y()}
            yield {"data": {"values": [{"x": point.x, "y": point.y}]}, "mark": mark, "encoding": places}

    def _below(self) -> Spec:
        """Return the layer with the texts that are shown below the names on the x axis."""
        down = 10 + 14 * max(len(lines) for lines in _lines(self.chart.x.names, NAME_LETTERS))
        look = {"baseline": "top", "dy": down, "fontSize": 10.5, "lineBreak": "\n", "color": MUTED_INK}
        rows = [{"x": place, "words": words} for place, words in enumerate(self.chart.x.below)]
        return {
            "data": {"values": rows},
            "mark": {"type": "text", **look},
            "encoding": {"x": self._x(), "y": {"value": "height"}, "text": {"field": "words"}},
        }


_UNDER = {
    "spans": 0,
    "links": 0,
    "clouds": 0,
    "faint": 1,
    "whiskers": 1,
    "boxes": 2,
    "threads": 1,
    "dashed": 2,
    "dotted": 2,
}
_BY_NAME = {"type": "point", "fields": ["series"]}
_WORDS = {"field": "words", "type": "nominal"}
_SPAN = {"type": "rect", "stroke": PAPER, "strokeWidth": 0.2}


def _place(axis: Axis) -> float:
    """Return the width in pixels that a named place of the x axis needs in a file."""
    names = max((len(line) for lines in _lines(axis.names, NAME_LETTERS) for line in lines), default=0)
    below = max((len(line) for text in axis.below for line in text.split("\n")), default=0)
    needed = max(6.2 * names, 6.2 * below, 40) if len(axis.names) > MANY else 108
    return max(min(needed, 108), 6.2 * names) + 4


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _lines(names: Sequence[str], letters: int) -> list[list[str]]:
    return [wrap_name(name, letters) for name in names]


def _fitting(names: Sequence[str], width: str) -> Spec:
    """Return the axis settings that make these names fit into a plot of this width. If there is little room,
    the words of a name are on separate lines. If there is less than for a word, names are turned."""
    room = f"{width} / {len(names)}"
    whole, lines = (f"{_json(one)}[datum.value]" for one in (list(names), _lines(names, LETTERS)))
    turned = f"{room} < {LEAST_ROOM}"
    return {
        "labelExpr": f"{room} < {ROOM} && !({turned}) ? {lines} : {whole}",
        "labelLimit": {"expr": f"{turned} ? {TURNED_LENGTH} : max({room} - 2, 40)"},
        "labelFontSize": {"expr": f"{room} < {ROOM * 0.6:g} ? 10 : 12"},
        "labelAngle": {"expr": f"{turned} ? -90 : 0"},
        "labelAlign": {"expr": f"{turned} ? 'right' : 'center'"},
        "labelBaseline": {"expr": f"{turned} ? 'middle' : 'top'"},
    }


def _axis(axis: Axis, *, angled: bool = False) -> Spec:
    look: Spec = {"title": wrap_text(axis.title, 40).split("\n"), "grid": not axis.names and not angled}
    if not angled:
        look["titlePadding"] = 6 + 12 * (len(look["title"]) - 1)  # of the last line, which would touch labels
    if axis.names:
        look["values"] = list(range(len(axis.names)))
        look["labelExpr"] = f"{_json(list(axis.names))}[datum.value]"
        look |= {"labelLimit": 140 if angled else 340, "labelOverlap": False}
    elif axis.ticks or (axis.whole and axis.high - axis.low <= TICKS):
        ticks = axis.ticks or range(ceil(axis.low), floor(axis.high) + 1)
        look |= {"values": list(ticks), "format": ".4~g"}
    else:
        look |= {"tickCount": TICKS}
    scale: Spec = {"domain": [axis.low, axis.high], "nice": False, "zero": False, "clamp": True}
    if axis.names and not angled:
        scale["reverse"] = True
    return {"type": "quantitative", "axis": look, "scale": scale}


def _bracket_rows(panel: Panel, paper: bool) -> list[int]:
    """Return the row of each bracket. On a page, which may be narrow, neighbours are in different rows."""
    return bracket_rows([(one.left, one.right) for one in panel.brackets], apart=not paper)


def _brackets(panel: Panel, paper: bool) -> Iterator[Spec]:
    """Yield the brackets that join positions above the plot."""
    words = {"type": "text", "dy": -7, "fontSize": 11, "color": INK}
    for bracket, row in zip(panel.brackets, _bracket_rows(panel, paper), strict=True):
        top = -8 - row * ROW
        left, right = bracket.left + 0.07, bracket.right - 0.07
        for at, mark in (
            ({"x": left, "x2": right, "y": top}, {}),
            ({"x": left, "y": top, "y2": top + 5}, {}),
            ({"x": right, "y": top, "y2": top + 5}, {}),
            ({"x": (left + right) / 2, "y": top}, {"text": bracket.words, **words}),
        ):
            across = {name: {"datum": x} for name, x in at.items() if name.startswith("x")}
            down = {name: {"value": y} for name, y in at.items() if name.startswith("y")}
            yield {
                "data": {"values": [{}]},
                "mark": {"type": "rule", "color": MUTED_INK, **mark},
                "encoding": across | down,
            }
