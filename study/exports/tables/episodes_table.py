"""episodes.csv: a row for each started episode and each participant in it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    INVALID_COMMAND_COLUMNS,
    OUTAGE_MARKS,
    Column,
    ExportSelection,
    ExportTable,
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
    Column("condition_name", "text", "The researcher's present name of the condition."),
    Column("label", "text", "Name of the team in this episode, in the language of the study's own texts."),
    Column(
        "coplayer", "text", "Kind of co-player that this episode was set up with.", levels="none, or a kind"
    ),
    Column(
        "played_by",
        "text",
        "Kinds that really chose the co-players' commands: another one than `coplayer` is a stand-in.",
    ),
    Column("teammates", "integer", "Seats that co-players had in this episode.", unit="seats"),
    Column("world", "text", "The game."),
    Column("world_version", "integer", "Version of its rules."),
    Column("settings", "json", "Settings of the game."),
    Column(
        "seed",
        "text",
        "Seed of the episode: with the commands it gives every state again.",
        told=seed_meaning,
    ),
    Column("status", "text", "How the episode stands.", levels=EPISODE_LEVELS),
    Column("steps", "integer", "Steps taken.", unit="steps"),
    Column(
        "fallbacks", "integer", "Commands that stood in for a co-player's missing decision.", unit="commands"
    ),
    Column("started_at", "time", "When the episode was opened."),
    Column("ended_at", "time", "When it ended."),
    Column("state_hash", "text", "SHA-256 of the present or last state."),
    *EPISODE_MARKS,
    Column(
        "seat",
        "integer",
        "Where the participant sat; behind the last seat: they led without one.",
        levels="0 = the first seat, player 1",
    ),
    Column("sequence", "integer", "Which sequence of the order scheme; blank for orders of chance."),
    Column("step_seconds", "number", "The step timer; blank if the kitchen waited for people.", unit="s"),
    Column("thinking_seconds", "number", "What co-players took at least for a step.", unit="s"),
    Column("hints", "boolean", "1 if the page said what would be good to do next."),
    Column("ended_because", "text", "Why it was ended before its time; blank if it was not."),
    *OUTAGE_MARKS,
    Column(
        "shown",
        "text",
        "What the participant's page had of the world.",
        levels="tables, drawn, both = the drawing with the tables one click away",
    ),
    Column("asks_first", "boolean", "1 if the page asked before it sent an action; 0 if one click did."),
    Column("three_dimensions", "boolean", "1 if the page offered the world as a scene in three dimensions."),
    Column(
        "three_dimensions_used",
        "text",
        "How the participant opened that scene in this episode; blank if not.",
        levels="screen, headset (on a screen perhaps, too)",
    ),
    Column(
        "shows_intents",
        "boolean",
        "1 if the page said what teammates were about to do: `intents` in the notes of `decisions`, each "
        "shown in the step after it.",
    ),
    Column(
        "chose_in",
        "text",
        "What the participant's page showed when they chose, where it had both; blank if it had not, or "
        "nothing was chosen.",
        levels="tables, drawn (in the scene, too), both = now the one, now the other",
    ),
    Column(
        "passes_by",
        "boolean",
        "1 if a step went on without who had nothing to choose in it: `chosen_by` is `world` there.",
    ),
    Column(
        "knowing",
        "text",
        "Whose commands of the step that it decided a co-player was told.",
        levels="everybody = people and the co-players before it, people, nobody",
    ),
    Column(
        "decision_seconds",
        "number",
        "What all co-players had for a step, then fallbacks played.",
        unit="s",
    ),
    Column(
        "offers_plans",
        "boolean",
        "1 if the page offered to choose what follows: `to_follow` and `planned_in` in `commands`.",
    ),
    Column(
        "read_whole",
        "integer",
        "Decisions of co-players for which all that a language model was asked for could be read.",
        unit="decisions",
    ),
    Column("read_in_part", "integer", "Those for which not all could be read.", unit="decisions"),
    Column("read_not_at_all", "integer", "Those for which nothing could be read.", unit="decisions"),
    Column("commands_asked", "integer", "Commands that these replies were to hold.", unit="commands"),
    *INVALID_COMMAND_COLUMNS,
    Column("people", "integer", "People who began this episode together.", unit="people"),
    Column(
        "group",
        "integer",
        "Number of the participant's group, which plays together; blank for who plays without other people.",
    ),
    Column(
        "given_up_step",
        "integer",
        "First step for which a co-player chose in the participant's place; blank if they played on.",
    ),
    Column(
        "given_up_because",
        "text",
        "Why a co-player took over; blank if none did.",
        levels="away = missed so many turns in a row, left",
    ),
    Column(
        "without_people",
        "text",
        "Seats of people that co-players had, each as seat:step:why: from that step on, since its person "
        "left (left), was away (away), or did not come (never); also where their rows were erased.",
    ),
    Column(
        "predictions_judged",
        "integer",
        "What co-players foresaw of others that turned out right or wrong: `predictions`.",
        unit="predictions",
    ),
    Column("predictions_right", "integer", "Of these, those that came true.", unit="predictions"),
    Column("predictions_share", "number", "The share of these; blank if none has turned out."),
    Column(
        "tick_ms",
        "integer",
        "From one step to the next where a clock took them; blank for turns. For programs (`synthetic`) "
        "it goes quicker than the condition's settings say.",
        unit="ms",
    ),
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
