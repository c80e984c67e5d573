"""The timeline of an episode: what each lane shows, in both worlds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from kitchen.charts.chart_data import Chart, Series
from kitchen.charts.chart_drawing import draw_chart
from kitchen.charts.vega_charts import vega_specification
from kitchen.replay.episode_timeline import OTHER, read_activity, timeline_chart
from tests.kitchen.charts.svg_texts import check_texts
from tests.kitchen.replay.test_episode_file import dispatched
from tests.kitchen.replay.test_step_replay import cuisine, grids, played

pytestmark = pytest.mark.django_db


def spans(chart: Chart, lane: str) -> Iterator[tuple[str, float, float]]:
    """Of one lane, by its name: what, from, to."""
    place = chart.y.names.index(lane)
    for one in chart.panels[0].series:
        if one.look == "spans":
            yield from ((one.name, p.low or 0, p.high or 0) for p in one.points if abs(p.y - place) < 0.5)


def test_steps_of_the_same_kind_are_one_span_and_waiting_is_named() -> None:
    record = played(grids(), 5, "east")
    chart = timeline_chart(record)
    assert list(spans(chart, "Cook 1 (seat 0)")) == [("move", 0, 5)]
    assert ("Cook 1 (seat 0)", "move", 1, 5, None) in chart.rows
    idle = timeline_chart(played(cuisine(steps=3), 2, "noop"))
    assert list(spans(idle, "Robot 1 (seat 0)")) == [("waits (noop)", 0, 2)]
    assert "Steps of seat 0: waits (noop) 2." in idle.words


def test_refused_commands_are_not_counted_and_rare_kinds_are_joined() -> None:
    record = played(grids(), 3, "interact")
    assert [run.kind for run in read_activity(record).runs[0]] == ["refused"]
    record.steps = [_like(record.steps[0], n, f"verb{max(n - 4, 0)}") for n in range(1, 12)]
    kinds = read_activity(record).kinds
    assert len(kinds) == 5
    assert OTHER in kinds


def _like(row: Any, number: int, verb: str) -> Any:
    return type(row)(number=number, events=[], commands=[{"seat": 0, "command": [verb]}])


def test_counts_grow_where_they_did_and_events_have_their_step() -> None:
    record = played(cuisine(steps=3), 3, "noop")
    record.steps[1].score = record.steps[2].score = {**record.steps[0].score, "completed": 2}
    record.steps[1].events = [{"kind": "completed", "seat": None, "dish": "soup"}]
    chart = timeline_chart(record)
    (curve,) = series(chart, "Dishes completed")
    assert curve.look == "steps"
    assert '"interpolate": "step-after"' in json.dumps(vega_specification(chart))
    assert [(p.x, round(p.y, 3)) for p in curve.points] == [(0, 0.4), (1, 0.4), (2, -0.4), (3, -0.4)]
    assert [p.x for p in series(chart, "completed")[0].points] == [1.5]
    assert ("Dishes completed", "count", 2, 2, 2) in chart.rows
    assert "At the end: Dishes completed 2" in chart.words


def series(chart: Chart, name: str) -> list[Series]:
    return [one for one in chart.panels[0].series if one.name == name]


def test_the_timeline_shows_decisions_and_their_duration() -> None:
    record = dispatched()
    slow, later = record.decisions[:2]
    slow.milliseconds, later.milliseconds, later.seen_step, later.fallback = 2000.0, 10.0, 0, "late"
    chart = timeline_chart(record)
    lane = chart.y.names[-1]
    assert lane == "Robot 2 (seat 1), asked (to 2.0 s)"
    assert list(spans(chart, lane)) == [("a co-player is asked", 0, 1), ("a co-player is asked", 0, 2)]
    assert ("Robot 2 (seat 1), asked", "fallback (late), milliseconds", 1, 2, 10.0) in chart.rows


def test_it_is_drawn_in_lanes_the_first_at_the_top_whatever_draws_it() -> None:
    chart = timeline_chart(played(grids(), 3, "east"))
    spec = vega_specification(chart)
    assert spec["height"] > 40 * len(chart.y.names)
    assert all(layer["encoding"]["y"]["scale"]["reverse"] for layer in spec["layer"])
    marks = [layer["mark"]["type"] == "rect" for layer in spec["layer"]]
    assert marks == sorted(marks, reverse=True)  # nothing is hidden by a span
    kinds = {p.y for one in chart.panels[0].series if one.look == "spans" for p in one.points}
    assert len(kinds) == sum(one.look == "spans" and bool(one.points) for one in chart.panels[0].series)
    drawn = draw_chart(chart)
    check_texts(drawn)
    assert b"Cook 1 (seat 0)" in drawn


def test_an_episode_without_a_step_has_an_empty_one() -> None:
    chart = timeline_chart(played(grids(), 0))
    assert chart.is_empty
    assert not chart.rows
