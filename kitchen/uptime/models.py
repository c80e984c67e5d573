"""Define the database tables of heartbeats and outages.

A heartbeat is the time at which a part of the app was last known to be alive. Examples of parts are pages and
workers.
"""

from __future__ import annotations

from django.db import models

from kitchen.infra.append_only import AppendOnly


class Part(models.TextChoices):
    """The parts of the app that can be down. `CLOCK` marks a change of the system clock instead."""

    WEB = "web", "the pages"
    WORKERS = "workers", "the workers of co-players"
    REDIS = "redis", "Redis"
    DATABASE = "database", "the database"
    CLOCK = "clock", "the clock"


class Sign(models.Model):
    """The last heartbeat of a part of the app. There is one row for each part. All processes of the part
    overwrite this row."""

    part = models.CharField(max_length=10, choices=Part, primary_key=True)
    seen_at = models.DateTimeField()
    ticks = models.FloatField(help_text="Seconds since the machine was started; nobody can set this clock.")
    place = models.CharField(
        max_length=64, blank=True, help_text="The run of the machine (its boot) that these seconds belong to."
    )
    processes = models.JSONField(
        default=list, help_text="Names of the processes of this part, the newest last."
    )

    def __str__(self) -> str:
        return f"{self.part}: {self.seen_at}"


class Outage(AppendOnly):
    """An outage of a part of the app, from its last heartbeat before the outage to the next one. Or a
    change of the system clock."""

    id: int
    part = models.CharField(max_length=10, choices=Part)
    since = models.DateTimeField()
    until = models.DateTimeField()
    note = models.TextField(
        blank=True, help_text="What is uncertain about the outage, or how the clock was set."
    )

    class Meta(AppendOnly.Meta):
        ordering = ["since", "id"]
        indexes = [models.Index(fields=["until"], name="outages_by_end")]

    def __str__(self) -> str:
        return f"{self.part}, {self.since} to {self.until}"
