"""Show on a replay what people answered to probes, and how they moved the slider."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kitchen.contract.probes import CHOICE, SLIDER_END, ProbeItem, stored_probes
from kitchen.contract.world import Json
from kitchen.play.models import ProbeAnswer
from kitchen.play.turn.probe_holds import ENDED, LEFT, LIMIT
from kitchen.replay.episode_record import EpisodeRecord, seat_label

MISSING = {
    LIMIT: "no answer in time",
    LEFT: "no answer: the person had left",
    ENDED: "no answer: the episode ended first",
}


class ProbeReport(NamedTuple):
    """A person's answer to one item after a step, as text for staff."""

    seat: str
    question: str
    answer: str
    seconds: float


class SliderCurve(NamedTuple):
    """The values of one person's slider, as (step, value) in the order of moving it."""

    name: str
    points: tuple[tuple[int, int], ...]


def probe_reports(record: EpisodeRecord, step: int) -> tuple[ProbeReport, ...]:
    """Return the answers to the probes that held the game after this step."""
    return tuple(each for row in record.probe_answers if row.step == step for each in _reports(record, row))


def _reports(record: EpisodeRecord, row: ProbeAnswer) -> Iterator[ProbeReport]:
    seconds = (row.answered_at - row.asked_at).total_seconds()
    for probe in stored_probes(record.episode.probes):
        for item in probe.items if probe.key == row.probe else ():
            given = (row.answers or {}).get(item.key)
            answer = answer_in_words(item, given) if row.answers is not None else MISSING.get(row.missing, "")
            yield ProbeReport(seat_label(record, row.seat), item.text, answer, seconds)


def answer_in_words(item: ProbeItem, given: Json) -> str:
    """Return an answer as text: the words of an option, a number with the last point, or the text."""
    if item.kind == CHOICE and isinstance(given, int) and 0 < given <= len(item.options):
        return item.options[given - 1]
    _, last = item.bounds
    return f"{given} of {last}" if last else str(given)


def slider_curves(record: EpisodeRecord) -> tuple[SliderCurve, ...]:
    """Return the curve of each person who moved the slider, by seat."""
    text = record.episode.rating_slider.get("text", "Slider")
    seats = sorted({row.seat for row in record.ratings})
    return tuple(
        SliderCurve(
            f"{text}, {seat_label(record, seat)} (0 to {SLIDER_END})",
            tuple((row.step, row.value) for row in record.ratings if row.seat == seat),
        )
        for seat in seats
    )
