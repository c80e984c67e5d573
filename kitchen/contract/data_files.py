"""Read TOML and JSON strictly, and report each problem in one line: `file: key: reason`.

A `Record` is one table whose values must have exactly their declared types. A `DataSource` reads values
from a file or from a key in it, and names the place of a wrong one. Values that are nested too deeply are
refused, because they would make Python's own functions fail later.
"""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    Strict,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from kitchen.contract.world import Json, SettingsError

MAX_DEPTH = 50
"""Lists and tables within each other; a study's document has about ten."""


class TooDeepError(ValueError):
    """Lists or tables within each other without end."""

    def __init__(self) -> None:
        super().__init__(f"is nested deeper than {MAX_DEPTH} levels")


def read_json(text: str) -> Json:
    """The value of this JSON; ValueError if it is none, as with NaN, TooDeepError if it is too deep."""
    try:
        return check_depth(json.loads(text, parse_float=_finite, parse_constant=_finite))
    except RecursionError:
        raise TooDeepError from None


def _finite(text: str) -> float:
    """A number that JSON has; Python's own reader takes NaN and 1e999, too."""
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is no number of JSON")
    return number


class DepthLimitedDecoder(json.JSONDecoder):
    """For libraries that read JSON themselves: what is too deep is no JSON to them."""

    def decode(self, text: str, *args: Any) -> Json:
        """The value; JSONDecodeError."""
        try:
            return check_depth(super().decode(text, *args))
        except (TooDeepError, RecursionError):
            raise json.JSONDecodeError(str(TooDeepError()), "", 0) from None


def check_depth(value: Json) -> Json:
    """The value, if it is not too deep; TooDeepError."""
    level = [value]
    for _ in range(MAX_DEPTH):
        if not level:
            return value
        level = [part for one in level for part in _parts(one)]
    raise TooDeepError


def _parts(value: Json) -> list[Json]:
    """What a list or a table holds; nothing for anything else."""
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


MAX_SHOWN_CHARACTERS = 60
"""Characters of a wrong value that a complaint still repeats."""
EXTRA_KEYS_TITLE = "more keys"
"""The context in which keys that nobody knows are left alone."""

Value = TypeVar("Value")


class DataError(SettingsError):
    """A data file or document that cannot be used: `file: key: reason`, in one line."""


class Record(BaseModel):
    """One table. Keys that mean nothing here are most often typing mistakes, and refused; nothing is turned
    into another type; nothing changes once it was read."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")

    @classmethod
    def known_keys(cls) -> tuple[str, ...]:
        """What may stand in it."""
        return tuple(cls.model_fields)

    @classmethod
    def of(cls, row: Any) -> Self:
        """What an object says of itself by attributes of these names, unchecked: it was checked when it was
        stored."""
        return cls.model_construct(**{name: getattr(row, name) for name in cls.model_fields})

    @model_validator(mode="before")
    @classmethod
    def _known_only(cls, values: Any, info: ValidationInfo) -> Any:
        if isinstance(values, dict) and info.context != EXTRA_KEYS_TITLE:
            for key in values:
                if key not in cls.known_keys():
                    words = f"unknown key; there are {', '.join(cls.known_keys()) or 'none'}"
                    raise PydanticCustomError("unknown_key", "{words}", {"words": words, "key": key})
        return values


@dataclass(frozen=True, slots=True)
class DataSource:
    """Where values stand: a file, or a key in it."""

    file: str
    key: str = ""

    def at(self, key: str) -> DataSource:
        """A key of what stands here."""
        return DataSource(self.file, _joined(self.key, key))

    def error(self, key: str, reason: str) -> DataError:
        """The complaint about one key of what stands here; about all of it if the key is empty."""
        where = _joined(self.key, key)
        where = where if where.isprintable() else repr(where)
        return DataError(f"{self.file}: {where}: {reason}" if where else f"{self.file}: {reason}")

    def read(self, kind: TypeAdapter[Value], values: Json, *, more: bool = False) -> Value:
        """The values as this kind has them; DataError for the first that is wrong. With `more`, keys that are
        not known are left alone."""
        try:
            return kind.validate_python(values, context=EXTRA_KEYS_TITLE if more else None)
        except ValidationError as error:
            raise self.error(*_complaint(error)) from error


def find_problem(kind: type[Record], values: Json) -> str:
    """The first thing that keeps these values from being such a table, as `key: reason`; empty if nothing
    does."""
    try:
        kind.model_validate(values)
    except ValidationError as error:
        return ": ".join(part for part in _complaint(error) if part)
    return ""


def _joined(*parts: str) -> str:
    """`items[3].key`."""
    return ".".join(part for part in parts if part).replace(".[", "[")


def _complaint(error: ValidationError) -> tuple[str, str]:
    """The first thing that is wrong: its key and the reason."""
    first = error.errors(include_url=False)[0]
    context, given = first.get("ctx", {}), repr(first["input"])
    steps = (f"[{step + 1}]" if isinstance(step, int) else step for step in first["loc"])
    reason = REASONS.get(first["type"]) or first["msg"]
    told = first["type"] in WORDED_ERRORS and len(given) <= MAX_SHOWN_CHARACTERS
    return _joined(*steps, context.get("key", "")), f"{reason}, not {given}" if told else reason


REASONS: Mapping[str, str] = {
    "missing": "is missing",
    "model_type": "must be a table",
    "dict_type": "must be a table",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "string_type": "must be a text",
    "int_type": "must be a whole number",
    "bool_type": "must be true or false",
    "too_short": "must not be empty",
}
"""What pydantic finds, in our words; what our own types find has its words already."""
WORDED_ERRORS = ("said", *(name for name in REASONS if name.endswith("_type")))
"""Complaints that say what stands there instead."""


def error_text(words: str) -> WrapValidator:
    """Whatever is wrong with a value of this type, is told in these words."""

    def check(value: Any, handler: Callable[[Any], Any]) -> Any:
        try:
            return handler(value)
        except ValidationError as error:
            raise PydanticCustomError("said", "{words}", {"words": words}) from error

    return WrapValidator(check)


def worded_error(words: str) -> PydanticCustomError:
    """To be raised by the check of a type: what is wrong with the value."""
    return PydanticCustomError("wrong", "{words}", {"words": words})


def one_of(names: Iterable[str]) -> AfterValidator:
    """Of a text: it is one of these."""
    known = tuple(names)

    def check(value: str) -> str:
        if value not in known:
            raise worded_error(f"{value!r} is not one of {', '.join(known)}")
        return value

    return AfterValidator(check)


def _some(values: tuple[str, ...]) -> tuple[str, ...]:
    if not values:
        raise worded_error("must not be empty")
    return values


def _distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if values.count(value) > 1:
            raise worded_error(f"{value!r} is named twice")
    return values


Text = Annotated[str, Field(pattern=r"\S"), error_text("must be a text that is not empty")]
Texts = Annotated[
    tuple[Text, ...], Strict(False), error_text("must be a list of texts"), AfterValidator(_some)
]
Names = Annotated[Texts, AfterValidator(_distinct)]
"""Texts of which none stands there twice."""
Number = Annotated[int | FiniteFloat, error_text("must be a number")]
"""A whole one stays whole."""


def read_toml(path: Path) -> tuple[DataSource, dict[str, Json]]:
    """A TOML file; DataError if it cannot be read or is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path.name}: cannot be read: {error}") from error
    return parse_toml(text, path.name)


def parse_toml(text: str, file: str) -> tuple[DataSource, dict[str, Json]]:
    """The text of a TOML file; `file` is what complaints call it."""
    try:
        return DataSource(file), check_depth(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{file}: not TOML: {error}") from error
    except (TooDeepError, RecursionError):
        raise DataError(f"{file}: {TooDeepError()}") from None
