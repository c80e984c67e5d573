"""Store the logs of experiment episodes in the database, read them, and check that they were not altered.

A log is stored in pieces, which are added and never changed. If an interrupted log cannot be continued, the
episode starts again as a new run. Only the log of the last run is used.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef

from kitchen.experiments.experiment_setup import EpisodeKey
from kitchen.experiments.log_files import LogError, PlayedLog, WritePiece, read_log
from kitchen.experiments.models import Experiment, ExperimentEpisode, ExperimentLog
from kitchen.infra.db_retry import retry_while_unreachable
from kitchen.money.budget_ledger import spent_or_reserved

log = logging.getLogger(__name__)

LOGS_AT_ONCE = 100
"""Number of episodes that are read from the database at once."""
LOG_DIFFERS = "its log is not what was written"


class PlayedElsewhereError(Exception):
    """Raised when another worker has continued this episode."""


def log_data(episode: ExperimentEpisode) -> bytes:
    """Return the bytes of the episode's log, as stored by its last run; empty if there is none."""
    rows = ExperimentLog.objects.filter(episode=episode)
    last = rows.order_by("-run").values_list("run", flat=True).first()
    return b"".join(bytes(data) for data in rows.filter(run=last).values_list("data", flat=True))


def log_to_resume(episode: ExperimentEpisode) -> PlayedLog | None:
    """Return the stored log of an episode, or None if there is none. Raises LogError if the stored log is
    invalid."""
    data = log_data(episode)
    return read_log(data) if data else None


def log_sink(episode: ExperimentEpisode, *, anew: bool = False) -> WritePiece:
    """Return a function that stores the next piece of an episode's log. With `anew`, the episode starts
    again, and a new series of pieces begins."""
    run, number = _last(episode)
    if anew and number:
        run, number = run + 1, 0

    def store(piece: bytes) -> None:
        nonlocal number
        row = partial(_store, episode.pk, run, number + 1, piece)
        retry_while_unreachable(row, "storing a piece of an episode's log")
        number += 1

    return store


def _last(episode: ExperimentEpisode) -> tuple[int, int]:
    """Return (run, number) of the last stored piece of an episode's log. The number is 0 if no piece is
    stored."""
    last = ExperimentLog.objects.filter(episode=episode).order_by("run", "number").last()
    return (last.run, last.number) if last else (1, 0)


def _store(episode_id: int, run: int, number: int, piece: bytes) -> None:
    """Store one piece of the log. If an identical piece with this number is already stored, do nothing.
    Raises PlayedElsewhereError if a different piece has this number."""
    try:
        with transaction.atomic():
            ExperimentLog.objects.create(episode_id=episode_id, run=run, number=number, data=piece)
    except IntegrityError:
        there = ExperimentLog.objects.filter(episode=episode_id, run=run, number=number).first()
        if there is None or bytes(there.data) != piece:
            raise PlayedElsewhereError(f"of episode {episode_id}") from None


def logs_of(experiment: Experiment) -> Iterator[tuple[EpisodeKey, bytes]]:
    """Yield (key, log bytes) for every episode that has a log, in the order of the experiment."""
    has_log = Exists(ExperimentLog.objects.filter(episode=OuterRef("pk")))
    for episode in experiment.episodes.filter(has_log).iterator(LOGS_AT_ONCE):
        yield key_of(episode), log_data(episode)


def readable_logs_of(experiment: Experiment) -> Iterator[PlayedLog]:
    """Yield every log of the experiment that can be read, in the order of its episodes."""
    for _, data in logs_of(experiment):
        with suppress(LogError):
            yield read_log(data)


def key_of(episode: ExperimentEpisode) -> EpisodeKey:
    """Return the key of the episode within its experiment."""
    return episode.variant, episode.level, episode.agents, episode.alpha, episode.episode


def logs_import(*, experiment: Experiment, data: Callable[[EpisodeKey], bytes]) -> None:
    """Store logs in a new experiment. `data` returns the bytes of the log of one episode. Unreadable logs
    are left out with a warning."""
    for episode in experiment.episodes.iterator(LOGS_AT_ONCE):
        if stored := data(key_of(episode)):
            try:
                whole = stored[: read_log(stored).size]
            except LogError as error:
                log.warning("the log of %s is not taken in: it %s", episode, error)
            else:
                _store(episode.pk, 1, 1, whole)


def log_cost(played: PlayedLog) -> float:
    """Return the US dollars that the calls of a log cost; calls of unknown price count as 0."""
    return sum(call.cost or 0.0 for call in played.calls)


def experiment_cost(experiment: Experiment) -> float:
    """Return the US dollars that an experiment has spent and reserved. Money that was spent before the
    experiment was imported from a folder is included."""
    here = spent_or_reserved(experiment.budget.pk) if experiment.budget else 0
    return float(here + experiment.spent_elsewhere)


def verify_logs() -> Iterator[str]:
    """Yield one line for each played episode whose log is missing, damaged or changed."""
    played = ExperimentEpisode.objects.filter(row__isnull=False).select_related("experiment")
    for episode in played.order_by("pk").iterator(LOGS_AT_ONCE):
        wanted = (episode.row or {}).get("log")
        if wanted and _hash(episode) != wanted:
            yield f"experiment {episode.experiment.pk}, {episode}: {LOG_DIFFERS}"


def _hash(episode: ExperimentEpisode) -> str:
    try:
        return read_log(log_data(episode)).hash
    except LogError:
        return ""
