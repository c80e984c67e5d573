"""Quarry's line in the registry."""

from __future__ import annotations

from kitchen.contract.kit import WorldKit
from tests.worlds.quarry.page import PAGE
from tests.worlds.quarry.world import Quarry

KIT = WorldKit(rules=lambda: Quarry, page=lambda: PAGE, steps="steps")

LINE = "quarry=tests.worlds.quarry.kit:KIT"
"""Its line in `BRIGADE_WORLDS`."""
