"""Where in an episode something happened that is worth looking at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from kitchen.replaying.record import Record

ASKED, FALLBACK, SAID = "model asked", "fallback", "message"
EVERY_STEP = "performed"
"""The event that nobody looks for."""


def moments(record: Record) -> dict[str, list[int]]:
    """By what happened, in words: the steps in which it did, in order. Kinds are sorted."""
    found: dict[str, set[int]] = defaultdict(set)
    for kind, step in _all(record):
        if 0 < step <= record.episode.step:
            found[kind].add(step)
    return {kind: sorted(found[kind]) for kind in sorted(found)}


def _all(record: Record) -> Iterator[tuple[str, int]]:
    for row in record.steps:
        kinds = {event["kind"] for event in row.events} - {EVERY_STEP}
        yield from ((kind.replace("_", " "), row.number) for kind in kinds)
        yield from ((FALLBACK, row.number) for entry in row.commands if entry["fallback"])
    for decision in record.decisions:
        if record.calls_of.get(decision.pk):
            yield ASKED, decision.step
    for said in record.messages:
        yield SAID, said.step
