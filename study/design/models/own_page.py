"""Define the Django model `OwnPage`: a page of a study that researchers wrote themselves."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from study.design.models.study import Study
from study.design.naming_rules import key_problem
from study.design.own_pages import OwnPagePlan, kind_problem, place_problem, rule_problem
from study.design.session_breaks import MOST_HOURS, break_time_problems

HOURS = (MinValueValidator(1), MaxValueValidator(MOST_HOURS))


class OwnPage(models.Model):
    """A page with a heading and a text, at any place of the study behind the consent."""

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="own_pages")
    key = models.CharField(
        "name in the data", max_length=30, help_text="Short, for example break or instructions_2."
    )
    before = models.CharField("comes before", max_length=12, help_text="The page that follows.")
    position = models.PositiveSmallIntegerField(default=0)
    title = models.CharField("heading", max_length=120)
    text = models.TextField(
        blank=True,
        help_text="Markdown. {answer:KEY} is an answer, {figure:NAME} a result of the last round, and "
        "{team} the name of its team.",
    )
    ends = models.BooleanField(
        "the study ends here",
        default=False,
        help_text="Who sees this page cannot go on. Give it a rule, so that not everybody sees it.",
    )
    show_if = models.JSONField(default=dict, blank=True)
    not_before_hours = models.PositiveIntegerField(
        "earliest return",
        null=True,
        blank=True,
        validators=HOURS,
        help_text="Hours from the beginning of the break. Empty: at once.",
    )
    not_after_hours = models.PositiveIntegerField(
        "latest return",
        null=True,
        blank=True,
        validators=HOURS,
        help_text="Hours from the beginning of the break. Empty: at any time.",
    )
    session_code = models.CharField(
        "code for the session",
        max_length=80,
        blank=True,
        default="",
        db_default="",
        help_text="Shown during the break, the same for everybody. Empty: no code.",
    )

    class Meta:
        ordering = ["position", "id"]
        constraints = [models.UniqueConstraint(fields=["study", "key"], name="one_own_page_per_key")]

    IN_DOCUMENT = "pages"
    """The key of the list in a version's document that has the pages."""

    def __str__(self) -> str:
        return self.title

    @property
    def has_code(self) -> bool:
        """Return whether the page gives a code."""
        return bool(self.session_code)

    @property
    def plan(self) -> OwnPagePlan:
        """Return the page as an `OwnPagePlan`, which the checks and the design's document use."""
        return OwnPagePlan.model_validate({name: getattr(self, name) for name in OwnPagePlan.model_fields})

    def clean(self) -> None:
        """Raise ValidationError, with a message at each wrong field, if the page's key, place, rule or break
        is invalid."""
        problems = {
            "key": key_problem(self.key),
            "before": place_problem(self.before),
            "show_if": rule_problem(self.show_if) or self._kind_problem(),
        }
        problems |= break_time_problems(self, ends=self.ends, has_code=self.has_code)
        if found := {name: words for name, words in problems.items() if words}:
            raise ValidationError(found)

    def _kind_problem(self) -> str:
        """Return why the rule cannot compare the answers that it names. Return an empty string if it can."""
        if not self.show_if:
            return ""
        return kind_problem(self.show_if, dict(self.study.items.values_list("key", "kind")))
