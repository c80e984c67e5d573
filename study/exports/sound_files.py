"""Make one ZIP file with all recorded sound of a study, and a manifest that says where each step is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from django.utils import timezone

from kitchen.infra.file_writing import stream_zip
from study.design.models import Study
from study.exports.export_registry import get_table
from study.exports.export_table import ExportSelection
from study.participants.sound_recordings import SoundTake

SOUND_FILE = "sound.zip"


def sound_zip_pieces(study: Study, chosen: ExportSelection) -> Iterator[bytes]:
    """Return a ZIP file with the manifest `sound.csv` and the takes of the selected participants, in pieces
    of bytes. Sound is compressed already, so it is stored as it is."""
    takes = SoundTake.objects.filter(participant__in=chosen.participants(study).values("pk"))
    lines = (text.encode() for text, _ in get_table("sound").lines(study, chosen))
    files = ((take.file_name, take.file_pieces()) for take in takes.select_related("participant"))
    named = ((f"{study.slug}-sound/{name}", pieces) for name, pieces in chain([("sound.csv", lines)], files))
    return stream_zip(named, at=timezone.now(), is_stored=lambda name: True)
