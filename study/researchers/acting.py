"""The request that is being answered, for what is told by signals: they do not say who did it."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponseBase

_request: ContextVar[HttpRequest | None] = ContextVar("request", default=None)


def request_now() -> HttpRequest | None:
    """What is being answered; None in a command or a worker."""
    return _request.get()


def acting(page: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Django's middleware that remembers it."""

    def enter(request: HttpRequest) -> HttpResponseBase:
        token = _request.set(request)
        try:
            return page(request)
        finally:
            _request.reset(token)

    return enter
