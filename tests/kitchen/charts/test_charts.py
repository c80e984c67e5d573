"""Figures as data: what is drawn of them, as a specification for browsers, and the table behind them."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from itertools import combinations
from typing import Any

import matplotlib as mpl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from kitchen.charts import matplotlib_charts
from kitchen.charts.chart_data import (
    Axis,
    Bracket,
    Chart,
    ImageFormat,
    Panel,
    Point,
    Series,
    cell_text,
    chart_csv,
    chart_json,
)
from kitchen.charts.chart_style import round_axis_ends, series_colour
from kitchen.charts.vega_charts import vega_specification

LONG = "A title that is rather long and goes on, so that it has to be broken into a line more than others"


def chart(*, panels: int = 1, brackets: tuple[Bracket, ...] = (), title: str = "Dishes") -> Chart:
    """Two lines over three places in each panel."""
    series = tuple(
        Series(
            name,
            "lines",
            tuple(Point(x, x + n, x + n - 0.5, x + n + 0.5, f"{name} {x}") for x in range(3)),
            n,
        )
        for n, name in enumerate(("Early", "Late"))
    )
    return Chart(
        key="dishes",
        title=title,
        x=Axis.of_names("Condition", ("Alone", "Team of two with a dispatcher", "Random")),
        y=Axis("Dishes", 0, 4, whole=True),
        panels=tuple(Panel(series, f"Level {n}" if panels > 1 else "", brackets) for n in range(panels)),
        under="12 participants, 36 observations",
        note="Lines: 95% CI of the mean.",
        words="Dishes rise.",
        head=("condition", "mean"),
        rows=(("Alone", 1.23456), ("Random, at last", None)),
        synthetic=True,
    )


THREE = tuple(Bracket(a, b, "p < .001") for a, b in combinations(range(3), 2))
CASES = {
    "plain": chart(),
    "brackets": chart(brackets=THREE),
    "long words": chart(title=LONG, brackets=THREE),
    "panels": chart(panels=5),
}


@pytest.mark.parametrize("name", CASES)
def test_no_two_texts_overlap_and_none_leaves_the_sheet(name: str) -> None:
    with mpl.rc_context(matplotlib_charts.STYLE):  # type: ignore[arg-type]
        figure = matplotlib_charts._figure(CASES[name])
        renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
        figure.draw(renderer)
        found = [t for t in figure.findobj(Text) if t.get_text().strip() and t.get_visible()]
        boxes = [(t.get_text(), t.get_window_extent(renderer)) for t in found]
    for text, box in boxes:
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1, text
        assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1, text
    for (text, box), (other, other_box) in combinations(boxes, 2):
        assert not box.overlaps(other_box), f"{text!r} is over {other!r}"


@pytest.mark.parametrize(("kind", "begins"), [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_the_same_chart_gives_the_same_bytes(kind: ImageFormat, begins: bytes) -> None:
    drawn = matplotlib_charts.draw_chart(CASES["plain"], kind, dpi=50)
    assert drawn.startswith(begins)
    assert drawn == matplotlib_charts.draw_chart(CASES["plain"], kind, dpi=50)
    assert b"2026-" not in drawn


def test_a_drawing_says_what_it_shows_and_that_the_data_are_synthetic() -> None:
    drawn = matplotlib_charts.draw_chart(CASES["plain"]).decode()
    assert "<title>Dishes (synthetic data)</title>" in drawn
    assert "Synthetic data. Dishes rise." in drawn
    assert all(word in drawn for word in ("Early", "Late", "Alone", "12 participants"))


def test_a_specification_has_every_value_with_its_words_and_colour() -> None:
    spec = vega_specification(CASES["brackets"])
    layers = spec["layer"]
    values = [row for layer in layers for row in layer["data"]["values"] if "series" in row]
    assert {row["words"] for row in values} == {f"{name} {x}" for name in ("Early", "Late") for x in range(3)}
    coloured = [
        layer["encoding"]["color"]["scale"] for layer in spec["layer"] if "color" in layer["encoding"]
    ]
    assert {tuple(each["range"]) for each in coloured} == {(series_colour(0), series_colour(1))}
    assert "p < .001" in json.dumps(spec)
    assert "Synthetic data. Dishes rise." in spec["description"]


def test_an_interval_that_leaves_the_scale_is_told_of() -> None:
    narrow, wide = CASES["plain"], replace(CASES["plain"], y=Axis("Dishes", -1, 4))
    assert wide.full_note == "Lines: 95% CI of the mean."
    assert "past the scale" in narrow.full_note
    assert "past the scale" in matplotlib_charts.draw_chart(narrow).decode()
    assert vega_specification(narrow)["layer"][0]["encoding"]["y"]["scale"]["clamp"]


def test_a_legend_is_asked_once_however_many_panels_there_are() -> None:
    def params(spec: Any) -> int:
        below = spec.values() if isinstance(spec, dict) else spec if isinstance(spec, list) else ()
        return sum(map(params, below)) + (isinstance(spec, dict) and "params" in spec)

    assert len(vega_specification(CASES["panels"])["concat"]) == 5
    assert params(vega_specification(CASES["plain"])) == params(vega_specification(CASES["panels"])) == 1


def test_the_table_behind_it_has_full_precision_and_blanks() -> None:
    rows = list(csv.reader(io.StringIO(chart_csv(CASES["plain"]).decode())))
    assert rows == [["condition", "mean"], ["Alone", "1.23456"], ["Random, at last", ""]]
    told = json.loads(chart_json(CASES["plain"]))
    assert told["synthetic"] is True
    assert told["rows"][1] == {"condition": "Random, at last", "mean": None}
    assert [cell_text(cell) for cell in (1.23456, 2.0, 3, None, "a")] == [
        "1.235",
        "2",
        "3",
        "\N{EN DASH}",
        "a",
    ]


def test_an_empty_chart_says_that_there_is_nothing() -> None:
    empty = Chart("nobody", "Nobody", Axis("x", 0, 1), Axis("y", 0, 1), (Panel(()),))
    assert empty.is_empty
    assert "No values yet" in matplotlib_charts.draw_chart(empty).decode()
    assert "No values yet" in json.dumps(vega_specification(empty))


@pytest.mark.parametrize(("given", "ends"), [((0, 17), (0, 20)), ((0, 104), (0, 120)), ((-3.2, 4), (-4, 4))])
def test_an_open_scale_ends_at_round_numbers(given: tuple[float, float], ends: tuple[float, float]) -> None:
    assert round_axis_ends(*given) == ends


def test_where_names_have_little_room_their_words_stand_below_each_other() -> None:
    axis = json.dumps(vega_specification(chart()))
    assert '[\\"Team of two\\", \\"with a\\", \\"dispatcher\\"]' in axis
    assert "width / 3 < 130" in axis
    assert "300 / 3 < 130" in json.dumps(vega_specification(chart(panels=2)))


def test_a_page_is_told_which_colours_are_its_own() -> None:
    made = vega_specification(chart())
    colours = made.pop("usermeta")["colours"]
    assert set(colours) == {"ink", "ink-soft", "line", "paper"}
    assert all(colour in json.dumps(made) for colour in colours.values())
