"""Describe `butterfly/knights_archers_zombies_v11`: an archer and a knight stop zombies together."""

from __future__ import annotations

from typing import Any

from kitchen.contract.declared_settings import Setting
from kitchen.contract.world import Json
from kitchen.opened.environment_adapter import EnvironmentAdapter
from kitchen.words.gettext_without_django import gettext_noop


def make_game(**settings: Json) -> Any:
    """Return a new game with one archer and one knight."""
    from pettingzoo import make

    name, members = "butterfly/knights_archers_zombies-v11", {"num_archers": 1, "num_knights": 1}
    return make("parallel", name, render_mode="rgb_array", **members, **settings)


def describe_state(environment: Any, agent: str) -> dict[str, Json]:
    """Return where everybody is, in percent of the screen from the left and from the top."""
    game = environment.unwrapped
    wide, high = game.screen_dims

    def place(sprite: Any) -> list[Json]:
        return [round(100 * sprite.rect.centerx / wide), round(100 * sprite.rect.centery / high)]

    others = [one for name, one in game.agent_map.items() if name != agent and one.is_alive]
    return {
        "your_part": agent.partition("_")[0],
        "you": place(game.agent_map[agent]),
        "teammate": place(others[0]) if others else None,
        "zombies": sorted(place(zombie) for zombie in game.zombie_list),
    }


ADAPTER = EnvironmentAdapter(
    kind="pettingzoo_kaz",
    title=gettext_noop("Knights, archers, zombies"),
    guide=(
        gettext_noop("Zombies walk down the screen. Stop as many as you can before one reaches the bottom."),
        gettext_noop(
            "Player 1 is the archer, who shoots arrows. Player 2 is the knight, who swings a sword."
        ),
        gettext_noop(
            "Turn first, then walk or attack in that direction. A zombie that touches you ends your part."
        ),
    ),
    make=make_game,
    agents=("archer_0", "knight_0"),
    actions={
        "forward": (0, gettext_noop("Forward"), "ArrowUp"),
        "turn_left": (2, gettext_noop("Turn left"), "ArrowLeft"),
        "stay": (5, gettext_noop("Stay"), "x"),
        "turn_right": (3, gettext_noop("Turn right"), "ArrowRight"),
        "backward": (1, gettext_noop("Back"), "ArrowDown"),
        "attack": (4, gettext_noop("Attack"), "Space"),
    },
    idle="stay",
    settings=(
        Setting(
            "max_cycles", "int", "Steps", 450, help="The longest episode, in steps.", minimum=10, maximum=900
        ),
        Setting("spawn_delay", "int", "Steps between two zombies", 20, minimum=5, maximum=100),
    ),
    length="max_cycles",
    tick_ms=67,
    description=describe_state,
    replay_ms=1.6,
    words={
        "your_part": gettext_noop("your part"),
        "archer": gettext_noop("archer"),
        "knight": gettext_noop("knight"),
        "you": gettext_noop("you, percent from the left and from the top"),
        "teammate": gettext_noop("teammate, percent from the left and from the top"),
        "zombies": gettext_noop("zombies, percent from the left and from the top"),
    },
)
