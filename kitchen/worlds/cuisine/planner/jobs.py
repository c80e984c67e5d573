"""How the planner does jobs with an aim of the kitchen (`kitchen.agents.following`): before anything else but
what somebody has asked in words since (`kitchen.worlds.cuisine.planner.heeding`).

Robots that are at such a job are taken out of the plan as if somebody else commanded them.
"""

from __future__ import annotations

from kitchen.agents.following import Followed, follow
from kitchen.contract.agent import Situation
from kitchen.worlds.cuisine.planner.listening import Heard
from kitchen.worlds.cuisine.pursuing import PURSUER

KEY = "jobs"
"""Under which the planner's memory has them; only where somebody gave one."""
PATIENCE = 30
"""Steps after which one is given up."""


def take_jobs(situation: Situation, heard: Heard | None) -> Followed | None:
    """What is done for them in this step; None where nobody gave any. One is given up where its robot is told
    to stop."""
    before = situation.memory.get(KEY) if isinstance(situation.memory, dict) else None
    if not before and not any(said.data.get("aim") for said in situation.messages):
        return None
    stops = heard.stops(situation.seats) if heard else {}
    return follow(situation, PURSUER, before, patience=PATIENCE, words=True, stops=stops)
