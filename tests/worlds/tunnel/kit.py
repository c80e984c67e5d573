"""Tunnel's line in the registry."""

from __future__ import annotations

from kitchen.contract.kit import WorldKit

KIT = WorldKit(rules="tests.worlds.tunnel.world:Tunnel", page="tests.worlds.tunnel.page:PAGE", steps="steps")

LINE = "tunnel=tests.worlds.tunnel.kit:KIT"
"""Its line in `BRIGADE_WORLDS`."""
