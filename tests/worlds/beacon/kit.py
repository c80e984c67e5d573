"""Beacon's line in the registry."""

from __future__ import annotations

from kitchen.contract.kit import Practice, WorldKit

KIT = WorldKit(
    rules="tests.worlds.beacon.world:Beacon",
    page="tests.worlds.beacon.page:PAGE",
    coplayers={"pilot": "tests.worlds.beacon.pilot:Pilot"},
    adviser="tests.worlds.beacon.adviser:ADVISER",
    practice=Practice(settings={"nights": 3, "width": 3}, coplayer="random", teammates=1),
    steps="nights",
)

LINE = "beacon=tests.worlds.beacon.kit:KIT"
"""Its line in `BRIGADE_WORLDS`."""
