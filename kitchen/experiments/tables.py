"""Results in the paper's form: intervals down, levels across, completed/total in the cells, then CoS.

Beside each figure stand the paper's GPT-4 and, after `≤`, the bound that nobody can pass (`bounds`).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from kitchen.contract.bench import Comparison, Pairings
from kitchen.contract.reading import COLUMNS as READ
from kitchen.experiments import comparison_tables, pairing_tables
from kitchen.experiments.grids import Grid
from kitchen.experiments.players import DecisionMakers, counted
from kitchen.experiments.results import CellResult, Interval, by_agents, mean_of, means_of, players_of
from kitchen.experiments.setup import BENCH, Setup
from kitchen.experiments.summary import score

CSV_COLUMNS = ["variant", "level", "class", "agents", "alpha", "episodes", "completed", "total", "share"]
CSV_COLUMNS += [
    "paper_completed",
    "paper_total",
    "paper_share",
    "bound_completed",
    "bound_share",
    "above_paper",
    "decisions",
    "fallbacks",
    "fallback_codes",
    "played_by",
    "model",
    "failed_episodes",
    *READ,
]

ALPHA = "\N{GREEK SMALL LETTER ALPHA}"
FALLBACKS = "fallbacks"
COS = "CoS"
"""In the column `alpha`: the mean over the intervals."""


def grids(setup: Setup, results: Sequence[CellResult]) -> list[Grid]:
    """A table for each number of agents; the presets' variants side by side in one. Of partners, see
    `pairing_tables`; of one figure, `comparison_tables`."""
    if isinstance(setup.ground, Pairings):
        return pairing_tables.pairing_grids(results)
    if isinstance(setup.ground, Comparison):
        return comparison_tables.comparison_grids(results)
    if setup.preset in {"table7", "table8"}:
        return [_grid(f"Table {setup.preset[-1]} of the paper: {BENCH.preset_level}", results)]
    tables = []
    for agents, cells in by_agents(results).items():
        notes = tuple(_others(setup, agents)) if setup.preset == "table6" else ()
        tables.append(_grid(f"{agents} agents" if agents > 1 else "1 agent", cells, notes))
    return tables


def _grid(title: str, cells: Sequence[CellResult], notes: tuple[str, ...] = ()) -> Grid:
    alphas = [each.alpha for each in cells[0].intervals]
    body = [
        (f"{ALPHA} = {alpha:g}", *(_counts(cell.intervals[place]) for cell in cells), "")
        for place, alpha in enumerate(alphas)
    ]
    scores = (COS, *(_beside(each.cos, each.paper_cos, each.bound_cos) for each in cells), _average(cells))
    who = players_of(cells)
    told = [(FALLBACKS, *(each.players.share for each in cells), who.share), *_replies(cells, who)]
    names = [each.column.variant.label or each.column.level for each in cells]
    return Grid(title, ("", *names, "average"), (*body, scores, *told), notes, str(who))


def _replies(cells: Sequence[CellResult], who: DecisionMakers) -> Iterator[tuple[str, ...]]:
    """How the replies of language models were read, in two rows; none where nobody asked a model."""
    read = [*(each.players.read for each in cells), who.read]
    if who.read.decisions:
        yield ("not read whole", *(f"{each.part + each.none} of {each.decisions}" for each in read))
        yield ("invalid commands", *(f"{each.invalid} of {each.commands}" for each in read))


def _counts(interval: Interval) -> str:
    known = [f"{interval.paper[0]}/{interval.paper[1]}"] if interval.paper else []
    known += [f"≤ {score(interval.bound.share)}"]
    return f"{interval.completed}/{interval.total} ({', '.join(known)})"


def _beside(ours: float | None, papers: float | None, bound: float | None) -> str:
    known = [score(papers)] if papers is not None else []
    known += [f"≤ {score(bound)}"] if bound is not None else []
    return f"{score(ours)} ({', '.join(known)})" if known else score(ours)


def _average(cells: Sequence[CellResult]) -> str:
    """Ours beside the paper's over the same cells; which these are, where it is not all of them."""
    means = means_of(cells)
    if means.there == means.played:
        return f"{_beside(means.ours, means.paper, means.bound)}{_of(means.played, means.cells)}"
    ours = f"{_beside(means.ours, None, means.bound)}{_of(means.played, means.cells)}"
    if not means.there:
        return ours
    return f"{ours}; {_beside(means.ours_there, means.paper, None)}{_of(means.there, means.cells)}"


def _of(number: int, cells: int) -> str:
    return f" over {number} of {cells}" if 0 < number < cells else ""


def _others(setup: Setup, agents: int) -> Iterator[str]:
    """What the paper's other models reached (Table 6), over the same intervals."""
    for model, counts in BENCH.other_models(agents).items():
        if counts and set(setup.alphas) <= set(counts):
            shares = [counts[alpha][0] / counts[alpha][1] for alpha in setup.alphas]
            yield f"{model} in the paper: CoS {score(mean_of(shares))}"


EXPLAINED = (
    f"completed/total {BENCH.counted}, summed over the episodes; in brackets the paper's GPT-4, and what no "
    f"dispatcher can pass ({BENCH.bound_told}). Fallbacks: decisions that another than the co-player made."
)


def explained(setup: Setup) -> str:
    """What stands in its tables."""
    if isinstance(setup.ground, Pairings):
        return pairing_tables.EXPLAINED
    return comparison_tables.EXPLAINED if isinstance(setup.ground, Comparison) else EXPLAINED


def to_markdown(tables: Sequence[Grid], line: str, told: str = EXPLAINED) -> str:
    """All tables, with what they say above and the last line below them."""
    parts = ["# Agents alone", told]
    for grid in tables:
        lines = [f"| {' | '.join(row)} |" for row in (grid.head, ("---",) * len(grid.head), *grid.rows)]
        parts += [f"## {grid.title}", "\n".join(lines), grid.played_by, *grid.notes]
    return "\n\n".join([*parts, line]) + "\n"


def to_latex(tables: Sequence[Grid], line: str, told: str = EXPLAINED) -> str:
    """All tables as LaTeX with booktabs."""
    return "\n\n".join([*(_tabular(grid, told) for grid in tables), f"% {line}"]) + "\n"


def _tabular(grid: Grid, told: str) -> str:
    body = [" & ".join(_escaped(text) for text in row) + r" \\" for row in (grid.head, *grid.rows)]
    names = [row[0] for row in grid.rows]
    below = 1 + (names.index(COS) if COS in names else len(names))
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_escaped(f'{grid.title}: {told} {grid.played_by}')}}}",
            rf"\begin{{tabular}}{{l{'r' * (len(grid.head) - 1)}}}",
            r"\toprule",
            body[0],
            r"\midrule",
            *body[1:below],
            *([r"\midrule", *body[below:]] if body[below:] else []),
            r"\bottomrule",
            r"\end{tabular}",
            *(f"% {_escaped(note)}" for note in grid.notes),
            r"\end{table}",
        ]
    )


_LATEX = {"\\": r"\textbackslash{}", ALPHA: r"$\alpha$", "≤": r"$\leq$", "~": r"\textasciitilde{}"}
_LATEX |= {"\N{PLUS-MINUS SIGN}": r"$\pm$"}
_LATEX |= {"^": r"\textasciicircum{}"} | {sign: f"\\{sign}" for sign in "_%&#${}"}


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)


def to_csv(results: Sequence[CellResult]) -> bytes:
    """One row per cell and interval, and one with `CoS` for each cell; blank for what is not there. Of
    partners, see `pairing_tables`; of one figure, `comparison_tables`."""
    ground = results[0].column.ground
    if isinstance(ground, Pairings):
        return pairing_tables.pairing_csv(results)
    if isinstance(ground, Comparison):
        return comparison_tables.comparison_csv(results)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(CSV_COLUMNS)
    for cell in results:
        variant, level, agents = cell.column.key
        for values in _values(cell):
            row = [variant, level, BENCH.class_of(level), agents, *values]
            writer.writerow(["" if value is None else value for value in row])
    return out.getvalue().encode()


def _values(cell: CellResult) -> Iterator[list[object]]:
    for each in cell.intervals:
        done, total = each.paper or (None, None)
        share = done / total if done is not None and total else None
        ours = [each.alpha, each.episodes, each.completed, each.total, each.share]
        yield [*ours, done, total, share, each.bound.completed, each.bound.share, None, *_who(each.players)]
    episodes = sum(each.episodes for each in cell.intervals)
    above = None if cell.is_above is None else int(cell.is_above)
    scores: list[object] = [COS, episodes, None, None, cell.cos]
    yield [*scores, None, None, cell.paper_cos, None, cell.bound_cos, above, *_who(cell.players)]


def _who(players: DecisionMakers) -> list[object]:
    """The columns from `decisions` on."""
    models, codes = ", ".join(sorted(players.models)), counted(players.fallbacks)
    numbers = [players.decisions.total(), players.fallbacks.total()]
    return [*numbers, codes, players.names, models, players.failed, *players.read.columns.values()]
