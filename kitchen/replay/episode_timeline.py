"""Draw an episode as a timeline of counts, events, players' actions, and agents' decisions.

On the axis, step n lies between n - 1 and n. The state after n steps begins at n.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from kitchen.charts.chart_data import Axis, Cell, Chart, Panel, Point, Series
from kitchen.contract.probes import SLIDER_END
from kitchen.contract.world import Metric, World
from kitchen.play.models import Mind, Step
from kitchen.registry.world_registry import get_world
from kitchen.replay.episode_record import EpisodeRecord, mind_label, seat_label
from kitchen.replay.probe_reports import SliderCurve, slider_curves
from kitchen.words.english_text import and_list, counted_noun

REFUSED, OTHER = "refused", "other"
MAX_KINDS = 4
"""Maximum number of kinds of action shown separately, the most frequent ones, besides refused and idle."""


@dataclass(frozen=True, slots=True)
class ActivityRun:
    """The steps `first` to `last`, both included, in which a seat did the same kind of action."""

    kind: str
    first: int
    last: int


@dataclass(frozen=True)
class EpisodeActivity:
    """The kinds of actions that each seat did in an episode. `idle` is the kind of the idle command."""

    runs: Mapping[int, tuple[ActivityRun, ...]]
    """Runs by seat, in order."""
    idle: str

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """Return all kinds of actions that occur, sorted by name. The idle kind comes last."""
        found = {run.kind for runs in self.runs.values() for run in runs}
        return tuple(sorted(found, key=lambda kind: (kind == self.idle, kind)))

    def name_of(self, kind: str) -> str:
        """Return the name of this kind of action for a chart. The idle kind is marked as waiting."""
        return f"waits ({kind})" if kind == self.idle else kind

    def steps_of(self, seat: int) -> dict[str, int]:
        """Return, for each kind of action, the number of steps in which this seat did it. The number may
        be 0."""
        total = Counter[str]()
        for run in self.runs[seat]:
            total[run.kind] += run.last - run.first + 1
        return {kind: total[kind] for kind in self.kinds}


def read_activity(record: EpisodeRecord) -> EpisodeActivity:
    """Return which kind of action each seat did in each step, from the log. Rare kinds are combined.
    Raises UnknownNameError for an unknown world."""
    world = get_world(record.episode.world)
    done = [(row.number, _done_kinds(row, world)) for row in record.steps]
    idle = world.kind_of(world.idle)
    own = Counter(kind for _, kinds in done for kind in kinds.values() if kind not in {idle, REFUSED})
    shown_kinds = {
        idle,
        REFUSED,
        *(kind for kind, _ in own.most_common(MAX_KINDS if len(own) > MAX_KINDS + 1 else None)),
    }
    seats = sorted({seat for _, kinds in done for seat in kinds})
    return EpisodeActivity({seat: tuple(_runs(done, seat, shown_kinds)) for seat in seats}, idle)


def _done_kinds(row: Step, world: type[World]) -> dict[int, str]:
    """Return, by seat, the kind of action that its command was, or `refused`."""
    kinds = {each["seat"]: world.kind_of(tuple(each["command"])) for each in row.commands}
    return kinds | {each["seat"]: REFUSED for each in row.events if each["kind"] == REFUSED}


def _runs(done: list[tuple[int, dict[int, str]]], seat: int, shown_kinds: set[str]) -> Iterator[ActivityRun]:
    known = [(step, kinds[seat]) for step, kinds in done if seat in kinds]
    for kind, steps in groupby(known, lambda each: each[1] if each[1] in shown_kinds else OTHER):
        numbers = [step for step, _ in steps]
        yield ActivityRun(kind, numbers[0], numbers[-1])


MODEL_ASKED, FALLBACK, MESSAGE_SENT = "model asked", "fallback", "message"
PROBE_ANSWERED, PROBE_UNANSWERED = "question answered", "question without an answer"
PERFORMED_EVENT = "performed"
"""The event of a normal command, which is not listed."""


def event_steps(record: EpisodeRecord) -> dict[str, list[int]]:
    """Return for each kind of event the numbers of the steps in which it happened. Model calls, fallbacks
    and messages are included."""
    found: dict[str, set[int]] = defaultdict(set)
    for kind, step in _all(record):
        if 0 < step <= record.episode.step:
            found[kind].add(step)
    return {kind: sorted(found[kind]) for kind in sorted(found)}


def _all(record: EpisodeRecord) -> Iterator[tuple[str, int]]:
    for row in record.steps:
        kinds = {event["kind"] for event in row.events} - {PERFORMED_EVENT}
        yield from ((kind.replace("_", " "), row.number) for kind in kinds)
        yield from ((FALLBACK, row.number) for entry in row.commands if entry["fallback"])
    for decision in record.decisions:
        if record.calls_of.get(decision.pk):
            yield MODEL_ASKED, decision.step
    for message in record.messages:
        yield MESSAGE_SENT, message.step
    for answer in record.probe_answers:
        yield PROBE_ANSWERED if answer.answers is not None else PROBE_UNANSWERED, answer.step
    for event in record.scored_events:
        yield f"scored: {event.result}", event.step


TABLE_COLUMNS = ("lane", "what", "from_step", "to_step", "value")
COUNTED, HAPPENED, WAITS, THINKS = 4, 5, 7, 6
"""Colours that no kind of action uses."""
CURVE_SHARE = 0.8
"""Share of its lane's height that a curve uses."""
NOTE = (
    "In the lane of a seat each kind of action has its own height, from the top: {kinds}. Thin line of a "
    "co-player: how long each decision took, up to the time that its lane names."
)


@dataclass(frozen=True, slots=True)
class Lane:
    """One horizontal lane of the timeline, with the rows that it adds to the chart's table."""

    name: str
    series: tuple[Series, ...]
    rows: tuple[tuple[Cell, ...], ...]


def timeline_chart(record: EpisodeRecord) -> Chart:
    """Return the timeline chart of an episode. It has no lanes before the first step. Raises UnknownNameError
    for an unknown world."""
    activity = read_activity(record)
    lanes = list(_made(record, activity)) if record.steps else []
    unit = "Step" if record.episode.tick_ms is None else "Tick"
    return Chart(
        key="timeline",
        title=f"Timeline of {record.episode.label}",
        x=Axis(unit, 0, max(record.episode.step, 1), whole=True),
        y=Axis.of_names("", tuple(lane.name for lane in lanes)),
        panels=(Panel(tuple(_at(one, place) for place, lane in enumerate(lanes) for one in lane.series)),),
        under=f"{record.episode.world}, {record.episode.get_status_display()}",
        note=NOTE.format(kinds=", ".join(map(activity.name_of, activity.kinds))),
        words=" ".join(_words(record, activity)),
        head=TABLE_COLUMNS,
        rows=tuple(row for lane in lanes for row in lane.rows),
        synthetic=record.episode.synthetic,
    )


def _at(one: Series, place: int) -> Series:
    """Return a series of the chart moved to the lane at position `place`. Before, its points lie around 0."""
    moved = tuple(Point(p.x, p.y + place, p.low, p.high, p.words) for p in one.points)
    return Series(one.name, one.look, moved, one.colour, one.listed, one.thick)


def _made(record: EpisodeRecord, activity: EpisodeActivity) -> Iterator[Lane]:
    for figure in _figures(record):
        yield _count_lane(record, figure)
    for kind, steps in event_steps(record).items():
        if kind != REFUSED:
            yield _event_lane(kind, steps)
    for seat in record.seats:
        if seat.number in activity.runs:
            yield _activity_lane(seat_label(record, seat.number), activity, activity.runs[seat.number])
    yield from (_slider_lane(curve, record.episode.step) for curve in slider_curves(record))
    yield from (_decision_lane(record, mind) for mind in record.minds)


def _figures(record: EpisodeRecord) -> list[Metric]:
    """Return the metrics to draw as curves: those that are counts and that the world shows during play."""
    figures = get_world(record.episode.world).figures
    return [one for one in figures if one.kind == "count" and one.so_far and one.words]


def _count_lane(record: EpisodeRecord, figure: Metric) -> Lane:
    """Return a lane with the curve of a count over the steps. The curve has a corner at every change, and its
    maximum fills the lane."""
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


def _slider_lane(curve: SliderCurve, last: int) -> Lane:
    """Return a lane with the line of one person's slider. A value holds until the slider is moved again."""
    held = (*curve.points, (max(last, curve.points[-1][0]), curve.points[-1][1]))
    points = tuple(
        Point(step, _height(value, SLIDER_END), words=f"{curve.name}: {value} after {step}")
        for step, value in held
    )
    rows = tuple((curve.name, "slider", step, step, value) for step, value in curve.points)
    return Lane(curve.name, (Series(curve.name, "steps", points, COUNTED, listed=False),), rows)


def _height(value: float, most: float) -> float:
    """Return the vertical position of a value within its lane. `most` is the largest value of the curve.
    Smaller positions are higher in the chart."""
    return CURVE_SHARE / 2 - CURVE_SHARE * value / most if most else CURVE_SHARE / 2


def _event_lane(kind: str, steps: Sequence[int]) -> Lane:
    points = tuple(Point(n - 0.5, 0, words=f"{kind}, step {n}") for n in steps)
    rows = tuple((kind, "event", n, n, None) for n in steps)
    return Lane(kind.capitalize(), (Series(kind, "dots", points, HAPPENED, listed=False),), rows)


def _activity_lane(name: str, activity: EpisodeActivity, runs: Sequence[ActivityRun]) -> Lane:
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


def _span(run: ActivityRun, share: float, activity: EpisodeActivity) -> Point:
    steps = f"step {run.first}" if run.first == run.last else f"steps {run.first} to {run.last}"
    words = f"{activity.name_of(run.kind)}, {steps}"
    return Point(run.first - 1, (share - 0.5) * CURVE_SHARE, run.first - 1, run.last, words)


def _decision_lane(record: EpisodeRecord, mind: Mind) -> Lane:
    name = f"{mind_label(record, mind)}, asked"
    rows = [row for row in record.decisions if row.mind_id == mind.pk and row.step <= record.episode.step]
    longest = max((row.milliseconds for row in rows), default=0.0)
    spans, curve, table = [], [], []
    for row in rows:
        asked = row.step - 1 if row.seen_step is None else min(row.seen_step, row.step - 1)
        what = _outcome(row.fallback, row.dropped)
        words = f"{name}: {what}, after {asked}, for step {row.step}; {_lasting(row.milliseconds)}"
        spans.append(Point(asked, 0, asked, row.step, words))
        curve.append(Point(row.step - 0.5, _height(row.milliseconds, longest), words=words))
        table.append((name, f"{what}, milliseconds", asked + 1, row.step, row.milliseconds))
    series = (
        Series("a co-player is asked", "spans", tuple(spans), THINKS),
        Series(name, "threads", tuple(curve), None, listed=False),
    )
    return Lane(f"{name} (to {_lasting(longest)})", series, tuple(table))


def _lasting(milliseconds: float) -> str:
    if milliseconds < 1000:
        return f"{milliseconds:.3g} ms" if milliseconds >= 1 else f"{milliseconds:.2f} ms"
    return f"{milliseconds / 1000:.1f} s"


def _outcome(fallback: str, dropped: str) -> str:
    if dropped:
        return f"not followed ({dropped})"
    return f"{FALLBACK} ({fallback})" if fallback else "decided"


def _words(record: EpisodeRecord, activity: EpisodeActivity) -> Iterator[str]:
    """Yield the text description of the timeline, one part for each lane."""
    yield f"{counted_noun(record.episode.step, 'step')}."
    if ends := [f"{one.label} {_last(record, one)}" for one in _figures(record)]:
        yield f"At the end: {and_list(ends)}."
    if happened := [
        f"{kind} in {counted_noun(len(steps), 'step')}" for kind, steps in event_steps(record).items()
    ]:
        yield f"Events: {and_list(happened)}."
    for seat in activity.runs:
        did = [f"{activity.name_of(kind)} {n}" for kind, n in activity.steps_of(seat).items() if n]
        yield f"Steps of seat {seat}: {and_list(did)}."
    for mind in record.minds:
        times = [row.milliseconds for row in record.decisions if row.mind_id == mind.pk]
        if times:
            longest = f"at the longest {_lasting(max(times))}"
            yield f"Co-player {mind.number} was asked {counted_noun(len(times), 'time')}, {longest}."


def _last(record: EpisodeRecord, figure: Metric) -> int:
    return (record.steps[-1].score.get(figure.name) or 0) if record.steps else 0
