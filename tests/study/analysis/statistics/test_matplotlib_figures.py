"""Figures: what they show, that nothing overlaps, and that the same data give the same bytes."""

import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import combinations
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from matplotlib.transforms import BboxBase

from kitchen.charts.chart_data import ImageFormat
from kitchen.charts.chart_style import SPREAD, bracket_rows, spread_points, wrap_text
from kitchen.charts.matplotlib_charts import STYLE
from study.analysis.statistics import matplotlib_figures
from study.analysis.statistics.matplotlib_figures import draw
from study.analysis.statistics.observations import AnalysisCondition, Measure
from study.analysis.statistics.result_charts import axis_bounds
from study.analysis.statistics.run_analysis import MeasureResult, analyse
from tests.nightly import nightly
from tests.study.analysis.statistics.test_analysis import FIVE, RATE, demo, rows_of

LONG = Measure.likert(
    "long",
    "More fun because of the collaboration with the others in the team, as perceived after each episode",
    5,
    ("I do not agree with this at all", "I agree with this completely"),
)


def ladder(conditions: tuple[AnalysisCondition, ...], measure: Measure) -> MeasureResult:
    """Conditions so far apart that every pair is significant."""
    step = 3.5 / len(conditions)
    groups: dict[str, list[float | None]] = {
        c.key: [1.2 + step * i + 0.01 * (n % 3) for n in range(12)] for i, c in enumerate(conditions)
    }
    return analyse(rows_of(groups, measure, synthetic=True), conditions, [measure]).measures[0]


def renamed(*labels: str) -> tuple[AnalysisCondition, ...]:
    return tuple(AnalysisCondition(f"c{i}", label, i) for i, label in enumerate(labels))


WORDY = renamed("Working alone", "Team of two with the LLM dispatcher", "Team of 3", "Team of 4", "Random")

CASES: dict[str, Callable[[], MeasureResult]] = {
    "success": lambda: demo().measure("success"),
    "enjoyment": lambda: demo().measure("enjoyment"),
    "trust, not asked when alone": lambda: demo().measure("trust"),
    "all ten pairs": lambda: ladder(FIVE, Measure.likert("m", "Enjoyment")),
    "long words": lambda: ladder(WORDY, LONG),
    "two conditions": lambda: ladder(FIVE[:2], LONG),
    "eight conditions": lambda: ladder(
        renamed(*(f"Condition {i}" for i in range(8))), Measure.count("m", "Dishes")
    ),
    "nobody": lambda: analyse([], FIVE, [RATE]).measures[0],
}

REPEATED = ["enjoyment", "two conditions"]
"""They look like "success" and "long words"."""


@cache
def case(name: str) -> MeasureResult:
    """One of them, computed once."""
    return CASES[name]()


def texts(svg: bytes) -> list[str]:
    return [t.text or "" for t in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314


@pytest.fixture(
    scope="module", params=[*(name for name in CASES if name not in REPEATED), *nightly(*REPEATED)]
)
def result(request: pytest.FixtureRequest) -> MeasureResult:
    return case(request.param)


@pytest.fixture(scope="module")
def found(result: MeasureResult) -> list[str]:
    """The texts of its figure."""
    return texts(draw(result))


def test_a_figure_is_well_formed_and_names_every_condition(result: MeasureResult, found: list[str]) -> None:
    written = " ".join(found)
    for condition in result.where_measured().table.conditions:
        assert condition.label in written
    assert "Condition" in written


def test_every_significant_pair_has_a_bracket_with_its_p_where_they_are_few(
    result: MeasureResult, found: list[str]
) -> None:
    written = [text for text in found if re.fullmatch(r"p [<=>] \.\d+", text)]
    many = len(result.brackets) > 10
    assert len(written) == (0 if many else len(result.brackets))
    assert ("28 pairs differ (Tukey HSD, p < .05): too many to bracket" in " ".join(found)) is many


def test_no_two_texts_overlap_and_none_leaves_the_sheet(result: MeasureResult) -> None:
    sheet, boxes = _boxes(result)
    for text, box in boxes:
        assert sheet.x0 <= box.x0 and box.x1 <= sheet.x1, text
        assert sheet.y0 <= box.y0 and box.y1 <= sheet.y1, text
    for (text, box), (other, other_box) in combinations(boxes, 2):
        assert not box.overlaps(other_box), f"{text!r} is over {other!r}"


def _boxes(result: MeasureResult) -> tuple[BboxBase, list[tuple[str, BboxBase]]]:
    with mpl.rc_context(STYLE):  # type: ignore[arg-type]
        figure = matplotlib_figures._figure(result)
        renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
        figure.draw(renderer)
        return figure.bbox, [(t.get_text(), t.get_window_extent(renderer)) for t in _visible(figure)]


def _visible(figure: object) -> Iterator[Text]:
    for text in figure.findobj(Text):  # type: ignore[attr-defined]
        hidden = text.axes is not None and not text.axes.axison and text not in text.axes.texts
        if text.get_text().strip() and text.get_visible() and not hidden:
            yield text


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_the_same_data_give_the_same_bytes_of_the_kind_asked_for(kind: ImageFormat) -> None:
    data = draw(case("success"), kind, dpi=60)
    assert data == draw(case("success"), kind, dpi=60)
    assert data.startswith({"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[kind])


def test_another_process_gives_the_same_bytes_and_never_loads_pyplot() -> None:
    code = (
        "import pickle, sys; from study.analysis.statistics.matplotlib_figures import draw;"
        "sys.stdout.buffer.write(draw(pickle.load(sys.stdin.buffer)));"
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    result = demo().measure("success")
    done = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(result), capture_output=True, check=False
    )
    assert done.stdout == draw(result)
    assert done.returncode == 0, "pyplot was loaded"


def test_figures_drawn_by_many_threads_are_those_drawn_one_by_one() -> None:
    several = ["trust, not asked when alone", "two conditions", "nobody"]
    alone = {name: draw(case(name)) for name in several}
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda name: (name, draw(case(name))), several * 3))
    assert all(data == alone[name] for name, data in together)


def test_drawing_leaves_the_settings_of_matplotlib_as_they_were() -> None:
    before = dict(mpl.rcParams)
    draw(case("success"))
    assert dict(mpl.rcParams) == before


def test_a_figure_carries_no_date() -> None:
    svg = draw(case("success")).decode()
    assert "dc:date" not in svg
    assert not re.search(r"20\d\d-\d\d-\d\d", svg)


def test_synthetic_data_are_marked_in_the_drawing_and_its_title() -> None:
    marked, plain = draw(demo().measure("success")), draw(demo(synthetic=False).measure("success"))
    assert "Synthetic data" in texts(marked)
    assert "Synthetic data" not in texts(plain)
    assert b"<title>Success rate (synthetic data)</title>" in marked


def test_labels_are_shown_as_they_are_written() -> None:
    odd = renamed("$x_1$ & <b>", "50 % \\alpha")
    written = texts(draw(ladder(odd, LONG)))
    assert "$x_1$ & <b>" in written
    assert "50 % \\alpha" in written


def test_the_axis_has_the_bounds_of_the_scale() -> None:
    assert axis_bounds(demo().measure("success")) == (0, 1)
    assert axis_bounds(demo().measure("enjoyment")) == (1, 5)


@pytest.mark.parametrize(("top", "end"), [(0, 1), (3, 3), (17, 20), (104, 120)])
def test_an_open_scale_has_room_for_the_largest_value(top: float, end: float) -> None:
    dishes = Measure.count("dishes", "Dishes")
    rows = rows_of({"alone": [0.0, top], "llm_1": [0.0, top]}, dishes)
    found = analyse(rows, FIVE[:2], [dishes]).measures[0]
    low, high = axis_bounds(found)
    assert low == 0
    assert high >= max(top, end)


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
