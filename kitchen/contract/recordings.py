"""Episodes that were recorded in another engine, to compare a world with. Plain Python, no Django."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Generic, TypeVar

from kitchen.contract.world import WorldError

Recording = TypeVar("Recording")


class TraceFileError(WorldError):
    """A file of recorded episodes that cannot be read; one line: the file, the line and the reason."""


class Recordings(ABC, Generic[Recording]):
    """How the recorded episodes of one world are read and played again."""

    @abstractmethod
    def read(self, file: Path) -> Sequence[Recording]:
        """All that are in the file; TraceFileError."""

    @abstractmethod
    def difference(self, recorded: Recording) -> str | None:
        """Where our world differs from it, in one line; None where it agrees in every step."""

    @abstractmethod
    def speeds(self, recorded: Sequence[Recording], rounds: int) -> list[float]:
        """Steps a second in each round in which all of them are played. SettingsError names the one that
        there is no world for."""
