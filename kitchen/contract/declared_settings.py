"""Define `Setting`, with which worlds and co-players (agents) declare their settings, and check given values.

`clean_settings` returns a valid value for every declared setting, or raises an error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from kitchen.contract.canonical_json import Json
from kitchen.contract.world_errors import SettingsError


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a world or co-player that a researcher can change. Forms are built from these
    declarations.

    `kind` is `int`, `float`, `bool`, `text` or `choice`. `choices` are (value, label) pairs; for an `int`,
    they are words that may replace the number. `minimum` and `maximum` are inclusive; for a text they limit
    the number of characters.
    """

    name: str
    kind: str
    label: str
    default: Json
    help: str = ""
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[tuple[str, str], ...] = ()
    later: bool = False
    """True if designs were stored before this setting existed. A form that is saved with its default does not
    add it, and a state in which it has its default does not hold it."""
    lines: int = 1
    """Number of lines of the input box for a text."""
    placeholders: tuple[tuple[str, str], ...] = ()
    """Placeholders allowed in a text, written as `{name}`: pairs of a name and its meaning."""
    usual: str = ""
    """The text that is used if this one is empty, written with placeholders."""
    fresh: Json = None
    """The first value in a form for a new object, where it differs from the default; None: the default."""

    @property
    def beginning(self) -> Json:
        """Return the value that a form for a new object shows first: `fresh` if it is set, else the
        default."""
        return self.default if self.fresh is None else self.fresh

    def clean(self, value: Json) -> Json:
        """Return the value, converted to the setting's type. Raises SettingsError, which names the
        setting, if the value is wrong."""
        if self.kind == "int" and value in [choice for choice, _ in self.choices]:
            return value
        try:
            cleaned = _READERS[self.kind](value)
        except (TypeError, ValueError, OverflowError) as error:
            raise SettingsError(f"{self.name}: {value!r} is not {self._meant()}") from error
        self._check(cleaned)
        return cleaned

    def _check(self, value: Json) -> None:
        if self.kind != "int" and self.choices and value not in [choice for choice, _ in self.choices]:
            raise SettingsError(f"{self.name}: {value!r} is not {self._meant()}")
        size, shown = (len(value), f"{len(value)} characters") if self.kind == "text" else (value, value)
        if self.minimum is not None and size < self.minimum:
            raise SettingsError(f"{self.name}: {shown} is below {self.minimum}")
        if self.maximum is not None and size > self.maximum:
            raise SettingsError(f"{self.name}: {shown} is above {self.maximum}")
        if self.placeholders:
            self._check_placeholders(value)

    def _meant(self) -> str:
        """Return what a value must be, for error messages: `a whole number or real`, `one of a, b`."""
        choices = [choice for choice, _ in self.choices]
        if choices and self.kind != "int":
            return f"one of {', '.join(choices)}"
        return " or ".join([KIND_WORDS[self.kind], *choices])

    def _check_placeholders(self, text: str) -> None:
        known = [name for name, _ in self.placeholders]
        unknown = [name for name in placeholders_in(text) if name not in known]
        if unknown:
            listed = ", ".join(f"{{{name}}}" for name in known)
            raise SettingsError(f"{self.name}: nothing is called {{{unknown[0]}}}; there are {listed}")


KIND_WORDS: Mapping[str, str] = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "text": "a text",
}
"""What a value of each kind must be, as error messages say it."""

PLACEHOLDER_PATTERN = re.compile(r"\{([a-z_]+)\}")


def placeholders_in(text: str) -> list[str]:
    """Return the names in braces, such as `{name}`, that a text contains, in order. Anything else in
    braces is ignored."""
    return PLACEHOLDER_PATTERN.findall(text)


def _read_int(value: Json) -> int:
    if isinstance(value, bool) or int(value) != float(value):
        raise ValueError(value)
    return int(value)


def _read_float(value: Json) -> float:
    number = float(value)
    if isinstance(value, bool) or not math.isfinite(number):
        raise ValueError(value)
    return number


def _read_as(kind: type) -> Callable[[Json], Json]:
    def read(value: Json) -> Json:
        if not isinstance(value, kind):
            raise TypeError(value)
        return value

    return read


_READERS = {
    "int": _read_int,
    "float": _read_float,
    "bool": _read_as(bool),
    "text": _read_as(str),
    "choice": _read_as(str),
}


def clean_settings(declared: Iterable[Setting], given: Mapping[str, Json]) -> dict[str, Json]:
    """Return the value of every declared setting by name, from `given` or its default. Raises
    SettingsError for a wrong value or an unknown name."""
    known = {setting.name: setting for setting in declared}
    for name in given:
        if name not in known:
            raise SettingsError(f"{name}: no such setting; there are {', '.join(known)}")
    return {name: setting.clean(given.get(name, setting.default)) for name, setting in known.items()}
