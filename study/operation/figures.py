"""What Prometheus is told: what processes have counted, and what database and Redis know when it asks."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import nullcontext, suppress

from django.db import Error
from prometheus_client import REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from kitchen.machine import tallies
from kitchen.machine.outage import drop_broken_connection
from kitchen.machine.queues import asked_redis, queues_standing
from kitchen.money.ledger import money_booked
from kitchen.play.standing import episodes_live, turns_late

log = logging.getLogger(__name__)


def exposition() -> bytes:
    """All figures in Prometheus' text. Those of all processes that share a folder are added up."""
    folder, registry = tallies.shared_folder(), CollectorRegistry()
    with tallies.locked(folder) if folder else nullcontext():
        if folder:
            with suppress(OSError):  # a disk that is full or read-only: all the more is wanted
                tallies.tidy(folder)
            MultiProcessCollector(registry, path=str(folder))
            counted = generate_latest(registry)
        else:
            counted = generate_latest(REGISTRY)
    asked = CollectorRegistry()
    asked.register(Standing())
    return counted + generate_latest(asked)


class Standing(Collector):
    """What is true now, whoever is asked: the same on every machine, so it is not to be added up."""

    def collect(self) -> Iterator[Metric]:
        """Families of what answers; that something is away is a figure, too."""
        up = GaugeMetricFamily("brigade_reachable", "Whether it answers: 1, or 0.", labels=["what"])
        for what, ask in (("database", self.of_database), ("redis", self.of_redis)):
            try:
                families = list(ask())
            except Exception as error:  # no figure is worth an error to who asks for all of them
                log.warning("no figures of %s: %s", what, type(error).__name__)
                families = []
            yield from families
            up.add_metric([what], float(bool(families)))
        yield up

    def of_database(self) -> Iterator[Metric]:
        """Episodes and money."""
        try:
            live, late, money = episodes_live(), turns_late(), money_booked()
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
        """Queues."""
        with asked_redis() as client:
            queues = queues_standing(client)
        tasks = GaugeMetricFamily("brigade_queue_tasks", "Tasks that no worker has taken.", labels=["queue"])
        waited = GaugeMetricFamily(
            "brigade_queue_seconds", "For how long the first of them has waited.", labels=["queue"]
        )
        for name, queue in queues.items():
            tasks.add_metric([name], queue.tasks)
            waited.add_metric([name], queue.seconds)
        yield from (tasks, waited)
