"""Data files and documents, read by pydantic models: every complaint is one line, `file: key: reason`.

A `Record` is one table: what may stand in it, each value exactly of its type. A `Source` reads values from a
file, or from a key in it, and says where a wrong one stands.
"""

from __future__ import annotations

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

from kitchen.contract.shallow import TooDeepError, shallow
from kitchen.contract.world import Json, SettingsError

SHORT = 60
"""Characters of a wrong value that a complaint still repeats."""
MORE_ALLOWED = "more keys"
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
        if isinstance(values, dict) and info.context != MORE_ALLOWED:
            for key in values:
                if key not in cls.known_keys():
                    words = f"unknown key; there are {', '.join(cls.known_keys()) or 'none'}"
                    raise PydanticCustomError("unknown_key", "{words}", {"words": words, "key": key})
        return values


@dataclass(frozen=True, slots=True)
class Source:
    """Where values stand: a file, or a key in it."""

    file: str
    key: str = ""

    def at(self, key: str) -> Source:
        """A key of what stands here."""
        return Source(self.file, _joined(self.key, key))

    def error(self, key: str, reason: str) -> DataError:
        """The complaint about one key of what stands here; about all of it if the key is empty."""
        where = _joined(self.key, key)
        where = where if where.isprintable() else repr(where)
        return DataError(f"{self.file}: {where}: {reason}" if where else f"{self.file}: {reason}")

    def read(self, kind: TypeAdapter[Value], values: Json, *, more: bool = False) -> Value:
        """The values as this kind has them; DataError for the first that is wrong. With `more`, keys that are
        not known are left alone."""
        try:
            return kind.validate_python(values, context=MORE_ALLOWED if more else None)
        except ValidationError as error:
            raise self.error(*_complaint(error)) from error


def complaint(kind: type[Record], values: Json) -> str:
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
    told = first["type"] in TOLD and len(given) <= SHORT
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
TOLD = ("said", *(name for name in REASONS if name.endswith("_type")))
"""Complaints that say what stands there instead."""


def said(words: str) -> WrapValidator:
    """Whatever is wrong with a value of this type, is told in these words."""

    def check(value: Any, handler: Callable[[Any], Any]) -> Any:
        try:
            return handler(value)
        except ValidationError as error:
            raise PydanticCustomError("said", "{words}", {"words": words}) from error

    return WrapValidator(check)


def wrong(words: str) -> PydanticCustomError:
    """To be raised by the check of a type: what is wrong with the value."""
    return PydanticCustomError("wrong", "{words}", {"words": words})


def one_of(names: Iterable[str]) -> AfterValidator:
    """Of a text: it is one of these."""
    known = tuple(names)

    def check(value: str) -> str:
        if value not in known:
            raise wrong(f"{value!r} is not one of {', '.join(known)}")
        return value

    return AfterValidator(check)


def _some(values: tuple[str, ...]) -> tuple[str, ...]:
    if not values:
        raise wrong("must not be empty")
    return values


def _distinct(values: tuple[str, ...]) -> tuple[str, ...]:
    for value in values:
        if values.count(value) > 1:
            raise wrong(f"{value!r} is named twice")
    return values


Text = Annotated[str, Field(pattern=r"\S"), said("must be a text that is not empty")]
Texts = Annotated[tuple[Text, ...], Strict(False), said("must be a list of texts"), AfterValidator(_some)]
Names = Annotated[Texts, AfterValidator(_distinct)]
"""Texts of which none stands there twice."""
Number = Annotated[int | FiniteFloat, said("must be a number")]
"""A whole one stays whole."""


def opened(path: Path) -> tuple[Source, dict[str, Json]]:
    """A TOML file; DataError if it cannot be read or is none."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path.name}: cannot be read: {error}") from error
    return parsed(text, path.name)


def parsed(text: str, file: str) -> tuple[Source, dict[str, Json]]:
    """The text of a TOML file; `file` is what complaints call it."""
    try:
        return Source(file), shallow(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"{file}: not TOML: {error}") from error
    except (TooDeepError, RecursionError):
        raise DataError(f"{file}: {TooDeepError()}") from None
