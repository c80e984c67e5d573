"""Turn a finished game into arrays for datasets: observations, actions and rewards of every seat.

The game is played again from its seed and commands. Observations are encoded by the functions that
environments and policies use (`kitchen.contract.encoding`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kitchen.contract.encoding import Encoding
from kitchen.contract.recorded_trial import RecordedTrial
from kitchen.contract.world import Command, Json, World
from kitchen.registry.world_registry import get_encoding, get_world, reward_metric

if TYPE_CHECKING:
    from numpy import ndarray

SEAT_REWARD = "reward_seat_{seat}"
"""The metric of a world that rewards each seat by itself."""
PERSON, MIND, FALLBACK, NOBODY = "person", "mind", "fallback", "nobody"
"""Who chose a command in a dataset."""


@dataclass(frozen=True, slots=True)
class DatasetEpisode:
    """A finished game and who played it, without anything that leads to a person or a time of day."""

    number: int
    """Its number in the dataset, from 0."""
    trial: RecordedTrial
    played_by: Sequence[str]
    """By seat: `p1`, or the kind of co-player (with the hash of its file, if it has one)."""
    chosen_by: Sequence[Mapping[int, str]] = ()
    """Who chose the commands of each step, by seat: one of PERSON, MIND, FALLBACK, NOBODY."""
    synthetic: bool = False
    score: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EncodedEpisode:
    """The arrays of a game with T steps. Keys of mappings are seats."""

    episode: DatasetEpisode
    encoding: Encoding
    shape: tuple[int, ...]
    actions_possible: int
    observations: Mapping[int, ndarray]
    """Each of shape (T + 1, ...)."""
    actions: Mapping[int, ndarray]
    """Each of shape (T,), int64. A command that the encoding does not know counts as waiting."""
    rewards: ndarray
    """Of shape (T,), float64: what the team gained in each step."""
    seat_rewards: Mapping[int, ndarray]
    """What each seat gained, in worlds that say so; else empty."""
    is_truncated: bool
    """True if a limit of steps ended the game; else its rules did."""

    @property
    def group(self) -> tuple[str, str, tuple[int, ...], int]:
        """Return world, encoding, shape and number of seats. Episodes that agree in them fit into one
        table."""
        return self.episode.trial.world, self.encoding.name, self.shape, len(self.observations)

    @property
    def steps(self) -> int:
        """Return T."""
        return len(self.rewards)


def encode_episode(episode: DatasetEpisode, encoding_name: str = "") -> EncodedEpisode:
    """Play a game again, and return its arrays. The default is the world's first encoding.

    Raises WorldError if it cannot be played, EncodingError if an observation does not fit, and
    UnknownNameError if the world or the encoding is unknown.
    """
    import numpy

    trial = episode.trial
    encoding = get_encoding(trial.world, encoding_name)
    world = get_world(trial.world).create(seats=trial.seats, settings=trial.settings)
    world.reset(trial.seed)
    seats, length = range(trial.seats), len(trial.turns)
    briefs = [world.brief(seat) for seat in seats]
    shape = encoding.shape(briefs[0])
    seen = {seat: numpy.empty((length + 1, *shape), encoding.dtype) for seat in seats}
    actions = {seat: numpy.zeros(length, numpy.int64) for seat in seats}
    names = [reward_metric(trial.world), *(SEAT_REWARD.format(seat=seat) for seat in seats)]
    gained = numpy.empty((length + 1, len(names)))
    gained[0] = _values(world, names)
    for number, turn in enumerate([*trial.turns, None]):
        for seat in seats:
            seen[seat][number] = encoding.encode(briefs[seat], world.observe(seat), seat)
        if turn is not None:
            given = dict(turn)
            for seat in seats:
                possible = _possible(world, seat)
                listed = encoding.commands(briefs[seat], possible)
                actions[seat][number] = _action(listed, given.get(seat, world.idle), world.idle)
            world.step(turn)
            gained[number + 1] = _values(world, names)
    changes = numpy.diff(gained, axis=0)
    by_seat = {seat: changes[:, seat + 1] for seat in seats} if names[1] in world.score() else {}
    return EncodedEpisode(
        episode=episode,
        encoding=encoding,
        shape=shape,
        actions_possible=encoding.action_count(briefs[0]),
        observations=seen,
        actions=actions,
        rewards=changes[:, 0],
        seat_rewards={} if all((each == changes[:, 0]).all() for each in by_seat.values()) else by_seat,
        is_truncated=world.cut_off or (world.length is not None and world.clock >= world.length),
    )


def _values(world: World, names: Sequence[str]) -> list[float]:
    score = world.score()
    return [float(score.get(name) or 0) for name in names]


def _possible(world: World, seat: int) -> list[Command]:
    legal = list(world.legal_actions(seat))
    return [*legal, *(each for each in world.anticipated_actions(seat) if each not in legal)]


def _action(listed: Sequence[Command], command: Command, idle: Command) -> int:
    """Return the number of a command; that of waiting, or 0, if the list does not have it."""
    for wanted in (command, idle):
        if wanted in listed:
            return listed.index(wanted)
    return 0


def episode_facts(episode: DatasetEpisode) -> dict[str, Any]:
    """Return what datasets say about a game: how it was made, who played, and the score."""
    return {
        "seed": episode.trial.seed,
        "brigade_episode": episode.number,
        "world": episode.trial.world,
        "world_version": episode.trial.version,
        "settings": dict(episode.trial.settings),
        "played_by": list(episode.played_by),
        "synthetic": episode.synthetic,
        "score": dict(episode.score),
    }


def in_groups(
    episodes: Sequence[EncodedEpisode],
) -> Iterator[tuple[tuple[str, str, tuple[int, ...], int], list[EncodedEpisode]]]:
    """Yield the episodes by `EncodedEpisode.group`, in the order of the first of each."""
    found: dict[tuple[str, str, tuple[int, ...], int], list[EncodedEpisode]] = {}
    for each in episodes:
        found.setdefault(each.group, []).append(each)
    yield from found.items()
