"""Describe cooperative pong (`butterfly/cooperative_pong_v6`): two paddles keep one ball in play."""

from __future__ import annotations

from typing import Any

from kitchen.contract.declared_settings import Setting
from kitchen.contract.world import Json
from kitchen.opened.environment_adapter import EnvironmentAdapter
from kitchen.words.gettext_without_django import gettext_noop


def make_pong(**settings: Json) -> Any:
    """Return a new game."""
    from pettingzoo import make

    return make("parallel", "butterfly/cooperative_pong-v6", render_mode="rgb_array", **settings)


def describe_state(environment: Any, agent: str) -> dict[str, Json]:
    """Return where ball and paddles are, in percent of the screen from the left and from the top."""
    game = environment.unwrapped.env
    wide, high = game.area.size
    ball = game.ball._rect
    return {
        "your_paddle": "left" if agent == "paddle_0" else "right",
        "ball_from_left": round(100 * ball.centerx / wide),
        "ball_from_top": round(100 * ball.centery / high),
        "left_paddle_from_top": round(100 * game.p0.rects[0].centery / high),
        "right_paddle_from_top": round(100 * game.p1.rects[0].centery / high),
    }


ADAPTER = EnvironmentAdapter(
    kind="pettingzoo_pong",
    title=gettext_noop("Cooperative pong"),
    guide=(
        gettext_noop(
            "Keep the ball in play together. You lose when it leaves the screen on the left or right."
        ),
        gettext_noop("Move your paddle up and down. Player 1 has the left paddle, player 2 the right one."),
    ),
    make=make_pong,
    agents=("paddle_0", "paddle_1"),
    actions={
        "up": (1, gettext_noop("Up"), "ArrowUp"),
        "stay": (0, gettext_noop("Stay"), "x"),
        "down": (2, gettext_noop("Down"), "ArrowDown"),
    },
    idle="stay",
    settings=(
        Setting(
            "max_cycles", "int", "Steps", 300, help="The longest episode, in steps.", minimum=10, maximum=900
        ),
        Setting("ball_speed", "int", "Speed of the ball", 9, help="Pixels per step.", minimum=3, maximum=10),
    ),
    length="max_cycles",
    tick_ms=67,
    description=describe_state,
    replay_ms=3.6,
    words={
        "your_paddle": gettext_noop("your paddle"),
        "left": gettext_noop("left"),
        "right": gettext_noop("right"),
        "ball_from_left": gettext_noop("ball, percent from the left"),
        "ball_from_top": gettext_noop("ball, percent from the top"),
        "left_paddle_from_top": gettext_noop("left paddle, percent from the top"),
        "right_paddle_from_top": gettext_noop("right paddle, percent from the top"),
    },
)
