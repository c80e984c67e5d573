"""List the language models that the installed SDKs (the providers' Python packages) know by name.

The names are read from the SDK's source files. Importing an SDK would take seconds, and asking a provider
needs a key.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from kitchen.llm.model_capabilities import model_version, without_date
from kitchen.llm.provider_registry import ANTHROPIC, OPENAI

_FILES = {ANTHROPIC: ("anthropic", "types/model.py"), OPENAI: ("openai", "types/shared/chat_model.py")}
_NAME = re.compile(r'^\s+"([a-z0-9][a-z0-9.-]{2,60})",$', re.MULTILINE)


@cache
def models_of_sdk(provider: str) -> tuple[str, ...]:
    """Return the names of the models that the provider's SDK knows, as its file lists them. Empty if the
    SDK is not installed, or keeps no such list."""
    package, file = _FILES.get(provider, ("", ""))
    found = find_spec(package) if package else None
    if found is None or not found.submodule_search_locations:
        return ()
    try:
        text = Path(next(iter(found.submodule_search_locations)), file).read_text("utf-8")
    except OSError:
        return ()
    return tuple(dict.fromkeys(_NAME.findall(text.partition('"""')[0])))


def sdk_in_words(provider: str) -> str:
    """Return the SDK's name and version, such as `anthropic 2.11.0`; empty if it is not installed."""
    package, _ = _FILES.get(provider, ("", ""))
    try:
        return f"{package} {version(package)}" if package else ""
    except PackageNotFoundError:
        return ""


def newer_than(known: Iterable[str], names: Iterable[str]) -> tuple[str, ...]:
    """Return those of the Claude models `names` that are newer than each model of their family in `known`, in
    their order. A model of an unknown family is newer, too, if its version is the highest."""
    ours = {name: model_version(name) for name in known}
    highest = max((number for _, number in ours.values()), default=())
    newer = []
    for name in names:
        family, number = model_version(name)
        same = [each for of, each in ours.values() if of == family]
        if family and name == without_date(name) and number > (max(same) if same else highest):
            newer.append(name)
    return tuple(newer)
