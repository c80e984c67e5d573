"""The examples learn by right gradients, write files that play as the network does, and get their points."""

from __future__ import annotations

import csv
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from examples import train_imitation, train_ppo
from examples.overcooked_inputs import Partners, play_games
from examples.small_network import SmallNetwork, softmax
from examples.train_ppo import CLIP, VALUE, slopes

SHIPPED = Path("kitchen/worlds/overcooked/data/policies")
SETTINGS = {"layout": "cramped_room", "cooking": "auto"}


def ppo_loss(
    outputs: np.ndarray, actions: np.ndarray, chances: np.ndarray, gains: np.ndarray, targets: Any
) -> float:
    now = softmax(outputs[:, :-1])
    ratio = now[np.arange(len(actions)), actions] / chances
    won = np.minimum(ratio * gains, np.clip(ratio, 1 - CLIP, 1 + CLIP) * gains)
    chaos = -(now * np.log(now)).sum(axis=1)
    return float((-won - 0.1 * chaos + VALUE / 2 * (outputs[:, -1] - targets) ** 2).mean())


def test_the_gradients_are_those_of_the_loss() -> None:
    random = np.random.default_rng(1)
    network = SmallNetwork([7, 6, 5, 4], seed=1, last_gain=1)
    network.weights = [each.astype(float) for each in network.weights]
    inputs, actions = random.normal(size=(9, 7)), random.integers(3, size=9)
    given = (actions, random.uniform(0.2, 0.5, 9), random.normal(size=9), random.normal(size=9))
    outputs, seen = network.forward(inputs)
    gradients = network.backward(seen, slopes(outputs, *given, 0.1))
    for weight, gradient in zip(network.weights, gradients, strict=False):
        weight[1, 2] += 1e-5
        more = ppo_loss(network.forward(inputs)[0], *given)
        weight[1, 2] -= 2e-5
        less = ppo_loss(network.forward(inputs)[0], *given)
        weight[1, 2] += 1e-5
        assert gradient[1, 2] == pytest.approx((more - less) / 2e-5, abs=1e-6)


class OnnxNetwork(SmallNetwork):
    """Plays a policy file as a network that gets scaled inputs."""

    def __init__(self, path: Path) -> None:
        self.session = import_module("onnxruntime").InferenceSession(path)

    def forward(self, inputs: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
        from examples.overcooked_inputs import input_scale

        shape = self.session.get_inputs()[0].shape[1:]
        layers = np.rint(inputs / input_scale(tuple(shape))).astype(np.uint8).reshape(-1, *shape)
        logits: np.ndarray = self.session.run(["logits"], {"obs": layers})[0]
        return logits, []


@pytest.mark.nightly
@pytest.mark.parametrize("train", [train_ppo.main, train_imitation.main])
def test_a_short_training_writes_a_file_and_its_curve(train: Any, tmp_path: Path) -> None:
    policy, curve = tmp_path / "p.onnx", tmp_path / "c.csv"
    train(["--steps", "6400", "--out", str(policy), "--curve", str(curve)])
    rows = [*csv.reader(curve.read_text().splitlines())]
    assert rows[-1][0] == "6400"
    assert play_games(OnnxNetwork(policy), SETTINGS, {}, games=1).shape == (1,)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "partners", "least"),
    [("imitation", {1: ("greedy", {})}, 210), ("imitation", {0: ("greedy", {})}, 210), ("ppo", {}, 220)],
)
def test_the_shipped_policies_reach_their_points(name: str, partners: Partners, least: float) -> None:
    points = play_games(OnnxNetwork(SHIPPED / f"cramped_room_{name}.onnx"), SETTINGS, partners)
    assert points.mean() >= least
