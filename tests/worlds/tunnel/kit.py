"""Register the test world Tunnel."""

from __future__ import annotations

from kitchen.contract.kit import WorldKit
from tests.worlds.tunnel.page import PAGE
from tests.worlds.tunnel.world import Tunnel

KIT = WorldKit(rules=lambda: Tunnel, page=lambda: PAGE, steps="steps")

LINE = "tunnel=tests.worlds.tunnel.kit:KIT"
"""The line for `BRIGADE_WORLDS` that adds this world."""
