"""The experiment around the play: what a researcher sets up, and what participants leave behind."""

from __future__ import annotations

import secrets
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models, transaction
from django.urls import reverse

from kitchen.models import Budget, Episode, new_key
from kitchen.registry import UnknownNameError
from kitchen.worlds.base import WorldError
from study.measures import item_key_problem, key_problem, measure_problem, name_problem
from study.plan import NOBODY, condition_cautions, condition_check


def new_seed() -> int:
    """A seed for a study whose researcher names none."""
    return secrets.randbelow(2**31)


def new_completion_code() -> str:
    """What a participant hands in as a proof of completion: eight characters, none of them ambiguous."""
    return "".join(secrets.choice("ABCDEFGHJKLMNPQRSTUVWXYZ23456789") for _ in range(8))


class Study(models.Model):
    """One experiment: conditions within each person, a survey after every episode."""

    class Status(models.TextChoices):
        OPEN = "open", "open: the link takes participants"
        CLOSED = "closed", "closed: nobody new; those who play can finish"

    id: int
    slug = models.SlugField(unique=True, help_text="Part of the participants' link, after /s/.")
    title = models.CharField(
        max_length=120, help_text="Participants read it; do not give away the hypotheses."
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.OPEN)
    welcome = models.TextField(blank=True, help_text="First words on the link's page. Markdown.")
    consent = models.TextField(help_text="What participants agree to. Markdown.")
    ending = models.TextField(blank=True, help_text="Last page, beside the completion code. Markdown.")
    seed = models.BigIntegerField(
        default=new_seed,
        validators=[MinValueValidator(0)],
        help_text="All chance in the study (orders of conditions, episodes) follows from it.",
    )
    thinking_seconds = models.FloatField(
        default=0,
        validators=[MinValueValidator(0), MaxValueValidator(60)],
        help_text="Teammates of every kind take at least so long for a step, so that nobody is known by "
        "being quick.",
    )
    budget_limit = models.DecimalField(
        "budget",
        max_digits=9,
        decimal_places=2,
        default=10,
        validators=[MinValueValidator(0)],
        help_text="US dollars that language models may cost in this study. When they are spent, no model is "
        "asked any more and the condition's fallback plays.",
    )
    budget = models.OneToOneField(
        Budget, null=True, editable=False, on_delete=models.PROTECT, related_name="study"
    )
    entered = models.PositiveIntegerField(
        default=0, editable=False, help_text="Participants who ever entered: the last number given."
    )
    withdrawn = models.PositiveIntegerField(
        default=0, editable=False, help_text="Participants who withdrew; their data are erased."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "studies"
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store it; a changed budget holds from the next call of a model on."""
        super().save(*args, **kwargs)
        Budget.objects.filter(study=self).update(limit=self.budget_limit)

    def get_absolute_url(self) -> str:
        """The participants' link."""
        return reverse("study:enter", args=[self.slug])


class Condition(models.Model):
    """One way of playing: a world, its settings, who plays beside the participant."""

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="conditions")
    key = models.SlugField(help_text="Its name in the data, for example two_dispatched.")
    name = models.CharField(max_length=80, help_text="For you and the figures, for example “Two dispatched”.")
    label = models.CharField(
        max_length=80,
        help_text="What participants read. Neutral, for example “Team A”: no hint at who plays.",
    )
    position = models.PositiveSmallIntegerField(default=0, help_text="Place in tables and figures.")
    world = models.CharField(max_length=40, default="cuisine")
    settings = models.JSONField(default=dict, blank=True)
    coplayer = models.CharField(max_length=40, default=NOBODY)
    coplayer_settings = models.JSONField(default=dict, blank=True)
    teammates = models.PositiveSmallIntegerField(
        default=0, validators=[MaxValueValidator(63)], help_text="Co-players beside the participant."
    )

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["study", "key"], name="one_condition_per_key")]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Playable and told apart in the analysis as it stands, or a message that says what to change."""
        others = Condition.objects.filter(study=self.study_id, name=self.name).exclude(pk=self.pk)
        if self.study_id and others.exists():
            raise ValidationError("name: Another condition of this study has this name.")
        for field, problem in (("key", key_problem(self.key)), ("name", name_problem(self.name))):
            if getattr(self, field) and problem:
                raise ValidationError(f"{field}: {problem}")
        try:
            condition_check(
                world=self.world,
                settings=self.settings,
                coplayer=self.coplayer,
                coplayer_settings=self.coplayer_settings,
                teammates=self.teammates,
            )
        except (WorldError, UnknownNameError) as error:
            raise ValidationError(str(error)) from error

    @property
    def cautions(self) -> tuple[str, ...]:
        """What will keep its co-player from playing as it is set up, in sentences."""
        return condition_cautions(
            coplayer=self.coplayer, coplayer_settings=self.coplayer_settings, teammates=self.teammates
        )


class FrozenError(TypeError):
    """Somebody tried to change a survey item that has answers."""


class SurveyItem(models.Model):
    """One Likert item of the survey after each episode."""

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="items")
    key = models.SlugField(help_text="The measure's name in the data, for example trust.")
    measure = models.CharField(max_length=80, help_text="For tables and figures, for example “Trust”.")
    text = models.CharField(max_length=300, help_text="What participants read.")
    points = models.PositiveSmallIntegerField(
        default=5, validators=[MinValueValidator(2), MaxValueValidator(11)], help_text="2 to 11."
    )
    low = models.CharField(max_length=60, default="Strongly disagree")
    high = models.CharField(max_length=60, default="Strongly agree")
    position = models.PositiveSmallIntegerField(default=0)
    required = models.BooleanField(default=True)

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["study", "key"], name="one_item_per_key")]

    FROZEN = ("key", "measure", "text", "points", "low", "high")
    """What stays as it was answered: the data and their meaning rest on it."""

    def __str__(self) -> str:
        return self.measure

    def save(self, *args: Any, **kwargs: Any) -> None:
        """FrozenError if this would change what answers were given to."""
        with transaction.atomic():
            if changed := self._frozen_changes(SurveyItem.objects.select_for_update()):
                raise FrozenError(f"{self.key}: answered already; {', '.join(changed)} cannot change")
            super().save(*args, **kwargs)

    def clean(self) -> None:
        """Told apart in the analysis, and unchanged where it has answers; else a message at the field."""
        changed = self._frozen_changes(SurveyItem.objects.all())
        problems = dict.fromkeys(changed, "Fixed: there are answers to it.")
        if not problems:
            problems = {"key": item_key_problem(self.key), "measure": self._measure_problem()}
        found = {name: said for name, said in problems.items() if said and getattr(self, name)}
        if found:
            raise ValidationError(found)

    def _measure_problem(self) -> str:
        others = SurveyItem.objects.filter(study=self.study_id, measure=self.measure).exclude(pk=self.pk)
        if self.study_id and others.exists():
            return "Another item of this study has this measure."
        return measure_problem(self.measure)

    def _frozen_changes(self, items: models.QuerySet[SurveyItem]) -> list[str]:
        """Fields that would no longer be what was answered."""
        stored = items.filter(pk=self.pk).first() if self.pk else None
        if stored is None or not stored.answers.exists():
            return []
        return [name for name in self.FROZEN if getattr(stored, name) != getattr(self, name)]


class Participant(models.Model):
    """One person in one study. Whoever knows `key` reaches this person's pages, and only these."""

    class Status(models.TextChoices):
        ACTIVE = "active", "taking part"
        COMPLETE = "complete", "complete"

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="participants")
    number = models.PositiveIntegerField(help_text="1 for the first of the study.")
    code = models.CharField(max_length=32, unique=True, help_text="Name in the data; opens nothing.")
    key = models.CharField(max_length=32, unique=True, default=new_key, help_text="Secret part of the link.")
    entry = models.CharField(max_length=32, unique=True, help_text="Of the consent form that was sent.")
    completion_code = models.CharField(max_length=16, default=new_completion_code)
    status = models.CharField(max_length=10, choices=Status, default=Status.ACTIVE)
    synthetic = models.BooleanField(default=False, help_text="A program, not a person.")
    consented_at = models.DateTimeField(auto_now_add=True)
    consent_hash = models.CharField(
        max_length=64, help_text="SHA-256 of the consent text that was agreed to."
    )
    guide_read_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["study", "number"]
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="one_participant_per_number")]

    def __str__(self) -> str:
        return self.code

    def get_absolute_url(self) -> str:
        """The personal link: always the page that comes next."""
        return reverse("study:participant", args=[self.key])


class Round(models.Model):
    """One participant's turn in one condition: the episode, then the survey."""

    id: int
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="rounds")
    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, related_name="rounds")
    position = models.PositiveSmallIntegerField(help_text="1 for the condition played first.")
    episode = models.ForeignKey(
        Episode,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="rounds",
        help_text="Several people may play in one episode.",
    )
    seat = models.PositiveSmallIntegerField(default=0, help_text="Where the participant sits in it.")
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["participant", "position"], name="one_round_per_position"),
            models.UniqueConstraint(fields=["participant", "condition"], name="one_round_per_condition"),
        ]

    def __str__(self) -> str:
        return f"{self.participant} {self.position}: {self.condition}"


class Answer(models.Model):
    """One answer to one survey item after one episode."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="answers")
    item = models.ForeignKey(SurveyItem, on_delete=models.PROTECT, related_name="answers")
    value = models.PositiveSmallIntegerField()
    answered_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["item__position", "id"]
        constraints = [models.UniqueConstraint(fields=["round", "item"], name="one_answer_per_item")]

    def __str__(self) -> str:
        return f"{self.item}: {self.value}"
