"""Store games from files as episodes that everybody can replay, and return the game of a stored episode.

An imported episode (`ImportedEpisode`) has no participants, so it is in no study. Its log is made here, by
playing the game again.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from kitchen.contract.data_limits import GZIP
from kitchen.contract.recorded_trial import RecordedTrial, TrialError, TrialOptions
from kitchen.contract.world import World, text_hash
from kitchen.infra.database_writes import insert_in_batches, insert_rows
from kitchen.opened.trial_files import ReadTrial, TrialFileError, file_digest, read_trial_file
from kitchen.play.episode.erase_episode import erase_episode
from kitchen.play.episode.log_integrity import seal_episode
from kitchen.play.models import Episode, ImportedEpisode, Seat, SeatCommand, StateChange, Step
from kitchen.play.turn.state_store import initial_state_rows, json_round_trip, state_rows_of_step
from kitchen.play.turn.step_store import (
    command_log_entry,
    first_chain_hash,
    next_chain_hash,
    status_after,
)
from kitchen.registry.world_registry import get_page, get_world
from kitchen.replay.episode_content import KIND, EpisodeFileError
from kitchen.replay.episode_file import read_episode_file
from kitchen.replay.episode_record import EpisodeRecord
from kitchen.words.gettext_without_django import in_english

PERSON, PROGRAM = "person", "program"
"""`chosen_by` of imported commands. Files do not say which program played."""
NOT_FINISHED = "it was not played to its end"
OWN_FILE_BYTES = 32 * 2**20


def trial_of_record(record: EpisodeRecord) -> RecordedTrial:
    """Return the game of a stored episode: settings, seed, and all commands in the order in which they
    ran."""
    episode = record.episode
    acting = [seat for seat in record.seats if seat.acts]
    return RecordedTrial(
        world=episode.world,
        version=episode.world_version,
        settings=episode.settings,
        seats=len(acting),
        seed=episode.seed,
        turns=[
            tuple((given["seat"], tuple(given["command"])) for given in step.commands)
            for step in record.steps
        ],
        trial=str(episode.key),
        people=[seat.is_person for seat in acting],
        until=episode.until or {},
    )


def read_games(path: Path, options: TrialOptions) -> Iterator[ReadTrial]:
    """Yield every game of a file, read or refused: a table, an object of lists, or an episode file of this
    program.

    Raises TrialFileError if the file cannot be read, SettingsError if the options are wrong.
    """
    if _is_own_file(path):
        yield _own_game(path)
    else:
        yield from read_trial_file(path, options)


def _is_own_file(path: Path) -> bool:
    """Return whether this is an episode that a replay page saved."""
    with path.open("rb") as file:
        packed = file.read(2) == GZIP
        file.seek(0)
        try:
            head = gzip.GzipFile(fileobj=file).read(4096) if packed else file.read(4096)
            if packed:
                file.seek(0)
        except (OSError, EOFError):
            return False
    return head.lstrip().startswith(b"{") and (KIND.encode() in head or b'"calls"' in head)


def _own_game(path: Path) -> ReadTrial:
    try:
        if path.stat().st_size > OWN_FILE_BYTES:
            raise TrialFileError(f"it has more than {OWN_FILE_BYTES // 2**20} MiB")
        record = read_episode_file(path.read_bytes())
    except EpisodeFileError as error:
        raise TrialFileError(str(error)) from None
    name = file_digest(path)[:12]  # the key belongs to the episode of the study
    return ReadTrial(name, replace(trial_of_record(record), trial=name))


def import_file(path: Path, options: TrialOptions, file_name: str = "") -> Iterator[tuple[ReadTrial, bool]]:
    """Read every game of a file and store it. Yield each game, and whether it is new here. Refused games are
    not stored. A game that was imported before is not stored again.

    Raises TrialFileError if the file cannot be read, SettingsError if the options are wrong.
    """
    digest = file_digest(path)
    for read in read_games(path, options):
        if read.found is None:
            yield read, False
            continue
        try:
            yield read, store_if_new(read.found, read.name, digest, file_name or path.name)
        except TrialError as error:
            yield ReadTrial(read.name, None, str(error)), False


def erase_imported_file(file_hash: str) -> int:
    """Erase the games of the imported files whose hash begins so. Return how many there were."""
    episodes = list(
        ImportedEpisode.objects.filter(file_hash__startswith=file_hash).values_list("episode", flat=True)
    )
    for episode in episodes:
        erase_episode(episode)
    return len(episodes)


def store_if_new(trial: RecordedTrial, name: str, file_hash: str, file_name: str) -> bool:
    """Store a game. Return False if the game with this name of this file was imported before, or is being
    imported. Raises TrialError if it was not played to its end."""
    if ImportedEpisode.objects.filter(file_hash=file_hash, trial=name[:120]).exists():
        return False
    try:
        with transaction.atomic():
            store_trial(trial, name=name, file_hash=file_hash, file_name=file_name)
    except IntegrityError:
        return False
    return True


def read_some_games(path: str, options: TrialOptions, most: int) -> list[ReadTrial]:
    """Return the games of a file, read or refused. Raises TrialFileError if it has more than `most`, and as
    `read_games` does."""
    found = list(islice(read_games(Path(path), options), most + 1))
    if len(found) > most:
        raise TrialFileError(f"it has more than {most} games")
    return found


def store_trial(trial: RecordedTrial, *, name: str, file_hash: str, file_name: str) -> Episode:
    """Play a game again, and store it as an imported episode with its whole log. Raises TrialError if it was
    not played to its end."""
    world = get_world(trial.world).create(seats=trial.seats, settings=trial.settings)
    world.reset(trial.seed)
    now = timezone.now()
    begins = world.frozen_state()
    episode = Episode(
        world=trial.world,
        world_version=world.version,
        settings=dict(trial.settings),
        seed=trial.seed,
        label="an imported game",
        until=dict(trial.until) or None,
        decision_seconds=0,
        turn_opened_at=now,
        created_at=now,
        passes_by=world.passes_by,
        shown=get_page(trial.world).shown("both"),
    )
    steps, changes = _play(trial, world, episode, now)
    if episode.status == Episode.Status.PLAYING:
        raise TrialError(NOT_FINISHED)
    with transaction.atomic():
        episode.save(force_insert=True)
        insert_rows(StateChange, initial_state_rows(episode.pk, begins))
        _insert_seats(episode, trial)
        ImportedEpisode.objects.create(
            episode=episode,
            file_hash=file_hash,
            file_name=file_name[:120],
            trial=name[:120],
            people=list(trial.people),
        )
        for row in steps:
            row.episode = episode
        insert_in_batches(Step, steps)
        insert_in_batches(SeatCommand, _commands(episode, trial, now))
        for rows in changes:
            insert_rows(StateChange, [{**row, "episode_id": episode.pk} for row in rows])
        seal_episode(episode)
    return episode


def _play(
    trial: RecordedTrial, world: World, episode: Episode, now: datetime
) -> tuple[list[Step], list[list[dict[str, Any]]]]:
    """Return the log rows of the game, and the changes of large parts of its state. Set the episode's last
    state."""
    chain, steps, changes, lengths = first_chain_hash(episode), list[Step](), [], dict[str, int]()
    before = world.frozen_state()
    text = before.text
    for number, turn in enumerate(trial.turns, 1):
        if world.has_ended:
            raise TrialError(f"it goes on after step {number - 1}, where it was over")
        events = json_round_trip([event.to_json() for event in world.step(list(turn))])
        after = world.frozen_state()
        text, episode.step = after.text, number
        row = {
            "number": number,
            "commands": [command_log_entry(each) for each in _turn_rows(trial, number, now)],
            "events": events,
            "state_hash": text_hash(text),
            "score": world.score(),
            "opened_at": now,
            "taken_at": now,
        }
        chain = next_chain_hash(chain, row)
        steps.append(Step(**row, chain=chain))
        changes.append([dict(each) for each in state_rows_of_step(episode, before, after, lengths)])
        before = after
    episode.state = {**world.to_dict(), **before.roots}
    episode.state_hash, episode.score = text_hash(text), world.score()
    episode.status, episode.ended_at = status_after(episode, world), now
    return steps, changes


def _turn_rows(trial: RecordedTrial, number: int, now: datetime) -> Iterator[SeatCommand]:
    for seat, command in trial.turns[number - 1]:
        by = PERSON if seat >= len(trial.people) or trial.people[seat] else PROGRAM
        yield SeatCommand(step=number, seat=seat, command=list(command), chosen_by=by, received_at=now)


def _commands(episode: Episode, trial: RecordedTrial, now: datetime) -> Iterator[SeatCommand]:
    for number in range(1, len(trial.turns) + 1):
        for row in _turn_rows(trial, number, now):
            row.episode = episode
            yield row


def _insert_seats(episode: Episode, trial: RecordedTrial) -> None:
    page = get_page(trial.world)
    with in_english():
        names = [page.named(number + 1) for number in range(trial.seats)]
    Seat.objects.bulk_create(
        Seat(episode=episode, number=number, name=name) for number, name in enumerate(names)
    )
