"""Tell at the end of a game what the two cooks did together: what they handed over, and what was lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kitchen.contract.world import Event, Json
from kitchen.words.gettext_without_django import gettext, ngettext
from kitchen.worlds.collab_overcooked.counter_handovers import find_handovers
from kitchen.worlds.collab_overcooked.display_text import list_words
from kitchen.worlds.collab_overcooked.room_layout import SEATS, Layout


def team_highlights(layout: Layout, steps: Iterable[Sequence[Event]]) -> tuple[str, ...]:
    """Return sentences about a game, from the events of its steps. Empty if there is nothing to tell."""
    return tuple(_sentences(layout, list(steps)))


def _sentences(layout: Layout, steps: Sequence[Sequence[Event]]) -> Iterator[str]:
    count = sum(1 for _ in find_handovers(_players(steps), layout))
    if count:
        text = ngettext(
            "You handed over {count} thing to each other.",
            "You handed over {count} things to each other.",
            count,
        )
        yield text.format(count=count)
    lost = [
        thing for step in steps for one in step if one.kind == "destroyed" for thing in one.data["contents"]
    ]
    if lost:
        yield gettext("Lost: {things}.").format(things=list_words(lost))


def _players(steps: Sequence[Sequence[Event]]) -> list[dict[str, Json]]:
    """Return the macros that took effect, as an observation lists them for each player."""
    players: list[dict[str, Json]] = [{"done": [], "done_in": []} for _ in SEATS]
    for number, events in enumerate(steps, start=1):
        for event in events:
            if event.kind == "done" and event.seat in SEATS:
                players[event.seat]["done"].append(event.data["macro"])
                players[event.seat]["done_in"].append(number)
    return players
