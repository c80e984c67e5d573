"""Figures as data: what is drawn of them, as a specification for browsers, and the table behind them."""

from __future__ import annotations

import csv
import io
import json
import pickle
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import combinations
from typing import Any

import pytest
from PIL import Image

from kitchen.charts import chart_drawing
from kitchen.charts.chart_data import (
    Axis,
    Bracket,
    Chart,
    ImageFormat,
    MarkKind,
    Panel,
    Point,
    Series,
    cell_text,
    chart_csv,
    chart_json,
)
from kitchen.charts.chart_drawing import draw_chart
from kitchen.charts.chart_style import (
    SPREAD,
    bracket_rows,
    round_axis_ends,
    series_colour,
    spread_points,
    wrap_name,
    wrap_text,
)
from kitchen.charts.vega_charts import vega_specification
from tests.kitchen.charts.svg_texts import check_texts, drawn_texts

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
    check_texts(draw_chart(CASES[name]))


@pytest.mark.parametrize(("kind", "begins"), [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_the_same_chart_gives_the_same_bytes(kind: ImageFormat, begins: bytes) -> None:
    drawn = draw_chart(CASES["plain"], kind, dpi=50)
    chart_drawing._plot.cache_clear()
    assert drawn.startswith(begins)
    assert drawn == draw_chart(CASES["plain"], kind, dpi=50)
    assert b"2026-" not in drawn


def test_a_drawing_says_what_it_shows_and_that_the_data_are_synthetic() -> None:
    drawn = draw_chart(CASES["plain"])
    assert b"<title>Dishes (synthetic data)</title>" in drawn
    assert b"<desc>Synthetic data. Dishes rise.</desc>" in drawn
    told = drawn_texts(drawn)
    assert {"Early", "Late", "Alone", "12 participants, 36 observations", "Synthetic data"} <= {*told}
    assert "Synthetic data" not in drawn_texts(draw_chart(replace(CASES["plain"], synthetic=False)))


def test_a_picture_and_a_pdf_say_what_they_show_and_are_as_large_as_the_drawing() -> None:
    (width,) = re.findall(r'id="figure_dishes" width="([\d.]+)"', draw_chart(CASES["plain"]).decode())
    picture = Image.open(io.BytesIO(draw_chart(CASES["plain"], "png", dpi=96)))
    assert picture.text == {  # type: ignore[attr-defined]
        "Title": "Dishes (synthetic data)",
        "Description": "Synthetic data. Dishes rise.",
    }
    assert picture.width == round(float(width))
    pdf = draw_chart(replace(CASES["plain"], words="ω rises."), "pdf")
    (size,) = re.findall(rb"/MediaBox \[0 0 ([\d.]+)", pdf)
    assert float(size) == pytest.approx(float(width) * 72 / 96, abs=0.5)
    (words,) = re.findall(rb"/Subject <(feff[0-9a-f]+)>", pdf)
    assert bytes.fromhex(words.decode()).decode("utf-16") == "Synthetic data. ω rises."
    table = pdf[int(pdf.split()[-2]) :]
    assert table.startswith(b"xref")
    starts = [int(one) for one in re.findall(rb"(\d{10}) 00000 n", table)]
    assert all(pdf[at:].startswith(b"%d 0 obj" % place) for place, at in enumerate(starts, 1))


def test_charts_drawn_by_many_threads_are_those_drawn_one_by_one() -> None:
    alone = {name: draw_chart(CASES[name]) for name in ("plain", "brackets")}
    chart_drawing._plot.cache_clear()
    with ThreadPoolExecutor(2) as pool:
        together = list(pool.map(lambda name: (name, draw_chart(CASES[name])), alone))
    assert dict(together) == alone


@pytest.mark.nightly
def test_another_process_gives_the_same_bytes() -> None:
    code = (
        "import pickle, sys; from kitchen.charts.chart_drawing import draw_chart;"
        "sys.stdout.buffer.write(draw_chart(pickle.load(sys.stdin.buffer)))"
    )
    given = pickle.dumps(CASES["plain"])
    done = subprocess.run([sys.executable, "-c", code], input=given, capture_output=True, check=True)
    assert done.stdout == draw_chart(CASES["plain"])


def test_spans_have_patterns_hollow_bars_an_edge_and_points_their_label() -> None:
    marks: tuple[tuple[MarkKind, int | None, str], ...] = (
        ("spans", 1, ""),
        ("hollow", None, ""),
        ("dots", 2, "the best"),
    )
    series = tuple(
        Series(look, look, (Point(0.5, 0.5, 0.2, 0.8, label=label),), colour) for look, colour, label in marks
    )
    drawn = draw_chart(Chart("k", "T", Axis("x", 0, 1), Axis("y", 0, 1), (Panel(series),))).decode()
    assert drawn.count('fill="url(#hatch-1)"') == 2  # the span and the legend
    assert '<pattern id="hatch-1"' in drawn
    assert 'fill="#FFFFFF" stroke="#68707A"' in drawn
    assert ">the best<" in drawn


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
    assert "past the scale" in draw_chart(narrow).decode()
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
    assert "No values yet" in draw_chart(empty).decode()
    assert "No values yet" in json.dumps(vega_specification(empty))


def test_brackets_in_one_row_never_cross() -> None:
    spans = list(combinations(range(6), 2))
    rows = bracket_rows(spans)
    for (one, row), (other, other_row) in combinations(zip(spans, rows, strict=True), 2):
        assert row != other_row or one[1] <= other[0] or other[1] <= one[0]
    assert {row for span, row in zip(spans, rows, strict=True) if span[1] - span[0] == 1} == {0}


def test_equal_values_lie_side_by_side_within_their_bar() -> None:
    shifts = spread_points([3.0] * 30 + [5.0], 1, 5)
    assert len(set(shifts[:30])) == 30
    assert max(map(abs, shifts)) <= SPREAD + 1e-9
    assert shifts[30] == 0
    assert sum(shifts) == pytest.approx(0)


def test_a_label_that_is_too_long_ends_in_an_ellipsis() -> None:
    assert wrap_text("one two three four five six seven", 6).endswith("…")
    assert wrap_text("Random team", 14) == "Random team"


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


def test_a_name_is_broken_at_spaces_and_after_plus_and_never_in_a_word() -> None:
    assert wrap_name("chain free hourglass:0+follower+collaborator_of_two, 50_logs", 14) == [
        "chain free",
        "hourglass:0+",
        "follower+",
        "collaborator_of_two,",
        "50_logs",
    ]
    assert wrap_name("", 14) == [""]


def test_neighbouring_brackets_are_in_different_rows_where_there_is_little_room() -> None:
    spans = [(0, 1), (1, 2), (2, 3)]
    assert bracket_rows(spans) == [0, 0, 0]
    assert bracket_rows(spans, apart=True) == [0, 1, 0]
