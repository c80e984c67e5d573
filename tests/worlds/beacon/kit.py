"""Register the test world Beacon: its rules, page and agents."""

from __future__ import annotations

from kitchen.contract.advisers import Adviser
from kitchen.contract.agent import Agent
from kitchen.contract.kit import Practice, WorldKit
from kitchen.contract.page import Page
from kitchen.contract.world import World


def _rules() -> type[World]:
    from tests.worlds.beacon.world import Beacon

    return Beacon


def _page() -> Page:
    from tests.worlds.beacon.page import PAGE

    return PAGE


def _pilot() -> type[Agent]:
    from tests.worlds.beacon.pilot import Pilot

    return Pilot


def _adviser() -> Adviser:
    from tests.worlds.beacon.adviser import ADVISER

    return ADVISER


KIT = WorldKit(
    rules=_rules,
    page=_page,
    coplayers={"pilot": _pilot},
    adviser=_adviser,
    practice=Practice(settings={"nights": 3, "width": 3}, coplayer="random", teammates=1),
    steps="nights",
)

LINE = "beacon=tests.worlds.beacon.kit:KIT"
"""The line for `BRIGADE_WORLDS` that adds this world."""
