"""An experiment in one line."""

from __future__ import annotations

from collections.abc import Sequence

from kitchen.contract.bench import Comparison, Pairings
from kitchen.experiments.comparison_tables import comparison_line
from kitchen.experiments.pairing_tables import pairing_line
from kitchen.experiments.results import CellResult, by_agents, means_of
from kitchen.words.counting import counted


def last_line(results: Sequence[CellResult]) -> str:
    """`mean CoS 2 agents 0.xxx, …; above the paper's GPT-4 in N of M cells`: the cells that were played, or
    those of them that the paper has, if it has any. A mean of fewer cells than there are says so."""
    ground = results[0].column.ground
    if isinstance(ground, Pairings):
        return pairing_line(results)
    if isinstance(ground, Comparison):
        return comparison_line(results)
    means = [
        f"{counted(number, 'agent')} {mean_score(cells)}" for number, cells in by_agents(results).items()
    ]
    compared = [each for each in results if each.paper_cos is not None] or list(results)
    above = sum(each.is_above is True for each in compared)
    return f"mean CoS {', '.join(means)}; above the paper's GPT-4 in {above} of {len(compared)} cells"


def mean_score(cells: Sequence[CellResult]) -> str:
    """The mean CoS of the cells that were played, and of how many where some were not."""
    means = means_of(cells)
    part = 0 < means.played < means.cells
    return score(means.ours) + (f" ({means.played} of {means.cells} cells)" if part else "")


def score(value: float | None) -> str:
    """Three decimals; `n/a` where it is not known."""
    return "n/a" if value is None else f"{value:.3f}"
