"""The planner: solves the paper's Equation 2 by search (MindAgent, arXiv 2309.09971, section 4)."""

from __future__ import annotations

from kitchen.coplayers.planner.planner import Planner

__all__ = ["Planner"]
