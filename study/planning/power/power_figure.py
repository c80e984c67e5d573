"""Draw the power curve over the number of participants as SVG. The same question gives the same bytes."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from kitchen.charts.chart_style import COLOURS, GRID, INK, MUTED_INK
from kitchen.charts.matplotlib_charts import STYLE, figure_bytes
from study.planning.power.power_formulas import TOO_SHORT, plan_words, power_words
from study.planning.power.sample_size_answer import PowerAnswer

CURVE, CHOSEN = COLOURS[4], COLOURS[5]
POINTS = 160
"""Maximum number of points of the curve."""


def draw_power(answer: PowerAnswer) -> bytes:
    """Return the bytes of the SVG, with text as text. Safe to call from any thread."""
    style = {**STYLE, "svg.hashsalt": "power", "svg.id": "figure_power"}
    metadata = {"Title": "Power", "Description": describe_power_curve(answer), "Date": None, "Creator": None}
    return figure_bytes(lambda: _figure(answer), "svg", style, metadata)


def describe_power_curve(answer: PowerAnswer) -> str:
    """Describe the figure for people who do not see it."""
    first, last = answer.rows[0], answer.rows[-1]
    return (
        f"Power of the {TOO_SHORT[answer.wish.test]} over the number of complete participants: "
        f"{power_words(first.power)} for {first.people}, "
        f"{power_words(answer.best.power)} for {answer.best.people}, "
        f"{power_words(last.power)} for {last.people}."
    )


def _figure(answer: PowerAnswer) -> Figure:
    figure = Figure(figsize=(6.4, 4.2), facecolor="white")
    axes = figure.add_axes((0.11, 0.2, 0.85, 0.62))
    _dress(axes, answer)
    _curve(axes, answer)
    figure.text(0.03, 0.95, f"Power of the {TOO_SHORT[answer.wish.test]}", size=12, weight="bold", va="top")
    figure.text(0.03, 0.885, plan_words(answer.wish.plan), size=8.5, color=MUTED_INK, va="top")
    figure.text(0.03, 0.03, _note(answer), size=7.5, color=MUTED_INK, va="bottom")
    return figure


def _dress(axes: Axes, answer: PowerAnswer) -> None:
    axes.set_xlim(0, answer.rows[-1].people * 1.05)
    axes.set_ylim(0, 1)
    axes.set_axisbelow(True)
    axes.grid(axis="y", color=GRID, linewidth=0.8)
    axes.tick_params(length=0, pad=6)
    axes.xaxis.set_major_locator(MaxNLocator(8, integer=True, steps=[1, 2, 5, 10]))
    axes.set_xlabel("Complete participants", labelpad=8)
    axes.set_ylabel("Power", labelpad=8)
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)


def _curve(axes: Axes, answer: PowerAnswer) -> None:
    last, best = answer.rows[-1].people, answer.best
    people = range(2, last + 1, max(last // POINTS, 1))
    axes.axhline(answer.wish.power, color=MUTED_INK, lw=1, ls=(0, (4, 3)))
    axes.plot(people, [answer.wish.power_at(n) for n in people], color=CURVE, lw=2, clip_on=False)
    even = [row for row in answer.rows if row.blocks]
    axes.scatter(
        [r.people for r in even], [r.power for r in even], s=26, color=CURVE, zorder=3, clip_on=False
    )
    axes.plot([best.people] * 2, [0, best.power], color=CHOSEN, lw=1.2)
    axes.scatter([best.people], [best.power], s=54, color=CHOSEN, zorder=4, clip_on=False)
    left = best.people > last / 2
    axes.annotate(
        f"{best.people} people: {power_words(best.power)}",
        (best.people, best.power / 2),
        xytext=(-7 if left else 7, 0),
        textcoords="offset points",
        ha="right" if left else "left",
        color=INK,
    )


def _note(answer: PowerAnswer) -> str:
    dots = " Dots: numbers that fill the order scheme evenly." if answer.wish.block > 1 else ""
    return f"Dashed: the power wanted, {power_words(answer.wish.power)}.{dots}"
