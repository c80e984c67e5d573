"""Figure 4 of the paper: success rate against interval, a line per number of agents, a panel per level, and
the paper's own line beside each, dashed. Under the title stands who really played.

matplotlib's object interface without pyplot, one figure at a time. The same results give the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from math import ceil
from textwrap import wrap
from threading import Lock
from typing import Any, Literal, cast

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from kitchen.experiments.results import CellResult, players_of
from kitchen.experiments.setup import Setup
from kitchen.words.counting import counted

Format = Literal["svg", "pdf"]

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#999999", "#22272E")
"""Okabe and Ito (2008), told apart by the colour-blind."""
MARKERS = "osD^vP*X"
INK, QUIET, GRID = "#22272E", "#68707A", "#E4E7EB"
ACROSS, WIDTH, HEIGHT, HEAD, FOOT = 4, 2.35, 2.0, 0.75, 0.55
"""Panels in a row; inches of a panel, of what is over and under all of them."""

LINE, LETTERS = 0.14, 16
"""Inches of a line that says who played, and its letters to an inch of the figure."""
PAPERS: dict[str, Any] = {"linestyle": (0, (3, 2)), "lw": 0.9, "ms": 2.2, "alpha": 0.6}
"""How the paper's lines look beside ours."""

STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "Helvetica"],
    "font.size": 8,
    "text.color": INK,
    "text.parse_math": False,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "svg.fonttype": "none",
    "svg.hashsalt": "figure4",
    "pdf.fonttype": 42,
}

_drawing = Lock()


def draw(setup: Setup, results: Sequence[CellResult], kind: Format = "svg") -> bytes:
    """The figure as a file's bytes. Presets have a panel for each variant. Safe from any thread."""
    title, who = f"Success rate, {setup.coplayer}", str(players_of(results))
    with _drawing, mpl.rc_context(cast(Any, STYLE)):
        out = BytesIO()
        _figure(title, who, results).savefig(out, format=kind, metadata=_metadata(f"{title}. {who}", kind))
    return out.getvalue()


def _metadata(title: str, kind: Format) -> dict[str, Any]:
    undated = {"Date": None} if kind == "svg" else {"CreationDate": None, "Producer": None}
    return {"Title": title, "Creator": None, **undated}


def _figure(title: str, who: str, results: Sequence[CellResult]) -> Figure:
    names = list(dict.fromkeys(_name(each) for each in results))
    across, agents = min(ACROSS, len(names)), sorted({each.column.agents for each in results})
    down = ceil(len(names) / across)
    width = max(across * WIDTH, 4.7) + 0.5
    said = wrap(who, round(width * LETTERS))
    head = HEAD + len(said) * LINE
    height = down * HEIGHT + head + FOOT
    figure = Figure(figsize=(width, height), facecolor="white")
    panels = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False).flatten()
    for axes, name in zip(panels, names, strict=False):
        _panel(axes, name, [each for each in results if _name(each) == name], agents)
    for axes in panels[len(names) :]:
        axes.set_axis_off()
    has_paper = any(each.paper for cell in results for each in cell.intervals)
    _frame(figure, title, said, agents, has_paper)
    edges = {
        "top": 1 - head / height,
        "bottom": FOOT / height,
        "left": 0.62 / width,
        "right": 1 - 0.12 / width,
    }
    figure.subplots_adjust(**edges, hspace=0.32, wspace=0.12)
    return figure


def _name(result: CellResult) -> str:
    return result.column.variant.label or result.column.level


def _panel(axes: Axes, name: str, cells: Sequence[CellResult], agents: Sequence[int]) -> None:
    axes.set_title(name, size=8.5, pad=4)
    axes.set_ylim(-0.03, 1.05)
    axes.grid(color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(length=0)
    for side in ("right", "top"):
        axes.spines[side].set_visible(False)
    for cell in cells:
        place = agents.index(cell.column.agents) % len(COLOURS)
        known = [(each.alpha, each.share) for each in cell.intervals if each.share is not None]
        papers = [(each.alpha, each.paper[0] / each.paper[1]) for each in cell.intervals if each.paper]
        _line(axes, papers, color=COLOURS[place], marker=MARKERS[place], **PAPERS)
        _line(axes, known, color=COLOURS[place], marker=MARKERS[place])
    axes.set_xticks([each.alpha for each in cells[0].intervals])


def _line(axes: Axes, points: Sequence[tuple[float, float]], **look: Any) -> None:
    points = sorted(points)
    look = {"lw": 1.3, "ms": 3.6, "clip_on": False, **look}
    axes.plot([x for x, _ in points], [y for _, y in points], **look)


def _legend(agents: Sequence[int], has_paper: bool) -> tuple[list[Line2D], list[str]]:
    lines = [
        Line2D([], [], color=COLOURS[i % len(COLOURS)], marker=MARKERS[i % len(MARKERS)], ms=3.6, lw=1.3)
        for i in range(len(agents))
    ]
    labels = [counted(number, "agent") for number in agents]
    if has_paper:
        lines.append(Line2D([], [], color=QUIET, **PAPERS))
        labels.append("GPT-4 in the paper, in the same colour")
    return lines, labels


def _frame(figure: Figure, title: str, said: Sequence[str], agents: Sequence[int], has_paper: bool) -> None:
    """Title, who played, legend, and the names of the axes."""
    height = figure.get_figheight()
    lines, labels = _legend(agents, has_paper)
    top = 1 - (0.24 + len(said) * LINE) / height
    figure.legend(lines, labels, loc="upper left", ncols=len(lines), frameon=False, bbox_to_anchor=(0, top))
    figure.text(0.02, 1 - 0.1 / height, title, size=10.5, weight="bold", va="top")
    for place, line in enumerate(said):
        figure.text(0.02, 1 - (0.3 + place * LINE) / height, line, size=7.5, va="top", color=QUIET)
    figure.text(0.5, 0.12 / height, "Interval (\N{GREEK SMALL LETTER ALPHA})", ha="center")
    figure.text(0.02, 0.5, "completed / (completed + failed)", rotation=90, va="center", ha="center")
