"""Transcribe the recorded sound of a study on this machine: `python manage.py transcribe_sound SLUG`.

Nothing leaves the machine. The command needs the Python package `faster-whisper` or `whisper`, and a speech
model that is stored here: `make speech` installs both. Takes to which sound may still be added are left for
the next run.
"""

from __future__ import annotations

import tempfile
from typing import Any

from django.core.management.base import CommandParser

from kitchen.words.english_text import counted_noun
from study.management.study_command import StudyCommand, bad_input
from study.participants.sound_recordings import SoundTake, complete_takes
from study.participants.speech_models import SpeechModelError, load_speech_model


class Command(StudyCommand):
    """Transcribes one take after another. An interrupted run leaves only complete transcripts."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the arguments."""
        super().add_arguments(parser)
        parser.add_argument(
            "--model",
            default="",
            help="folder, file or name of a stored speech model; otherwise the one of make speech",
        )
        parser.add_argument("--again", action="store_true", help="also takes that have a transcript")

    def handle(self, *args: Any, slug: str, model: str, again: bool, **options: Any) -> None:
        """Transcribe each take and print its number of segments."""
        takes = complete_takes(SoundTake.objects.filter(participant__study=self.study(slug)))
        with bad_input(SpeechModelError):
            transcribe = load_speech_model(model)
        for take in (takes if again else takes.filter(transcript__isnull=True)).select_related("participant"):
            with tempfile.NamedTemporaryFile(suffix=f".{take.kind}") as file:
                file.writelines(take.file_pieces())
                file.flush()
                segments = transcribe(file.name)
            SoundTake.objects.filter(pk=take.pk).update(transcript=segments)
            self.stdout.write(f"{take.file_name}: {counted_noun(len(segments), 'segment')}")
