"""Define the database table of uploaded policy files."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class UploadedPolicy(models.Model):
    """A trained network in an ONNX file, for the co-player `policy`. The row never changes."""

    id: int
    name = models.CharField(max_length=60)
    sha256 = models.CharField(max_length=64, unique=True, help_text="The hash of the file.")
    data = models.BinaryField(help_text="The file.")
    card = models.JSONField(help_text="The file's description, in the form of `PolicyCard.to_json`.")
    world = models.CharField(max_length=40, help_text="The world of the trial games.")
    world_settings = models.JSONField(default=dict, help_text="The settings of that world.")
    scores = models.JSONField(default=dict, help_text="The score of each trial game by its name.")
    milliseconds = models.FloatField(help_text="99 of 100 decisions took at most this processor time.")
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    uploaded_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "id"]
        verbose_name_plural = "uploaded policies"

    def __str__(self) -> str:
        return self.name

    @property
    def reference(self) -> str:
        """Return `NAME:SHA256`, as settings of co-players name the file."""
        return f"{self.name}:{self.sha256}"
