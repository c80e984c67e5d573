"""Play many copies of a world at once, with one array for all observations. Needs NumPy only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from kitchen.opened.learning_episode import EpisodeSetup, LearningEpisode, StepResult


class VectorEnvironment:
    """Several copies of one world in play. Copies that end begin anew at once.

    Arrays are used again in the next step: copy what you keep. `observations` has the shape (copies, seats,
    …), without the seats that partners play. `masks` has the shape (copies, seats, actions).
    """

    def __init__(self, setup: EpisodeSetup, copies: int) -> None:
        """Create the copies. Raises SettingsError, UnknownNameError or ValueError for a wrong argument."""
        if isinstance(copies, bool) or not isinstance(copies, int) or copies < 1:
            raise ValueError(f"copies: {copies!r} is no whole number from 1")
        self.episodes = [LearningEpisode(setup) for _ in range(copies)]
        first = self.episodes[0]
        self.copies, self.seats, self.action_count = copies, first.seats, first.action_count
        encoding, seats = first.encoding, len(first.seats)
        self.observations = np.zeros((copies, seats, *first.shape), np.dtype(encoding.dtype))
        self._views = [*self.observations]
        self.masks = np.zeros((copies, seats, first.action_count), np.int8)
        self._shown: list[list[np.ndarray | None]] = [[None] * seats for _ in range(copies)]
        self.rewards = np.zeros(copies, np.float32)
        self.terminated = np.zeros(copies, bool)
        self.truncated = np.zeros(copies, bool)

    def reset(self, seed: int | None = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Start all copies; copy k gets the seed `seed` + k. Return the observations, and infos with
        `action_mask`."""
        for number, episode in enumerate(self.episodes):
            episode.begin(None if seed is None else seed + number)
            self._look(number)
        return self.observations, {"action_mask": self.masks}

    def _look(self, number: int) -> None:
        episode = self.episodes[number]
        episode.observe(self._views[number])
        shown = self._shown[number]
        for place, mask in enumerate(episode.masks()):
            if mask is not shown[place]:  # encodings share masks that never change
                self.masks[number, place] = shown[place] = mask

    def step(
        self, actions: np.ndarray | Sequence[Sequence[int]]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Carry out a step in every copy; `actions` has the shape (copies, seats).

        Return observations, rewards, terminated, truncated (shape (copies,)), and infos: `action_mask`,
        `events` (a tuple of events per copy and seat), and `final`, the last observations of the copies that
        ended, by copy.
        """
        rows = actions.tolist() if isinstance(actions, np.ndarray) else actions
        final: dict[int, np.ndarray] = {}
        results = [episode.act(row) for episode, row in zip(self.episodes, rows, strict=True)]
        played = zip(self.episodes, results, strict=True)
        events = [episode.events_seen(result.events) for episode, result in played]
        for number, result in enumerate(results):
            if result.terminated or result.truncated:
                final[number] = self._begin_anew(number)
            self._look(number)
        self._note(results)
        infos = {"action_mask": self.masks, "events": events, "final": final}
        return self.observations, self.rewards, self.terminated, self.truncated, infos

    def _begin_anew(self, number: int) -> np.ndarray:
        """Start this copy's next episode. Return the last observations of the episode that ended."""
        last: np.ndarray = np.empty_like(self.observations[number])
        self.episodes[number].observe(last)
        self.episodes[number].begin()
        return last

    def _note(self, results: Sequence[StepResult]) -> None:
        self.rewards[:] = [result.reward for result in results]
        self.terminated[:] = [result.terminated for result in results]
        self.truncated[:] = [result.truncated for result in results]
