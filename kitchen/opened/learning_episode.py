"""Play a world step by step for programs that learn: observations as arrays, masks, and one shared reward.

`parallel_environment` and `vector_environment` give it the forms that training libraries
expect. Needs NumPy only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from kitchen.contract.encoding import Encoding, EncodingError
from kitchen.contract.world import Command, Event, Json, World
from kitchen.opened.inside_partners import InsidePartners, Partner, seats_without_partner
from kitchen.registry.world_registry import get_encoding, get_world, reward_metric

if TYPE_CHECKING:
    from numpy import ndarray

SEEDS = 2**31
"""Drawn seeds are below this number."""


@dataclass(frozen=True, slots=True)
class EpisodeSetup:
    """What an environment plays: a world with its settings, the encoding, and who plays inside."""

    world: str
    seats: int | None = None
    """Number of seats; None: two, if the world allows."""
    settings: Mapping[str, Json] = field(default_factory=dict)
    encoding: str = ""
    """A name of the world's encodings; empty: its default."""
    partners: Mapping[int, Partner] = field(default_factory=dict)
    """Co-players by seat."""

    def make_world(self) -> World:
        """Return a new world. Raises SettingsError or UnknownNameError if it cannot be played."""
        rules = get_world(self.world)
        seats = max(rules.min_seats, min(2, rules.max_seats)) if self.seats is None else self.seats
        return rules.create(seats=seats, settings=self.settings)


class StepResult(NamedTuple):
    """What a step brought."""

    reward: float
    """The change of the world's reward metric, equal for all seats."""
    events: tuple[Event, ...]
    terminated: bool
    """True if the rules ended the episode before its last step."""
    truncated: bool
    """True if the episode reached its number of steps, or was cut off."""


class LearningEpisode:
    """One game after the other in one world. `begin` starts each."""

    def __init__(self, setup: EpisodeSetup) -> None:
        """Create the world. Raises SettingsError, UnknownNameError or ValueError if the setup is wrong."""
        self.world = setup.make_world()
        self.encoding: Encoding = get_encoding(setup.world, setup.encoding)
        self.seats = seats_without_partner(self.world.seats, setup.partners)
        """The seats that the learning program plays."""
        self.briefs = {seat: self.world.brief(seat) for seat in self.seats}
        self.shape = self.encoding.shape(self.briefs[self.seats[0]])
        self.action_count = self.encoding.action_count(self.briefs[self.seats[0]])
        self._partners = InsidePartners(self.world, setup.partners) if setup.partners else None
        self._metric = reward_metric(setup.world)
        self._seeds = Random()  # noqa: S311 - draws episodes
        self._sees_all = type(self.world).visible is World.visible
        self._pairs = tuple(self.briefs.items())
        self._commands: list[Sequence[Command]] = []
        self._events: tuple[Event, ...] = ()
        self._measured = 0.0

    def begin(self, seed: int | None = None) -> None:
        """Start an episode with this seed. Without one, it is drawn by the generator that the last given seed
        seeded."""
        if seed is None:
            seed = self._seeds.randrange(SEEDS)
        else:
            self._seeds = Random(seed)  # noqa: S311 - draws episodes
        self.world.reset(seed)
        if self._partners:
            self._partners.begin(seed)
        self._events, self._measured = (), self._measure()

    def _measure(self) -> float:
        return self.world.measure(self._metric) or 0

    def observe(self, array: ndarray) -> None:
        """Write what each seat of `seats` observes into `array`, shape (seats, …). Raises EncodingError if it
        does not fit."""
        try:
            self.encoding.encode_seats(self.world, self.briefs, array)
        except EncodingError as error:
            raise EncodingError(f"{self.world.kind}: {error}") from error

    def masks(self) -> list[ndarray]:
        """Return the masks of `seats` now, and remember the command of each action for the coming step. Do
        not change them. Raises EncodingError if the encoding has too few actions."""
        choices, world = self.encoding.choices, self.world
        try:
            found = [choices(world, brief, seat) for seat, brief in self._pairs]
        except EncodingError as error:
            raise EncodingError(f"{world.kind}: {error}") from error
        self._commands = [commands for commands, _ in found]
        return [mask for _, mask in found]

    def act(self, actions: Sequence[int]) -> StepResult:
        """Carry out a step with one action per seat of `seats`. Call `masks` before it. The world refuses
        illegal commands. An action without a command does nothing."""
        turn: dict[int, Command] = {}
        for seat, commands, action in zip(self.seats, self._commands, actions, strict=True):
            if 0 <= action < len(commands):
                turn[seat] = commands[action]
        if self._partners:
            turn = dict(sorted({**turn, **self._partners.commands(self.world, self._events)}.items()))
        world = self.world
        self._events = events = world.step(turn)
        before, self._measured = self._measured, self._measure()
        if not world.has_ended:
            return StepResult(self._measured - before, events, terminated=False, truncated=False)
        limited = world.cut_off or world.clock == world.length
        return StepResult(self._measured - before, events, terminated=not limited, truncated=limited)

    def events_seen(self, events: tuple[Event, ...]) -> tuple[tuple[Event, ...], ...]:
        """Return what each seat of `seats` may know of these events."""
        if self._sees_all:
            return (events,) * len(self.seats)
        visible = self.world.visible
        return tuple(tuple(event for event in events if visible(seat, event)) for seat in self.seats)
