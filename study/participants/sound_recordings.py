"""Define the models of sound that is recorded while people think aloud: takes, and their pieces.

Browsers upload a take in pieces. A take's file is its pieces one after another. The pieces are rows, so that
they are written, backed up and erased together with the participant.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.db import models
from django.db.models import Q, QuerySet
from django.db.models.functions import Length
from django.utils import timezone

from kitchen.play.episode.erase_episode import erase_rows
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
GRACE = timedelta(minutes=5)
"""Sound is accepted until so long after the end of its episode. A page without a connection keeps as much."""
ERASED_PIECES = 50
"""Number of pieces that are erased in one transaction."""

ENDS = ("game", "page", "microphone", "connection")
"""Why a take ended, as the page says: the game ended, the page was left, the microphone was lost (unplugged,
or no longer allowed), or too much sound waited for the connection. Blank if the page could not say it."""

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
    ended_by = models.CharField(
        max_length=12, blank=True, default="", db_default="", help_text="One of ENDS."
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
        found = self.stored_pieces.order_by("number").values_list("data", flat=True)
        for data in found.iterator(chunk_size=20):
            yield bytes(data)

    def file_part(self, begin: int, end: int) -> bytes:
        """Return these bytes of the file. Only the pieces that have some of them are read."""
        sizes = self.stored_pieces.order_by("number").values_list("number", Length("data"))
        here, first, chosen = 0, 0, list[int]()
        for number, size in sizes:
            if here < end and here + size > begin:
                first = first if chosen else here
                chosen.append(number)
            here += size
        found = self.stored_pieces.filter(number__in=chosen).order_by("number")
        data = b"".join(bytes(piece) for piece in found.values_list("data", flat=True))
        return data[begin - first : end - first]


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


def accepts_sound(episode: Episode) -> bool:
    """Return whether sound of this episode is accepted: it is played, or ended less than `GRACE` ago."""
    if episode.status == Episode.Status.PLAYING:
        return True
    return episode.ended_at is not None and timezone.now() < episode.ended_at + GRACE


def complete_takes(takes: QuerySet[SoundTake]) -> QuerySet[SoundTake]:
    """Return those of the takes to which no piece can be added any more."""
    open_until = timezone.now() - GRACE
    return takes.exclude(Q(episode__status=Episode.Status.PLAYING) | Q(episode__ended_at__gt=open_until))


def erase_sound(takes: QuerySet[SoundTake]) -> None:
    """Erase takes with their pieces, in small transactions, so that players do not wait for long."""
    erase_rows(SoundPiece.objects.filter(take__in=takes.order_by().values("pk")), ERASED_PIECES)
    erase_rows(takes)
