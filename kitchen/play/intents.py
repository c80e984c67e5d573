"""What co-players are about to do, as their decisions say it: kept with the note, read for people's pages."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kitchen.contract.agent import note_plus
from kitchen.contract.world import Event, Intent, Json, World
from kitchen.machine.storable import storable
from kitchen.play.models import Decision, Episode

KEY = "intents"
"""Under which a note has them, by seat."""


def checked_intents(intents: Mapping[int, Intent]) -> dict[int, Intent]:
    """The same as they can be stored; TypeError if they are no words by seat."""
    for seat, intent in intents.items():
        words = [*intent.keys(), *intent.values()] if isinstance(intent, Mapping) else [None]
        if not isinstance(seat, int) or not all(isinstance(word, str) for word in words):
            raise TypeError(f"what seat {seat!r} intends is {intent!r}, not words by name")
    return {seat: storable(dict(intent)) for seat, intent in intents.items()}


def note_with(note: Json, intents: Mapping[int, Intent], seats: Collection[int]) -> Json:
    """A decision's note with what these seats are about to do; the note itself where nothing is said."""
    said = {str(seat): dict(intent) for seat, intent in intents.items() if seat in seats}
    return note_plus(note, KEY, said) if said else note


def stored_intents(episode: Episode) -> dict[int, Intent]:
    """What each seat said that it will do, by the decisions on the last step that was taken."""
    decisions = Decision.objects.filter(mind__episode=episode, step=episode.step, dropped="")
    notes = decisions.order_by("pk").values_list("note", flat=True)
    said = [note[KEY] for note in notes if isinstance(note, dict) and KEY in note]
    return {int(seat): intent for each in said for seat, intent in each.items()}


def known_intents(world: World, seat: int, intents: Mapping[int, Intent]) -> dict[int, Intent]:
    """Those of other seats that this one gets to know."""
    return {
        other: intent
        for other, intent in intents.items()
        if other != seat and world.visible(seat, Event("intends", other, intent))
    }
