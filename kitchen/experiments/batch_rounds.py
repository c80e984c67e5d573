"""Play all episodes of an experiment in lock-step, with their model calls in batches at a lower price.

In each round, every episode is played until it needs an answer. The calls of all episodes are then sent
together (`batch_desk`). Once a batch has ended, its episodes go on.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from django.conf import settings

from kitchen.experiments.batch_desk import BatchDesk
from kitchen.experiments.batch_lease import BatchLease, LeaseLostError
from kitchen.experiments.batched_episode import BatchedEpisode
from kitchen.experiments.database_logs import PlayedElsewhereError, log_sink, log_to_resume
from kitchen.experiments.episode_rows import EpisodeRow
from kitchen.experiments.experiment_services import (
    claims_renew,
    count_playing,
    episode_give_back,
    episode_store,
    episode_take,
    failure_reason,
    job_of,
    waiting_episodes,
)
from kitchen.experiments.experiment_setup import ExperimentSetup
from kitchen.experiments.log_files import LogError
from kitchen.experiments.model_waits import do_nothing
from kitchen.experiments.models import Experiment, ExperimentEpisode
from kitchen.experiments.play_episodes import EpisodeFailedError, failed_row
from kitchen.experiments.setup_checks import check_model_access
from kitchen.infra.db_retry import retry_while_unreachable

log = logging.getLogger(__name__)

POLL_SECONDS = (5.0, 60.0)
"""Seconds between two looks at a batch: the first time, and at most. The time doubles."""
LOOK_SECONDS = 5.0
"""Longest time in seconds without a look whether the experiment was stopped."""


def play_in_batches(
    *,
    experiment_id: int,
    claim: bool,
    after_round: Callable[[], Any] = do_nothing,
    sleep: Callable[[float], Any] = time.sleep,
) -> None:
    """Play the waiting episodes of an experiment until none is left, or until it is stopped.

    With `claim`, episodes are claimed for this worker; other workers then leave them alone. `after_round` is
    called every few seconds. A problem of all episodes (missing key, no money, a model without answers) stops
    the experiment.

    One process at a time plays an experiment (`batch_lease`). While another one does, this function waits;
    with `claim`, it returns at once.
    """
    rounds: BatchRounds | None = None
    lease = BatchLease(experiment_id)
    try:
        while not lease.take():
            if claim:
                return
            log.warning("another process plays experiment %s in batches: waiting for it", experiment_id)
            after_round()
            sleep(LOOK_SECONDS)
        read = partial(Experiment.objects.get, pk=experiment_id)
        experiment = retry_while_unreachable(read, "reading an experiment")
        check_model_access(ExperimentSetup.from_json(experiment.setup))
        rounds = BatchRounds(experiment, lease, claim=claim, after_round=after_round, sleep=sleep)
        rounds.play()
    except LeaseLostError as error:
        log.warning("%s: this one stops", error)
    except Exception as error:
        log.warning("experiment %s stops: %s", experiment_id, type(error).__name__)
        episodes = rounds.claimed if rounds else []
        stop = partial(episode_give_back, episodes, experiment_id, failure_reason(error))
        with suppress(LeaseLostError):
            lease.renew()
            retry_while_unreachable(stop, "stopping an experiment")
    finally:
        lease.give_back()


class _StoppedError(Exception):
    """Raised where this process waits, if the experiment was stopped."""


class BatchRounds:
    """The episodes of an experiment that are played now. The arguments are those of `play_in_batches`."""

    def __init__(
        self,
        experiment: Experiment,
        lease: BatchLease,
        *,
        claim: bool,
        after_round: Callable[[], Any],
        sleep: Callable[[float], Any],
    ) -> None:
        self.experiment, self.lease, self.claim = experiment, lease, claim
        self.after_round = after_round
        self._sleep = sleep
        self._open = dict[int, tuple[ExperimentEpisode, BatchedEpisode]]()
        self._renewed = time.monotonic()
        self.desk = BatchDesk(experiment, self._wait, self._renew)

    @property
    def claimed(self) -> list[int]:
        """Return the ids of the episodes that are played now."""
        return list(self._open)

    def play(self) -> None:
        """Play round after round. Raises the error that stops the whole experiment, and LeaseLostError."""
        with suppress(_StoppedError):
            self._play_rounds()
        if self.claim:
            give_back = partial(episode_give_back, self.claimed, self.experiment.pk, None)
            retry_while_unreachable(give_back, "giving episodes back")

    def _play_rounds(self) -> None:
        while not self._is_stopped():
            self._fill()
            self._advance()
            if not self._open:
                if self._fill():
                    continue
                count = partial(count_playing, self.experiment.pk)
                if not retry_while_unreachable(count, "counting episodes"):
                    self.desk.close_all()
                return
            played = [each for _, each in self._open.values()]
            self.desk.close_passed({name for each in played for name in (*each.wanted, *each.answers)})
            self.desk.send([call for each in played for call in each.wanted.values()])
            self._collect()

    def _is_stopped(self) -> bool:
        retry_while_unreachable(self.experiment.refresh_from_db, "reading an experiment")
        return bool(self.experiment.stopped_because) or (self.claim and not self.experiment.running)

    def _fill(self) -> bool:
        """Open waiting episodes, up to the experiment's number of parallel episodes. Return whether one was
        opened."""
        opened = False
        self._renew()
        while len(self._open) < self.experiment.at_once:
            episode = self._next()
            if episode is None:
                break
            opened = True
            self._keep_claims()
            try:
                self._open[episode.pk] = (episode, self._begin(episode))
            except EpisodeFailedError as error:
                self._end(episode, failed_row(job_of(episode), str(error)))
        return opened

    def _next(self) -> ExperimentEpisode | None:
        if self.claim:
            take = partial(episode_take, experiment_id=self.experiment.pk)
            taken = retry_while_unreachable(take, "claiming an episode")
            return None if taken is None or taken.pk in self._open else taken
        waiting = waiting_episodes(self.experiment.pk).exclude(pk__in=self._open)
        return retry_while_unreachable(waiting.select_related("experiment").first, "finding an episode")

    def _begin(self, episode: ExperimentEpisode) -> BatchedEpisode:
        """Return an episode that goes on from the end of its log. If the log is unusable, it starts anew."""
        try:
            return self._opened(episode, anew=False)
        except LogError as error:
            log.warning("episode %s begins anew, what was kept of it %s", episode.pk, error)
            return self._opened(episode, anew=True)

    def _opened(self, episode: ExperimentEpisode, *, anew: bool) -> BatchedEpisode:
        setup, job = ExperimentSetup.from_json(self.experiment.setup), job_of(episode)
        return BatchedEpisode(
            str(episode.pk),
            job,
            setup.coplayer_of(job.column.variant),
            setup.settings_of(job.column.variant),
            sink=retry_while_unreachable(partial(log_sink, episode, anew=anew), "reading an episode's log"),
            before=None
            if anew
            else retry_while_unreachable(partial(log_to_resume, episode), "reading an episode's log"),
            program=settings.VERSION,
            after_step=self._renew_now_and_then,
        )

    def _advance(self) -> None:
        """Play every episode until it waits for an answer that is not there."""
        for episode, played in list(self._open.values()):
            self._play_on(episode, played)
            self._keep_claims()

    def _play_on(self, episode: ExperimentEpisode, played: BatchedEpisode) -> None:
        try:
            while (row := played.play_on()) is None:
                answers = self.desk.answers(played.wanted)
                if not answers:
                    return
                played.answers |= answers
        except EpisodeFailedError as error:
            row = failed_row(job_of(episode), str(error))
        except PlayedElsewhereError:
            log.warning("another process has gone on with episode %s: this one stops", episode.pk)
            del self._open[episode.pk]
            return
        self._end(episode, row)

    def _end(self, episode: ExperimentEpisode, row: EpisodeRow) -> None:
        retry_while_unreachable(partial(episode_store, episode=episode, row=row), "storing an episode")
        self._open.pop(episode.pk, None)

    def _collect(self) -> None:
        """Wait until a batch has ended, and hand out its answers."""
        seconds, most = POLL_SECONDS
        while self.desk.is_waiting:
            found = self.desk.collect()
            for _, played in self._open.values():
                played.answers |= {name: found[name] for name in played.wanted if name in found}
            if found:
                return
            if self.desk.is_waiting:
                self._wait(seconds)
                seconds = min(2 * seconds, most)

    def _wait(self, seconds: float) -> None:
        """Wait, renew the claims, and look every few seconds whether the experiment was stopped. Raises
        _StoppedError if it was."""
        while seconds > 0:
            some = min(seconds, LOOK_SECONDS)
            self._sleep(some)
            seconds -= some
            self._keep_claims()
            if self._is_stopped():
                raise _StoppedError

    def _keep_claims(self) -> None:
        self.after_round()
        self._renew_now_and_then()

    def _renew_now_and_then(self) -> None:
        """Renew the lease and this worker's claims every few seconds."""
        if time.monotonic() - self._renewed > LOOK_SECONDS:
            self._renew()

    def _renew(self) -> None:
        """Renew the lease and this worker's claims. Raises LeaseLostError if another process has the
        experiment."""
        self.lease.renew()
        self._renewed = time.monotonic()
        if self.claim:
            claims_renew(self.claimed)
