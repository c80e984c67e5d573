"""Define `SimpleWorld`, a base class for worlds whose state fits into a few JSON attributes.

The base class checks settings and commands, counts steps, and saves and loads the state. A subclass declares
`kind`, `settings`, `max_seats`, `figures` (its metrics) and `state`. It implements `begin`, `observe`,
`legal_actions` and `carry_out`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from random import Random
from typing import ClassVar, Self

from kitchen.contract.declared_settings import clean_settings
from kitchen.contract.large_map import LargeMap
from kitchen.contract.world import Command, Event, Json, TurnCommands, World, ordered_commands
from kitchen.contract.world_errors import SettingsError, StateError

UNKNOWN_SEAT, DUPLICATE_SEAT, NOT_POSSIBLE = "unknown_seat", "duplicate_seat", "not_possible"
"""Codes of refused commands: no such seat, a second command of a seat, or not possible now."""
UNCHANGEABLE = frozenset({str, int, float, bool, type(None)})
"""Types of JSON values that need no copy."""


class SimpleWorld(World):
    """A world whose seats act one after another. Its state consists of the attributes named in `state`."""

    version: ClassVar[int] = 1
    state: ClassVar[tuple[str, ...]]
    """Names of the attributes that make up the state: JSON values, set by `begin`. `seed` and `clock` are
    stored as well. Attributes that are named in `large` are `LargeMap`s."""
    steps_setting: ClassVar[str] = "steps"
    """The setting that holds the number of steps of an episode; empty if only the goal ends it."""

    clock = 0
    seed = 0

    def __init__(self, seats: int, settings: Mapping[str, Json]) -> None:
        if isinstance(seats, bool) or not self.min_seats <= seats <= self.max_seats:
            raise SettingsError(f"seats: {seats!r} is not from {self.min_seats} to {self.max_seats}")
        self.seats = seats
        self.chosen = clean_settings(self.settings, settings)
        """Every setting with its value."""
        self.reset(0)

    @classmethod
    def create(cls, *, seats: int, settings: Mapping[str, Json]) -> Self:
        """Return a world in the start state of seed 0. Raises SettingsError if the world cannot be played
        with these seats and settings."""
        return cls(seats, settings)

    def reset(self, seed: int) -> None:
        """Set the start state that belongs to this seed."""
        self.seed, self.clock = seed, 0
        self.begin()

    @abstractmethod
    def begin(self) -> None:
        """Set every attribute named in `state` to its start value. Take random numbers from `chance`."""

    def chance(self, *labels: object) -> Random:
        """Return a new random generator. It depends only on the episode's seed and the given labels. It is
        not part of the state."""
        return Random("\x1f".join(map(str, (self.seed, *labels))))  # noqa: S311 - not for secrets

    @property
    def length(self) -> int | None:
        """Return the number of steps of an episode, from the setting that `steps_setting` names. None if
        there is no such setting."""
        return int(self.chosen[self.steps_setting]) if self.steps_setting else None

    @property
    def over(self) -> bool:
        """Return True if all steps of the episode were taken."""
        return self.length is not None and self.clock >= self.length

    def brief(self, seat: int) -> dict[str, Json]:
        """Return the settings, which every seat knows. Override this to add what only one seat knows."""
        return dict(self.chosen)

    def step(self, turn: TurnCommands) -> tuple[Event, ...]:
        """Carry out the commands in order, then call `end_step`. Return the events. Does nothing after the
        end of the episode."""
        if self.has_ended:
            return ()
        events: list[Event] = []
        given: dict[int, Command] = {}
        for seat, command in ordered_commands(turn):
            events += self._act(seat, tuple(command), given)
        events += self.end_step(given)
        self.clock += 1
        return tuple(events)

    def _act(self, seat: int, command: Command, given: dict[int, Command]) -> Iterable[Event]:
        data = {"command": list(command)}
        if code := self._refusal_code(seat, command, given):
            return [Event("refused", seat, {**data, "reasons": [code]})]
        given[seat] = command
        return [Event("performed", seat, data), *self.carry_out(seat, command)]

    def _refusal_code(self, seat: int, command: Command, given: Mapping[int, Command]) -> str:
        if not 0 <= seat < self.seats:
            return UNKNOWN_SEAT
        if seat in given:
            return DUPLICATE_SEAT
        return "" if self.allows(seat, command) else self.why_not(seat, command)

    def why_not(self, seat: int, command: Command) -> str:
        """Return a code for the reason why this seat cannot carry out the command now. Called only for
        commands that are not allowed."""
        return NOT_POSSIBLE

    @abstractmethod
    def carry_out(self, seat: int, command: Command) -> Iterable[Event]:
        """Change the state by an allowed command. Return additional events. The event `performed` is added
        by the caller."""

    def end_step(self, given: Mapping[int, Command]) -> Iterable[Event]:
        """Change the state after all commands of a step were carried out, and return the events. `given` has
        these commands by seat. A world in which all seats act at the same time does its work here."""
        return ()

    def score(self) -> dict[str, Json]:
        """Return the value of each metric in `figures`, by name.

        A metric with `of` (two counts) is first count / sum of both counts; None if the sum is 0. Any other
        metric is the world's attribute with the same name.
        """
        found = {one.name: getattr(self, one.name) for one in self.figures if not one.of}
        for figure in self.figures:
            if figure.of:
                done, missed = (found[name] for name in figure.of)
                found[figure.name] = done / (done + missed) if done + missed else None
        return found

    def to_dict(self) -> dict[str, Json]:
        """Return the whole state as JSON: kind, version, seats, settings, seed, clock, and `state`.

        Settings that were added in a later version (`Setting.later`) are left out if they have their default.
        So the hashes of stored states stay the same.
        """
        added = {one.name for one in self.settings if one.later and self.chosen[one.name] == one.default}
        settings = {name: value for name, value in self.chosen.items() if name not in added}
        header = {"kind": self.kind, "version": self.version, "seats": self.seats, "settings": settings}
        stored = {name: getattr(self, name) for name in ("seed", "clock", *self.state)}
        return {
            name: value if name in self.large else _copied(value) for name, value in (header | stored).items()
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Json]) -> Self:
        """Return the world from a state that `to_dict` returned. Raises StateError if the state is damaged
        or of another version."""
        if (stored.get("kind"), stored.get("version")) != (cls.kind, cls.version):
            raise StateError(f"not a state of {cls.kind}, version {cls.version}")
        try:
            world = cls(stored["seats"], stored["settings"])
            for name in ("seed", "clock", *cls.state):
                value = stored[name]
                setattr(world, name, LargeMap(value) if name in cls.large else _copied(value))
        except (KeyError, TypeError, AttributeError, SettingsError) as error:
            raise StateError(f"{cls.kind}: {error!r}") from error
        return world


def _copied(value: Json) -> Json:
    """Return a deep copy of the value, so that later changes to the original do not affect it."""
    if type(value) in UNCHANGEABLE:
        return value
    if isinstance(value, dict):
        return {name: _copied(each) for name, each in value.items()}
    return [_copied(each) for each in value] if isinstance(value, list | tuple) else value
