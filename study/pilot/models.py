"""Define the Django model of a dry run, in which programs take part in a study when staff request it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone

from study.design.models import Study
from study.participants.simulated_effects import describe_effects


class DryRun(models.Model):
    """A dry run requested in the console: its settings and its progress.

    It holds only counts and no data about a single synthetic participant.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waits for a worker"
        RUNNING = "running", "on"
        FINISHED = "finished", "finished"
        STOPPED = "stopped", "stopped"
        FAILED = "failed", "failed"

    ON = (State.WAITING, State.RUNNING)
    SHARES: Mapping[str, str] = {
        "drop_outs": "drop-outs",
        "withdrawals": "withdrawals",
        "refusals": "refusals",
        "fail_checks": "failed checks",
    }
    """Names of `study.pilot.bots.walk_plans.OutcomeShares`, in words."""
    SILENT_AFTER = timedelta(minutes=10)
    """Time without news after which a run counts as dead. A worker reports every few seconds."""

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="dry_runs")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    user_name = models.CharField(max_length=150, help_text="The name at that time.")
    asked_at = models.DateTimeField(auto_now_add=True)
    participants = models.PositiveSmallIntegerField()
    at_once = models.PositiveSmallIntegerField()
    seed = models.BigIntegerField()
    shares = models.JSONField(help_text="Percentages by name.")
    known = models.JSONField(
        default=dict, help_text="Shifts of ratings by item and condition, as parts of the scale."
    )
    like_people = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether the programs play like the people who have played in this study.",
    )
    people_fitted = models.CharField(
        max_length=100,
        blank=True,
        default="",
        db_default="",
        help_text="How many people and steps these programs were fitted to, and the digest of the rates.",
    )
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    stopped_by = models.CharField(
        max_length=150, blank=True, help_text="The name of the staff member who stopped it."
    )
    done = models.PositiveSmallIntegerField(
        default=0, help_text="The number of programs that came to any end."
    )
    line = models.CharField(max_length=300, blank=True, help_text="The result, after it has ended.")
    news_at = models.DateTimeField(default=timezone.now, help_text="The time of its last sign of life.")
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-asked_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["study"],
                condition=models.Q(state__in=("waiting", "running")),
                name="one_dry_run_at_a_time",
            )
        ]

    def __str__(self) -> str:
        return f"{self.study}: {self.participants} programs, {self.get_state_display()}"

    @property
    def is_on(self) -> bool:
        """Return whether the run waits for a worker or runs, according to the last report."""
        return self.state in self.ON

    @property
    def is_silent(self) -> bool:
        """Return whether the run should be active, but has not reported for too long."""
        return self.is_on and self.news_at < timezone.now() - self.SILENT_AFTER

    @property
    def effects(self) -> str:
        """Return the effects on ratings as text. It is empty if there are none."""
        return describe_effects(self.known)

    @property
    def percents(self) -> list[tuple[str, float]]:
        """Return the planned (name, percentage) pairs of participants who do not finish, such as
        (`drop-outs`, 15). Pairs with 0 are left out."""
        return [(self.SHARES[name], share) for name, share in self.shares.items() if share]
