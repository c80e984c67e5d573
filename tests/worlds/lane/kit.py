"""Lane's line in the registry."""

from __future__ import annotations

from kitchen.contract.kit import WorldKit

KIT = WorldKit(
    rules="tests.worlds.lane.world:Lane",
    page="tests.worlds.lane.page:PAGE",
    coplayers={
        kind: f"tests.worlds.lane.coplayers:{kind.title()}"
        for kind in ("ponderer", "slow", "stumbler", "thinker", "walker")
    },
    steps="steps",
)

LINE = "lane=tests.worlds.lane.kit:KIT"
"""Its line in `BRIGADE_WORLDS`."""
