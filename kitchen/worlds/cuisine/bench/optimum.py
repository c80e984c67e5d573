"""The most orders that can be completed in a small case: exact, by OR-tools CP-SAT (an optional extra).

The orders are known in advance: they follow from the seed, and nothing that is played changes them
(`bounds`). The model (`optimum_model`) has every useful command; left out are those that only waste (putting
what nobody ordered, the waste bin, taking back what was not cooked). What it finds is played in the engine
(`replay`), which has the last word.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from kitchen.contract.bench import Case, NoSolverError, Optimum, Turn
from kitchen.registry.figures import share_counts
from kitchen.worlds.cuisine.bench.optimum_model import TimeIndexed
from kitchen.worlds.cuisine.options import read_options
from kitchen.worlds.cuisine.world import CuisineWorld


def solver() -> Any:
    """OR-tools' cp_model; NoSolverError where it is not installed."""
    try:
        return import_module("ortools.sat.python.cp_model")
    except ImportError:
        raise NoSolverError("OR-tools is not installed: `make optimum` does it") from None


def solve(case: Case, seconds: float) -> Optimum:
    """The optimum of a case, or the best plan and bound that were found in so many seconds."""
    cp = solver()
    options = read_options({"level": case.level, "alpha": case.alpha, "max_steps": case.steps})
    model = TimeIndexed(cp, options, case)
    engine = cp.CpSolver()
    engine.parameters.max_time_in_seconds = seconds
    engine.parameters.num_workers = 1
    status = engine.solve(model.model)
    if status not in {cp.OPTIMAL, cp.FEASIBLE}:
        return Optimum(0, model.most, engine.wall_time, ((),) * case.steps)
    bound = min(model.most, round(engine.best_objective_bound))
    return Optimum(round(engine.objective_value), bound, engine.wall_time, model.turns(engine))


def replay(case: Case, turns: Sequence[Turn]) -> int:
    """Orders that these commands complete in the engine."""
    game = CuisineWorld.create(
        seats=case.agents,
        settings={"level": case.level, "alpha": case.alpha, "max_steps": case.steps},
    )
    game.reset(case.seed)
    for turn in turns:
        game.step(turn)
    return share_counts(game)[0]
