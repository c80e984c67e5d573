"""Define the models of annotation: a study's codes, its raters, who rates which episode, and the marks.

A mark says that a code holds at a step or a range of steps of an episode. Raters see no marks of others until
every rater has released their own, or an owner has released them for all (`is_revealed`).
"""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.db import models
from django.utils import timezone

from kitchen.play.models import Episode
from study.design.models import Study

LONGEST_NOTE = 300
"""The most characters of the note of a mark."""


class AnnotationPlan(models.Model):
    """The plan by which the episodes of a study are rated. A study has at most one."""

    class Unit(models.TextChoices):
        STEP = "step", "each step: does the code hold at it?"
        EPISODE = "episode", "each episode: does the code occur in it?"

    id: int
    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="annotation_plan")
    unit = models.CharField(max_length=8, choices=Unit, default=Unit.STEP, help_text="The unit of agreement.")
    share = models.PositiveSmallIntegerField(default=100, help_text="Percent of the episodes that are rated.")
    overlap = models.PositiveSmallIntegerField(
        default=100, help_text="Percent of the rated episodes that every rater rates."
    )
    with_programs = models.BooleanField(
        default=False, help_text="Whether synthetic episodes are rated as well."
    )
    seed = models.BigIntegerField(help_text="The seed of the random choice of episodes.")

    def __str__(self) -> str:
        return f"{self.study}: {self.unit}"


class AnnotationCode(models.Model):
    """One code of a study. When marks use it, it is only retired."""

    class Colour(models.TextChoices):
        ORANGE = "1", "orange"
        SKY = "2", "sky blue"
        GREEN = "3", "green"
        YELLOW = "4", "yellow"
        BLUE = "5", "blue"
        RED = "6", "red"
        PINK = "7", "pink"
        GREY = "8", "grey"

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="annotation_codes")
    name = models.CharField(max_length=40, help_text="The name of the code in the data.")
    key = models.CharField(max_length=1, help_text="The key that marks a step: a letter from a to z.")
    colour = models.CharField(max_length=1, choices=Colour, default=Colour.ORANGE)
    description = models.CharField(max_length=500, blank=True, help_text="When the code holds.")
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], name="one_annotation_code_per_name"),
            models.UniqueConstraint(
                fields=["study", "key"],
                condition=models.Q(retired_at=None),
                name="one_annotation_code_per_key",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Rater(models.Model):
    """A member of a study who annotates. The row stays when the login is deleted."""

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="raters")
    user_id: int | None
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    user_name = models.CharField(max_length=150, help_text="The name at that time.")
    number = models.PositiveSmallIntegerField(help_text="1 for the first; the rater's name in the data.")
    released_at = models.DateTimeField(null=True, blank=True, help_text="From then on, no mark changes.")

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="one_rater_per_number"),
            models.UniqueConstraint(fields=["study", "user"], name="one_rater_per_user"),
        ]

    def __str__(self) -> str:
        return f"rater {self.number}"


class EpisodeRating(models.Model):
    """An episode that a rater is to rate, and when the rater was done with it."""

    id: int
    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="ratings")
    rater_id: int
    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="ratings")
    episode_id: int
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["rater", "episode"], name="one_rating_per_rater_and_episode")
        ]

    def __str__(self) -> str:
        return f"{self.rater}: {self.episode_id}"


class Annotation(models.Model):
    """A mark: a code holds from the step `first` to the step `last`, both included."""

    id: int
    rating = models.ForeignKey(EpisodeRating, on_delete=models.CASCADE, related_name="marks")
    rating_id: int
    code = models.ForeignKey(AnnotationCode, on_delete=models.PROTECT, related_name="marks")
    code_id: int
    first = models.PositiveIntegerField(help_text="The first step; steps have numbers from 1.")
    last = models.PositiveIntegerField()
    note = models.CharField(max_length=LONGEST_NOTE, blank=True)
    made_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["first", "last", "id"]
        constraints = [
            models.UniqueConstraint(fields=["rating", "code", "first", "last"], name="one_mark_per_place")
        ]

    def __str__(self) -> str:
        last = f" to {self.last}" if self.last != self.first else ""
        return f"{self.code}, step {self.first}{last}"


def is_revealed(study: Study) -> bool:
    """Return whether the marks of this study are open to its members: every rater has released them."""
    released = list(study.raters.values_list("released_at", flat=True))
    return bool(released) and None not in released


def erase_annotations(episodes: Iterable[int]) -> None:
    """Erase all marks on these episodes. Raters have to rate those again that other people also played."""
    ids = list(episodes)
    Annotation.objects.filter(rating__episode__in=ids).delete()
    EpisodeRating.objects.filter(episode__in=ids).update(done_at=None)
