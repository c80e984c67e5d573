"""Define the Django model `StudyMedia`: an image, sound, video or download of a study's own pages."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from study.design.media.media_limits import CONTENT_TYPES
from study.design.media.media_plans import MediaPlan
from study.design.models.study import Study

KIND_WORDS = {"image": "image", "sound": "sound", "video": "video", "download": "download"}


class StudyMedia(models.Model):
    """A file with its bytes. The bytes never change: a replaced file stays as long as a version shows it.

    The database holds the bytes, so that several machines serve them, and backups contain them.
    """

    id: int
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="media")
    name = models.CharField("file name", max_length=80)
    sha256 = models.CharField(max_length=64)
    kind = models.CharField(max_length=10, choices=[*KIND_WORDS.items()])
    size = models.PositiveIntegerField()
    width = models.PositiveIntegerField(default=0)
    height = models.PositiveIntegerField(default=0)
    alt = models.CharField(
        "description",
        max_length=300,
        blank=True,
        help_text="What an image shows, for people who do not see it. For other files: their title.",
    )
    transcript = models.TextField(
        blank=True, help_text="What is said and heard, for people who do not hear it."
    )
    data = models.BinaryField()
    replaced_at = models.DateTimeField(null=True, blank=True)
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    uploaded_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "id"]
        verbose_name_plural = "study media"
        constraints = [
            models.UniqueConstraint(
                fields=["study", "name"], condition=Q(replaced_at=None), name="one_media_per_name"
            ),
            models.UniqueConstraint(fields=["study", "name", "sha256"], name="one_media_per_content"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def plan(self) -> MediaPlan:
        """Return the file as the design names it."""
        return MediaPlan.model_validate({name: getattr(self, name) for name in MediaPlan.model_fields})

    @property
    def content_type(self) -> str:
        """Return the content type under which the file is served."""
        return CONTENT_TYPES[self.name.rpartition(".")[2]]
