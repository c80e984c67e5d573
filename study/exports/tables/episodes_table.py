"""episodes.csv: a row for each started episode and each participant in it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db.models import Count

from kitchen.contract.decision_notes import PredictionAccuracy, ReplyReadings
from kitchen.contract.planned_commands import BY_WORLD
from kitchen.contract.world import Json
from kitchen.play.episode.absent_players import NEVER
from kitchen.play.models import Decision, Episode, Seat, SeatCommand
from kitchen.play.turn.decision_records import (
    prediction_accuracy,
    predictions_by_episode,
    reply_readings_by_episode,
)
from kitchen.play.turn.step_timer import PEOPLE_CODES
from study.design.condition_plan import NOBODY
from study.design.form_labels import random_events_name
from study.design.models import Study
from study.design.study_metrics import study_worlds
from study.exports.csv_encoding import JsonText, json_as_text
from study.exports.design_columns import MetricColumn, episode_metric_columns, metric_reader
from study.exports.export_table import (
    EPISODE_COLUMNS,
    EPISODE_LEVELS,
    EPISODE_MARKS,
    OUTAGE_MARKS,
    ExportSelection,
    ExportTable,
    file_columns,
)
from study.exports.row_groups import RowGroup
from study.exports.tables.played_episodes import (
    MAIN,
    PlayedEpisode,
    in_pieces,
    played_by_not_withdrawn,
    played_episodes,
)


def seed_meaning(study: Study) -> str:
    """Return the meaning of the seed, with the random events of this study's worlds."""
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
)

FIELDS = (
    "label",
    "world",
    "world_version",
    "settings_text",
    "seed",
    "status",
    "step",
    "score_text",
    "created_at",
    "ended_at",
    "state_hash",
    "step_seconds",
    "thinking_seconds",
    "hints",
    "three_dimensions",
    "ended_because",
    "shown",
    "asks_first",
    "shows_intents",
    "passes_by",
    "knowing",
    "decision_seconds",
    "offers_plans",
    "gone",
    "tick_ms",
)


def rows(study: Study, chosen: ExportSelection, scored: Sequence[MetricColumn]) -> Iterator[RowGroup]:
    """Yield one row per started episode and participant, by participant and order."""
    figures = metric_reader(scored)
    for piece in in_pieces(played_episodes(study, chosen)):
        pks = {sitting.episode for sitting in piece}
        facts, (seated, how, people), played_by = _facts(pks), _seated(pks), _played_by(pks)
        fallbacks = _fallbacks(pks)
        read = reply_readings_by_episode(Decision.objects.filter(mind__episode__in=pks))
        foreseen = predictions_by_episode(pks)
        there = (
            (sitting, sitting.episode, facts[sitting.episode]) for sitting in played_by_not_withdrawn(piece)
        )
        yield RowGroup(
            (),
            [
                _cells(
                    sitting,
                    known,
                    figures(known["world"], known["score_text"]),
                    seated[pk],
                    played_by[pk],
                    fallbacks.get(pk, 0),
                    how.get((pk, sitting.seat), ("", "")),
                    read.get(pk, ReplyReadings()),
                    people[pk],
                    prediction_accuracy(foreseen.get(pk, {})),
                )
                for sitting, pk, known in there
            ],
        )


def _facts(pks: Iterable[int]) -> dict[int, dict[str, Any]]:
    episodes = Episode.objects.filter(pk__in=pks).annotate(
        settings_text=json_as_text("settings"), score_text=json_as_text("score")
    )
    return {row["pk"]: row for row in episodes.values("pk", *FIELDS)}


def _cells(
    sitting: PlayedEpisode,
    facts: dict[str, Any],
    figures: Sequence[Json],
    seated: list[str],
    played_by: list[str],
    fallbacks: int,
    how: tuple[str, str],
    read: ReplyReadings,
    people: int,
    foresight: PredictionAccuracy,
) -> tuple[Any, ...]:
    gone = facts["gone"] or {}
    given_up = gone.get(str(sitting.seat), {}) if sitting.part == MAIN else {}
    team = " ".join(sorted(set(seated))) or NOBODY, " ".join(sorted(played_by)), len(seated)
    named = sitting.condition_name or None, facts["label"]
    times = facts["created_at"], facts["ended_at"], facts["state_hash"]
    seat = sitting.seat, sitting.who.sequence
    return (
        *sitting.where,
        *named,
        *team,
        *_game(facts),
        facts["status"],
        facts["step"],
        *figures,
        fallbacks,
        *times,
        *sitting.marks,
        *seat,
        *_pace(facts),
        *sitting.touch.cells,
        facts["shown"],
        facts["asks_first"],
        facts["three_dimensions"],
        how[0] or None,
        facts["shows_intents"],
        how[1] or None,
        facts["passes_by"],
        facts["knowing"],
        facts["decision_seconds"],
        facts["offers_plans"],
        *read.columns.values(),
        people + sum(one["why"] != NEVER for one in gone.values()),
        sitting.who.group if sitting.part == MAIN else None,
        given_up.get("step"),
        given_up.get("why"),
        " ".join(f"{seat}:{one['step']}:{one['why']}" for seat, one in sorted(gone.items())) or None,
        foresight.judged,
        foresight.right,
        foresight.share,
        facts["tick_ms"],
    )


def _game(facts: dict[str, Any]) -> tuple[Any, ...]:
    return facts["world"], facts["world_version"], JsonText(facts["settings_text"]), facts["seed"]


def _pace(facts: dict[str, Any]) -> tuple[Any, ...]:
    return facts["step_seconds"], facts["thinking_seconds"], facts["hints"], facts["ended_because"] or None


def _fallbacks(pks: Iterable[int]) -> dict[int, int]:
    stood_in = SeatCommand.objects.filter(episode__in=pks).exclude(fallback="").order_by()
    return dict(stood_in.values_list("episode_id").annotate(count=Count("pk")))


def _seated(
    pks: Iterable[int],
) -> tuple[dict[int, list[str]], dict[tuple[int, int], tuple[str, str]], Mapping[int, int]]:
    """Read the seats of these episodes. Return three mappings.

    By episode: the kinds of co-players in its seats. By episode and seat: how a person used the
    three-dimensional scene, and what they saw when they chose. By episode: the number of people's seats.
    """
    seats = Seat.objects.filter(episode__in=pks).order_by()
    rows = list(seats.values_list("episode_id", "number", "mind__kind", "scene", "view"))
    kinds = _grouped((episode, kind) for episode, _, kind, *_ in rows if kind)
    people = Counter(episode for episode, _, kind, *_ in rows if not kind)
    return kinds, {(episode, seat): (scene, view) for episode, seat, _, scene, view in rows}, people


def _played_by(pks: Iterable[int]) -> dict[int, list[str]]:
    """Return by episode all kinds, except people, that chose commands."""
    chosen = SeatCommand.objects.filter(episode__in=pks).exclude(chosen_by__in=(*PEOPLE_CODES, BY_WORLD))
    return _grouped(chosen.order_by().values_list("episode_id", "chosen_by").distinct())


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
