"""The reliability of a scale as a figure."""

from __future__ import annotations

from collections.abc import Sequence

from kitchen.charts.chart import Axis, Cell, Chart, Panel, Point, Series
from study.analysis.statistics.format import share
from study.analysis.statistics.scales import Reliability, ScaleResult

ALPHA = "\N{GREEK SMALL LETTER ALPHA}"


def reliability(scales: Sequence[ScaleResult], *, synthetic: bool = False) -> Chart:
    """Cronbach's alpha with its interval and McDonald's omega of one scale, in each condition and of
    people's means over all."""
    computed = [(place, one.found) for place, one in enumerate(scales) if isinstance(one.found, Reliability)]
    names = tuple(one.place for one in scales)
    lowest = min([0.0, *(found.alpha_low for _, found in computed)])
    alpha = tuple(
        Point(place, one.alpha, one.alpha_low, one.alpha_high, f"{names[place]}: {_alpha_words(one)}")
        for place, one in computed
    )
    omega = tuple(
        Point(place + 0.16, one.omega, words=f"{names[place]}: ω = {share(one.omega)}")
        for place, one in computed
        if one.omega is not None
    )
    return Chart(
        key=f"{scales[0].scale}_reliability",
        title=f"Reliability of {scales[0].label}",
        x=Axis.of_names("Condition", names),
        y=Axis("Reliability", max(lowest, -1.0), 1.0),
        panels=(
            Panel(
                (Series(f"Cronbach's {ALPHA}", "dots", alpha, 4), Series("McDonald's ω", "dots", omega, 5))
            ),
        ),
        note=f"Lines: 95% CI of {ALPHA}.",
        words=_reliability_words(scales, names),
        head=("condition", "n", "items", "alpha", "alpha_low", "alpha_high", "omega", "not_computable"),
        rows=tuple((name, *_reliability_row(one)) for name, one in zip(names, scales, strict=True)),
        synthetic=synthetic,
    )


def _alpha_words(one: Reliability) -> str:
    return f"{ALPHA} = {share(one.alpha)} [{share(one.alpha_low)}, {share(one.alpha_high)}]"


def _reliability_words(scales: Sequence[ScaleResult], names: Sequence[str]) -> str:
    said = [
        f"{name} {_alpha_words(one.found)}" if isinstance(one.found, Reliability) else f"{name} {one.found}"
        for name, one in zip(names, scales, strict=True)
    ]
    return f"Reliability of {scales[0].label}: {'; '.join(said)}."


def _reliability_row(one: ScaleResult) -> tuple[Cell, ...]:
    found = one.found
    if not isinstance(found, Reliability):
        return (None,) * 6 + (found.because,)
    return found.n, found.items, found.alpha, found.alpha_low, found.alpha_high, found.omega, None
