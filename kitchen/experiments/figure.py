"""Figure 4 of the paper as data: success rate against interval, a line per number of agents with its interval
over episodes, a panel per level; beside each the paper's own line and what nobody can pass. Under the title
stands who really played."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import sqrt

from kitchen.charts.chart import Axis, Cell, Chart, Format, Panel, Point, Series
from kitchen.charts.sheet import draw as draw_chart
from kitchen.experiments.results import CellResult, Interval, players_of
from kitchen.experiments.setup import Setup
from kitchen.words.counting import counted

COLOURS = (4, 1, 2, 3, 0, 5, 7, 6)
"""Numbers of the colours of lines, fewest agents first."""
CONFIDENCE, ASIDE = 0.95, 0.045
HEAD = (
    "panel",
    "agents",
    "alpha",
    "episodes",
    "completed",
    "total",
    "share",
    "low",
    "high",
    "paper",
    "bound",
)


def draw(setup: Setup, results: Sequence[CellResult], kind: Format = "svg") -> bytes:
    """The figure as a file's bytes. Safe from any thread."""
    return draw_chart(figure4(setup, results), kind)


def figure4(setup: Setup, results: Sequence[CellResult]) -> Chart:
    """The figure; presets have a panel for each variant."""
    names = list(dict.fromkeys(_name(each) for each in results))
    agents = sorted({each.column.agents for each in results})
    alphas = sorted({each.alpha for cell in results for each in cell.intervals})
    alone = f", {counted(agents[0], 'agent')}" if len(agents) == 1 else ""
    return Chart(
        key="figure4",
        title=f"Success rate, {setup.coplayer}{alone}",
        x=Axis("Interval (\N{GREEK SMALL LETTER ALPHA})", *_around(alphas), ticks=tuple(alphas)),
        y=Axis("completed / (completed + failed)", -0.02, 1.02, ticks=(0, 0.25, 0.5, 0.75, 1)),
        panels=tuple(_panel(name, [r for r in results if _name(r) == name], agents) for name in names),
        under=str(players_of(results)),
        note=_note(results),
        words=_words(results),
        head=HEAD,
        rows=tuple(_row(cell, each) for cell in results for each in cell.intervals),
    )


def _name(result: CellResult) -> str:
    return result.column.variant.label or result.column.level


def _around(alphas: Sequence[float]) -> tuple[float, float]:
    edge = 0.08 * (alphas[-1] - alphas[0]) or 0.5
    return alphas[0] - edge, alphas[-1] + edge


def _panel(name: str, cells: Sequence[CellResult], agents: Sequence[int]) -> Panel:
    return Panel(
        tuple(line for cell in cells for line in _lines(cell, agents) if line.points),
        name,
    )


def _lines(cell: CellResult, agents: Sequence[int]) -> Iterator[Series]:
    """The bound, the paper's, ours; ours lie a little beside each other, so that their intervals are seen."""
    who, place = counted(cell.column.agents, "agent"), agents.index(cell.column.agents)
    colour, aside = COLOURS[place % len(COLOURS)], ASIDE * (place - (len(agents) - 1) / 2)
    for name, look, shares in (
        (f"{who}, at most", "dotted", [(each.alpha, each.bound.share) for each in cell.intervals]),
        (f"{who}, GPT-4 in the paper", "dashed", [(each.alpha, _papers(each)) for each in cell.intervals]),
    ):
        points = tuple(Point(x, y, words=f"{name}: {y:.3f}") for x, y in shares if y is not None)
        yield Series(name, "dotted" if look == "dotted" else "dashed", points, colour, listed=False)
    ours = [(each, each.share, *interval_of(each)) for each in cell.intervals]
    yield Series(
        who,
        "lines",
        tuple(
            Point(
                e.alpha + aside,
                y,
                low,
                high,
                f"{who}: {y:.3f} ({e.completed} of {e.total}, {e.episodes} episodes)",
            )
            for e, y, low, high in ours
            if y is not None
        ),
        colour,
    )


def _papers(each: Interval) -> float | None:
    return each.paper[0] / each.paper[1] if each.paper else None


def interval_of(each: Interval) -> tuple[float, float] | tuple[None, None]:
    """The 95 % interval of the share over episodes, within 0 and 1: orders of one episode depend on each
    other, so the share is a ratio of sums over episodes (Cochran 1977, 6.3), with Student's t. None for fewer
    than two episodes."""
    from scipy.stats import t  # slow to import, so not before it is needed

    n, share = len(each.counts), each.share
    if n < 2 or share is None:
        return None, None
    left = sum((done - share * ended) ** 2 for done, ended in each.counts)
    half = float(t.ppf((1 + CONFIDENCE) / 2, n - 1)) * sqrt(n / (n - 1) * left) / each.total
    return max(share - half, 0.0), min(share + half, 1.0)


def _note(results: Sequence[CellResult]) -> str:
    every = [each for cell in results for each in cell.intervals]
    has_paper = any(each.paper for each in every)
    parts = [
        "Upright lines: 95% CI over episodes." if any(len(each.counts) > 1 for each in every) else "",
        "Dashed: GPT-4 in the paper." if has_paper else "",
        "Dotted: what nobody can pass." if any(each.bound.share is not None for each in every) else "",
    ]
    return " ".join(filter(None, parts))


def _words(results: Sequence[CellResult]) -> str:
    cells = (f"{_name(cell)}, {counted(cell.column.agents, 'agent')}: {_shares(cell)}" for cell in results)
    return f"Success rate by interval. {'; '.join(cells)}. {players_of(results)}"


def _shares(cell: CellResult) -> str:
    known = [f"{each.share:.2f} at {each.alpha:g}" for each in cell.intervals if each.share is not None]
    return ", ".join(known) or "nothing yet"


def _row(cell: CellResult, each: Interval) -> tuple[Cell, ...]:
    counts = each.alpha, each.episodes, each.completed, each.total
    shares = each.share, *interval_of(each), _papers(each), each.bound.share
    return _name(cell), cell.column.agents, *counts, *shares
