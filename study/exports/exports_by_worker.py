"""Let a worker make large export files, and send each stored file to everybody who asks for the same data.

A request waits for the file without a thread, and streams it while the worker writes it. If no worker begins,
the request makes the file itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, BinaryIO

from asgiref.sync import sync_to_async
from django.db.models import Count, Max, Q, QuerySet, Sum, TextField
from django.db.models.functions import Cast, Length

from kitchen.contract.world import canonical_hash
from kitchen.infra.file_downloads import pieces_in_thread
from kitchen.play.models import Decision, Episode, Message, ModelCall, ProbeAnswer, SliderRating
from kitchen.uptime.models import Outage
from study.design.blueprint import blueprint_of
from study.design.models import Study
from study.design.preregistration import program
from study.exports.export_table import ExportSelection
from study.participants.annotations import Annotation, EpisodeRating, Rater
from study.participants.models import Answer, PageVisit, Participant, Round, StaffAction
from study.participants.sound_recordings import SoundTake
from study.participants.staff_messages import ParticipantMessage
from study.participants.stored_exports import StoredExport, is_complete
from study.task_queue import ask_export


class ExportLostError(Exception):
    """Raised if an export file that was being sent will not be completed."""


HEAVY_STEPS = 2000
"""Steps in a study from which workers make its files. Smaller files take a fraction of a second."""
BEGIN_SECONDS = 3.0
"""Seconds within which a worker must begin; else the request makes the file itself."""
LOOK_SECONDS = 0.1
"""Seconds between two looks for the file."""
PIECE = 256 * 1024
"""Bytes of a file that are sent at once."""


def export_pieces(
    study: Study, name: str, chosen: ExportSelection, make: Callable[[], Iterator[bytes]]
) -> AsyncIterator[bytes]:
    """Yield an export file in pieces of bytes. If the study is large, a worker makes the file, unless it is
    stored already. `make` makes the file here."""
    steps = _episodes(study).aggregate(steps=Sum("step"))["steps"] or 0
    if steps < HEAVY_STEPS:
        return pieces_in_thread(make())
    wanted = StoredExport(study.pk, name, chosen.left_out, export_key(study, name, chosen))
    is_asked = wanted.path.exists() or wanted.is_being_made() or _ask(wanted)
    return _wait_and_send(wanted, make) if is_asked else pieces_in_thread(make())


def _ask(wanted: StoredExport) -> bool:
    left_out = ",".join(wanted.left_out)
    return ask_export(wanted.study_id, wanted.name, left_out, wanted.key, expires=BEGIN_SECONDS)


async def _wait_and_send(wanted: StoredExport, make: Callable[[], Iterator[bytes]]) -> AsyncIterator[bytes]:
    """Yield the file while a worker makes it. If no worker begins, make it here. Raises ExportLostError if
    the worker dies, or if somebody's data are erased, after the first piece."""
    until, is_begun = time.monotonic() + BEGIN_SECONDS, False
    while (found := _opened(wanted)) is None and time.monotonic() < until:
        await asyncio.sleep(LOOK_SECONDS)
    try:
        async for piece in _followed(wanted, found) if found else pieces_in_thread(make()):
            is_begun = True
            yield piece
    except ExportLostError:
        if is_begun:
            raise
        async for piece in pieces_in_thread(make()):
            yield piece


def _opened(wanted: StoredExport) -> BinaryIO | None:
    """Open the file, complete or not. Return None if no worker makes it."""
    for path in (wanted.path, wanted.part) if wanted.is_being_made() else (wanted.path,):
        with suppress(FileNotFoundError):
            return path.open("rb", buffering=0)
    return None


async def _followed(wanted: StoredExport, found: BinaryIO) -> AsyncIterator[bytes]:
    """Yield an open file in pieces, and wait for more while a worker writes it. Raises ExportLostError if it
    will never be complete."""
    read = sync_to_async(partial(found.read, PIECE))
    with found:
        while True:
            is_last = is_complete(found)  # asked before the last piece is read
            while piece := await read():
                yield piece
            if is_last:
                return
            if not wanted.is_being_made() and not is_complete(found):
                raise ExportLostError(f"{wanted.name} of study {wanted.study_id} was not completed")
            await asyncio.sleep(LOOK_SECONDS)


def export_key(study: Study, name: str, chosen: ExportSelection) -> str:
    """Return a hash of what is exported and of the data in it. It changes when a participant, an episode, the
    design or the program changes."""
    return str(canonical_hash([study.pk, name, list(chosen.left_out), program(), _state(study)]))


def _state(study: Study) -> list[Any]:
    """Return numbers and times that change with the study's data. While somebody takes part, they change at
    least every minute, because an outage may go on."""
    people, episodes = Participant.objects.filter(study=study), _episodes(study)
    active = people.filter(status=Participant.Status.ACTIVE).exists()
    counted = [
        _facts(people, Max("active_at"), Max("ended_at"), Max("consented_at"), Max("excluded_at")),
        _facts(people, Count("pk", ~Q(label="")), Count("excluded_at"), Count("consented_at")),
        sorted(map(list, people.order_by().values_list("status").annotate(Count("pk")))),
        _facts(Round.objects.filter(participant__study=study), Max("answered_at"), Count("episode")),
        _facts(
            PageVisit.objects.filter(participant__study=study),
            *(Sum(name) for name in ("loads", "times_away", "away_ms")),
            *(Count("done_at"), Max("opened_at")),
        ),
        _facts(Answer.objects.filter(participant__study=study)),
        _facts(StaffAction.objects.filter(study=study)),
        _facts(
            ParticipantMessage.objects.filter(participant__study=study),
            Count("read_at"),
            Count("pk", ~Q(text="")),
        ),
        _facts(episodes, Sum("step"), Max("ended_at"), Count("ended_at")),
        _facts(Message.objects.filter(episode__in=episodes)),
        _facts(Decision.objects.filter(mind__episode__in=episodes)),
        _facts(ModelCall.objects.filter(decision__mind__episode__in=episodes)),
        _facts(Outage.objects.all(), Max("until")),
        *_added_to_episodes(study, episodes),
    ]
    fields = [str(getattr(study, field.attname)) for field in study._meta.concrete_fields]
    versions = [[number, str(at)] for number, at in study.versions.values_list("number", "frozen_at")]
    minute = int(time.time()) // 60 if active else 0
    return [fields, blueprint_of(study).digest, versions, counted, minute]


def _added_to_episodes(study: Study, episodes: QuerySet[Episode]) -> list[list[str]]:
    """Return numbers and times of what people say during episodes, and of what researchers add later."""
    sizes = (Sum(name) for name in ("pieces", "size", "milliseconds"))
    written = Sum(Length(Cast("transcript", TextField())))
    return [
        _facts(ProbeAnswer.objects.filter(episode__in=episodes)),
        _facts(SliderRating.objects.filter(episode__in=episodes)),
        _facts(SoundTake.objects.filter(participant__study=study), *sizes, Count("transcript"), written),
        _facts(Rater.objects.filter(study=study), Count("released_at"), Max("released_at")),
        _facts(EpisodeRating.objects.filter(rater__study=study), Count("done_at"), Max("done_at")),
        _facts(Annotation.objects.filter(rating__rater__study=study), Sum(Length("note"))),
    ]


def _episodes(study: Study) -> QuerySet[Episode]:
    """Return all episodes that participants of the study play or played."""
    people = Participant.objects.filter(study=study)
    played = Round.objects.filter(participant__study=study, episode__isnull=False)
    return Episode.objects.filter(
        Q(pk__in=played.values("episode"))
        | Q(pk__in=people.filter(practice__isnull=False).values("practice"))
        | Q(pk__in=people.filter(first_practice__isnull=False).values("first_practice"))
        | Q(pk__in=people.filter(warm_up__isnull=False).values("warm_up"))
    )


def _facts(rows: QuerySet[Any], *more: Any) -> list[str]:
    """Return the number of rows, the highest id, and `more` aggregates, as text."""
    return [
        str(value) for value in rows.order_by().aggregate(*[Count("pk"), Max("pk")], **_named(more)).values()
    ]


def _named(aggregates: tuple[Any, ...]) -> dict[str, Any]:
    return {f"more_{number}": each for number, each in enumerate(aggregates)}
