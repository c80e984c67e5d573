"""Register three games of PettingZoo, each by its adapter."""

from __future__ import annotations

from kitchen.opened.environment_kit import environment_kit
from kitchen.worlds.pettingzoo_games import archers_and_knights, pong_adapter, tic_tac_toe

KAZ_KIT = environment_kit(archers_and_knights.ADAPTER)
PONG_KIT = environment_kit(pong_adapter.ADAPTER)
TICTACTOE_KIT = environment_kit(tic_tac_toe.ADAPTER)
