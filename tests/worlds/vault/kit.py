"""Register the test world Vault: its rules, page, agents, metrics and benchmark."""

from __future__ import annotations

from kitchen.contract.kit import Practice, WorldKit
from tests.worlds.vault.agent import Keeper
from tests.worlds.vault.bench import BENCH
from tests.worlds.vault.metrics import METRICS
from tests.worlds.vault.page import PAGE
from tests.worlds.vault.world import Vault

TEAM = {"kind": "graph", "settings": {"within": True}}

KIT = WorldKit(
    rules=lambda: Vault,
    page=lambda: PAGE,
    coplayers={"keeper": lambda: Keeper},
    practice=Practice(settings={"limit": 8}, coplayer="keeper", teammates=2, organisation=TEAM),
    steps="limit",
    bench=lambda: BENCH,
    log_metrics=lambda: METRICS,
    organisations=("graph", "custom"),
    schedules=("together",),
)

LINE = "vault=tests.worlds.vault.kit:KIT"
"""The line for `BRIGADE_WORLDS` that adds this world."""
