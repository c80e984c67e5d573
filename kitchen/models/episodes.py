"""Episodes, their co-players and their seats."""

from __future__ import annotations

import secrets
import uuid

from django.db import models

from kitchen.models.money import Budget


def new_key() -> str:
    """A secret that opens one seat or one participant's pages: 128 bits, URL-safe."""
    return secrets.token_urlsafe(16)


class Episode(models.Model):
    """One game of one world, from its seed to its end. Belongs to its seats."""

    class Status(models.TextChoices):
        PLAYING = "playing", "playing"
        OVER = "over", "over"
        CUT_OFF = "cut_off", "cut off"

    id: int
    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    world = models.CharField(max_length=40)
    world_version = models.PositiveIntegerField()
    settings = models.JSONField(default=dict)
    seed = models.BigIntegerField()
    label = models.CharField(max_length=80, blank=True)
    synthetic = models.BooleanField(default=False)

    status = models.CharField(max_length=10, choices=Status, default=Status.PLAYING)
    step = models.PositiveIntegerField(default=0, help_text="Steps taken so far.")
    state = models.JSONField(default=dict)
    state_hash = models.CharField(max_length=64)
    score = models.JSONField(default=dict)

    budget = models.ForeignKey(
        Budget, null=True, blank=True, on_delete=models.PROTECT, related_name="episodes"
    )
    thinking_seconds = models.FloatField(
        default=0, help_text="Co-players of every kind take at least so long for a step."
    )
    decision_seconds = models.FloatField(help_text="Time for all co-players' decisions of one step.")
    deciding_until = models.DateTimeField(
        null=True, blank=True, help_text="A worker has taken up the co-players' decision until then."
    )
    turn_opened_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["status", "turn_opened_at"])]

    def __str__(self) -> str:
        return f"{self.world} {self.key}"


class Mind(models.Model):
    """A co-player in one episode: it commands one or more seats."""

    id: int
    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="minds")
    number = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=40)
    settings = models.JSONField(default=dict)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["episode", "number"], name="one_mind_per_number")]

    def __str__(self) -> str:
        return f"mind {self.number} ({self.kind})"


class Seat(models.Model):
    """One place at the table: a person's where `mind` is empty. Whoever knows `key` plays it."""

    id: int
    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="seats")
    number = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=40)
    mind = models.ForeignKey(Mind, null=True, blank=True, on_delete=models.CASCADE, related_name="seats")
    key = models.CharField(max_length=32, unique=True, default=new_key)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["episode", "number"], name="one_seat_per_number")]

    def __str__(self) -> str:
        return f"seat {self.number}"

    @property
    def is_person(self) -> bool:
        """Whether a person plays here."""
        return self.mind_id is None

    mind_id: int | None
