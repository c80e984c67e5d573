"""Read an episode's state and past steps from the database, and prepare the rows that store a new step.

For a large part of a state (`World.large`), each step stores only the changes (`StateChange`). When these
changes have become longer than the part itself, the complete part is stored again. `Episode.state` holds a
hash of each large part.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from kitchen.contract.automatic_commands import BY_WORLD
from kitchen.contract.large_map import Changes, FrozenMap, LargeMap, WorldState
from kitchen.contract.page_view import StepView
from kitchen.contract.world import Command, Event, Json, World
from kitchen.contract.world_errors import StateError
from kitchen.infra.database_writes import Values
from kitchen.play.models import Episode, StateChange
from kitchen.play.turn import step_timer
from kitchen.registry.dotted_paths import UnknownNameError
from kitchen.registry.world_registry import get_world

DAMAGED_PART = "{part}: what is stored of this part of the state does not lead to its hash"


@dataclass(slots=True)
class LargeParts:
    """The large parts of an episode's state as they were after a step."""

    key: UUID
    """The key of the episode."""
    step: int
    maps: Mapping[str, LargeMap]
    lengths: dict[str, int]
    """Characters of the changes since the last whole row, by part."""

    def read_on(self, episode: Episode) -> bool:
        """Apply the stored changes of later steps than `self.step`. Return True if the parts now match the
        hashes in the episode's state."""
        if self.key != episode.key:
            return False
        later = StateChange.objects.filter(
            episode=episode, step__gt=self.step, step__lte=episode.step, part__in=self.maps
        )
        self._apply(later.order_by("step"))
        self.step = episode.step
        return all(part.freeze().root == episode.state.get(name) for name, part in self.maps.items())

    def _apply(self, rows: Iterable[StateChange]) -> None:
        for row in rows:
            apply_change(self.maps[row.part], row)
            length = len(row.changed) + len(row.removed)
            self.lengths[row.part] = 0 if row.is_whole else self.lengths.get(row.part, 0) + length


def apply_change(part: LargeMap, row: StateChange) -> None:
    """Apply a stored change to this large part of a state. Raises StateError if the row cannot be read."""
    if row.is_whole:
        part.clear()
    try:
        part.apply(Changes(row.changed, row.removed))
    except (TypeError, ValueError) as error:
        raise StateError(DAMAGED_PART.format(part=row.part)) from error


def large_parts(episode: Episode) -> LargeParts:
    """Read all large parts of an episode's state. The result has no parts if the world has none.

    Raises StateError if nothing is stored of a part.
    """
    names = get_world(episode.world).large
    parts = LargeParts(episode.key, episode.step, {name: LargeMap() for name in names}, {})
    for name in names:
        rows = StateChange.objects.filter(episode=episode, part=name, step__lte=episode.step)
        whole = rows.filter(is_whole=True).order_by("-step").first()
        if whole is None:
            raise StateError(DAMAGED_PART.format(part=name))
        parts._apply([whole, *rows.filter(step__gt=whole.step).order_by("step")])
    return parts


def read_verified_parts(episode: Episode, known: LargeParts | None) -> LargeParts:
    """Read all large parts of an episode's state, and check them against the hashes in the state. If `known`
    is given, only changes after `known` are read.

    Raises StateError if a part does not match its hash.
    """
    if known is not None and known.read_on(episode):
        return known
    parts = large_parts(episode)
    for name, part in parts.maps.items():
        if part.freeze().root != episode.state.get(name):
            raise StateError(DAMAGED_PART.format(part=name))
    return parts


def verify_changes(episode: Episode) -> Iterator[tuple[int, str]]:
    """Yield (step, name of the part) for each stored change of a large part whose content does not match its
    hash.

    After a mismatch, the part is checked again from its next complete row. A mismatch with the episode's
    state is reported with the present step.
    """
    parts: dict[str, LargeMap] = {}
    found: set[str] = set()
    rows = StateChange.objects.filter(episode=episode, step__lte=episode.step)
    for row in rows.order_by("step", "part").iterator(chunk_size=20):
        if row.is_whole:
            parts[row.part] = LargeMap()
            found.discard(row.part)
        part = parts.get(row.part)
        if row.part not in found and (part is None or not _leads_to(part, row)):
            found.add(row.part)
            yield row.step, row.part
    for name in sorted({*_large_names(episode.world), *parts} - found):
        if name not in parts or parts[name].freeze().root != episode.state.get(name):
            yield episode.step, name


def _leads_to(part: LargeMap, row: StateChange) -> bool:
    try:
        apply_change(part, row)
    except StateError:
        return False
    return part.freeze().root == row.root


def _large_names(world: str) -> tuple[str, ...]:
    try:
        return get_world(world).large
    except UnknownNameError:
        return ()


def initial_state_rows(episode_id: int, state: WorldState) -> list[Values]:
    """Return the `StateChange` rows to store for an episode that begins in this state: the complete
    content of each large part."""
    return [
        _state_change_row(episode_id, 0, name, part, part.whole(), True) for name, part in state.parts.items()
    ]


def state_rows_of_step(
    episode: Episode, before: WorldState, after: WorldState, lengths: dict[str, int]
) -> Iterator[Values]:
    """Yield the `StateChange` rows to store for the step that has just run, from the states before and after
    it.

    `lengths` has an entry for each large part of the state: the length of its changes since it was last
    stored as a whole (see `LargeParts`). This function updates the entries.
    """
    for name, part in after.parts.items():
        if changes := part.changes_since(before.parts[name]):
            lengths[name] = lengths.get(name, 0) + changes.length
            is_whole = lengths[name] > part.length
            if is_whole:
                changes, lengths[name] = part.whole(), 0
            yield _state_change_row(episode.pk, episode.step, name, part, changes, is_whole)


def _state_change_row(
    episode_id: int, step: int, name: str, part: FrozenMap, changes: Changes, is_whole: bool
) -> dict[str, Json]:
    return {
        "episode_id": episode_id,
        "step": step,
        "part": name,
        "is_whole": is_whole,
        "changed": changes.changed,
        "removed": changes.removed,
        "root": part.root,
    }


def current_world(episode: Episode) -> World:
    """Return the world of the episode in its present state. Raises StateError if the stored state cannot
    be read."""
    return get_world(episode.world).from_dict({**episode.state, **large_parts(episode).maps})


def json_round_trip(value: Json) -> Json:
    """Return the value after encoding it as JSON and decoding it again, as the database will return it."""
    return json.loads(json.dumps(value))


def known_events(world: World, seats: Sequence[int], stored: Iterable[Json]) -> tuple[Event, ...]:
    """Return the stored events that at least one of these seats can see in the world."""
    events = (event_from_json(event) for event in stored)
    return tuple(event for event in events if any(world.visible(seat, event) for seat in seats))


def known_commands(world: World, seat: int, entries: Iterable[Json]) -> dict[int, Command]:
    """Return the commands of one step that this seat can see, by seat. `entries` are objects with `seat`
    and `command`."""
    return {
        entry["seat"]: tuple(entry["command"])
        for entry in entries
        if entry["seat"] == seat
        or world.visible(seat, Event("commanded", entry["seat"], {"command": entry["command"]}))
    }


def event_from_json(stored: Json) -> Event:
    """Convert JSON that `Event.to_json` returned back to an event."""
    data = {name: value for name, value in stored.items() if name not in {"kind", "seat"}}
    return Event(stored["kind"], stored["seat"], data)


def _is_unasked(entry: Json) -> bool:
    """Return True if nobody was asked for the command of this log entry: the world gave it, or it came from
    the seat's plan."""
    return entry["chosen_by"] == BY_WORLD or entry.get("planned_in") is not None


@dataclass(slots=True)
class PastStep:
    """One past step from the log, and what each seat may know of it."""

    number: int
    commands: list[Json]
    events: list[Json]
    chain: str
    """The hash chain after this step. Empty if an older version of the program took the step."""
    _known: dict[int, StepView] = field(default_factory=dict)

    def known(self, world: World, seat: int) -> StepView:
        """Return the commands and events of the step that this seat may see. The result is cached."""
        if seat not in self._known:
            self._known[seat] = StepView(
                number=self.number,
                commands=known_commands(world, seat, self.commands),
                events=known_events(world, [seat], self.events),
                ran_out=any(
                    entry["seat"] == seat and entry["chosen_by"] in step_timer.NO_CHOICE_CODES
                    for entry in self.commands
                ),
                unasked=any(entry["seat"] == seat and _is_unasked(entry) for entry in self.commands),
            )
        return self._known[seat]


@dataclass(frozen=True, slots=True)
class ComputedStep:
    """The result of a step that is computed but not yet stored. It depends only on the state before and on
    these commands."""

    commands: Sequence[tuple[int, Command]]
    world: World
    """The world after the step."""
    state: WorldState
    events: list[Json]


class TurnWorld:
    """The world of an episode before its open step. The world is read from the database when it is first
    used."""

    def __init__(
        self,
        episode: Episode,
        known: LargeParts | None = None,
        *,
        live: World | None = None,
        world: World | None = None,
    ) -> None:
        """Prepare the world of the episode's stored state. `known` are large parts of the state that are
        already in memory. `live` is an older object of this episode's world, if it is `costly`. If the
        complete `world` is given, nothing is read."""
        self._episode, self._parts, self._world, self._live = episode, known, world, live
        self._frozen: WorldState | None = None
        """The state before the step, once the world was used up or taken over."""
        self._lengths: dict[str, int] = {}
        """Characters of changes by part, as in `LargeParts.lengths`."""

    @property
    def world(self) -> World:
        """Return the world before the open step. Raises StateError if the stored state cannot be read."""
        if self._world is None:
            self._world = self._read()
            if self._live is not None:
                self._world.take_over(self._live)
                self._live = None
        return self._world

    def live_world(self) -> World | None:
        """Return the world object in memory, if its world is `costly`. Otherwise return None."""
        world = self._world or self._live
        return world if world is not None and world.costly else None

    def _read(self) -> World:
        kind = get_world(self._episode.world)
        if self._frozen:
            return kind.from_dict(self._frozen.to_dict())
        if not kind.large:
            return kind.from_dict(self._episode.state)
        parts, self._parts = read_verified_parts(self._episode, self._parts), None
        self._lengths = parts.lengths
        return kind.from_dict({**self._episode.state, **parts.maps})

    def known_parts(self) -> LargeParts | None:
        """Return the large parts of the state if they are in memory, otherwise None."""
        if self._world is None:
            return self._parts
        return LargeParts(self._episode.key, self._episode.step, self._world.large_parts(), self._lengths)

    def compute(self, commands: Sequence[tuple[int, Command]]) -> ComputedStep:
        """Return the result of a step with these commands (seat, command), without storing the result.

        The world object is changed by the computation. If the world before the step is needed again, it is
        rebuilt.
        """
        world = self.world
        self._frozen = self._frozen or world.frozen_state()
        self._world = None
        events = json_round_trip([event.to_json() for event in world.step(commands)])
        return ComputedStep(commands, world, world.frozen_state(), events)

    def move_on(self, computed: ComputedStep) -> list[Values]:
        """Make the world after this computed step the present one. Return the `StateChange` rows to store.
        Call this when the step is being stored."""
        before, self._world, self._frozen = self._frozen, computed.world, computed.state
        if not computed.state.parts:
            return []
        if before is None:
            raise RuntimeError(f"step {self._episode.step}: what it changes is not known in this turn")
        return list(state_rows_of_step(self._episode, before, computed.state, self._lengths))
