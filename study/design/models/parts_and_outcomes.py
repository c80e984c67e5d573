"""Define the Django models `StudyPart` and `Outcome`.

A part is a piece of a study such as the consent, the guide or the practice. An outcome is what participants
get at one kind of end: a completion code, an address, and a text.
"""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models

from study.design.models.study import Study
from study.design.parts_other_than_rounds import PARTS, part_problems


class StudyPart(models.Model):
    """One part of a study other than the rounds: on or off, with its heading, text and settings.

    A study has a row only for parts that differ from the defaults in
    `study.design.parts_other_than_rounds.PARTS`.
    """

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="parts")
    kind = models.CharField(max_length=12, choices=[(kind.name, kind.words) for kind in PARTS.values()])
    enabled = models.BooleanField("on", default=True)
    title = models.CharField("heading", max_length=120, blank=True, help_text="Empty: the default heading.")
    text = models.TextField(blank=True, help_text="Markdown.")
    settings = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["study", "kind"], name="one_part_per_kind")]

    def __str__(self) -> str:
        return self.kind

    def clean(self) -> None:
        """Check that the settings are known and of the right form.

        Raises ValidationError with a message that says what to change.
        """
        if self.kind in PARTS and (
            problems := part_problems(self.kind, self.text, self.enabled, self.settings)
        ):
            raise ValidationError(problems)


class Outcome(models.Model):
    """The completion code, address and text that participants get at one kind of end, such as timing out."""

    class Kind(models.TextChoices):
        COMPLETE = "complete", "complete"
        NO_CONSENT = "no_consent", "no consent"
        FAILED_CHECK = "failed_check", "failed the check of understanding"
        TIMED_OUT = "timed_out", "timed out"
        TECHNICAL = "technical", "ended for a technical reason"
        UNMATCHED = "unmatched", "nobody to play with"
        NO_PLACE = "no_place", "no group with a place"
        SCREENED_OUT = "screened_out", "screened out"
        LATE_RETURN = "late_return", "did not come back in time"

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="outcomes")
    kind = models.CharField(max_length=12, choices=Kind)
    code = models.CharField(
        max_length=80,
        blank=True,
        help_text="The same code for everybody. Empty: each complete participant gets their own code, and "
        "others get none.",
    )
    url = models.CharField(
        "address",
        max_length=500,
        blank=True,
        help_text="The address that the button on the last page leads to. {code} and {label} are filled in.",
    )
    text = models.TextField(blank=True, help_text="The text on this page. Markdown.")

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["study", "kind"], name="one_outcome_per_kind")]

    def __str__(self) -> str:
        return self.get_kind_display()

    def clean(self) -> None:
        """Check that the address is a web address whose only placeholders are {code} and {label}. Raises
        ValidationError if it is not."""
        if self.url and not self.url.startswith(("https://", "http://")):
            raise ValidationError({"url": "An address begins with https://"})
        rest = self.url.replace("{code}", "").replace("{label}", "")
        if "{" in rest or "}" in rest:
            raise ValidationError({"url": "Only {code} and {label} may stand in braces, spelt just so."})
