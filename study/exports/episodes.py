"""episodes.csv: a row per episode that was begun."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db.models import Count, Q

from kitchen.models import Seat, SeatCommand
from study.exports.base import EPISODE_LEVELS, WHERE, Column, Table, in_chunks
from study.models import Round, Study
from study.plan import NOBODY

CHUNK = 200
"""Episodes whose seats and commands are read at once."""

COLUMNS = (
    *WHERE,
    Column("condition_name", "text", "The researcher's present name of the condition."),
    Column("label", "text", "What the participant read as the team's name in this episode."),
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
        "Seed of the episode: with the commands it gives every state again. "
        "Up to 19 digits: read it as text, as a number it would lose its last ones.",
    ),
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
    for chunk in in_chunks(found.iterator(chunk_size=CHUNK), CHUNK):
        episodes = {one.episode_id for one in chunk}
        seated, played_by = _seated(episodes), _played_by(episodes)
        for one in chunk:
            yield (*where(one), *_cells(one, seated[one.episode_id], played_by[one.episode_id]))


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


def _cells(one: Any, seated: list[str], played_by: list[str]) -> tuple[Any, ...]:
    episode = one.episode
    return (
        one.condition.name,
        episode.label,
        " ".join(sorted(set(seated))) or NOBODY,
        " ".join(sorted(played_by)),
        len(seated),
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


def _seated(episodes: Iterable[int]) -> dict[int, list[str]]:
    """By episode: the kind of co-player in each seat that is no person's."""
    seats = Seat.objects.filter(episode__in=episodes, mind__isnull=False)
    return _grouped(seats.order_by().values_list("episode_id", "mind__kind"))


def _played_by(episodes: Iterable[int]) -> dict[int, list[str]]:
    """By episode: everything but people that chose commands."""
    chosen = SeatCommand.objects.filter(episode__in=episodes).exclude(chosen_by__in=("person", "timeout"))
    return _grouped(chosen.order_by().values_list("episode_id", "chosen_by").distinct())


def _grouped(pairs: Iterable[tuple[int, str]]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    for episode, name in pairs:
        found[episode].append(name)
    return found


TABLE = Table("episodes", "Every episode that was begun: its set-up and how it went.", COLUMNS, rows)
