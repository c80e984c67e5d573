"""Register the test world Lane: its rules, page and agents."""

from __future__ import annotations

from kitchen.contract.kit import WorldKit
from tests.worlds.lane.coplayers import Ponderer, Slow, Stumbler, Thinker, Walker
from tests.worlds.lane.page import PAGE
from tests.worlds.lane.world import Lane

KIT = WorldKit(
    rules=lambda: Lane,
    page=lambda: PAGE,
    coplayers={
        "ponderer": lambda: Ponderer,
        "slow": lambda: Slow,
        "stumbler": lambda: Stumbler,
        "thinker": lambda: Thinker,
        "walker": lambda: Walker,
    },
    steps="steps",
)

LINE = "lane=tests.worlds.lane.kit:KIT"
"""The line for `BRIGADE_WORLDS` that adds this world."""
