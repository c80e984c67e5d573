"""Read TOML and JSON files strictly, and report each problem in one line: `file: key: reason`.

A `Record` is a table whose values must have exactly the declared types. A `DataSource` names the file and the
key of a value in error messages. `data_limits` has the limits of size and depth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
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
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    WrapValidator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from kitchen.contract.data_limits import (
    DataLimitError,
    read_foreign,
    read_json,
    read_text,
    read_toml_text,
)
from kitchen.contract.world import Json
from kitchen.contract.world_errors import SettingsError
from kitchen.words.english_text import os_error_words

MAX_SHOWN_CHARACTERS = 60
"""Maximum length of a wrong value that a message repeats."""
EXTRA_KEYS_TITLE = "more keys"
"""The validation context in which unknown keys are ignored."""

Value = TypeVar("Value")


class DataError(SettingsError):
    """A data file or document that cannot be used. The message is one line: `file: key: reason`."""


class Record(BaseModel):
    """The base class for a table of a data file: an immutable Pydantic model with strict types. Unknown
    keys are refused, because most are typing mistakes."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")

    @classmethod
    def known_keys(cls) -> tuple[str, ...]:
        """Return the keys that the table may have."""
        return tuple(cls.model_fields)

    @classmethod
    def of(cls, row: Any) -> Self:
        """Return a record with the attributes of an object, such as a database row. The values are not
        checked again."""
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
    """The origin of values, for error messages: a file, or a key in it."""

    file: str
    key: str = ""

    def at(self, key: str) -> DataSource:
        """Return the origin of the value under `key`, for error messages. The key lies within this origin."""
        return DataSource(self.file, _joined(self.key, key))

    def error(self, key: str, reason: str) -> DataError:
        """Return an error about the value under `key` within this origin. An empty key means the whole
        origin."""
        where = _joined(self.key, key)
        where = where if where.isprintable() else repr(where)
        return DataError(f"{self.file}: {where}: {reason}" if where else f"{self.file}: {reason}")

    def read(self, kind: TypeAdapter[Value], values: Json, *, more: bool = False) -> Value:
        """Return the values, checked and converted to this type. Raises DataError for the first wrong
        value. With `more`, unknown keys are ignored."""
        try:
            return kind.validate_python(values, context=EXTRA_KEYS_TITLE if more else None)
        except ValidationError as error:
            raise self.error(*_complaint(error)) from error


def find_problem(kind: type[Record], values: Json) -> str:
    """Read `values` as a table of this type, and return the first problem as `key: reason`. Empty if there
    is no problem."""
    try:
        kind.model_validate(values)
    except ValidationError as error:
        return ": ".join(part for part in _complaint(error) if part)
    return ""


def _joined(*parts: str) -> str:
    """Return a key as one text, such as `items[3].key`, from its parts."""
    return ".".join(part for part in parts if part).replace(".[", "[")


def _complaint(error: ValidationError) -> tuple[str, str]:
    """Return the key and the reason of the first problem in a Pydantic error."""
    first = error.errors(include_url=False)[0]
    context, given = first.get("ctx", {}), repr(first["input"])
    steps = (f"[{step + 1}]" if isinstance(step, int) else step for step in first["loc"])
    reason = REASONS.get(first["type"]) or first["msg"]
    repeats_value = first["type"] in WORDED_ERRORS and len(given) <= MAX_SHOWN_CHARACTERS
    return _joined(*steps, context.get("key", "")), f"{reason}, not {given}" if repeats_value else reason


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
"""Texts for pydantic's errors. Errors of the project's own types already have their texts."""
WORDED_ERRORS = ("said", *(name for name in REASONS if name.endswith("_type")))
"""Errors whose message repeats the wrong value."""


def error_text(words: str) -> WrapValidator:
    """Return a Pydantic validator that replaces every error of the annotated type by the text `words`."""

    def check(value: Any, handler: Callable[[Any], Any]) -> Any:
        try:
            return handler(value)
        except ValidationError as error:
            raise PydanticCustomError("said", "{words}", {"words": words}) from error

    return WrapValidator(check)


def worded_error(words: str) -> PydanticCustomError:
    """Return a Pydantic error with the message `words`, for validators to raise."""
    return PydanticCustomError("wrong", "{words}", {"words": words})


def one_of(names: Iterable[str]) -> AfterValidator:
    """Return a Pydantic validator that accepts only the texts in `names`."""
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
"""Texts without duplicates."""
Key = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"),
    error_text("must be at most 64 letters, digits, _ and -, and must not begin with _ or -"),
]
"""A name that files, tables and addresses can hold as it is."""
Number = Annotated[int | FiniteFloat, error_text("must be a number")]
"""A number; whole numbers stay whole."""


def read_toml(path: Path, *, foreign: bool = False) -> tuple[DataSource, dict[str, Json]]:
    """Return (origin, content) of a TOML file. The origin names the file in error messages. `foreign` is
    True if the file may come from outside (`read_foreign`). Raises DataError if the file cannot be used."""
    return parse_toml(file_text(path), path.name, foreign=foreign)


def file_text(path: Path) -> str:
    """Return the content of a file in UTF-8. Raises DataError if it cannot be read or is too large."""
    try:
        return read_text(path)
    except DataLimitError as error:
        raise DataError(f"{path.name}: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path.name}: cannot be read: {os_error_words(error)}") from error


def parse_toml(text: str, file: str, *, foreign: bool = False) -> tuple[DataSource, dict[str, Json]]:
    """Return (origin, content) of a TOML text. The origin has the name `file` in error messages. `foreign`
    is True if the text may come from outside (`read_foreign`). Raises DataError if it cannot be used."""
    with one_line_errors(file, "TOML"):
        return DataSource(file), read_foreign(read_toml_text, text) if foreign else read_toml_text(text)


def parse_json(text: str, file: str, *, foreign: bool = False) -> Json:
    """Return the value of a JSON text. `file` is its name in error messages. `foreign` is True if the text
    may come from outside (`read_foreign`). Raises DataError if it cannot be used."""
    with one_line_errors(file, "JSON"):
        return read_foreign(read_json, text) if foreign else read_json(text)


@contextmanager
def one_line_errors(file: str, form: str) -> Iterator[None]:
    """Convert errors of parsing to DataError, which names the file. `form` is the name of the expected data
    format."""
    try:
        yield
    except DataLimitError as error:
        raise DataError(f"{file}: {error}") from None
    except ValueError as error:  # also a number with thousands of digits
        raise DataError(f"{file}: not {form}: {error}") from error
