"""What both training examples share: scaled inputs, test games, and the description in the policy file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from examples.small_network import SmallNetwork, draw, save_onnx, softmax
from kitchen.opened.environments import vector_env

ENCODING = "overcooked.lossless_26/1"
COUNTS, TIME_LEFT = slice(16, 20), 20
"""Layers with numbers above 1: ingredients (up to 3), and ticks that a soup still cooks."""
Partners = Mapping[int, tuple[str, Mapping[str, Any]]]


def input_scale(shape: tuple[int, ...]) -> np.ndarray:
    """Return what to multiply flat observations by, so that most numbers are from 0 to 1."""
    scale = np.ones(shape, np.float32)
    scale[..., COUNTS] = 1 / 3
    scale[..., TIME_LEFT] = 1 / 20
    return scale.ravel()


def play_games(
    network: SmallNetwork, settings: Mapping[str, Any], partners: Partners, games: int = 10, seed: int = 1000
) -> np.ndarray:
    """Return the points of test games, in which the network draws its actions."""
    env = vector_env("overcooked", settings=settings, copies=games, partners=partners)
    random = np.random.default_rng(seed)
    observations, _ = env.reset(seed)
    scale = input_scale(observations.shape[2:])
    points, done = np.zeros(games), False
    while not done:
        flat = observations.reshape(games * len(env.seats), -1) * scale
        logits = network.forward(flat)[0][:, : env.action_count]
        actions = draw(random, softmax(logits)).reshape(games, -1)
        observations, rewards, _, truncated, _ = env.step(actions)
        points += rewards
        done = bool(truncated[0])
    return points


def save_policy(
    path: Path, network: SmallNetwork, settings: Mapping[str, Any], shape: tuple[int, ...], trained_with: str
) -> None:
    """Write the policy file, with what a reader needs to know of it."""
    about = {
        "brigade.encoding": ENCODING,
        "brigade.actions": [["north"], ["south"], ["east"], ["west"], ["stay"], ["interact"]],
        "brigade.settings": dict(settings),
        "author": "Brigade",
        "licence": "MIT",
        "trained_with": trained_with,
    }
    save_onnx(path, network, input_scale(shape), 6, shape, about)
