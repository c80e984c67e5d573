"""Define the Django model `SurveyItem`: one question to participants.

Some of its fields cannot be changed once participants have entered. The module finds these fields.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.core.exceptions import ValidationError
from django.db import models, transaction

from study.design.models.study import Study
from study.design.naming_rules import (
    dependent_participants,
    describe_dependents,
    item_key_problem,
    measure_name_problem,
)
from study.design.questions.item_fields import LONGEST, FixedWhen, ItemPlan, fixed_fields, is_place
from study.design.questions.item_kinds import item_problems
from study.design.study_errors import FrozenError

NO_PLACE = "Choose where the question is asked."


class SurveyItem(models.Model):
    """One question to participants, asked before the guide, as a check of understanding, after an episode, at
    the end, or on a page that researchers wrote."""

    class Place(models.TextChoices):
        """The fixed places. On a page that researchers wrote, the place is the page's name (`own-KEY`)."""

        ABOUT = "about", "about the person, before the guide"
        CHECK = "check", "check of understanding"
        SURVEY = "survey", "after each episode"
        FINAL = "final", "final comparison"

    class Kind(models.TextChoices):
        LIKERT = "likert", "scale with points"
        SINGLE = "single", "one of several"
        MULTIPLE = "multiple", "any of several"
        NUMBER = "number", "number"
        SLIDER = "slider", "slider"
        RANKING = "ranking", "order of all options"
        BEST_WORST = "best_worst", "best and worst of several"
        DATE = "date", "date"
        TEXT = "text", "text"
        TEXTS = "texts", "several short texts"
        TEAM = "team", "one of the teams played with"

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="items")
    key = models.SlugField(
        max_length=LONGEST["key"], help_text="The measure's name in the data, for example trust."
    )
    place = models.CharField(max_length=40, default=Place.SURVEY, help_text="Where it is asked.")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.LIKERT)
    measure = models.CharField(
        max_length=LONGEST["measure"], help_text="The name in tables and figures, for example “Trust”."
    )
    text = models.CharField(max_length=LONGEST["text"], help_text="What participants read.")
    points = models.PositiveSmallIntegerField(default=5, help_text="For a scale: 3 to 11 points.")
    low = models.CharField(max_length=LONGEST["low"], blank=True, default="Strongly disagree")
    high = models.CharField(max_length=LONGEST["high"], blank=True, default="Strongly agree")
    scale = models.CharField(
        max_length=LONGEST["scale"],
        blank=True,
        help_text="The sub-scale that the question belongs to, for example nasa_tlx.",
    )
    reversed = models.BooleanField(
        default=False, help_text="The answer is reversed before the sub-scale is scored."
    )
    options = models.JSONField(default=list, blank=True, help_text="The options, as a list of texts.")
    minimum = models.FloatField(null=True, blank=True, help_text="For a number.")
    maximum = models.FloatField(null=True, blank=True, help_text="For a number.")
    step = models.FloatField(null=True, blank=True, help_text="For a number: 1 for whole numbers.")
    unit = models.CharField(
        max_length=LONGEST["unit"],
        blank=True,
        default="",
        db_default="",
        help_text="For a number: what is shown behind it, for example “hours a week”.",
    )
    shuffled = models.BooleanField(
        "options in random order",
        default=False,
        db_default=False,
        help_text="Each participant sees the options in an order of their own, the same every time.",
    )
    table = models.CharField(
        max_length=LONGEST["table"],
        blank=True,
        default="",
        db_default="",
        help_text="Scales in a row with the same heading, points and ends are shown as one table.",
    )
    correct = models.JSONField(
        null=True,
        blank=True,
        help_text="The correct answer of an attention check or of a comprehension question.",
    )
    position = models.PositiveSmallIntegerField(default=0)
    required = models.BooleanField(default=True)
    needs_teammates = models.BooleanField(
        "only with teammates",
        default=False,
        help_text="Not asked after episodes in which the participant plays alone.",
    )
    may_not_apply = models.BooleanField(
        "may not apply",
        default=False,
        db_default=False,
        help_text="Participants can say that the question does not apply. The data show this; means and "
        "tests leave it out.",
    )
    enabled = models.BooleanField(
        default=True, help_text="The question is asked. Earlier answers stay in the data."
    )

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["study", "key"], name="one_item_per_key")]

    IN_DOCUMENT = "items"
    """The key of the list in a version's document that has the items."""
    FROZEN = fixed_fields(FixedWhen.BY_PEOPLE)
    """Fields that cannot change once people answered the item, or while active participants entered with it.

    The data depend on them.
    """

    VALUES = fixed_fields(FixedWhen.BY_VALUES)
    """Fields that cannot change while programs' or previews' answers exist.

    The stored values have this form.
    """
    TRIED = "synthetic participants or previews answered it; erase them first"

    def __str__(self) -> str:
        return self.measure

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Store the item.

        Raises FrozenError if a field changes that answers or active participants depend on.
        """
        with transaction.atomic():
            if changed := self._frozen_changes(SurveyItem.objects.select_for_update()):
                raise FrozenError(
                    f"{self.key}: {self.why_fixed() or self.TRIED}; {', '.join(changed)} cannot change"
                )
            super().save(*args, **kwargs)

    @property
    def plan(self) -> ItemPlan:
        """Return the item as an `ItemPlan`, which the checks and the design's document use."""
        return ItemPlan.of(self)

    def why_fixed(self) -> str:
        """Return why the item's question cannot change. Return an empty string if it can.

        Answers of synthetic participants and previews do not prevent a change.
        """
        if self.pk and self.answers.filter(participant__synthetic=False, participant__preview=False).exists():
            return "there are answers to it"
        number = dependent_participants(self)
        return describe_dependents(number) if number else ""

    def fixed_fields(self) -> tuple[str, ...]:
        """Return the names of the fields that cannot change now. The stored row decides, not unsaved
        changes."""
        if not self.pk:
            return ()
        if self.why_fixed():
            return self.FROZEN
        return self.VALUES if self.answers.exists() else ()

    def clean(self) -> None:
        """Raise ValidationError, with a message at each wrong field, if the item is invalid. It must be
        possible to ask the item. Its key and measure name must be valid and unique, and fixed fields
        unchanged."""
        changed = self._frozen_changes(SurveyItem.objects.all())
        problems = dict.fromkeys(changed, f"Fixed: {self.why_fixed() or self.TRIED}.") if changed else {}
        if not problems:
            rules = {"key": item_key_problem, "measure": measure_name_problem}
            named = {name: self._name_problem(name, rule) for name, rule in rules.items()}
            problems = {name: said for name, said in named.items() if said and getattr(self, name)}
            problems |= item_problems(self.plan) if is_place(self.place) else {"place": NO_PLACE}
        if problems and not changed and self.why_fixed():
            problems = {name: said for name, said in problems.items() if name not in self.FROZEN}
        if problems:
            raise ValidationError(problems)

    def _name_problem(self, field: str, problem: Callable[[str], str]) -> str:
        """Return why the item cannot have its current value in `field` (its key or its measure): another item
        has it, or the function `problem` refuses it."""
        value = getattr(self, field)
        others = SurveyItem.objects.filter(study=self.study_id, **{field: value}).exclude(pk=self.pk)
        if self.study_id and others.exists():
            return f"Another item of this study has this {field}."
        return problem(value)

    def _frozen_changes(self, items: models.QuerySet[SurveyItem]) -> list[str]:
        """Return the names of fixed fields whose value differs from the stored one."""
        stored = items.filter(pk=self.pk).first() if self.pk else None
        if stored is None:
            return []
        changed = [name for name in self.FROZEN if getattr(stored, name) != getattr(self, name)]
        fixed = stored.fixed_fields() if changed else ()
        return [name for name in changed if name in fixed]
