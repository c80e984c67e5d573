"""Transcripts are made with models that are stored on this machine, and nothing is downloaded for them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from study.participants import speech_models
from study.participants.speech_models import SpeechModelError, load_speech_model


def only(package: str, monkeypatch: pytest.MonkeyPatch, **content: Any) -> None:
    """Let this be the only speech package that is installed. An empty name: none is."""
    monkeypatch.setattr(speech_models, "find_spec", lambda name: name == package or None)
    monkeypatch.setitem(sys.modules, package, SimpleNamespace(**content))


def test_a_missing_package_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    only("", monkeypatch)
    with pytest.raises(SpeechModelError, match="faster-whisper"):
        load_speech_model("base")


def test_faster_whisper_may_only_use_stored_files(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}
    heard = [SimpleNamespace(start=0.0, end=1.5, text=" I wait ")]

    def model(name: str, **settings: Any) -> Any:
        given.update(settings, name=name)
        return SimpleNamespace(transcribe=lambda path: (heard, None))

    only("faster_whisper", monkeypatch, WhisperModel=model)
    assert load_speech_model("base")("a.webm") == [(0.0, 1.5, "I wait")]
    assert (given["name"], given["local_files_only"]) == ("base", True)


def test_whisper_needs_the_file_of_a_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    heard = {"segments": [{"start": 0.0, "end": 1.5, "text": " I wait "}]}
    loaded: list[str] = []

    def load(name: str) -> Any:
        loaded.append(name)
        return SimpleNamespace(transcribe=lambda path: heard)

    only("whisper", monkeypatch, load_model=load)
    with pytest.raises(SpeechModelError, match="file of a stored model"):
        load_speech_model("base")
    assert not loaded
    stored = tmp_path / "base.pt"
    stored.touch()
    assert load_speech_model(str(stored))("a.webm") == [(0.0, 1.5, "I wait")]
