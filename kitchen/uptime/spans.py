"""Stretches of time, and what is common to some of them. Plain Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple


class Span(NamedTuple):
    """From one moment to a later one."""

    since: datetime
    until: datetime

    @property
    def seconds(self) -> float:
        """How long it is."""
        return (self.until - self.since).total_seconds()


def merged(spans: Iterable[Span]) -> list[Span]:
    """The same times, each once and in their order."""
    found: list[Span] = []
    for span in sorted(spans):
        if found and span.since <= found[-1].until:
            found[-1] = Span(found[-1].since, max(found[-1].until, span.until))
        else:
            found.append(span)
    return found


def within(spans: Iterable[Span], since: datetime, until: datetime) -> Iterator[Span]:
    """What of them lies between these moments."""
    for span in spans:
        begin, end = max(span.since, since), min(span.until, until)
        if begin < end:
            yield Span(begin, end)


def without(span: Span, others: Iterable[Span]) -> list[Span]:
    """What is left of a span without those others."""
    left, begin = [], span.since
    for other in merged(within(others, *span)):
        if begin < other.since:
            left.append(Span(begin, other.since))
        begin = other.until
    return [*left, Span(begin, span.until)] if begin < span.until else left
