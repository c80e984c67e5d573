"""episodes.csv: a row per episode that was begun."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import Count, Q

from kitchen.models import SeatCommand
from study.exports.base import EPISODE_LEVELS, WHERE, Column, Table
from study.models import Round, Study

COLUMNS = (
    *WHERE,
    Column("condition_name", "text", "The researcher's name of the condition."),
    Column("label", "text", "What the participant read as the team's name."),
    Column("coplayer", "text", "Kind of co-player that the condition asks for.", levels="none, or a kind"),
    Column(
        "played_by",
        "text",
        "Kinds that really chose the co-players' commands: another one than `coplayer` is a stand-in.",
    ),
    Column("teammates", "integer", "Co-players beside the participant.", unit="seats"),
    Column("world", "text", "The game."),
    Column("world_version", "integer", "Version of its rules."),
    Column("settings", "json", "Settings of the game."),
    Column("seed", "integer", "Seed of the episode: with the commands it gives every state again."),
    Column("status", "text", "How the episode stands.", levels=EPISODE_LEVELS),
    Column("steps", "integer", "Steps taken.", unit="steps"),
    Column("completed", "integer", "Orders completed.", unit="orders"),
    Column("failed", "integer", "Orders that ran out of time.", unit="orders"),
    Column(
        "success_rate", "number", "completed / (completed + failed); blank where both are 0.", unit="share"
    ),
    Column(
        "fallbacks", "integer", "Commands that stood in for a co-player's missing decision.", unit="commands"
    ),
    Column("started_at", "time", "When the episode was opened."),
    Column("ended_at", "time", "When it ended."),
    Column("state_hash", "text", "SHA-256 of the present or last state."),
)


def rows(study: Study) -> Iterator[Sequence[Any]]:
    """One row per begun episode, by participant and order."""
    fallbacks = Count("episode__commands", filter=~Q(episode__commands__fallback=""))
    found = begun_rounds(study).annotate(fallbacks=fallbacks)
    for one in found.iterator(chunk_size=200):
        yield (*where(one), *_cells(one))


def begun_rounds(study: Study) -> Any:
    """Rounds with an episode, in the order of all files: by participant, then as played."""
    rounds = Round.objects.filter(participant__study=study, episode__isnull=False)
    return rounds.select_related("participant", "condition", "episode").order_by(
        "participant__number", "position"
    )


def where(one: Round) -> tuple[Any, ...]:
    """The cells of `WHERE`."""
    assert one.episode  # noqa: S101 - begun_rounds asks for it
    person = one.participant
    return person.code, person.synthetic, one.condition.key, one.position, str(one.episode.key)


def _cells(one: Any) -> tuple[Any, ...]:
    episode, condition = one.episode, one.condition
    return (
        condition.name,
        episode.label,
        condition.coplayer,
        " ".join(_played_by(episode.pk)),
        condition.teammates,
        episode.world,
        episode.world_version,
        episode.settings,
        episode.seed,
        episode.status,
        episode.step,
        episode.score.get("completed"),
        episode.score.get("failed"),
        episode.score.get("success_rate"),
        one.fallbacks,
        episode.created_at,
        episode.ended_at,
        episode.state_hash,
    )


def _played_by(episode_id: int) -> list[str]:
    chosen = SeatCommand.objects.filter(episode=episode_id).exclude(chosen_by="person")
    return sorted(chosen.order_by().values_list("chosen_by", flat=True).distinct())


TABLE = Table("episodes", "Every episode that was begun: its set-up and how it went.", COLUMNS, rows)
