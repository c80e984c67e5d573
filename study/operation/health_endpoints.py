"""Serve `/health`, `/ready` and `/metrics` for monitoring programs.

The endpoints need no login, and name no participant. `/metrics` has the text format of Prometheus.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import nullcontext, suppress

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from kitchen.infra import multiprocess_metrics
from kitchen.infra.client_address import client_address
from kitchen.infra.connection_drain import is_draining
from kitchen.infra.db_errors import missing_migrations
from kitchen.infra.db_retry import drop_broken_connection
from kitchen.infra.task_broker import queue_statuses, redis_connection
from kitchen.money.budget_ledger import total_booked
from kitchen.play.episode.play_monitoring import count_late_turns, running_episode_counts

SECONDS = 0.9
"""Time limit for all checks together."""
FRESH_SECONDS = 1.0
LATE = f"no answer within {SECONDS:g} s"

Check = Callable[[], str]
"""A check returns what is missing in a few words, or an empty string. It may raise any exception."""


class Readiness:
    """Run checks of required services in parallel, with a time limit. The results are cached for a second."""

    def __init__(self, checks: Mapping[str, Check], clock: Callable[[], float] = time.monotonic) -> None:
        self._checks, self._clock = checks, clock
        self._pool = ThreadPoolExecutor(max(1, len(checks)), thread_name_prefix="ready")
        self._asked: dict[str, Future[str]] = {}
        self._lock, self._found = threading.Lock(), (float("-inf"), dict[str, str]())

    def missing(self) -> dict[str, str]:
        """Return what is missing, as a message for each failed check, by the check's name. The result is
        empty if all passed."""
        with self._lock:
            at, found = self._found
            if self._clock() - at >= FRESH_SECONDS:
                found = self._look()
                self._found = self._clock(), found
            return found

    def _look(self) -> dict[str, str]:
        for name, check in self._checks.items():
            if name not in self._asked:
                self._asked[name] = self._pool.submit(check)
        done = wait(self._asked.values(), timeout=SECONDS).done
        said = {name: _said(asked) if asked in done else LATE for name, asked in self._asked.items()}
        self._asked = {name: asked for name, asked in self._asked.items() if asked not in done}
        return {name: words for name, words in said.items() if words}


def _said(asked: Future[str]) -> str:
    """Return the result of a finished check. If the check raised an exception, return only the exception's
    type; its message may contain an address."""
    error = asked.exception()
    return f"does not answer ({type(error).__name__})" if error else asked.result()


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        return ""
    finally:
        connection.close()


def _migrations() -> str:
    try:
        missing = len(missing_migrations())
    finally:
        connection.close()
    return f"{missing} not applied: manage.py migrate" if missing else ""


def _redis() -> str:
    with redis_connection() as client:
        client.ping()
    return ""


_readiness = Readiness({"database": _database, "migrations": _migrations, "redis": _redis})


def missing_services() -> dict[str, str]:
    """Return the services without which this process cannot serve people, with a message each. The result
    is empty if none is missing."""
    leaving = {"process": "is about to end"} if is_draining() else {}
    return {**leaving, **_readiness.missing()}


log = logging.getLogger(__name__)


def exposition() -> bytes:
    """Return all metrics in Prometheus' text format. The metrics of all processes that share a metrics
    folder are summed."""
    folder, registry = multiprocess_metrics.shared_folder(), CollectorRegistry()
    with multiprocess_metrics.folder_lock(folder) if folder else nullcontext():
        if folder:
            with suppress(OSError):  # a full or read-only disk: then metrics matter even more
                multiprocess_metrics.merge_ended_processes(folder)
            MultiProcessCollector(registry, path=str(folder))
            counted = generate_latest(registry)
        else:
            counted = generate_latest(REGISTRY)
    asked = CollectorRegistry()
    asked.register(PresentMetrics())
    return counted + generate_latest(asked)


class PresentMetrics(Collector):
    """Metrics of the current state of the database and Redis. Every machine reports the same values, so do
    not sum them."""

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of each service (database, Redis) that answers. Also yield a metric that says
        for each service whether it answers."""
        up = GaugeMetricFamily("brigade_reachable", "Whether it answers: 1, or 0.", labels=["what"])
        for what, ask in (("database", self.of_database), ("redis", self.of_redis)):
            try:
                families = list(ask())
            except Exception as error:  # a missing metric must not fail the whole request
                log.warning("no figures of %s: %s", what, type(error).__name__)
                families = []
            yield from families
            up.add_metric([what], float(bool(families)))
        yield up

    def of_database(self) -> Iterator[Metric]:
        """Yield the metrics of running episodes and of money."""
        try:
            live, late, money = running_episode_counts(), count_late_turns(), total_booked()
        except Error:
            drop_broken_connection()
            raise
        episodes = GaugeMetricFamily("brigade_episodes_live", "Episodes being played.", labels=["world"])
        for world, number in live.items():
            episodes.add_metric([world], number)
        yield episodes
        yield GaugeMetricFamily("brigade_episodes_late", "Episodes that wait longer than they may.", late)
        dollars = GaugeMetricFamily("brigade_money_dollars", "What models cost, ever.", labels=["booked"])
        dollars.add_metric(["spent"], float(money.spent))
        dollars.add_metric(["set_aside"], float(money.set_aside))
        yield dollars

    def of_redis(self) -> Iterator[Metric]:
        """Yield the number and the waiting time of tasks in each queue."""
        with redis_connection() as client:
            queues = queue_statuses(client)
        tasks = GaugeMetricFamily("brigade_queue_tasks", "Tasks that no worker has taken.", labels=["queue"])
        waited = GaugeMetricFamily(
            "brigade_queue_seconds", "For how long the first of them has waited.", labels=["queue"]
        )
        for name, queue in queues.items():
            tasks.add_metric([name], queue.tasks)
            waited.add_metric([name], queue.seconds)
        yield from (tasks, waited)


@never_cache
@require_safe
def health(request: HttpRequest) -> HttpResponse:
    """Answer 200, to show that the process answers at all. The database and Redis are not used."""
    return HttpResponse("alive\n", content_type="text/plain")


@never_cache
@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """Answer 200 if this process can serve people. Otherwise answer 503 and say what is missing."""
    lacks = missing_services()
    return JsonResponse({"ready": not lacks, "missing": lacks}, status=503 if lacks else 200)


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return all operation metrics of the app in the text format of Prometheus.

    The client must be on this machine, or send `METRICS_TOKEN` as a bearer token. Raises PermissionDenied
    for other clients.
    """
    if not (_from_here(request) or _knows_token(request)):
        raise PermissionDenied
    return HttpResponse(exposition(), content_type=CONTENT_TYPE_PLAIN_0_0_4)


def _from_here(request: HttpRequest) -> bool:
    """Return True if the request comes from this machine and no web server has forwarded it."""
    forwarded = {"HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_FORWARDED", "HTTP_VIA"}
    address = client_address(request)
    return address is not None and address.is_loopback and not forwarded & request.META.keys()


def _knows_token(request: HttpRequest) -> bool:
    given = request.headers.get("Authorization", "")
    wanted = f"Bearer {settings.METRICS_TOKEN}"
    return bool(settings.METRICS_TOKEN) and constant_time_compare(given, wanted)
