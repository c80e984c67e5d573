"""Look up a name in a registry and import the object at its dotted path. Plain Python."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


class UnknownNameError(LookupError):
    """A name that the registry does not have; the message lists those it has."""


def registry_entry(registry: Mapping[str, T], name: str) -> T:
    """Return what a registry has under this name; UnknownNameError if it has nothing."""
    try:
        return registry[name]
    except KeyError:
        raise UnknownNameError(f"{name!r} is not one of {', '.join(sorted(registry))}") from None


def load_named(registry: Mapping[str, str], name: str) -> Any:
    """The object that a registry of `name -> "package.module:attribute"` means by this name."""
    return load_path(registry_entry(registry, name))


@cache
def load_path(path: str) -> Any:
    """The object behind `package.module:attribute`."""
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)
