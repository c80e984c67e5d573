"""Make one ZIP file with all recorded sound of a study, and a manifest that says where each step is."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator

from django.utils import timezone

from kitchen.infra.file_writing import StreamBuffer
from study.design.models import Study
from study.exports.export_registry import get_table
from study.exports.export_table import ExportSelection
from study.participants.sound_recordings import SoundTake

SOUND_FILE = "sound.zip"


def sound_zip_pieces(study: Study, chosen: ExportSelection) -> Iterator[bytes]:
    """Yield a ZIP file with the manifest `sound.csv` and the takes of the selected participants, in pieces of
    bytes."""
    pipe, now = StreamBuffer(), timezone.now().timetuple()[:6]
    takes = SoundTake.objects.filter(participant__in=chosen.participants(study).values("pk"))
    lines = (text.encode() for text, _ in get_table("sound").lines(study, chosen))
    files = ((take.file_name, take.file_pieces()) for take in takes.select_related("participant"))
    with zipfile.ZipFile(pipe, "w") as archive:
        for name, pieces in [("sound.csv", lines), *files]:
            entry = zipfile.ZipInfo(f"{study.slug}-sound/{name}", now)
            entry.external_attr = 0o644 << 16
            with archive.open(entry, "w", force_zip64=True) as inside:
                for piece in pieces:
                    inside.write(piece)
                    yield pipe.take()
    yield pipe.take()
