"""Define the export tables about play: episodes.csv, steps.csv, commands.csv, and failed_checks.csv.

- episodes.csv: played episodes (games).
- steps.csv: the steps of each episode. In a step, every player acts once.
- commands.csv: every command of every player.
- failed_checks.csv: the checks that commands failed, in worlds (kinds of games) that list such checks.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any, Self

from django.db.models import Count

from kitchen.contract.automatic_commands import NOT_ASKED
from kitchen.contract.decision_notes import ReplyReadings
from kitchen.contract.episode_log import CHECKED
from kitchen.contract.probes import stored_probes
from kitchen.contract.star_targets import known_star_targets
from kitchen.contract.world import Json
from kitchen.play.episode.absent_players import AWAY, LEFT
from kitchen.play.episode.log_metrics import read_logs
from kitchen.play.live.round_trips import RoundTripSummary, summarise_round_trips
from kitchen.play.models import Decision, Episode, Seat, SeatCommand, Step
from kitchen.play.turn.decision_records import (
    prediction_accuracy,
    predictions_by_episode,
    reply_readings_by_episode,
)
from kitchen.play.turn.last_predictions import ByMind
from kitchen.play.turn.step_timer import PEOPLE_CODES
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_metrics import event_texts, failed_checks, lists_failed_checks
from kitchen.registry.world_registry import get_world
from study.design.blueprint import AROUND_ROUNDS, Blueprint, ConditionPlan
from study.design.condition_seats import NOBODY
from study.design.form_labels import random_events_name
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
from study.exports.design_columns import (
    MetricColumn,
    episode_metric_columns,
    metric_reader,
    step_metric_columns,
)
from study.exports.export_table import (
    EPISODE_COLUMNS,
    EPISODE_LEVELS,
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
    MAIN,
    PlayedEpisode,
    Touched,
    episodes_once,
    in_pieces,
    played_by_not_withdrawn,
    played_episodes,
    touched_steps,
)
from study.participants.episode_owners_and_outages import downtime_since_creation
from study.participants.models import Round


def seed_meaning(study: Study) -> str:
    """Return the description of the `seed` column of the episodes table. It names the random events that
    the seed determines in the study's worlds."""
    brought = random_events_name(study_worlds(study))
    return (
        f"Seed of the episode: with the commands it gives every state again. {brought.capitalize()} and the "
        f"chance of co-players follow from it; with the same {brought} for everybody, all in a condition "
        "share it. Up to 19 digits: read it as text, as a number it would lose its last ones."
    )


COLUMNS = (
    *EPISODE_COLUMNS,
    *(
        replace(column, in_words=seed_meaning) if column.name == "seed" else column
        for column in file_columns("episodes", status=EPISODE_LEVELS)
    ),
    *EPISODE_MARKS,
    *file_columns("episodes_pace"),
    *OUTAGE_MARKS,
    *file_columns("episodes_page"),
    *file_columns("invalid_commands"),
    *file_columns("episodes_people"),
    *file_columns("episodes_left_out"),
)

FIELDS = (
    *("label", "world", "world_version", "settings_text", "seed", "status", "step", "score_text"),
    *("created_at", "ended_at", "state_hash", "step_seconds", "thinking_seconds", "hints"),
    *("three_dimensions", "ended_because", "shown", "asks_first", "shows_intents", "passes_by", "knowing"),
    *("decision_seconds", "offers_plans", "gone", "tick_ms", "goal", "until", "organisation__talk_language"),
    *("recommends_sound", "hides_dots", "star_targets", "order_choices"),
    *("probes", "rating_slider"),
)


@dataclass(frozen=True, slots=True)
class _Piece:
    """The data that are read at once for several episodes, by episode."""

    facts: Mapping[int, dict[str, Any]]
    seated: Mapping[int, list[str]]
    """The kinds of co-players, for each seat and for each member without a seat."""
    teammates: Mapping[int, int]
    """Number of co-players' seats."""
    views: Mapping[tuple[int, int], Sequence[Any]]
    """By seat, too: how a person used the three-dimensional scene, what they saw when they chose, whether
    they had sound, and their round trips."""
    people: Mapping[int, int]
    """Number of people's seats."""
    played_by: Mapping[int, list[str]]
    """All kinds, except people, that chose commands."""
    fallbacks: Mapping[int, int]
    readings: Mapping[int, ReplyReadings]
    predictions: Mapping[int, ByMind]

    @classmethod
    def read(cls, pks: set[int]) -> Self:
        """Read the data of the episodes with these ids from the database."""
        seats = Seat.objects.filter(episode__in=pks).order_by()
        rows = list(
            seats.values_list(
                "episode_id", "number", "mind__kind", "scene", "view", "sound", "round_trips", "acts"
            )
        )
        commands = SeatCommand.objects.filter(episode__in=pks).order_by()
        by_agents = commands.exclude(chosen_by__in=(*PEOPLE_CODES, *NOT_ASKED))
        stood_in = commands.exclude(fallback="").values_list("episode_id")
        return cls(
            _facts(pks),
            _grouped((episode, kind) for episode, _, kind, *_ in rows if kind),
            Counter(episode for episode, _, kind, *_, acts in rows if kind and acts),
            {(episode, seat): used for episode, seat, _, *used, _ in rows},
            Counter(episode for episode, _, kind, *_ in rows if not kind),
            _grouped(by_agents.values_list("episode_id", "chosen_by").distinct()),
            dict(stood_in.annotate(count=Count("pk"))),
            reply_readings_by_episode(Decision.objects.filter(mind__episode__in=pks)),
            predictions_by_episode(pks),
        )

    def round_trips(self, played: PlayedEpisode) -> RoundTripSummary:
        """Return the summary of the round trips that the participant's page measured."""
        *_, stored = self.views.get((played.episode, played.seat), NO_VIEW)
        return summarise_round_trips(stored)


ENDED_NORMALLY = (Episode.Status.OVER, Episode.Status.CUT_OFF, Episode.Status.REACHED)
"""The statuses of an episode that nobody ended early."""

NO_VIEW = "", "", "", None
"""The values of `_Piece.views` for a seat whose row is gone."""


def rows(study: Study, chosen: ExportSelection, scored: Sequence[MetricColumn]) -> Iterator[RowGroup]:
    """Yield one row per started episode and participant, ordered by participant, then by time of play.
    `scored` are the metric columns."""
    figures, around, left_out = metric_reader(scored), _around_rounds(study), _left_out(study)
    for several in in_pieces(played_episodes(study, chosen)):
        piece = _Piece.read({played.episode for played in several})
        there = played_by_not_withdrawn(several)
        latest = {pk: _latest(facts) for pk, facts in piece.facts.items()}
        yield RowGroup(
            (),
            [
                (
                    *_cells(played, piece, figures),
                    *around(played),
                    *piece.round_trips(played),
                    *latest[played.episode],
                    *left_out.get((played.who.pk, played.episode), (False, None)),
                )
                for played in there
            ],
        )


def _left_out(study: Study) -> dict[tuple[int, int | None], tuple[bool, str]]:
    """Return the rounds that staff left out of the analysis, with the reason, by participant and episode."""
    rounds = Round.objects.filter(participant__study=study, left_out_at__isnull=False)
    rows = rounds.values_list("participant_id", "episode_id", "left_out_because")
    return {(person, episode): (True, why) for person, episode, why in rows}


def _latest(facts: Mapping[str, Any]) -> tuple[Json, ...]:
    """Return the values of the last columns of an episode, which were added one after another."""
    keys = " ".join(probe.key for probe in stored_probes(facts["probes"]))
    asked = keys or None, facts["rating_slider"].get("text")
    return facts["hides_dots"], *_stars(facts), facts["order_choices"], *asked


def _around_rounds(study: Study) -> Callable[[PlayedEpisode], tuple[bool, ...]]:
    """Return a function that returns the values of `AROUND_ROUNDS` for an episode. They are those of its
    condition in the version under which the participant entered, and false for practice."""

    documents = dict(study.versions.order_by().values_list("number", "document"))

    @cache
    def plans(version: int) -> dict[str, ConditionPlan]:
        return {plan.key: plan for plan in Blueprint.from_json(documents[version]).conditions}

    def values(played: PlayedEpisode) -> tuple[bool, ...]:
        plan = plans(played.who.marks.version).get(played.condition or "") if played.condition else None
        return tuple(bool(plan and getattr(plan, name)) for name in AROUND_ROUNDS)

    return values


def _facts(pks: Iterable[int]) -> dict[int, dict[str, Any]]:
    episodes = Episode.objects.filter(pk__in=pks).annotate(
        settings_text=json_as_text("settings"), score_text=json_as_text("score")
    )
    return {row["pk"]: row for row in episodes.values("pk", *FIELDS)}


def _without_people(gone: Mapping[str, Json]) -> Iterator[str]:
    """Yield each seat of `Episode.gone` as seat:step:reason, the first absence before the last change."""
    for seat, one in sorted(gone.items()):
        if "away" in one:
            yield f"{seat}:{one['away']}:{AWAY}"
        yield f"{seat}:{one['step']}:{one['why']}"


def _cells(
    played: PlayedEpisode, piece: _Piece, figures: Callable[[str, str], tuple[Json, ...]]
) -> tuple[Any, ...]:
    pk, main = played.episode, played.part == MAIN
    facts, seated, played_by = piece.facts[pk], piece.seated[pk], piece.played_by[pk]
    gone = facts["gone"] or {}
    given_up = gone.get(str(played.seat), {}) if main else {}
    scene, view, sound, _ = piece.views.get((pk, played.seat), NO_VIEW)
    foresight = prediction_accuracy(piece.predictions.get(pk, {}))
    return (
        *played.where,
        played.condition_name or None,
        facts["label"],
        " ".join(sorted(set(seated))) or NOBODY,
        " ".join(sorted(played_by)),
        piece.teammates[pk],
        facts["world"],
        facts["world_version"],
        JsonText(facts["settings_text"]),
        facts["seed"],
        facts["status"],
        facts["step"],
        *figures(facts["world"], facts["score_text"]),
        piece.fallbacks.get(pk, 0),
        facts["created_at"],
        facts["ended_at"],
        facts["state_hash"],
        *played.marks,
        played.seat,
        played.who.sequence,
        facts["step_seconds"],
        facts["thinking_seconds"],
        facts["hints"],
        facts["ended_because"] or None,
        *played.touch.cells,
        facts["shown"],
        facts["asks_first"],
        facts["three_dimensions"],
        scene or None,
        facts["shows_intents"],
        view or None,
        facts["passes_by"],
        facts["knowing"],
        facts["decision_seconds"],
        facts["offers_plans"],
        *piece.readings.get(pk, ReplyReadings()).columns.values(),
        piece.people[pk] + sum(one["why"] in (AWAY, LEFT) for one in gone.values()),
        played.who.group if main else None,
        given_up.get("step"),
        given_up.get("why"),
        " ".join(_without_people(gone)) or None,
        foresight.judged,
        foresight.right,
        foresight.share,
        facts["tick_ms"],
        json.dumps(goal, sort_keys=True) if (goal := facts["until"] or facts["goal"]) else None,
        bool(facts["until"]),
        facts["organisation__talk_language"],
        facts["recommends_sound"],
        sound or None,
    )


def _stars(facts: Mapping[str, Any]) -> tuple[str | None, int | None]:
    """Return an episode's star targets as JSON, and the number of stars earned. The number is None unless the
    episode came to its end, because a metric that is better when lower promises too much before."""
    if not facts["star_targets"]:
        return None, None
    text = json.dumps(facts["star_targets"], sort_keys=True)
    if facts["status"] not in ENDED_NORMALLY:
        return text, None
    try:
        targets = known_star_targets(facts["star_targets"], get_world(facts["world"]).figures)
    except UnknownNameError:  # from a version with this world
        targets = None
    if targets is None:
        return text, None
    return text, targets.earned(json.loads(facts["score_text"]).get(targets.metric.name))


def _grouped(pairs: Iterable[tuple[int, str]]) -> dict[int, list[str]]:
    by_episode: dict[int, list[str]] = defaultdict(list)
    for episode, name in pairs:
        by_episode[episode].append(name)
    return by_episode


TABLE = ExportTable(
    "episodes",
    "Every episode that was begun: its set-up and how it went.",
    COLUMNS,
    rows,
    episode_metric_columns,
    more_after="steps",
)

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
    """Return the columns that depend on the study's worlds: metrics after each step, and events that are
    not events of commands."""
    news = "; ".join(words for words in map(event_texts, study_worlds(study)) if words)
    meaning = f"What happened, apart from the commands{': ' if news else ''}{news}."
    return (*step_metric_columns(study), Column("events", "json", meaning))


def step_rows(study: Study, chosen: ExportSelection, more: Sequence[Column]) -> Iterator[RowGroup]:
    """Yield one row per step of the selected participants' episodes. An episode of several participants is
    included once. `more` are the columns that `step_design_columns` returned."""
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
    """Return the events of a step that do not result from a command, as JSON. `events` is the JSON text of
    all events of the step."""
    if not ANOTHER_EVENT(events):
        return NOTHING
    return JsonText(compact([one for one in json.loads(events) if one["kind"] not in COMMAND_EVENTS]))


def command_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield one row per command in the selected participants' episodes, in the order in which the commands
    ran. An episode of several participants is included once."""
    for played, steps, touched in _steps(study, chosen, ("number", "commands_text", "events_text")):
        rows = [row for step in steps for row in _step_commands(*step)]
        for group in played.row_groups(rows, touched, chosen):
            yield from _planned_last(group)


def _planned_last(group: RowGroup) -> Iterator[RowGroup]:
    """Yield the rows with the cells about plans moved to the end. Successive rows with equal plan cells
    become one group. Most of these cells are empty."""
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
    """Yield the steps of every episode, once for each episode, in the order that all export files use.
    `fields` are the fields of a step to read. Each query reads many episodes."""
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


FAILED_CHECK_COLUMNS = (
    *EPISODE_COLUMNS,
    *file_columns("failed_checks", checked=CHECKED),
    *EPISODE_MARKS,
    *OUTAGE_MARKS,
)


def failed_check_rows(study: Study, chosen: ExportSelection) -> Iterator[RowGroup]:
    """Yield one row per failed check of a command, in the order of steps.

    The rows do not name the command, because it could show what another player knows. Episodes of several
    participants are listed with their first participant.
    """
    downtime = downtime_since_creation(study)
    for piece in in_pieces(episodes_once(study, chosen, downtime)):
        listing = [played for played in piece if lists_failed_checks(played.world)]
        logs = read_logs(Episode.objects.filter(pk__in=[played.episode for played in listing]))
        touched = touched_steps(listing, downtime)
        for played in listing:
            yield from played.row_groups(failed_checks(logs[played.episode]), touched, chosen)


FAILED_CHECKS = ExportTable(
    "failed_checks",
    "Every command that failed a check, by seat and code.",
    FAILED_CHECK_COLUMNS,
    failed_check_rows,
)
