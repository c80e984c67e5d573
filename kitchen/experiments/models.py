"""Define the database tables of experiments: experiments, episodes, and the pieces of episode logs."""

from __future__ import annotations

import uuid

from django.db import models

from kitchen.infra.append_only import AppendOnly
from kitchen.money.models import Budget


class Experiment(models.Model):
    """An experiment in which agents play without people. Workers play its episodes."""

    id: int
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(max_length=120, blank=True)
    setup = models.JSONField(help_text="All arguments, in the form of `ExperimentSetup.to_json`.")
    at_once = models.PositiveSmallIntegerField(
        "episodes at once", default=4, help_text="How many workers may play at the same time."
    )
    limit = models.DecimalField(
        "spending limit",
        max_digits=12,
        decimal_places=6,
        default=0,
        help_text="The most that all calls of models may cost, in US dollars; 0 if they cost nothing.",
    )
    budget = models.ForeignKey(Budget, null=True, blank=True, editable=False, on_delete=models.PROTECT)
    spent_elsewhere = models.DecimalField(
        max_digits=12,
        decimal_places=6,
        default=0,
        db_default=0,
        editable=False,
        help_text="US dollars that calls in episodes played elsewhere (`--local`) had cost.",
    )
    running = models.BooleanField(default=False, editable=False)
    stopped_because = models.TextField(blank=True, editable=False)
    batch_worker = models.CharField(
        max_length=32,
        blank=True,
        db_default="",
        editable=False,
        help_text="The process that sends its calls in batches now.",
    )
    batch_worker_until = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When another process may do so."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name or f"experiment {self.pk}"


class ExperimentEpisode(models.Model):
    """One episode of an experiment: waiting, claimed by a worker, or played."""

    id: int
    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="episodes")
    variant = models.CharField(max_length=120, blank=True)
    level = models.CharField(max_length=40)
    agents = models.PositiveSmallIntegerField()
    alpha = models.FloatField()
    episode = models.PositiveIntegerField()
    seed = models.BigIntegerField()
    claimed_until = models.DateTimeField(
        null=True, blank=True, help_text="The worker's claim ends at this time."
    )
    row = models.JSONField(null=True, blank=True, help_text="The result, as in episodes.csv.")
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["experiment", "variant", "level", "agents", "alpha", "episode"],
                name="one_row_per_experiment_episode",
            )
        ]

    def __str__(self) -> str:
        name = f"{self.level}, {self.agents} agents, alpha {self.alpha:g}, episode {self.episode}"
        return f"{self.variant}: {name}" if self.variant else name


class ExperimentLog(AppendOnly):
    """One piece of an episode's log (`kitchen.experiments.log_files`)."""

    id: int
    episode = models.ForeignKey(ExperimentEpisode, on_delete=models.CASCADE, related_name="logs")
    run = models.PositiveSmallIntegerField(help_text="1, or more if an attempt could not be continued.")
    number = models.PositiveIntegerField(help_text="1 for the run's first piece.")
    data = models.BinaryField(help_text="JSON lines, gzipped.")

    class Meta(AppendOnly.Meta):
        ordering = ["run", "number"]
        constraints = [
            models.UniqueConstraint(fields=["episode", "run", "number"], name="one_piece_of_a_log_per_number")
        ]

    def __str__(self) -> str:
        return f"piece {self.number} of run {self.run}"


class ModelBatch(models.Model):
    """Model calls of an experiment that are sent to a provider together, at a lower price.

    The row is stored before the batch is sent. `name` is stored before anybody waits for it.
    """

    id: int
    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="batches")
    provider = models.CharField(max_length=40)
    name = models.CharField(max_length=120, blank=True, help_text="The provider's id of the batch.")
    entries = models.JSONField(help_text="Its calls by name, with step, reserved money and ledger row.")
    results = models.JSONField(
        default=dict, blank=True, help_text="The calls with their answers, until their steps are taken."
    )
    answered = models.PositiveIntegerField(default=0, help_text="How many of its calls were answered.")
    opened_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    closed_at = models.DateTimeField(
        null=True, blank=True, help_text="When no episode needed its results any more."
    )

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"batch {self.name or self.pk} of {len(self.entries)} calls"
