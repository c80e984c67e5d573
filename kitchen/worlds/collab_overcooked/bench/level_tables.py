"""Tabulate an experiment in Collab-Overcooked by level, laid out like the paper's Table 2 and Figure 3.

    python -m kitchen.worlds.collab_overcooked.bench.level_tables FOLDER

FOLDER is a folder that `manage.py experiment` wrote. The command prints the tables and writes them to FOLDER,
with charts. IC (initiating capability) is the share of the chef's requests that are right. RC (responding
capability) is the share of the assistant's responses that are right. A level's value is the mean of its
tasks. Brackets are 95 % bootstrap intervals over episodes.
"""

from __future__ import annotations

import csv
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import fmean
from typing import NamedTuple

from kitchen.charts.chart_data import Axis, Chart, Panel, Point, Series
from kitchen.charts.chart_drawing import draw_chart
from kitchen.contract.episode_log import LoggedStep
from kitchen.contract.line_up import line_up_kinds
from kitchen.contract.world import Event, Json
from kitchen.words.english_text import os_error_words
from kitchen.worlds.collab_overcooked.bench.process_table import (
    csv_rows,
    process_table,
    read_process_counts,
    write_process_counts,
)
from kitchen.worlds.collab_overcooked.bench.task_benchmark import LONG_ENDING, LONG_GAMMA, TASK_BENCHMARK
from kitchen.worlds.collab_overcooked.collaboration_events import effective_macros
from kitchen.worlds.collab_overcooked.collaboration_scores import tes
from kitchen.worlds.collab_overcooked.order_tasks import LEVELS, Task, tasks
from kitchen.worlds.collab_overcooked.reference_trajectories import references
from kitchen.worlds.collab_overcooked.room_layout import SEAT_NAMES, SEATS

DATA = Path(__file__).with_name("data") / "table_2.json"
GAMMAS = (1.0, 1.2, 1.5, 2.0)
SAMPLES = 1000
NAN_TEXT = "n/a"


class EpisodeName(NamedTuple):
    """The columns that identify an episode in the files: line-up, level and episode."""

    line_up: str
    level: str
    episode: str


class ScoredConversation(NamedTuple):
    """Whether the request of a conversation was right, and whether the response was right, as True or
    False. The response is None if the other cook had no turn."""

    request_right: bool
    response_right: bool | None


@dataclass(frozen=True, slots=True)
class EpisodeResult:
    """The results of one episode that the tables need."""

    name: EpisodeName
    task: Task
    gamma: float
    delivered_at: int | None
    """Index of the delivering step, from 0; None if the dish was not delivered."""
    completeness: float
    """PC"""
    events: tuple[ScoredConversation, ...]


def read_results(folder: Path) -> list[EpisodeResult]:
    """Return the results of all episodes in an experiment's folder, in the order of `steps.csv`."""
    events: dict[EpisodeName, list[ScoredConversation]] = defaultdict(list)
    for row in csv_rows(folder / "scored_events.csv"):
        response = row["response_right"] == "1" if row["response_right"] else None
        events[_name(row)].append(ScoredConversation(row["request_right"] == "1", response))
    steps: dict[EpisodeName, list[LoggedStep]] = defaultdict(list)
    for row in csv_rows(folder / "steps.csv"):
        steps[_name(row)].append(_step(row))
    return [_result(name, taken, tuple(events[name])) for name, taken in steps.items()]


def _name(row: Mapping[str, str]) -> EpisodeName:
    return EpisodeName(row["variant"], row["level"], row["episode"])


def _step(row: Mapping[str, str]) -> LoggedStep:
    return LoggedStep(int(row["step"]), (), tuple(map(_event, json.loads(row["events"]))), {})


def _event(stored: dict[str, Json]) -> Event:
    return Event(stored.pop("kind"), stored.pop("seat"), stored)


def _result(
    name: EpisodeName, steps: Sequence[LoggedStep], events: tuple[ScoredConversation, ...]
) -> EpisodeResult:
    settings = TASK_BENCHMARK.settings(name.level, 1.0, 0)
    task = tasks()[settings["task"]]
    delivered = (
        step.number - 1
        for step in steps
        for event in step.events
        if event.kind == "delivered" and event.data["right"]
    )
    pairs = references(task.name)
    scores = (
        tes(
            list(effective_macros(steps, seat, before=len(steps) + 1)), [pair.of_seat(seat) for pair in pairs]
        )
        for seat in SEATS
    )
    return EpisodeResult(name, task, settings["gamma"], next(delivered, None), fmean(scores), events)


# Measures of the episodes of one task

Measure = Callable[[Sequence[EpisodeResult]], float | None]
"""Return a measure of episodes of one task; None if it is not defined for them."""


def success_rate(episodes: Sequence[EpisodeResult]) -> float | None:
    """Return the success rate (SR): the share of episodes in which the dish was delivered."""
    return fmean(each.delivered_at is not None for each in episodes)


def success_within(gamma: float) -> Measure:
    """Return a function that computes the success rate for another time limit: `gamma` times the recorded
    optimum of the task. An episode is a success if the dish was delivered within this limit."""

    def share(episodes: Sequence[EpisodeResult]) -> float | None:
        limit = [each.task.steps_allowed(gamma) - 1 for each in episodes]
        found = (
            each.delivered_at is not None and each.delivered_at <= most
            for each, most in zip(episodes, limit, strict=True)
        )
        return fmean(found)

    return share


def completeness(episodes: Sequence[EpisodeResult]) -> float | None:
    """Return the mean progress completeness (PC) of the episodes, from 0 to 1: how closely both seats
    followed a reference trajectory."""
    return fmean(each.completeness for each in episodes)


def initiating(episodes: Sequence[EpisodeResult]) -> float | None:
    """Return the initiating capability (IC): the share of conversations whose request was right. None if
    there are no conversations."""
    right = [event.request_right for each in episodes for event in each.events]
    return fmean(right) if right else None


def responding(episodes: Sequence[EpisodeResult]) -> float | None:
    """Return the responding capability (RC): the share of conversations whose response was right, among
    those in which the other cook had a turn. None if there are no such conversations."""
    found = [event.response_right for each in episodes for event in each.events]
    right = [one for one in found if one is not None]
    return fmean(right) if right else None


MEASURES: Mapping[str, Measure] = {"SR": success_rate, "PC": completeness, "IC": initiating, "RC": responding}


class LevelValue(NamedTuple):
    """The value of a measure in one level, and the ends of its interval; each is None if it is not
    defined."""

    value: float | None
    low: float | None = None
    high: float | None = None
    episodes: int = 0

    def __str__(self) -> str:
        if self.value is None:
            return NAN_TEXT
        text = f"{100 * self.value:.1f}"
        return (
            text
            if self.low is None or self.high is None
            else f"{text} [{100 * self.low:.1f}, {100 * self.high:.1f}]"
        )


def level_value(episodes: Sequence[EpisodeResult], measure: Measure) -> LevelValue:
    """Return the mean of `measure` over the tasks of these episodes, with a 95 % bootstrap interval. The
    interval is None if no task has two episodes."""
    by_task: dict[str, list[EpisodeResult]] = defaultdict(list)
    for each in episodes:
        by_task[each.task.name].append(each)
    value = _mean_of_tasks(by_task.values(), measure)
    if value is None or max(map(len, by_task.values())) < 2:
        return LevelValue(value, episodes=len(episodes))
    chance = Random(1)  # noqa: S311
    drawn = (
        _mean_of_tasks([chance.choices(each, k=len(each)) for each in by_task.values()], measure)
        for _ in range(SAMPLES)
    )
    found = sorted(one for one in drawn if one is not None)
    low, high = found[int(0.025 * len(found))], found[min(int(0.975 * len(found)), len(found) - 1)]
    return LevelValue(value, low, high, len(episodes))


def _mean_of_tasks(by_task: Iterable[Sequence[EpisodeResult]], measure: Measure) -> float | None:
    values = [value for each in by_task if (value := measure(each)) is not None]
    return fmean(values) if values else None


# Tables


def level_table(results: Sequence[EpisodeResult]) -> list[tuple[str, str, int, LevelValue]]:
    """Return (line-up, measure, level, value) for each line-up (the agents that play together), measure
    and level. Only episodes with the usual time limit are used."""
    usual = [each for each in results if not each.name.level.endswith(LONG_ENDING)]
    return [
        (line_up, name, level, level_value(episodes, measure))
        for line_up, level, episodes in _cells(usual)
        for name, measure in MEASURES.items()
    ]


def success_by_gamma(results: Sequence[EpisodeResult]) -> list[tuple[str, float, int, LevelValue]]:
    """Return the success rate for several time limits, as (line-up, gamma, level, success rate). `gamma` is
    the limit as a multiple of the recorded optimum.

    All rates are computed from the runs with the longest limit.
    """
    long = [each for each in results if each.gamma >= LONG_GAMMA]
    return [
        (line_up, gamma, level, level_value(episodes, success_within(gamma)))
        for line_up, level, episodes in _cells(long)
        for gamma in GAMMAS
    ]


def _cells(results: Sequence[EpisodeResult]) -> Iterator[tuple[str, int, list[EpisodeResult]]]:
    for line_up in dict.fromkeys(each.name.line_up for each in results):
        for level in LEVELS:
            found = [each for each in results if (each.name.line_up, each.task.level) == (line_up, level)]
            if found:
                yield line_up, level, found


def printed_table() -> Mapping[str, Sequence[Sequence[float]]]:
    """Return the paper's Table 2. Each model has one pair per level: the success rate and the progress
    completeness, both in %."""
    rows: Mapping[str, Sequence[Sequence[float]]] = json.loads(DATA.read_text(encoding="utf-8"))["rows"]
    return rows


def markdown(results: Sequence[EpisodeResult]) -> str:
    """Return the tables of these results as Markdown, with the paper's values beside them."""
    table = level_table(results)
    values = {(line_up, name, level): value for line_up, name, level, value in table}
    line_ups = list(dict.fromkeys(line_up for line_up, *_ in table))
    head = (
        "| who | " + " | ".join(f"L{level}" for level in LEVELS) + " |\n" + "|---" * (len(LEVELS) + 1) + "|"
    )

    def row(who: str, cells: Iterable[str]) -> str:
        return f"| {who} | {' | '.join(cells)} |"

    def of(line_up: str, *names: str) -> list[str]:
        missing = LevelValue(None)
        return [
            " / ".join(str(values.get((line_up, name, level), missing)) for name in names) for level in LEVELS
        ]

    ours = [row(line_up, of(line_up, "SR", "PC")) for line_up in line_ups]
    printed = [
        row(f"{name} (as printed)", (f"{success:g} / {pc:.2f}" for success, pc in cells))
        for name, cells in printed_table().items()
    ]
    talk = [
        row(f"{line_up}: {name} of {kind}, {seat_name}", of(line_up, name))
        for line_up in line_ups
        for name, kind, seat_name in zip(("IC", "RC"), _kinds_by_seat(line_up), SEAT_NAMES, strict=True)
    ]
    parts = [
        "## Success rate / progress completeness, %\n",
        head,
        *ours,
        *printed,
        "\n## Initiating and responding capability, %\n",
        head,
        *talk,
    ]
    if by_gamma := success_by_gamma(results):
        found = {(line_up, gamma, level): value for line_up, gamma, level, value in by_gamma}
        keys = dict.fromkeys((line_up, gamma) for line_up, gamma, *_ in by_gamma)
        lines = (
            row(
                f"{line_up}, {gamma:g}",
                (str(found.get((line_up, gamma, level), LevelValue(None))) for level in LEVELS),
            )
            for line_up, gamma in keys
        )
        parts += ["\n## Success rate by time limit (multiple of the optimum), %\n", head, *lines]
    return "\n".join(parts) + "\n"


# Figures

LevelRow = tuple[str, str, float, LevelValue]
"""(panel, series, place on the x axis, value)"""
SHARES = Axis("share", -0.02, 1.02, ticks=(0, 0.25, 0.5, 0.75, 1))
INTERVALS = "Bars: 95 % intervals of bootstrap samples of episodes within tasks."


def capability_chart(results: Sequence[EpisodeResult]) -> Chart:
    """Return a chart of the initiating and the responding capability (IC, RC) by level and line-up, like
    the paper's Figure 3."""
    titles = {"IC": "Initiating capability of the chef", "RC": "Responding capability of the assistant"}
    rows = [
        (titles[name], who, level, value)
        for who, name, level, value in level_table(results)
        if name in titles
    ]
    axis = Axis("Level", LEVELS[0] - 0.5, LEVELS[-1] + 0.5, ticks=tuple(LEVELS), whole=True)
    return _chart("figure3", "Initiating and responding capability by level", axis, rows, _line_ups(results))


def gamma_chart(results: Sequence[EpisodeResult]) -> Chart:
    """Return a chart of the success rate by time limit, level and line-up."""
    rows = [(who, f"Level {level}", gamma, value) for who, gamma, level, value in success_by_gamma(results)]
    axis = Axis("Time limit, as a multiple of the optimum", 0.9, LONG_GAMMA + 0.1, ticks=GAMMAS)
    return _chart("success_by_gamma", "Success rate by time limit", axis, rows, _line_ups(results))


def _line_ups(results: Iterable[EpisodeResult]) -> str:
    return ", ".join(dict.fromkeys(each.name.line_up for each in results))


def _chart(key: str, title: str, axis: Axis, rows: Sequence[LevelRow], under: str) -> Chart:
    known = [row for row in rows if row[-1].value is not None]
    names = list(dict.fromkeys(series for _, series, _, _ in known))
    panels = tuple(
        Panel(
            tuple(
                Series(name, "lines", tuple(_points(known, panel, name)), number)
                for number, name in enumerate(names)
            ),
            panel,
        )
        for panel in dict.fromkeys(panel for panel, *_ in known)
    )
    head = ("panel", "series", "x", *LevelValue._fields)
    cells = tuple((panel, name, x, *value) for panel, name, x, value in rows)
    words = "; ".join(f"{panel}, {name}, {x:g}: {value} %" for panel, name, x, value in known)
    return Chart(key, title, axis, SHARES, panels, under, INTERVALS, words=words, head=head, rows=cells)


def _points(rows: Iterable[LevelRow], panel: str, series: str) -> Iterator[Point]:
    for *names, x, (value, low, high, _) in rows:
        if names == [panel, series] and value is not None:
            yield Point(x, value, low, high)


def _kinds_by_seat(line_up: str) -> Sequence[str]:
    kinds = line_up_kinds(line_up)
    return kinds if len(kinds) == len(SEATS) else kinds[:1] * len(SEATS)


def write_tables(folder: Path) -> str:
    """Write the tables and figures of an experiment into its folder. Return the tables as Markdown."""
    results = read_results(folder)
    counts = read_process_counts(folder)
    text = markdown(results) + process_table(counts)
    (folder / "levels.md").write_text(text, encoding="utf-8")
    gammas = [
        (who, f"SR at {gamma:g}", level, value) for who, gamma, level, value in success_by_gamma(results)
    ]
    with (folder / "levels.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("who", "measure", "level", *LevelValue._fields))
        writer.writerows(
            (who, name, level, *value) for who, name, level, value in [*level_table(results), *gammas]
        )
    write_process_counts(folder, counts)
    for chart in (capability_chart(results), gamma_chart(results)):
        if chart.panels:
            (folder / f"{chart.key}.svg").write_bytes(draw_chart(chart))
    return text


def main(arguments: Sequence[str]) -> int:
    """Print the tables of the folder named on the command line, and return the exit code. It is 2 if the
    folder is missing or holds no experiment."""
    try:
        (folder,) = arguments
        print(write_tables(Path(folder)))
    except ValueError:
        print("level_tables: give one folder that `manage.py experiment` wrote", file=sys.stderr)
    except OSError as error:
        print(f"level_tables: {error.filename}: {os_error_words(error)}", file=sys.stderr)
    else:
        return 0
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
