"""Reading the data files: TOML tables whose every complaint names the file, the key and the reason."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kitchen.worlds.base import Json, SettingsError


class DataError(SettingsError):
    """A data file that cannot be played: `file: key: reason`, in one line."""


@dataclass(frozen=True, slots=True)
class Table:
    """One TOML table and where it stands; every reader raises DataError for a missing or wrong value."""

    file: str
    key: str
    values: Mapping[str, Json]

    def error(self, key: str, reason: str) -> DataError:
        """The complaint about one key of this table."""
        where = ".".join(part for part in (self.key, key) if part)
        return DataError(f"{self.file}: {where}: {reason}" if where else f"{self.file}: {reason}")

    def only(self, known: Iterable[str]) -> None:
        """Refuse keys that mean nothing here: they are most often typing mistakes."""
        names = list(known)
        for key in self.values:
            if key not in names:
                raise self.error(key, f"unknown key; there are {', '.join(names)}")

    def tables(self) -> Iterator[tuple[str, Table]]:
        """Every entry as a table of its own, in the order of the file."""
        for key, value in self.values.items():
            if not isinstance(value, dict):
                raise self.error(key, "must be a table")
            yield key, Table(self.file, f"{self.key}.{key}" if self.key else key, value)

    def text(self, key: str, default: str | None = None) -> str:
        """A string that is not empty."""
        value = self._get(key, default)
        if not isinstance(value, str) or not value.strip():
            raise self.error(key, "must be a text that is not empty")
        return value

    def texts(self, key: str, default: list[str] | None = None) -> tuple[str, ...]:
        """A list of strings, none of them empty; only the default may be an empty list."""
        value = self._get(key, default)
        if not isinstance(value, list) or not all(isinstance(each, str) and each.strip() for each in value):
            raise self.error(key, "must be a list of texts")
        if not value and key in self.values:
            raise self.error(key, "must not be empty")
        return tuple(value)

    def distinct(self, key: str, default: list[str] | None = None) -> tuple[str, ...]:
        """A list of strings that names nothing twice."""
        value = self.texts(key, default)
        for each in value:
            if value.count(each) > 1:
                raise self.error(key, f"{each!r} is named twice")
        return value

    def whole(self, key: str, minimum: int, default: int | None = None) -> int:
        """An integer that is not below the minimum."""
        value = self._get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < minimum:
            raise self.error(key, f"must be a whole number from {minimum} on")
        return value

    def truth(self, key: str, default: bool) -> bool:
        """true or false."""
        value = self._get(key, default)
        if not isinstance(value, bool):
            raise self.error(key, "must be true or false")
        return value

    def _get(self, key: str, default: Json) -> Json:
        if key not in self.values and default is None:
            raise self.error(key, "is missing")
        return self.values.get(key, default)


def read_table(path: Path) -> Table:
    """A data file; DataError if it cannot be read or is no TOML."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path.name}: cannot be read: {error}") from error
    return parse_table(text, path.name)


def parse_table(text: str, file: str) -> Table:
    """The text of a data file; `file` is what complaints call it."""
    try:
        return Table(file, "", tomllib.loads(text))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DataError(f"{file}: not TOML: {error}") from error
