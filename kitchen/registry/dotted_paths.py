"""Look up a name in a registry (a table of names), and import the object to which it refers.

The object is given as a path `package.module:attribute`. Imports no Django.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


class UnknownNameError(LookupError):
    """The registry has no such name. The message lists the names that exist."""


def registry_entry(registry: Mapping[str, T], name: str) -> T:
    """Return the registry's entry under this name. Raises UnknownNameError if there is none."""
    try:
        return registry[name]
    except KeyError:
        raise UnknownNameError(f"{name!r} is not one of {', '.join(sorted(registry))}") from None


def load_named(registry: Mapping[str, str], name: str) -> Any:
    """Look up the path `package.module:attribute` under this name, and import the object. Raises
    UnknownNameError if the name is not registered."""
    return load_path(registry_entry(registry, name))


@cache
def load_path(path: str) -> Any:
    """Import and return the object at the path `package.module:attribute`. Raises ImportError or
    AttributeError if it does not exist."""
    module, _, attribute = path.partition(":")
    return getattr(import_module(module), attribute)
