"""Find and load a speech model on this machine: with `faster-whisper`, or else with `whisper`."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

Segment = tuple[float, float, str]
"""Start and end in seconds, and the text."""
PACKAGES = ("faster_whisper", "whisper")


class SpeechModelError(ValueError):
    """Raised if there is no speech model here. The message says what to install."""


def speech_package() -> str:
    """Return the package that can transcribe here. Return an empty string if none is installed."""
    return next((name for name in PACKAGES if find_spec(name) is not None), "")


def load_speech_model(model: str) -> Callable[[str], list[Segment]]:
    """Return a function that transcribes a sound file. Nothing is downloaded: `model` is the folder of a
    stored model, or the name of one that `faster-whisper` has stored. `whisper` needs the file of a model.
    Raises SpeechModelError."""
    package = speech_package()
    if not package:
        raise SpeechModelError("No speech model: run “pip install faster-whisper” in this environment first.")
    try:
        loaded = import_module(package)
        if package == "faster_whisper":
            faster = loaded.WhisperModel(model, device="cpu", compute_type="int8", local_files_only=True)
            return lambda path: [(one.start, one.end, one.text.strip()) for one in faster.transcribe(path)[0]]
        if not Path(model).is_file():  # it would be downloaded
            raise FileNotFoundError("Name the file of a stored model, such as /srv/models/base.pt.")
        slow = loaded.load_model(model)
    except Exception as error:
        raise SpeechModelError(f"The speech model {model} cannot be loaded: {error}") from error
    return lambda path: [
        (one["start"], one["end"], one["text"].strip()) for one in slow.transcribe(path)["segments"]
    ]
