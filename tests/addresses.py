"""List every address (URL pattern) of the app, as the code writes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

LOGINS = ("/admin/login/", "/staff/account/second-factor/")
"""Pages where one logs in."""


@dataclass(frozen=True, slots=True)
class Address:
    """An address (URL pattern) of the app: its text, the names of its parameters, and its view."""

    written: str
    takes: tuple[str, ...]
    view: Callable[..., Any]

    def filled(self, values: Mapping[str, str]) -> str:
        """Return the address with these values in place of its parameters. Raises KeyError for a missing
        value."""
        plain = re.sub(r"\^?\(\?P<(\w+)>[^)]*\)", r"<\1>", self.written).rstrip("$")
        return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda found: values[found[1]], plain)


def is_refused(url: str, status: int, location: str = "") -> bool:
    """Return whether the answer refuses: not for you, not there, or log in first. `location` is where a
    redirect leads."""
    led = location if status == 302 else url
    return status in {401, 403, 404} or (led != url and led.startswith(LOGINS))


def addresses() -> Iterator[Address]:
    """Return all addresses, with those of the admin and of the API."""
    return _walk(get_resolver().url_patterns, "")


def _walk(patterns: list[Any], before: str) -> Iterator[Address]:
    for one in patterns:
        written = before + str(one.pattern)
        if isinstance(one, URLResolver):
            yield from _walk(one.url_patterns, written)
        elif isinstance(one, URLPattern):
            named = one.pattern.regex.groupindex
            yield Address(written, tuple(named), one.callback)
