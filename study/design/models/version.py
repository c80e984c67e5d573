"""Define the Django model `Version`: the complete design of a study as it was at one time.

Participants are bound to the version under which they entered.
"""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.functional import cached_property

from study.design.blueprint import Blueprint
from study.design.models.study import Study


class Version(models.Model):
    """The design of a study at one time. Participants are bound to the version under which they entered.

    A version's document never changes. Its digest (hash) identifies it.
    """

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField(help_text="1 for the first.")
    document = models.JSONField(help_text="The design as one document.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the document in canonical JSON.")
    created_at = models.DateTimeField(auto_now_add=True)
    frozen_at = models.DateTimeField(null=True, blank=True, help_text="When it was preregistered.")
    frozen_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    bundle = models.JSONField(
        null=True,
        blank=True,
        help_text="The preregistration: the document and its prompts.",
    )
    bundle_digest = models.CharField(max_length=64, blank=True)

    class Meta:
        ordering = ["study", "number"]
        constraints = [models.UniqueConstraint(fields=["study", "number"], name="one_version_per_number")]

    def __str__(self) -> str:
        return f"version {self.number}"

    @cached_property
    def blueprint(self) -> Blueprint:
        """Return the document as a blueprint."""
        return Blueprint.from_json(self.document)
