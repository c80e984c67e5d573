"""Train a policy for Overcooked that imitates the planner: cloning and DAgger in NumPy.

    python -m examples.train_imitation --out imitation.onnx --curve imitation.csv

First the planner plays, and the network learns its commands. Then the network plays, and learns what the
planner would have done in each state. Source: Ross, Gordon and Bagnell, A Reduction of Imitation Learning to
No-Regret Online Learning, 2011.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from examples.overcooked_inputs import Partners, input_scale, play_games, save_policy
from examples.small_network import SmallNetwork, draw, softmax
from examples.training_arguments import read_arguments
from kitchen.agents.make_situation import make_situation
from kitchen.contract.agent import run_without_waiting
from kitchen.opened.environments import vector_env
from kitchen.registry.agent_registry import make_agent

TEACHER = "grid_planner"
COPIES = 2
"""Games side by side, for each of `COMPANY`."""
COMPANY: Sequence[Partners] = (
    {1: ("greedy", {})},
    {0: ("greedy", {})},
    {1: (TEACHER, {})},
    {0: (TEACHER, {})},
    {1: ("random", {})},
    {1: ("stay", {})},
    {},
)
"""With whom the network plays; nobody: with itself."""
BATCH, RATE, EPOCHS = 256, 1e-3, 4


class Lessons:
    """What the planner would do, in every state met so far."""

    def __init__(self, settings: dict[str, Any], seed: int) -> None:
        self.teacher = make_agent(TEACHER, {})
        self.random = np.random.default_rng(seed)
        self.games = [
            vector_env("overcooked", settings=settings, copies=COPIES, partners=partners)
            for partners in COMPANY
        ]
        self.shape = self.games[0].observations.shape[2:]
        self.scale = input_scale(self.shape)
        self.inputs: list[np.ndarray] = []
        self.actions: list[int] = []

    def collect(self, network: SmallNetwork, round_seed: int, taught: float) -> float:
        """Play one game in each copy; `taught` is the share of actions that the planner chooses. Return the
        mean points of games with greedy partners."""
        points = [
            self.play(env, network, round_seed + number, taught) for number, env in enumerate(self.games)
        ]
        return float(np.mean(points[:2]))

    def play(self, env: Any, network: SmallNetwork, seed: int, taught: float) -> float:
        """Play one game in each copy of `env`, and note the planner's actions. Return the mean points."""
        observations, _ = env.reset(seed)
        memories: dict[tuple[int, int], Any] = {}
        points, done, step = 0.0, False, 0
        while not done:
            flat = observations.reshape(COPIES * len(env.seats), -1).copy()
            told = [self.ask(env, copy, seat, memories, step) for copy in range(COPIES) for seat in env.seats]
            self.inputs.append(flat)
            self.actions += told
            own = draw(self.random, softmax(network.forward(flat * self.scale)[0]))
            chosen = np.where(self.random.random(len(own)) < taught, told, own)
            observations, rewards, _, truncated, _ = env.step(chosen.reshape(COPIES, -1))
            points, done, step = points + float(rewards.mean()), bool(truncated[0]), step + 1
        return points

    def ask(self, env: Any, copy: int, seat: int, memories: dict[tuple[int, int], Any], step: int) -> int:
        """Return the number of the action that the planner would choose here."""
        episode, key = env.episodes[copy], (copy, seat)
        situation = make_situation(episode.world, [seat], memory=memories.get(key), seed=step)
        decision = run_without_waiting(self.teacher.decide(situation))
        memories[key] = decision.memory
        commands = episode.encoding.commands(episode.briefs[seat], ())
        return int(list(commands).index(decision.commands[seat]))

    def learn(self, network: SmallNetwork, rate: float, epochs: int = EPOCHS) -> float:
        """Learn all lessons so far, `epochs` times. Return the share of right actions in the last one."""
        inputs, actions = np.concatenate(self.inputs), np.array(self.actions)
        right = 0.0
        for _ in range(epochs):
            order = self.random.permutation(len(actions))
            right = 0.0
            for part in np.array_split(order, max(1, len(order) // BATCH)):
                logits, seen = network.forward(inputs[part] * self.scale)
                slope = softmax(logits)
                right += float((logits.argmax(axis=1) == actions[part]).sum())
                slope[np.arange(len(part)), actions[part]] -= 1
                network.learn(network.backward(seen, slope / len(part)), rate, longest=5.0)
        return right / len(actions)


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, write the curve and the policy file, and print the points of ten games."""
    given = read_arguments(__doc__, arguments, steps=120_000, meaning="decisions of the planner", seed=1)
    settings = {"layout": given.layout, "cooking": "auto"}
    lessons, began = Lessons(settings, given.seed), time.process_time()
    network = SmallNetwork([lessons.scale.size, 128, 128, 6], given.seed)
    curve: list[tuple[int, float, float, float]] = []
    while len(lessons.actions) < given.steps:
        met = lessons.collect(network, given.seed + 100 * len(curve), 0.0 if curve else 1.0)
        rate = RATE if len(lessons.actions) < given.steps else RATE / 4
        right = lessons.learn(network, rate)
        spent = round(time.process_time() - began, 1)
        curve.append((len(lessons.actions), round(met, 1), round(right, 3), spent))
        print("{:,} decisions: {} points with greedy, {} right, {} s".format(*curve[-1]), flush=True)
    if given.curve:
        with given.curve.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("decisions", "points_with_greedy", "right", "seconds"), *curve])
    words = f"examples/train_imitation.py, planner's actions, {given.steps} decisions, seed {given.seed}"
    save_policy(given.out, network, settings, lessons.shape, words)
    tests: dict[str, Partners] = {"greedy": {1: ("greedy", {})}, "itself": {}}
    for name, partners in tests.items():
        points = play_games(network, settings, partners)
        print(f"10 games with {name}: {points.mean():.0f} points, sd {points.std():.0f}")


if __name__ == "__main__":
    main()
