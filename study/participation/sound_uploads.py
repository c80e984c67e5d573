"""Decide whose play is recorded, and store the sound that play pages upload.

The study decides whether it records, and whether people without a microphone may take part. Programs are
never asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Sum
from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.utils import timezone

from kitchen.play.models import Episode
from study.design.page_and_item_order import LOBBY
from study.participants import next_page
from study.participants.models import Participant
from study.participants.sound_recordings import (
    ENDS,
    LARGEST_PIECE,
    MOST_BYTES,
    MOST_STEPS,
    MOST_TAKES,
    SoundPiece,
    SoundTake,
    accepts_sound,
    sound_kind,
)
from study.participation.page_progress import lock_participant


def records_sound(person: Participant) -> bool:
    """Return whether this participant's play is recorded: the study does, the participant agreed if consent
    is asked, and has a microphone."""
    return _asks(person) and person.microphone is True


def is_microphone_page_due(person: Participant, place: next_page.CurrentPage) -> bool:
    """Return whether the page that tests the microphone comes before the participant's play page. In a group
    it comes before the lobby, so that nobody waits for the test."""
    return place.page in {LOBBY, "play"} and person.microphone is None and _asks(person)


def _asks(person: Participant) -> bool:
    design = person.version.blueprint
    agreed = person.consented_at is not None or not design.has("consent")
    return bool(design.meant("think_aloud")) and agreed and not person.synthetic


@transaction.atomic
def microphone_set(*, participant_id: int, has_one: bool) -> None:
    """Store whether the participant has a microphone that works. The first answer counts."""
    Participant.objects.filter(pk=participant_id, microphone=None).update(microphone=has_one)


@dataclass(frozen=True, slots=True)
class Piece:
    """One uploaded piece of a take, with what the page says about it."""

    take: str
    number: int
    milliseconds: int
    steps: list[list[int]]
    data: bytes
    ended_by: str = ""
    """One of `ENDS` in the last piece of a take."""


@transaction.atomic
def piece_store(*, participant_id: int, episode: Episode, piece: Piece) -> int:
    """Store a piece of a take, and return the number of the next piece. A piece that is stored already, or
    that is not the next one, changes nothing. Return -1 if the piece is refused, for example because the
    participation is over."""
    person = lock_participant(participant_id)
    if person.status != Participant.Status.ACTIVE or not accepts_sound(episode):
        return -1
    take = person.sound_takes.filter(key=piece.take).first()
    if take is None:
        if piece.number:
            return 0  # the first piece is missing: the file could not be read without it
        kind = sound_kind(piece.data)
        count = person.sound_takes.count()
        if not kind or count >= MOST_TAKES:
            return -1
        take = SoundTake(participant=person, episode=episode, key=piece.take, number=count + 1, kind=kind)
        take.began_at = timezone.now() - timedelta(milliseconds=piece.milliseconds)
    if piece.number != take.pieces or take.episode_id != episode.pk:
        return take.pieces
    stored = person.sound_takes.aggregate(size=Sum("size"))["size"] or 0
    if stored + len(piece.data) > MOST_BYTES:
        return -1
    take.pieces, take.size = take.pieces + 1, take.size + len(piece.data)
    take.milliseconds = max(take.milliseconds, piece.milliseconds)
    take.steps = [*take.steps, *piece.steps][:MOST_STEPS]
    take.ended_by = piece.ended_by or take.ended_by
    take.save()
    SoundPiece.objects.create(take=take, number=piece.number, data=piece.data)
    return take.pieces


def sound_answer(request: HttpRequest, person: Participant, episode: Episode | None) -> JsonResponse:
    """Store the piece in this request, and answer with the number of the next one. The status is 413 for a
    piece that is too large, and 422 for one that is refused."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > LARGEST_PIECE or len(request.body) > LARGEST_PIECE:
        return JsonResponse({}, status=413)
    piece = _piece(request)
    if piece is None or episode is None or not records_sound(person):
        return JsonResponse({}, status=422)
    following = piece_store(participant_id=person.pk, episode=episode, piece=piece)
    return JsonResponse({"next": following}, status=422 if following < 0 else 200)


def _piece(request: HttpRequest) -> Piece | None:
    """Return the piece that a request brings. Return None if its parameters are wrong."""
    said, data = request.GET, request.body
    take = said.get("take", "")
    numbers = [said.get("number", ""), said.get("ms", "")]
    steps = [pair.split(":") for pair in said.get("steps", "").split(",") if pair]
    parts = [*numbers, *(part for pair in steps for part in pair)]
    fits = all(part.isdecimal() and len(part) < 9 for part in parts) and all(len(pair) == 2 for pair in steps)
    if not fits or not data or not (take.isalnum() and take.isascii() and len(take) <= 32):
        return None
    ended_by = said.get("ended", "")
    if ended_by and ended_by not in ENDS:
        return None
    pairs = [[int(at), int(step)] for at, step in steps]
    return Piece(take, int(numbers[0]), int(numbers[1]), pairs, data, ended_by)


def recording_context(person: Participant, episode: Episode) -> dict[str, Any]:
    """Return the template context with which a play page records. It is empty if it does not."""
    if not records_sound(person):
        return {}
    address = reverse("study:sound", args=[person.shown_key, episode.key])
    return {"sound_url": address, "sound_largest": LARGEST_PIECE}
