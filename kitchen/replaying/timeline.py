"""An episode over its steps as a figure: what its world counts, what happened, what each seat did and when
its co-players were asked. Step 5 lies between 4 and 5: what is right of it is seen when so many are taken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kitchen.charts.chart import Axis, Cell, Chart, Panel, Point, Series
from kitchen.contract.world import Figure
from kitchen.play.models import Mind
from kitchen.registry.worlds import get_world
from kitchen.replaying.activity import REFUSED, Activity, Run, activity_of
from kitchen.replaying.called import mind_called, seat_called
from kitchen.replaying.moments import FALLBACK, moments
from kitchen.replaying.record import Record
from kitchen.words.counting import and_list, counted

HEAD = ("lane", "what", "from_step", "to_step", "value")
COUNTED, HAPPENED, WAITS, THINKS = 4, 5, 7, 6
"""Colours that are no kind of action's."""
ROOM = 0.8
"""How much of its lane a curve takes."""
NOTE = (
    "In the lane of a seat each kind of action has its own height, from the top: {kinds}. Thin line of a "
    "co-player: how long each decision took, up to the time that its lane names."
)


@dataclass(frozen=True, slots=True)
class Lane:
    """A row of the figure, and what stands of it in the table."""

    name: str
    series: tuple[Series, ...]
    rows: tuple[tuple[Cell, ...], ...]


def timeline(record: Record) -> Chart:
    """The figure of one episode; of one without a step it is empty. UnknownNameError for a world that is not
    known here."""
    activity = activity_of(record)
    lanes = list(_lanes(record, activity)) if record.steps else []
    unit = "Step" if record.episode.tick_ms is None else "Tick"
    return Chart(
        key="timeline",
        title=f"Timeline of {record.episode.label}",
        x=Axis(unit, 0, max(record.episode.step, 1), whole=True),
        y=Axis.of_names("", tuple(lane.name for lane in lanes)),
        panels=(Panel(tuple(one for lane in lanes for one in lane.series)),),
        under=f"{record.episode.world}, {record.episode.get_status_display()}",
        note=NOTE.format(kinds=", ".join(map(activity.name_of, activity.kinds))),
        words=" ".join(_words(record, activity)),
        head=HEAD,
        rows=tuple(row for lane in lanes for row in lane.rows),
        synthetic=record.episode.synthetic,
    )


def _lanes(record: Record, activity: Activity) -> Iterator[Lane]:
    for place, lane in enumerate(_made(record, activity)):
        yield Lane(lane.name, tuple(_at(one, place) for one in lane.series), lane.rows)


def _at(one: Series, place: int) -> Series:
    """The series, whose points lie around 0, in the lane at this place."""
    moved = tuple(Point(p.x, p.y + place, p.low, p.high, p.words) for p in one.points)
    return Series(one.name, one.look, moved, one.colour, one.listed, one.thick)


def _made(record: Record, activity: Activity) -> Iterator[Lane]:
    for figure in _figures(record):
        yield _counted(record, figure)
    for kind, steps in moments(record).items():
        if kind != REFUSED:
            yield _marks(kind, steps)
    for seat in record.seats:
        if seat.number in activity.runs:
            yield _done(seat_called(record, seat.number), activity, activity.runs[seat.number])
    yield from (_thought(record, mind) for mind in record.minds)


def _figures(record: Record) -> list[Figure]:
    """What the world counts as it is played, and tells whoever plays."""
    figures = get_world(record.episode.world).figures
    return [one for one in figures if one.kind == "count" and one.so_far and one.words]


def _counted(record: Record, figure: Figure) -> Lane:
    """A curve with a corner wherever it changes, as high as its lane at its most."""
    values = [0, *(row.score.get(figure.name) or 0 for row in record.steps)]
    most, last = max(values), len(values) - 1
    turns = {n for n in range(1, last + 1) if values[n] != values[n - 1]}
    shown = sorted({0, last} | turns | {n - 1 for n in turns})
    points = tuple(
        Point(n, _height(values[n], most), words=f"{figure.label}: {values[n]} after {n}") for n in shown
    )
    rows = tuple((figure.label, "count", n, n, values[n]) for n in sorted(turns | {last}))
    return Lane(
        f"{figure.label} (0 to {most})", (Series(figure.label, "steps", points, COUNTED, False),), rows
    )


def _height(value: float, most: float) -> float:
    """Where a value lies in its lane, of which the top is above 0."""
    return ROOM / 2 - ROOM * value / most if most else ROOM / 2


def _marks(kind: str, steps: Sequence[int]) -> Lane:
    points = tuple(Point(n - 0.5, 0, words=f"{kind}, step {n}") for n in steps)
    rows = tuple((kind, "event", n, n, None) for n in steps)
    return Lane(kind.capitalize(), (Series(kind, "dots", points, HAPPENED, listed=False),), rows)


def _done(name: str, activity: Activity, runs: Sequence[Run]) -> Lane:
    kinds = activity.kinds
    series = tuple(
        Series(
            activity.name_of(kind),
            "spans",
            tuple(_span(run, (n + 0.5) / len(kinds), activity) for run in runs if run.kind == kind),
            WAITS if kind == activity.idle else n,
            thick=1 / len(kinds),
        )
        for n, kind in enumerate(kinds)
    )
    rows = tuple((name, activity.name_of(run.kind), run.first, run.last, None) for run in runs)
    return Lane(name, series, rows)


def _span(run: Run, share: float, activity: Activity) -> Point:
    words = f"{activity.name_of(run.kind)}, {_when(run.first, run.last)}"
    return Point(run.first - 1, (share - 0.5) * ROOM, run.first - 1, run.last, words)


def _when(first: int, last: int) -> str:
    return f"step {first}" if first == last else f"steps {first} to {last}"


def _thought(record: Record, mind: Mind) -> Lane:
    name = f"{mind_called(record, mind)}, asked"
    rows = [row for row in record.decisions if row.mind_id == mind.pk and row.step <= record.episode.step]
    longest = max((row.milliseconds for row in rows), default=0.0)
    spans, curve, told = [], [], []
    for row in rows:
        asked = row.step - 1 if row.seen_step is None else min(row.seen_step, row.step - 1)
        what = _outcome(row.fallback, row.dropped)
        words = f"{name}: {what}, after {asked}, for step {row.step}; {_lasting(row.milliseconds)}"
        spans.append(Point(asked, 0, asked, row.step, words))
        curve.append(Point(row.step - 0.5, _height(row.milliseconds, longest), words=words))
        told.append((name, f"{what}, milliseconds", asked + 1, row.step, row.milliseconds))
    series = (
        Series("a co-player is asked", "spans", tuple(spans), THINKS),
        Series(name, "threads", tuple(curve), None, listed=False),
    )
    return Lane(f"{name} (to {_lasting(longest)})", series, tuple(told))


def _lasting(milliseconds: float) -> str:
    if milliseconds < 1000:
        return f"{milliseconds:.3g} ms" if milliseconds >= 1 else f"{milliseconds:.2f} ms"
    return f"{milliseconds / 1000:.1f} s"


def _outcome(fallback: str, dropped: str) -> str:
    if dropped:
        return f"not followed ({dropped})"
    return f"{FALLBACK} ({fallback})" if fallback else "decided"


def _words(record: Record, activity: Activity) -> Iterator[str]:
    """What the figure shows, lane by lane."""
    yield f"{counted(record.episode.step, 'step')}."
    if ends := [f"{one.label} {_last(record, one)}" for one in _figures(record)]:
        yield f"At the end: {and_list(ends)}."
    if happened := [f"{kind} in {counted(len(steps), 'step')}" for kind, steps in moments(record).items()]:
        yield f"Events: {and_list(happened)}."
    for seat in activity.runs:
        did = [f"{activity.name_of(kind)} {n}" for kind, n in activity.steps_of(seat).items() if n]
        yield f"Steps of seat {seat}: {and_list(did)}."
    for mind in record.minds:
        times = [row.milliseconds for row in record.decisions if row.mind_id == mind.pk]
        if times:
            longest = f"at the longest {_lasting(max(times))}"
            yield f"Co-player {mind.number} was asked {counted(len(times), 'time')}, {longest}."


def _last(record: Record, figure: Figure) -> int:
    return (record.steps[-1].score.get(figure.name) or 0) if record.steps else 0
