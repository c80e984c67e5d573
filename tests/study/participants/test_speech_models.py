"""Transcripts are made with models that are stored on this machine, and nothing is downloaded for them."""

from __future__ import annotations

import sys
import wave
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from study.participants import speech_models
from study.participants.speech_models import (
    MODEL_PACKAGE,
    SpeechModelError,
    default_model,
    load_speech_model,
    speech_package,
)

HEARD = [(0.0, 1.5, "I wait", [(0.5, 1.5, "wait")])]


def only(package: str, monkeypatch: pytest.MonkeyPatch, **content: Any) -> None:
    """Let this be the only speech package that is installed. An empty name: none is."""
    monkeypatch.setattr(speech_models, "find_spec", lambda name: name == package or None)
    monkeypatch.setitem(sys.modules, package, SimpleNamespace(**content))


def test_a_missing_package_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    only("", monkeypatch)
    with pytest.raises(SpeechModelError, match="make speech"):
        load_speech_model("base")


def test_faster_whisper_may_only_use_stored_files(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    heard = [
        SimpleNamespace(
            start=0.0, end=1.5, text=" I wait ", words=[SimpleNamespace(start=0.5, end=1.5, word=" wait")]
        )
    ]

    def model(name: str, **settings: Any) -> Any:
        given.update(settings, name=name)
        return SimpleNamespace(transcribe=lambda path, **asked: (heard, None))

    only("faster_whisper", monkeypatch, WhisperModel=model)
    assert load_speech_model("base")("a.webm") == HEARD
    assert (given["name"], given["local_files_only"]) == ("base", True)


def test_whisper_needs_the_file_of_a_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    heard = {
        "segments": [
            {
                "start": 0.0,
                "end": 1.5,
                "text": " I wait ",
                "words": [{"start": 0.5, "end": 1.5, "word": " wait"}],
            }
        ]
    }
    loaded: list[str] = []

    def load(name: str) -> Any:
        loaded.append(name)
        return SimpleNamespace(transcribe=lambda path, **asked: heard)

    only("whisper", monkeypatch, load_model=load)
    with pytest.raises(SpeechModelError, match="file of a stored model"):
        load_speech_model("base")
    assert not loaded
    stored = tmp_path / "base.pt"
    stored.touch()
    assert load_speech_model(str(stored))("a.webm") == HEARD


def test_the_model_of_the_optional_package_is_the_default(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = SimpleNamespace(origin=str(tmp_path / "__init__.py"))
    monkeypatch.setattr(speech_models, "find_spec", lambda name: found if name == MODEL_PACKAGE else None)
    assert default_model() == str(tmp_path / "model")
    monkeypatch.setattr(speech_models, "find_spec", lambda name: None)
    assert default_model() == "base"


def test_the_real_model_hears_no_words_in_silence(tmp_path: Path) -> None:
    if find_spec(MODEL_PACKAGE) is None or not speech_package():
        pytest.skip("no speech model is installed: `make speech` does it")
    with wave.open(str(tmp_path / "silence.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(bytes(32_000))
    for begin, end, _, words in load_speech_model("")(str(tmp_path / "silence.wav")):
        assert 0 <= begin <= end and all(begin <= at <= until for at, until, _ in words)
