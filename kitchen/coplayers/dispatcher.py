"""The dispatcher of MindAgent (arXiv 2309.09971): one central mind that commands every seat it holds.

There is no language model yet: the planner stands in for it, and every decision says so.
"""

from __future__ import annotations

from dataclasses import replace

from kitchen.coplayers.base import CoPlayer, Decision, Situation
from kitchen.coplayers.registry import make_coplayer


class Dispatcher(CoPlayer):
    """Commands as the planner would; `Decision.played_by` is `planner`."""

    kind = "dispatcher"
    worlds = ("cuisine",)

    def decide(self, situation: Situation) -> Decision:
        """The planner's decision under its own name, with a note that says who stood in."""
        decision = make_coplayer("planner", {}).decide(situation)
        note = {"stand_in": "planner", "why": "no language model is set up", "planner": decision.note}
        return replace(decision, played_by="planner", note=note)
