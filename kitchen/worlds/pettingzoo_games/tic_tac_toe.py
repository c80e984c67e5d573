"""Describe tic-tac-toe (`classic/tictactoe_v3`): two players put their marks on nine squares by turns."""

from __future__ import annotations

from typing import Any

from kitchen.contract.world import Json
from kitchen.opened.environment_adapter import EnvironmentAdapter
from kitchen.words.gettext_without_django import gettext_noop

MARKS = ("empty", "cross", "circle")
"""The content of a square, by its number on the board."""
ROWS = ("top_row", "middle_row", "bottom_row")


def make_tic_tac_toe(**settings: Json) -> Any:
    """Return a new game."""
    from pettingzoo import make

    return make("aec", "classic/tictactoe-v3", render_mode="rgb_array", screen_height=600, **settings)


def describe_state(environment: Any, agent: str) -> dict[str, Json]:
    """Return the three rows of the board, and the reader's mark."""
    squares = environment.unwrapped.board.squares
    rows = {name: [MARKS[squares[row + 3 * column]] for column in range(3)] for row, name in enumerate(ROWS)}
    return {"your_mark": "cross" if agent == "player_1" else "circle", **rows}


ADAPTER = EnvironmentAdapter(
    kind="pettingzoo_tictactoe",
    title=gettext_noop("Tic-tac-toe"),
    guide=(
        gettext_noop(
            "Put three of your marks in a row, a column or a diagonal before the other player does."
        ),
        gettext_noop("You take turns. Player 1 plays crosses and begins. Player 2 plays circles."),
    ),
    make=make_tic_tac_toe,
    agents=("player_1", "player_2"),
    most_steps=9,
    replay_ms=0.5,
    description=describe_state,
    actions={
        "top_left": (0, gettext_noop("Top left"), "q"),
        "top_middle": (3, gettext_noop("Top middle"), "w"),
        "top_right": (6, gettext_noop("Top right"), "e"),
        "middle_left": (1, gettext_noop("Middle left"), "a"),
        "centre": (4, gettext_noop("Centre"), "s"),
        "middle_right": (7, gettext_noop("Middle right"), "d"),
        "bottom_left": (2, gettext_noop("Bottom left"), "z"),
        "bottom_middle": (5, gettext_noop("Bottom middle"), "x"),
        "bottom_right": (8, gettext_noop("Bottom right"), "c"),
    },
    words={
        "your_mark": gettext_noop("your mark"),
        "top_row": gettext_noop("top row"),
        "middle_row": gettext_noop("middle row"),
        "bottom_row": gettext_noop("bottom row"),
        "empty": gettext_noop("empty"),
        "cross": gettext_noop("cross"),
        "circle": gettext_noop("circle"),
    },
)
"""PettingZoo numbers the squares down the columns; the menu has them row by row."""
