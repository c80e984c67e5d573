"""The log of an episode: commands, decisions, steps. Append-only; it is the truth."""

from __future__ import annotations

import json

from django.db import models

from kitchen.models.append_only import AppendOnly
from kitchen.models.episodes import Episode, Mind


class SeatCommand(AppendOnly):
    """What one seat was commanded to do in one step, and by whom. Written before the step runs."""

    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="commands")
    step = models.PositiveIntegerField(help_text="The step it is for; the first is 1.")
    seat = models.PositiveSmallIntegerField()
    command = models.JSONField()
    chosen_by = models.CharField(max_length=40, help_text="`person`, or the kind of co-player that chose.")
    fallback = models.CharField(
        max_length=20,
        blank=True,
        default="",
        help_text="Why another than the co-player chose: `timeout`, `error`, or a model's error code.",
    )
    received_at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["episode", "step", "seat"], name="one_command_per_seat_and_step")
        ]

    def __str__(self) -> str:
        return f"step {self.step}, seat {self.seat}: {' '.join(self.command)}"


class Decision(AppendOnly):
    """What one mind decided at one step, with what it wants to remember: any worker can go on from here."""

    mind = models.ForeignKey(Mind, on_delete=models.CASCADE, related_name="decisions")
    step = models.PositiveIntegerField(help_text="The step it is for; the first is 1.")
    memory = models.JSONField(null=True)
    note = models.JSONField(null=True)
    played_by = models.CharField(
        max_length=40, help_text="The kind that really chose (a stand-in, or itself)."
    )
    fallback = models.CharField(max_length=20, blank=True, default="", help_text="As in `SeatCommand`.")
    error = models.TextField(blank=True)
    milliseconds = models.FloatField()
    decided_at = models.DateTimeField(auto_now_add=True)

    class Meta(AppendOnly.Meta):
        ordering = ["step"]
        constraints = [
            models.UniqueConstraint(fields=["mind", "step"], name="one_decision_per_mind_and_step")
        ]

    def __str__(self) -> str:
        return f"step {self.step}, decided by {self.played_by}"

    @property
    def note_text(self) -> str:
        """The note as indented JSON."""
        return json.dumps(self.note, indent=2, ensure_ascii=False)


class Step(AppendOnly):
    """One step as it ran: replaying `commands` from the seed gives `state_hash` again."""

    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="steps")
    number = models.PositiveIntegerField(help_text="The first step is 1.")
    commands = models.JSONField(
        help_text="`{seat, command, chosen_by, fallback, received_at}` in the order they ran."
    )
    events = models.JSONField()
    state_hash = models.CharField(max_length=64, help_text="Of the state after the step.")
    score = models.JSONField(help_text="After the step.")
    opened_at = models.DateTimeField()
    taken_at = models.DateTimeField()

    class Meta(AppendOnly.Meta):
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["episode", "number"], name="one_row_per_step")]

    def __str__(self) -> str:
        return f"step {self.number}"
