"""steps.csv and commands.csv: the log of every episode, with a row for each step and for each command."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from kitchen.play.models import Step
from kitchen.registry.world_metrics import event_texts
from study.design.metric_and_scale_names import study_worlds
from study.design.models import Study
from study.exports.csv_encoding import (
    JsonText,
    MomentText,
    compact,
    iso_from_text,
    json_as_text,
    seconds_between,
)
from study.exports.design_columns import MetricColumn, metric_reader, step_metric_columns
from study.exports.export_table import (
    EPISODE_COLUMNS,
    EPISODE_MARKS,
    FALLBACK_LEVELS,
    OUTAGE_MARKS,
    Column,
    ExportSelection,
    ExportTable,
    file_columns,
)
from study.exports.row_groups import RowGroup
from study.exports.tables.played_episodes import (
    PlayedEpisode,
    Touched,
    episodes_once,
    in_pieces,
    touched_steps,
)
from study.participants.episode_owners_and_outages import downtime_since_creation

STEP_COLUMNS = (
    *EPISODE_COLUMNS,
    *file_columns("step"),
    *file_columns("steps"),
    *EPISODE_MARKS,
    *OUTAGE_MARKS,
)

COMMAND_COLUMNS = (
    *EPISODE_COLUMNS,
    *file_columns("step"),
    *file_columns("commands", fallback=FALLBACK_LEVELS),
    *EPISODE_MARKS,
    *OUTAGE_MARKS,
    *file_columns("commands_planned"),
)

COMMAND_EVENTS = ("performed", "refused")
ANOTHER_EVENT = re.compile(rf'"kind"(?!: "(?:{"|".join(COMMAND_EVENTS)})")').search
"""Search the JSON of events for an event that belongs to no command, or a text that looks like one."""
NOTHING = JsonText("[]")
PLANNED = slice(-2, None)
"""The cells of a command row that are about plans."""
TEXTS = {
    "opened_at_text": MomentText("opened_at"),
    "taken_at_text": MomentText("taken_at"),
    "score_text": json_as_text("score"),
    "commands_text": json_as_text("commands"),
    "events_text": json_as_text("events"),
}
"""Fields of a step as text, converted by the database."""


def step_design_columns(study: Study) -> tuple[Column, ...]:
    """Return the columns for the metrics and the other events of the study's worlds."""
    news = "; ".join(words for words in map(event_texts, study_worlds(study)) if words)
    meaning = f"What happened, apart from the commands{': ' if news else ''}{news}."
    return (*step_metric_columns(study), Column("events", "json", meaning))


def step_rows(study: Study, chosen: ExportSelection, more: Sequence[Column]) -> Iterator[RowGroup]:
    """Yield one row per step."""
    figures = metric_reader([column for column in more if isinstance(column, MetricColumn)])
    fields = ("number", "opened_at_text", "taken_at_text", "score_text", "events_text", "state_hash")
    for played, steps, touched in _steps(study, chosen, fields):
        rows = [
            (
                number,
                iso_from_text(opened),
                iso_from_text(taken),
                seconds_between(opened, taken),
                *figures(played.world, score),
                apart_from_commands(events),
                state_hash,
            )
            for number, opened, taken, score, events, state_hash, _ in steps
        ]
        yield from played.row_groups(rows, touched, chosen)


def apart_from_commands(events: str) -> JsonText:
    """Return the JSON of events that belong to no command. Most steps have none and are not parsed."""
    if not ANOTHER_EVENT(events):
        return NOTHING
    return JsonText(compact([one for one in json.loads(events) if one["kind"] not in COMMAND_EVENTS]))


def command_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield one row per command of every step, in the order of execution."""
    for played, steps, touched in _steps(study, chosen, ("number", "commands_text", "events_text")):
        rows = [row for step in steps for row in _step_commands(*step)]
        for group in played.row_groups(rows, touched, chosen):
            yield from _planned_last(group)


def _planned_last(group: RowGroup) -> Iterator[RowGroup]:
    """Move the plan cells after the shared cells. Rows with equal plan cells stay in one group, as most have
    none."""
    for planned, some in groupby(group.rows, itemgetter(PLANNED)):
        yield RowGroup(group.before, [row[: PLANNED.start] for row in some], (*group.after, *planned))


def _step_commands(number: int, commands: str, events: str, _: int) -> Iterator[tuple[Any, ...]]:
    given, happened = json.loads(f"[{commands},{events}]")
    outcomes = {event["seat"]: event for event in happened if event["kind"] in COMMAND_EVENTS}
    for place, one in enumerate(given, start=1):
        yield number, place, *_command_cells(one, outcomes.get(one["seat"], {}))


def _command_cells(given: dict[str, Any], outcome: dict[str, Any]) -> tuple[Any, ...]:
    verb, *arguments = given["command"]
    return (
        given["seat"],
        given["chosen_by"],
        given["fallback"] or None,
        verb,
        " ".join(arguments),
        outcome.get("kind") == "performed",
        " ".join(outcome.get("reasons", ())) or None,
        given["received_at"],
        JsonText(compact(given["to_follow"])) if "to_follow" in given else None,
        given.get("planned_in"),
    )


def _steps(
    study: Study, chosen: ExportSelection, fields: Sequence[str]
) -> Iterator[tuple[PlayedEpisode, list[tuple[Any, ...]], Touched]]:
    """Yield the steps of every episode, once, in the order of all files; one query reads many episodes."""
    downtime = downtime_since_creation(study)
    for piece in in_pieces(episodes_once(study, chosen, downtime)):
        by_episode = _read([played.episode for played in piece], fields)
        touched = touched_steps(piece, downtime)
        for played in piece:
            yield played, by_episode.get(played.episode, []), touched


def _read(pks: Iterable[int], fields: Sequence[str]) -> dict[int, list[tuple[Any, ...]]]:
    texts = {name: TEXTS[name] for name in fields if name in TEXTS}
    recorded = Step.objects.filter(episode__in=pks).annotate(**texts).order_by("episode", "number")
    rows = recorded.values_list(*fields, "episode_id")
    return {pk: list(steps) for pk, steps in groupby(rows, itemgetter(-1))}


STEPS = ExportTable(
    "steps",
    "Every step of every episode.",
    STEP_COLUMNS,
    step_rows,
    step_design_columns,
    more_after="seconds",
)
COMMANDS = ExportTable(
    "commands", "Every command of every step, and what became of it.", COMMAND_COLUMNS, command_rows
)
