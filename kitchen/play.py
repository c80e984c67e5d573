"""Between the stored episode and the plain-Python world and minds: reading one from the other."""

from __future__ import annotations

from kitchen.models import Decision, Episode, Mind, Step
from kitchen.seeds import derived_seed as derived_seed
from kitchen.worlds.base import Command, Event, Json, World
from kitchen.worlds.registry import get_world


def episode_world(episode: Episode) -> World:
    """The world of the episode at its present state; StateError if it cannot be read."""
    return get_world(episode.world).from_dict(episode.state)


def last_memory(mind: Mind) -> Json:
    """What this mind wanted to remember at its last decision, None before the first."""
    return Decision.objects.filter(mind=mind).order_by("-step").values_list("memory", flat=True).first()


def last_events(episode: Episode) -> tuple[Event, ...]:
    """What happened in the last step of the episode."""
    found = Step.objects.filter(episode=episode, number=episode.step).values_list("events", flat=True).first()
    return tuple(read_event(event) for event in found or ())


def read_event(stored: Json) -> Event:
    """An event as `Event.to_json` wrote it."""
    data = {name: value for name, value in stored.items() if name not in {"kind", "seat"}}
    return Event(stored["kind"], stored["seat"], data)


def read_stored_command(stored: Json) -> Command:
    """A command as the log keeps it."""
    return tuple(stored)
