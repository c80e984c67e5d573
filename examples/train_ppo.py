"""Train a policy for Overcooked by playing with itself: PPO in NumPy.

    python -m examples.train_ppo --out ppo.onnx --curve ppo.csv

Useful actions get small rewards, as in Overcooked-AI: 3 for an ingredient in a pot, 3 for a useful dish, 5
for a soup in a dish. They fade out during the first three quarters of the training. Source: Schulman et al.,
Proximal Policy Optimization Algorithms, 2017.
"""

from __future__ import annotations

import csv
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from examples.overcooked_inputs import input_scale, play_games, save_policy
from examples.small_network import SmallNetwork, draw, softmax
from examples.training_arguments import read_arguments
from kitchen.opened.environments import vector_env
from kitchen.opened.vector_environment import VectorEnvironment

COPIES, LENGTH = 32, 200
"""Games side by side, and steps between two rounds of learning."""
DISCOUNT, TRACE = 0.99, 0.95
CLIP, ENTROPY, VALUE = 0.2, 0.03, 0.5
ROUNDS, BATCHES, RATE = 4, 8, 1e-3
REWARD_SCALE = 0.1
POTS, DISH = slice(16, 20), 22


class Played(NamedTuple):
    """What a round of play brought, each of shape (LENGTH, players, …)."""

    inputs: np.ndarray
    actions: np.ndarray
    chances: np.ndarray
    values: np.ndarray
    rewards: np.ndarray
    ends: np.ndarray
    last_values: np.ndarray


def small_rewards(events: Sequence[Any], before: np.ndarray, after: np.ndarray, ended: bool) -> list[float]:
    """Return each seat's reward for useful actions. `before` and `after` are observations of one copy."""
    found = [0.0, 0.0]
    for event in events:
        did = event.data.get("did")
        if did == "potted":
            found[event.seat] += 3
        elif did == "filled":
            found[event.seat] += 5
        elif did == "took" and event.data["thing"] == "dish" and not ended:
            dishes = int(after[..., DISH].sum())
            pots = int(((before[..., 10] > 0) & (before[..., POTS].sum(axis=-1) > 0)).sum())
            found[event.seat] += 3 * (int(before[..., DISH].sum()) < dishes <= pots)
    return found


class Trainer:
    """One training in progress."""

    def __init__(self, settings: dict[str, Any], seed: int, steps: int) -> None:
        self.env: VectorEnvironment = vector_env("overcooked", settings=settings, copies=COPIES)
        self.random = np.random.default_rng(seed)
        self.observations, _ = self.env.reset(seed)
        self.shape = self.observations.shape[2:]
        self.scale = input_scale(self.shape)
        self.network = SmallNetwork([self.scale.size, 128, 64, self.env.action_count + 1], seed)
        self.players, self.steps, self.taken = COPIES * 2, steps, 0
        self.points, self.scores = np.zeros(COPIES), deque[float](maxlen=64)

    def flat(self) -> np.ndarray:
        """Return the present observations as inputs of the network."""
        found: np.ndarray = self.observations.reshape(self.players, -1) * self.scale
        return found

    def play(self) -> Played:
        """Play `LENGTH` steps in all copies."""
        shape = (LENGTH, self.players)
        inputs = np.empty((*shape, self.scale.size), np.float32)
        actions, ends = np.empty(shape, int), np.empty(shape, np.float32)
        chances, values, rewards = (np.empty(shape, np.float32) for _ in range(3))
        for step in range(LENGTH):
            inputs[step] = self.flat()
            outputs = self.network.forward(inputs[step])[0]
            drawn_from = softmax(outputs[:, :-1])
            actions[step] = draw(self.random, drawn_from)
            chances[step] = drawn_from[np.arange(self.players), actions[step]]
            values[step] = outputs[:, -1]
            rewards[step], ends[step] = self.act(actions[step])
        last = self.network.forward(self.flat())[0][:, -1]
        return Played(inputs, actions, chances, values, rewards, ends, last)

    def act(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Take one step. Return the scaled reward and the end of every player."""
        before = self.observations[:, 0].copy()
        _, rewards, terminated, truncated, infos = self.env.step(actions.reshape(COPIES, 2))
        ended = terminated | truncated
        fading = max(0.0, 1 - self.taken / (0.75 * self.steps))
        shaped = np.array(
            [
                small_rewards(events[0], before[copy], self.observations[copy, 0], bool(ended[copy]))
                for copy, events in enumerate(infos["events"])
            ]
        )
        self.points += rewards
        self.scores.extend(self.points[ended])
        self.points[ended] = 0
        self.taken += COPIES
        each = (rewards[:, None] + fading * shaped) * REWARD_SCALE
        return each.ravel(), np.repeat(ended, 2)

    def learn(self, played: Played) -> None:
        """Improve the network by what was played."""
        gains = advantages(played)
        inputs = played.inputs.reshape(-1, self.scale.size)
        actions, chances = played.actions.ravel(), played.chances.ravel()
        targets = (gains + played.values).ravel()
        left = max(0.05, 1 - self.taken / self.steps)
        rate, entropy = RATE * left, ENTROPY * left
        for _ in range(ROUNDS):
            for part in np.array_split(self.random.permutation(len(actions)), BATCHES):
                chosen = gains.ravel()[part]
                chosen = (chosen - chosen.mean()) / (chosen.std() + 1e-8)
                outputs, seen = self.network.forward(inputs[part])
                slope = slopes(outputs, actions[part], chances[part], chosen, targets[part], entropy)
                self.network.learn(self.network.backward(seen, slope), rate)


def advantages(played: Played) -> np.ndarray:
    """Return how much better each action was than expected (generalised advantage estimation)."""
    found = np.zeros_like(played.rewards)
    following, trace = played.last_values, np.zeros_like(played.last_values)
    for step in reversed(range(LENGTH)):
        goes_on = 1 - played.ends[step]
        error = played.rewards[step] + DISCOUNT * following * goes_on - played.values[step]
        trace = found[step] = error + DISCOUNT * TRACE * goes_on * trace
        following = played.values[step]
    return found


def slopes(
    outputs: np.ndarray,
    actions: np.ndarray,
    chances: np.ndarray,
    gains: np.ndarray,
    targets: np.ndarray,
    entropy: float,
) -> np.ndarray:
    """Return the gradient of PPO's loss by the network's outputs."""
    now = softmax(outputs[:, :-1])
    rows = np.arange(len(actions))
    ratio = now[rows, actions] / chances
    counts = np.where(gains > 0, ratio < 1 + CLIP, ratio > 1 - CLIP)
    slope = np.empty_like(outputs)
    slope[:, :-1] = now * (ratio * gains * counts)[:, None]
    slope[rows, actions] -= ratio * gains * counts
    logs = np.log(now + 1e-9)
    slope[:, :-1] += entropy * now * (logs - (now * logs).sum(axis=-1, keepdims=True))
    slope[:, -1] = VALUE * (outputs[:, -1] - targets)
    found: np.ndarray = slope / len(actions)
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, write the curve and the policy file, and print the points of ten games."""
    given = read_arguments(
        __doc__, arguments, steps=1_600_000, meaning="steps of all copies together", seed=3
    )
    settings = {"layout": given.layout, "cooking": "auto"}
    trainer, began = Trainer(settings, given.seed, given.steps), time.process_time()
    curve: list[tuple[int, float, float]] = []
    while trainer.taken < given.steps:
        trainer.learn(trainer.play())
        mean = float(np.mean(trainer.scores)) if trainer.scores else 0.0
        curve.append((trainer.taken, round(mean, 1), round(time.process_time() - began, 1)))
        if len(curve) % 10 == 0:
            print("{:,} steps: {} points, {} s".format(*curve[-1]), flush=True)
    if given.curve:
        with given.curve.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("steps", "points", "seconds"), *curve])
    words = f"examples/train_ppo.py, PPO with itself, {given.steps} steps, seed {given.seed}"
    save_policy(given.out, trainer.network, settings, trainer.shape, words)
    points = play_games(trainer.network, settings, {})
    print(f"10 games with itself: {points.mean():.0f} points, sd {points.std():.0f}")


if __name__ == "__main__":
    main()
