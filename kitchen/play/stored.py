"""Between the stored episode and the plain-Python world and minds: reading one from the other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from kitchen.contract.large_state import LargeMap
from kitchen.contract.world import Command, Event, Json, World
from kitchen.play.models import Episode, SeatCommand
from kitchen.play.state_changes import large_parts
from kitchen.registry.worlds import get_world


def episode_world(episode: Episode) -> World:
    """The world of the episode at its present state; StateError if it cannot be read."""
    return world_of(episode, large_parts(episode).maps)


def world_of(episode: Episode, parts: Mapping[str, LargeMap]) -> World:
    """The world of the episode at its present state, of which these are the large parts; StateError if it
    cannot be read."""
    return get_world(episode.world).from_dict({**episode.state, **parts})


def as_stored(value: Json) -> Json:
    """The value as it will come back from the database."""
    return json.loads(json.dumps(value))


def known_events(world: World, seats: Sequence[int], stored: Iterable[Json]) -> tuple[Event, ...]:
    """Those of these events, as they are stored, that one of these seats gets to know."""
    events = (read_event(event) for event in stored)
    return tuple(event for event in events if any(world.visible(seat, event) for seat in seats))


def known_commands(world: World, seat: int, entries: Iterable[Json]) -> dict[int, Command]:
    """Those of these commands of one step (`{seat, command, ...}`) that this seat gets to know, by seat."""
    return {
        entry["seat"]: read_stored_command(entry["command"])
        for entry in entries
        if entry["seat"] == seat
        or world.visible(seat, Event("commanded", entry["seat"], {"command": entry["command"]}))
    }


def read_event(stored: Json) -> Event:
    """An event as `Event.to_json` wrote it."""
    data = {name: value for name, value in stored.items() if name not in {"kind", "seat"}}
    return Event(stored["kind"], stored["seat"], data)


def read_stored_command(stored: Json) -> Command:
    """A command as the log keeps it."""
    return tuple(stored)


def log_entry(row: SeatCommand) -> dict[str, Json]:
    """What one seat was commanded, as the step that ran with it keeps it: what belongs to a plan where there
    is one."""
    planned = {"to_follow": row.to_follow, "planned_in": row.planned_in}
    return {
        "seat": row.seat,
        "command": row.command,
        "chosen_by": row.chosen_by,
        "fallback": row.fallback,
        "received_at": row.received_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        **{name: value for name, value in planned.items() if value is not None},
    }
