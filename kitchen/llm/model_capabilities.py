"""Read the file that lists language models and their capabilities, such as thinking.

`manage.py models --keep FILE` writes such a file, and the environment variable `BRIGADE_MODELS` names it. The
file is read again when it changes. Without the variable, only the built-in list (`providers.anthropic`) is
known.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, Strict, TypeAdapter

from kitchen.contract.data_files import DataError, Record, parse_toml
from kitchen.contract.language_model import OfferedModel
from kitchen.words.english_text import os_error_words

_DATE = re.compile(r"[-@](?:\d{8}|\d{4}-\d{2}-\d{2})\Z")


def without_date(model: str) -> str:
    """Return a model's name without its date: `claude-haiku-4-5` for `claude-haiku-4-5-20251001`, `gpt-6` for
    `gpt-6-2026-03-01`."""
    return _DATE.sub("", model)


_FAMILY = re.compile(r"(?P<family>claude-[a-z]+)-(?P<version>\d{1,2}(?:-\d{1,2}){0,2})\Z")


def model_version(model: str) -> tuple[str, tuple[int, ...]]:
    """Return the family and the version of a Claude model: `("claude-fable", (5, 2))` for `claude-fable-5-2`.
    Both are empty for other names."""
    match = _FAMILY.match(without_date(model))
    return (match["family"], tuple(map(int, match["version"].split("-")))) if match else ("", ())


def predecessor_of(model: str, known: Iterable[str]) -> str:
    """Return the newest of the models in `known` that are of the same family as `model`, if `model` is newer
    than all of them. Otherwise return an empty text: nothing follows from a newer model for an older one."""
    family, version = model_version(model)
    same = [name for name in known if family and model_version(name)[0] == family]
    newest = max(same, key=lambda name: model_version(name)[1], default="")
    return newest if version > model_version(newest)[1] else ""


log = logging.getLogger(__name__)

Words = Annotated[tuple[str, ...], Strict(False)]
Tokens = Annotated[int, Field(ge=1)]


class ModelListError(Exception):
    """Raised when a list of models cannot be used. The message is one line: `file: key: reason`."""


class CapabilityEntry(Record):
    """The entry of one model in the list file."""

    status: str = ""
    thinking: Words = ()
    efforts: Words = ()
    reads: Tokens | None = None
    writes: Tokens | None = None
    service_tier: str = ""
    inference_geo: str = ""
    base_url: str = ""


@dataclass(frozen=True, slots=True)
class ServiceRow:
    """How a model is asked, as its entry in the list file says (`service_settings`)."""

    service_tier: str = ""
    inference_geo: str = ""
    base_url: str = ""


_SERVICE = tuple(each.name for each in fields(ServiceRow))
_LISTS = TypeAdapter(dict[str, dict[str, CapabilityEntry]])
_Entries = Mapping[tuple[str, str], tuple[OfferedModel, ServiceRow]]


def listed_model(provider: str, model: str) -> OfferedModel | None:
    """Return the entry of a model in the list of models, ignoring a date at the end of its name. Return None
    if there is no entry. Also return None, and log the reason, if the list cannot be used."""
    found = _listed(provider, model)
    return found[0] if found else None


def listed_service(provider: str, model: str) -> ServiceRow:
    """Return how a model is asked, as the list of models says; an empty row if it says nothing."""
    found = _listed(provider, model)
    return found[1] if found else ServiceRow()


def _listed(provider: str, model: str) -> tuple[OfferedModel, ServiceRow] | None:
    try:
        return load_model_list().get((provider, without_date(model)))
    except ModelListError as error:
        log.error("no list of models: %s", error)
        return None


def load_model_list() -> _Entries:
    """Return all models in the list, with how they are asked, by (provider, name); empty if no file is
    named. Raises ModelListError if the file cannot be used."""
    named = os.environ.get("BRIGADE_MODELS")
    if not named:
        return {}
    file = Path(named)
    try:
        return _load(file, file.stat().st_mtime_ns)
    except OSError as error:
        raise ModelListError(f"{file}: cannot be read: {os_error_words(error)}") from error


@lru_cache(maxsize=8)
def _load(file: Path, changed: int) -> _Entries:
    try:
        source, values = parse_toml(file.read_text(encoding="utf-8"), file.name)
        lists = source.read(_LISTS, values)
    except (DataError, UnicodeDecodeError) as error:
        raise ModelListError(str(error)) from error
    found = ((provider, name, entry) for provider, models in lists.items() for name, entry in models.items())
    return {
        (provider, without_date(name)): _rows(name, entry.model_dump()) for provider, name, entry in found
    }


def _rows(name: str, told: dict[str, Any]) -> tuple[OfferedModel, ServiceRow]:
    service = ServiceRow(**{field: told.pop(field) for field in _SERVICE})
    return OfferedModel(name, **told), service


def model_list_text(provider: str, models: Iterable[OfferedModel]) -> str:
    """Return the TOML text of a list file with these models of one provider."""
    tables = [f"[{json.dumps(provider)}.{json.dumps(each.name)}]\n{_entry(each)}" for each in models]
    return "\n".join(tables)


def _entry(model: OfferedModel) -> str:
    told = {name: value for name, value in asdict(model).items() if value and name != "name"}
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in told.items())
