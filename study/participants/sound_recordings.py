"""Define the models of sound that is recorded while people think aloud: takes, and their pieces.

Browsers upload a take in pieces. A take's file is its pieces one after another. The pieces are rows, so that
they are written, backed up and erased together with the participant.
"""

from __future__ import annotations

from collections.abc import Iterator

from django.db import models
from django.utils import timezone

from kitchen.play.models import Episode
from study.participants.models import Participant

LARGEST_PIECE = 256 * 1024
"""The most bytes of a piece. A browser sends about 20,000 bytes for five seconds."""
MOST_BYTES = 64 * 2**20
"""The most bytes of all takes of one participant: more than four hours."""
MOST_TAKES = 200
"""The most takes of one participant. Each load of a play page begins one."""
MOST_STEPS = 20_000
"""The most steps of which a take stores the time."""

KINDS = {"webm": "audio/webm", "ogg": "audio/ogg", "mp4": "audio/mp4"}
"""The types of sound files by the ending of their names."""


def sound_kind(start: bytes) -> str:
    """Return the kind of a sound file (a key of `KINDS`) from its first bytes. Return an empty string if it
    is none that browsers record."""
    if start[:4] == b"\x1aE\xdf\xa3" and b"webm" in start[:64]:
        return "webm"
    if start[:4] == b"OggS" and b"OpusHead" in start[:128]:
        return "ogg"
    return "mp4" if start[4:8] == b"ftyp" else ""


class SoundTake(models.Model):
    """One recording without a gap, from the load of a play page on. Pauses are cut out."""

    id: int
    participant = models.ForeignKey(Participant, on_delete=models.CASCADE, related_name="sound_takes")
    participant_id: int
    episode = models.ForeignKey(Episode, on_delete=models.CASCADE, related_name="sound_takes")
    episode_id: int
    key = models.CharField(max_length=32, help_text="Chosen by the page: a repeated piece counts once.")
    number = models.PositiveSmallIntegerField(help_text="1 for the participant's first take.")
    kind = models.CharField(max_length=4)
    began_at = models.DateTimeField(default=timezone.now, editable=False)
    pieces = models.PositiveIntegerField(default=0)
    size = models.PositiveIntegerField(default=0, help_text="Bytes.")
    milliseconds = models.PositiveIntegerField(default=0, help_text="The length, without pauses.")
    steps = models.JSONField(
        default=list, help_text="Pairs: milliseconds from the start, and the steps taken at that time."
    )
    transcript = models.JSONField(
        null=True, blank=True, help_text="Segments: start and end in seconds, and the text."
    )

    class Meta:
        ordering = ["participant", "number"]
        constraints = [
            models.UniqueConstraint(fields=["participant", "key"], name="one_sound_take_per_key"),
            models.UniqueConstraint(fields=["participant", "number"], name="one_sound_take_per_number"),
        ]

    def __str__(self) -> str:
        return self.file_name

    @property
    def file_name(self) -> str:
        """Return the name of the file in the export."""
        return f"{self.participant.code}-{self.number}.{self.kind}"

    def file_pieces(self) -> Iterator[bytes]:
        """Yield the file in pieces."""
        for data in self.stored_pieces.order_by("number").values_list("data", flat=True).iterator():
            yield bytes(data)


class SoundPiece(models.Model):
    """A piece of a take, as it was uploaded."""

    id: int
    take = models.ForeignKey(SoundTake, on_delete=models.CASCADE, related_name="stored_pieces")
    number = models.PositiveIntegerField(help_text="0 for the first piece.")
    data = models.BinaryField()

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["take", "number"], name="one_sound_piece_per_number")]

    def __str__(self) -> str:
        return f"{self.take_id}: {self.number}"
