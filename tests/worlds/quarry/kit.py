"""Quarry's line in the registry."""

from __future__ import annotations

from kitchen.contract.kit import WorldKit

KIT = WorldKit(rules="tests.worlds.quarry.world:Quarry", page="tests.worlds.quarry.page:PAGE", steps="steps")

LINE = "quarry=tests.worlds.quarry.kit:KIT"
"""Its line in `BRIGADE_WORLDS`."""
