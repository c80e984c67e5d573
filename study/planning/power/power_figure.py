"""Chart the power over the number of participants."""

from __future__ import annotations

from dataclasses import replace

from kitchen.charts.chart_data import Axis, Chart, Panel, Point, Series
from study.planning.power.power_formulas import TOO_SHORT, plan_words, power_words
from study.planning.power.sample_size_answer import PowerAnswer

CURVE, CHOSEN = 4, 5
"""Numbers of the colours of the curve and of the answer."""
POINTS = 160
"""Maximum number of points of the curve."""


def power_chart(answer: PowerAnswer) -> Chart:
    """Return the power curve, with the answer and the numbers that fill the order scheme evenly."""
    last, best, wish = answer.rows[-1].people, answer.best, answer.wish
    end, people = last * 1.05, range(2, last + 1, max(last // POINTS, 1))
    found = Point(best.people, best.power / 2, label=f"{best.people} people: {power_words(best.power)}")
    top = Point(best.people, best.power)
    series = (
        Series("Wanted", "dotted", (Point(0, wish.power), Point(end, wish.power)), None),
        Series("Power", "curve", tuple(Point(n, wish.power_at(n)) for n in people), CURVE),
        Series(
            "Even", "dots", tuple(Point(row.people, row.power) for row in answer.rows if row.blocks), CURVE
        ),
        Series("Answer", "curve", (Point(best.people, 0), found, top), CHOSEN),
        Series("Answer", "dots", (top,), CHOSEN),
    )
    dots = " Dots: numbers that fill the order scheme evenly." if wish.block > 1 else ""
    return Chart(
        key="power",
        title=f"Power of the {TOO_SHORT[wish.test]}",
        x=Axis("Complete participants", 0, end),
        y=Axis("Power", 0, 1),
        panels=(Panel(tuple(replace(one, listed=False) for one in series)),),
        under=plan_words(wish.plan),
        note=f"Dotted: the power wanted, {power_words(wish.power)}.{dots}",
        words=describe_power_curve(answer),
    )


def describe_power_curve(answer: PowerAnswer) -> str:
    """Describe the figure for people who do not see it."""
    first, last = answer.rows[0], answer.rows[-1]
    return (
        f"Power of the {TOO_SHORT[answer.wish.test]} over the number of complete participants: "
        f"{power_words(first.power)} for {first.people}, "
        f"{power_words(answer.best.power)} for {answer.best.people}, "
        f"{power_words(last.power)} for {last.people}."
    )
