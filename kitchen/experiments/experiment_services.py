"""Create, start, stop and read experiments in the database, and queue their episodes for workers.

If two workers happen to play the same episode, only one result row is stored.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial

from django.conf import settings
from django.db import Error, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from kitchen.experiments.database_logs import (
    PlayedElsewhereError,
    key_of,
    log_cost,
    log_sink,
    log_to_resume,
    logs_import,
)
from kitchen.experiments.episode_rows import FAILED, EpisodeRow
from kitchen.experiments.experiment_forecast import CostForecast, WorkForecast, forecast_cost, forecast_work
from kitchen.experiments.experiment_setup import (
    EpisodeJob,
    EpisodeKey,
    ExperimentSetup,
    SetupError,
    episode_jobs,
)
from kitchen.experiments.log_files import LogError, LogFolder
from kitchen.experiments.model_waits import ModelAwayError, do_nothing
from kitchen.experiments.models import Experiment, ExperimentEpisode, ExperimentLog
from kitchen.experiments.play_episodes import (
    DECISION_SECONDS,
    EpisodeFailedError,
    MoneySpentError,
    failed_row,
    play_episode,
)
from kitchen.experiments.setup_checks import check_model_access
from kitchen.infra.database_writes import batches_of, insert_in_batches
from kitchen.infra.db_retry import drop_broken_connection, retry_while_unreachable
from kitchen.infra.task_broker import send_task
from kitchen.llm.call_costs import load_prices
from kitchen.money.budget_ledger import BudgetPurse, ledger_amount, spent_or_reserved
from kitchen.money.models import Budget
from kitchen.play.episode.erase_episode import erase_rows

EXPERIMENT_LANE = "kitchen.experiment_lane"
PICK_UP_EXPERIMENTS = "kitchen.pick_up_experiments"
"""Names of the Celery tasks. `settings.CELERY_TASK_ROUTES` gives them a queue of their own."""


def queue_episodes(experiment_id: int, number: int = 1, expires: float | None = None) -> bool:
    """Queue `number` Celery tasks that each play one episode. They expire after `expires` seconds. Return
    False if the broker did not take all of them."""
    waits = f"experiment {experiment_id} waits"
    lanes = (
        send_task(EXPERIMENT_LANE, experiment_id, otherwise=waits, expires=expires) for _ in range(number)
    )
    return all(lanes)


def queue_pick_up(expires: float) -> None:
    """Queue a task that looks for experiments in which more episodes can run in parallel. It expires after
    this number of seconds."""
    send_task(
        PICK_UP_EXPERIMENTS, otherwise="nobody looks for experiments", is_frequent=True, expires=expires
    )


log = logging.getLogger(__name__)

CLAIM_SECONDS = DECISION_SECONDS + 30
"""Seconds that a claim lasts: longer than the longest decision. It is renewed between steps."""
RENEW_SECONDS = 5.0


def experiment_create(
    *,
    setup: ExperimentSetup,
    name: str = "",
    at_once: int = 4,
    limit: Decimal = Decimal(0),
    rows: Mapping[EpisodeKey, EpisodeRow] = {},
) -> Experiment:
    """Create an experiment with all its episodes. An episode gets the status waiting if `rows` has no result
    row for it.

    Episodes are inserted in batches. If this is interrupted, `experiment_start` inserts the missing ones.
    """
    made = experiment_draft(setup=setup, name=name, at_once=at_once, limit=limit)
    episodes_write(experiment=made)
    now = timezone.now()
    for some in batches_of(rows):
        with transaction.atomic():
            for key in some:
                _named(made, key).update(row=rows[key].to_json(), finished_at=now)
    return made


def folder_import(
    *, setup: ExperimentSetup, name: str, at_once: int, rows: Mapping[EpisodeKey, EpisodeRow], logs: LogFolder
) -> Experiment:
    """Create an experiment in the database from its folder. Its spent money includes the calls in all logs
    of the folder."""
    made = experiment_create(setup=setup, name=name, at_once=at_once, rows=rows)
    logs_import(experiment=made, data=logs.data)
    made.spent_elsewhere = ledger_amount(logs_cost(logs))
    made.save(update_fields=["spent_elsewhere"])
    return made


def logs_cost(logs: LogFolder) -> float:
    """Return the US dollars that all calls in the logs of a folder cost. Renamed log files are included."""
    return sum(log_cost(played) for played in logs.all())


def experiment_draft(*, setup: ExperimentSetup, name: str, at_once: int, limit: Decimal) -> Experiment:
    """Create and return an experiment without episodes. They are inserted when it starts."""
    return Experiment.objects.create(setup=setup.to_json(), name=name, at_once=at_once, limit=limit)


def episodes_write(*, experiment: Experiment) -> None:
    """Insert the episodes of an experiment that are not in the database yet, as waiting. They are inserted
    in batches."""
    setup = ExperimentSetup.from_json(experiment.setup)
    if experiment.episodes.count() < setup.total:
        rows = (_episode(experiment, job) for job in episode_jobs(setup))
        insert_in_batches(ExperimentEpisode, rows, leave_those_there=True)


@transaction.atomic
def experiment_save(*, experiment: Experiment, fields: Collection[str]) -> None:
    """Save these fields of an experiment, and no others. If the limit is one of them, the experiment's
    budget gets the new limit too."""
    experiment.save(update_fields=fields)
    if "limit" in fields:
        Budget.objects.filter(experiment=experiment).update(limit=experiment.limit)


def _episode(experiment: Experiment, job: EpisodeJob) -> ExperimentEpisode:
    variant, level, agents = job.column.key
    named = {"variant": variant, "level": level, "agents": agents, "alpha": job.alpha, "episode": job.episode}
    return ExperimentEpisode(experiment=experiment, seed=job.seed, **named)


def _named(experiment: Experiment, key: EpisodeKey) -> QuerySet[ExperimentEpisode]:
    names = ("variant", "level", "agents", "alpha", "episode")
    return experiment.episodes.filter(**dict(zip(names, key, strict=True)))


def experiment_find(*, key: str) -> Experiment | None:
    """Return the experiment with this key; None if this database has none."""
    return Experiment.objects.filter(key=key).first() if key else None


def experiment_start(
    *, experiment: Experiment, allowed: float | None = None, on_workers: bool = True
) -> bool:
    """Let workers play all waiting and failed episodes. Return whether the broker accepted the tasks.

    With `on_workers=False`, only prepare the episodes for this process (`episode_for_process`), and return
    False. `allowed` is the amount in US dollars that may be spent from now on. Without `allowed`, the
    experiment's own limit applies, if it has one.

    If the broker is unreachable, workers find the experiment later by themselves. If the preparation is
    interrupted, the next start completes it.
    """
    episodes_write(experiment=experiment)
    for some in batches_of(failed_episodes(experiment.pk).values_list("pk", flat=True)):
        ExperimentEpisode.objects.filter(pk__in=some).update(row=None, finished_at=None)
    with transaction.atomic():
        if allowed is not None or experiment.limit:
            experiment.budget = _budget(experiment, allowed)
        experiment.running, experiment.stopped_because = on_workers, ""
        experiment.save(update_fields=["running", "stopped_because", "budget", "limit"])
    return on_workers and queue_episodes(experiment.pk, lanes_of(experiment))


def lanes_of(experiment: Experiment) -> int:
    """Return how many workers may play an experiment at the same time: one if its calls are sent in
    batches."""
    return 1 if experiment.setup.get("batch") else experiment.at_once


def forecast_experiment(experiment: Experiment) -> tuple[WorkForecast, CostForecast]:
    """Return the remaining work of an experiment, and its cost. Raises SetupError if the setup is invalid,
    and PriceFileError if the price list is."""
    setup, played = ExperimentSetup.from_json(experiment.setup), rows_of(experiment)
    check_model_access(setup)
    left = [job for job in episode_jobs(setup) if job.key not in played or played[job.key].outcome == FAILED]
    return forecast_work(setup, left), forecast_cost(setup, left, load_prices())


def _budget(experiment: Experiment, allowed: float | None) -> Budget:
    budget = experiment.budget or Budget.objects.create(name=f"experiment {experiment.key}")
    if allowed is not None:
        experiment.limit = spent_or_reserved(budget.pk) + ledger_amount(allowed)
    budget.limit = experiment.limit
    budget.save(update_fields=["limit"])
    return budget


def experiment_stop(*, experiment_id: int, because: str = "") -> None:
    """Stop an experiment: no further episode begins. `because` is the reason shown to researchers."""
    Experiment.objects.filter(pk=experiment_id).update(running=False, stopped_because=because)


def experiment_clear(experiment: Experiment) -> None:
    """Stop an experiment and erase its episodes with their logs; the experiment itself stays."""
    experiment_stop(experiment_id=experiment.pk)
    erase_rows(ExperimentLog.objects.filter(episode__experiment=experiment))
    erase_rows(ExperimentEpisode.objects.filter(experiment=experiment))


def failed_episodes(experiment_id: int) -> QuerySet[ExperimentEpisode]:
    """Return the episodes of an experiment that ended with an error."""
    return ExperimentEpisode.objects.filter(experiment=experiment_id, row__outcome=FAILED)


def waiting_episodes(experiment_id: int) -> QuerySet[ExperimentEpisode]:
    """Return the episodes that have no result row and that no worker plays now."""
    free = Q(claimed_until=None) | Q(claimed_until__lt=timezone.now())
    return ExperimentEpisode.objects.filter(free, experiment=experiment_id, row__isnull=True)


def count_playing(experiment_id: int) -> int:
    """Return how many episodes of an experiment workers are playing now."""
    busy = Q(claimed_until__gte=timezone.now())
    return ExperimentEpisode.objects.filter(busy, experiment=experiment_id, row__isnull=True).count()


def episode_take(*, experiment_id: int) -> ExperimentEpisode | None:
    """Claim the next waiting episode for this worker and return it. None if no episode waits, `at_once`
    episodes are in progress, or the experiment was stopped."""
    experiment = Experiment.objects.filter(pk=experiment_id, running=True).first()
    if experiment is None or count_playing(experiment.pk) >= experiment.at_once:
        return None
    for pk in waiting_episodes(experiment.pk).values_list("pk", flat=True)[: experiment.at_once + 1]:
        if waiting_episodes(experiment.pk).filter(pk=pk).update(claimed_until=_claim()):
            return ExperimentEpisode.objects.select_related("experiment").get(pk=pk)
    return None


def episode_for_process(*, experiment_id: int) -> ExperimentEpisode | None:
    """Return the next waiting episode, for a process that plays without workers (`--local`). None if no
    episode waits.

    The episode is not claimed, so a restarted process can continue it at once. If two processes play the
    same episode, only one of them can store the next piece of the log.
    """
    episode = waiting_episodes(experiment_id).select_related("experiment").first()
    if episode is not None:
        episode.claimed_until = None
    return episode


def _claim() -> datetime:
    return timezone.now() + timedelta(seconds=CLAIM_SECONDS)


def episode_play(*, episode: ExperimentEpisode) -> bool:
    """Play an episode and store its result row. Return whether this process stored the row.

    Every step is logged when it is taken. Steps that are already logged are replayed without new model calls.
    An error of the co-player gives a failed row. A problem of all episodes (missing key, no money, a model
    without answers) stops the experiment. If the database is unreachable for a moment, the function waits.
    """
    try:
        check_model_access(ExperimentSetup.from_json(episode.experiment.setup))
        row = _go_on(episode)
    except EpisodeFailedError as error:
        row = failed_row(job_of(episode), str(error))
    except PlayedElsewhereError:
        log.warning("another worker has gone on with episode %s: this one stops", episode.pk)
        return False
    except Exception as error:
        because = failure_reason(error)
        stop = partial(episode_give_back, [episode.pk], episode.experiment.pk, because)
        retry_while_unreachable(stop, "stopping an experiment")
        return False
    return retry_while_unreachable(partial(episode_store, episode=episode, row=row), "storing an episode")


def _go_on(episode: ExperimentEpisode) -> EpisodeRow:
    """Play an episode from the end of its log. If the log is unusable, play the episode from its start."""
    try:
        return _play(episode, anew=False)
    except LogError as error:
        log.warning("episode %s begins anew, what was kept of it %s", episode.pk, error)
        return _play(episode, anew=True)


def _play(episode: ExperimentEpisode, *, anew: bool) -> EpisodeRow:
    experiment, job = episode.experiment, job_of(episode)
    setup = ExperimentSetup.from_json(experiment.setup)
    return play_episode(
        job,
        setup.coplayer_of(job.column.variant),
        setup.settings_of(job.column.variant),
        purse=BudgetPurse(experiment.budget.pk) if experiment.budget else None,
        after_step=_renewing(episode) if episode.claimed_until else do_nothing,
        before=None
        if anew
        else retry_while_unreachable(partial(log_to_resume, episode), "reading an episode's log"),
        sink=retry_while_unreachable(partial(log_sink, episode, anew=anew), "reading an episode's log"),
        program=settings.VERSION,
    )


def job_of(episode: ExperimentEpisode) -> EpisodeJob:
    """Return the job that an episode plays."""
    setup, cell = ExperimentSetup.from_json(episode.experiment.setup), key_of(episode)[:3]
    column = next(each for each in setup.columns if each.key == cell)
    return EpisodeJob(column, episode.alpha, episode.episode, episode.seed)


def episode_give_back(episode_ids: Collection[int], experiment_id: int, because: str | None) -> None:
    """Let others play these episodes of an experiment. With `because`, stop the experiment for this
    reason."""
    mine = ExperimentEpisode.objects.filter(pk__in=episode_ids, row__isnull=True)
    mine.update(claimed_until=None)
    if because is not None:
        experiment_stop(experiment_id=experiment_id, because=because)


def claims_renew(episode_ids: Collection[int]) -> None:
    """Renew this worker's claims on these episodes. A failure is only logged: a claim lasts beyond the next
    try."""
    try:
        ExperimentEpisode.objects.filter(pk__in=episode_ids, row__isnull=True).update(claimed_until=_claim())
    except Error as error:
        log.warning("the claims on %d episodes were not renewed: %s", len(episode_ids), type(error).__name__)
        drop_broken_connection()


def failure_reason(error: Exception) -> str:
    """Return the reason for an error, in this program's own words. The message of an unforeseen error might
    contain an API key."""
    if isinstance(error, MoneySpentError):
        return f"the money is spent: {error}"
    if isinstance(error, ModelAwayError):
        return f"a model does not answer: {error}"
    if isinstance(error, SetupError):
        return str(error)
    return str(EpisodeFailedError.by(error))


def episode_store(*, episode: ExperimentEpisode, row: EpisodeRow) -> bool:
    """Store the result row of an episode. Return False, without a change, if it has one. After the last row,
    the experiment is marked as no longer running."""
    mine = ExperimentEpisode.objects.filter(pk=episode.pk, row__isnull=True)
    stored = mine.update(row=row.to_json(), finished_at=timezone.now(), claimed_until=None)
    if not ExperimentEpisode.objects.filter(experiment=episode.experiment, row__isnull=True).exists():
        Experiment.objects.filter(pk=episode.experiment.pk).update(running=False)
    return bool(stored)


def _renewing(episode: ExperimentEpisode) -> Callable[[], None]:
    """Return a function that renews this worker's claim on an episode. It renews at most once every
    `RENEW_SECONDS`, and only logs a failure: the claim lasts beyond the next try."""
    last = time.monotonic()

    def renew() -> None:
        nonlocal last
        if time.monotonic() - last > RENEW_SECONDS:
            last = time.monotonic()
            claims_renew([episode.pk])

    return renew


def count_played(experiment_id: int) -> int:
    """Return how many episodes have a result row. Episodes that an error ended are included."""
    return ExperimentEpisode.objects.filter(experiment=experiment_id, row__isnull=False).count()


def rows_of(experiment: Experiment) -> dict[EpisodeKey, EpisodeRow]:
    """Return all result rows of the experiment by key. Rows of episodes that an error ended are included."""
    stored = experiment.episodes.exclude(row__isnull=True).values_list("row", flat=True)
    rows = [EpisodeRow.from_json(row) for row in stored if row is not None]
    return {row.key: row for row in rows}
